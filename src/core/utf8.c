/* utf8.c - validation of UTF-8: characters in their shortest form, without surrogates. */
#include <string.h>

#include "core.h"

int tni_utf8_letter(const char *text, const char *text_end)
{
    const uint8_t *p = (const uint8_t *)text, *end = (const uint8_t *)text_end;
    int n = *p < 0x80 ? 1 : *p < 0xc2 || *p > 0xf4 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
    if (n == 0 || end - p < n)
        return 0;
    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] >= 0xa0) ||
        (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] >= 0x90))
        return 0;
    return n;
}

bool tni_is_utf8(const char *text)
{
    for (const char *end = text + strlen(text); text < end;) {
        int n = tni_utf8_letter(text, end);
        if (n == 0)
            return false;
        text += n;
    }
    return true;
}

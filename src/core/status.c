/* status.c - the names of statuses, and the calling thread's error sentence.
 *
 * The sentence is kept in a fixed thread-local buffer: failing allocates nothing. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <tenon/tenon.h>

#include "core.h"

#define TEXT(x)  TEXT_(x)
#define TEXT_(x) #x

static _Thread_local char sentence[512];
static _Thread_local int column; /* of the error, in the call's text; 0: none */

/* Indexed by the enumerator: a missing row leaves a NULL, which test_core finds. */
static const char *const names[] = {
#define STATUS(name) [name] = #name,
#include "status.def"
#undef STATUS
};

/* Format the sentence as valid UTF-8 whatever names it contains: bytes that are not, and
 * characters that a precision has cut, are written as \xff.  A sentence that is too long ends
 * at a character. */
static void set_sentence(const char *fmt, va_list args)
{
    char raw[sizeof sentence] = "";
    (void)vsnprintf(raw, sizeof raw, fmt, args);
    size_t to = 0;
    for (const char *p = raw, *end = raw + strlen(raw); p < end;) {
        const int letter = tni_utf8_letter(p, end);
        const size_t length = letter ? (size_t)letter : strlen("\\xff");
        if (to + length >= sizeof sentence)
            break;
        if (letter)
            memcpy(sentence + to, p, length);
        else
            snprintf(sentence + to, length + 1, "\\x%02x", (unsigned char)*p);
        to += length;
        p += letter ? letter : 1;
    }
    sentence[to] = 0;
}

tn_status tni_fail(tn_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    set_sentence(fmt, args);
    va_end(args);
    column = 0;
    return status;
}

tn_status tni_fail_at(tn_status status, int at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    set_sentence(fmt, args);
    va_end(args);
    column = at;
    return status;
}

int tn_error_column(void)
{
    return column;
}

tn_status tn_set_error(tn_status status, const char *text)
{
    return tni_fail(status, "%s", text ? text : "");
}

const char *tn_error(void)
{
    return sentence;
}

const char *tn_status_name(tn_status status)
{
    return (unsigned)status < (unsigned)COUNT(names) ? names[status] : "TN_?";
}

const char *tn_version(void)
{
    return TEXT(TN_VERSION_MAJOR) "." TEXT(TN_VERSION_MINOR) "." TEXT(TN_VERSION_PATCH);
}

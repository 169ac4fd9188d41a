/* env.c - environment variables.
 *
 * A value that is not one of the accepted words counts as unset: a typo never breaks a run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "local.h"

int tni_env_word(const char *name, const char *const *words, int n)
{
    const char *value = getenv(name);
    for (int i = 0; value && i < n; i++)
        if (!strcmp(value, words[i]))
            return i;
    return -1;
}

int64_t tni_env_number(const char *name, int64_t fallback)
{
    const char *value = getenv(name);
    char *end;
    if (!value || *value < '0' || *value > '9')
        return fallback;
    errno = 0;
    long long n = strtoll(value, &end, 10);
    return *end || errno ? fallback : (int64_t)n;
}

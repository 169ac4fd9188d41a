/* env.c - words in the environment.
 *
 * A value that is not among the words asked for counts as unset: a typo never breaks a run. */
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

/* tune.c - measuring this machine's tuning parameters and saving them where the library
 * looks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

/* The path that the library reads: TENON_TUNE, or tenon/tune in the configuration folder. */
static int default_path(char path[512])
{
    const char *named = getenv("TENON_TUNE"), *config = getenv("XDG_CONFIG_HOME"),
               *home = getenv("HOME");
    int n = 0;
    if (named && *named)
        n = snprintf(path, 512, "%s", named);
    else if (config && *config)
        n = snprintf(path, 512, "%s/tenon/tune", config);
    else if (home && *home)
        n = snprintf(path, 512, "%s/.config/tenon/tune", home);
    if (n <= 0 || n >= 512)
        return fail("no configuration folder: name a file with -o");
    return DONE;
}

/* Create the parent folders of a default path; existing ones are fine. */
static void make_folders(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        (void)!mkdir(path, 0777);
        *at = '/';
    }
}

int run_tune(const args *a)
{
    char path[512];
    TRY(need_operands(a, 0));
    if (a->out)
        snprintf(path, sizeof path, "%s", a->out);
    else
        TRY(default_path(path));
    if (a->check) {
        LIB(tn_tune_load(path));
        printf("%s: in use\n", path);
        return DONE;
    }
    const int milliseconds = a->quick ? 100 : 1000;
    if (a->explain) {
        printf("tune: measure for about %d ms, then write %s\n", milliseconds, path);
        return DONE;
    }
    LIB(tn_tune(milliseconds));
    if (!a->out)
        make_folders(path);
    LIB(tn_tune_save(path));
    printf("%s: written\n", path);
    return DONE;
}

/* folder.c - a folder as a result: written as OUTDIR.partial and renamed when it is
 * complete. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *where)
{
    (void)s;
    (void)kind;
    (void)where;
    return remove(path);
}

int remove_folder(const char *path)
{
    enum { OPEN = 16 };
    if (nftw(path, remove_one, OPEN, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
        return fail("%s: %s", path, strerror(errno));
    return DONE;
}

bool folder_exists(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0;
}

int folder_begin(const args *a, out_folder *out)
{
    *out = (out_folder){0};
    if (!a->out)
        return usage(a, "missing -o OUTDIR");
    out->path = strdup(a->out);
    size_t n = out->path ? strlen(out->path) : 0;
    while (n > 1 && out->path[n - 1] == '/')
        out->path[--n] = 0;
    if (!out->path || asprintf(&out->partial, "%s.partial", out->path) < 0)
        return fail("out of memory");
    if (folder_exists(out->path) && !a->force)
        return fail("%s already exists; use -f to overwrite", out->path);
    if (folder_exists(out->partial) && !a->force)
        return fail("%s is left over from an earlier run; use -f to remove it", out->partial);
    TRY(remove_folder(out->partial));
    if (mkdir(out->partial, 0777) != 0)
        return fail("%s: %s", out->partial, strerror(errno));
    out->made = true;
    return DONE;
}

static int sync_path(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int bad = fd < 0 || fsync(fd) != 0;
    int error = errno;
    if (fd >= 0)
        close(fd);
    return bad && error != EINVAL ? fail("%s: %s", path, strerror(error)) : DONE;
}

/* Move the folder to its path; an existing one is exchanged with it atomically, then
 * removed. */
static int replace(const out_folder *out)
{
    if (rename(out->partial, out->path) == 0)
        return DONE;
    if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
        return fail("%s: %s", out->path, strerror(errno));
    if (renameat2(AT_FDCWD, out->partial, AT_FDCWD, out->path, RENAME_EXCHANGE) != 0)
        return fail("%s: %s", out->path, strerror(errno));
    return remove_folder(out->partial);
}

int folder_commit(const args *a, out_folder *out)
{
    if (!a->no_sync)
        TRY(sync_path(out->partial));
    TRY(replace(out));
    out->made = false;
    char *slash = strrchr(out->path, '/');
    if (a->no_sync)
        return DONE;
    if (!slash)
        return sync_path(".");
    slash[slash == out->path] = 0;
    return sync_path(out->path);
}

void folder_end(out_folder *out, bool keep)
{
    if (out->made && !keep)
        (void)remove_folder(out->partial);
    free(out->path);
    free(out->partial);
    *out = (out_folder){0};
}

int folder_file(const out_folder *out, const char *name, char **path)
{
    return asprintf(path, "%s/%s", out->partial, name) < 0 ? fail("out of memory") : DONE;
}

int write_text(const args *a, const char *path, int (*print)(void *out, const void *user),
               const void *user)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return fail("%s: %s", path, strerror(errno));
    int code = print(f, user);
    bool bad = fflush(f) != 0 ||
               (!a->no_sync && fsync(fileno(f)) != 0 && errno != EINVAL); /* not for a pipe */
    if (fclose(f) != 0 || bad)
        code = code == DONE ? fail("%s: %s", path, strerror(errno)) : code;
    return code;
}

/* whole_text.c - writing a small file, a page or a picture, atomically.
 *
 * It is written without a name if the file system supports that, so that a killed process
 * leaves nothing behind. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

typedef struct unnamed {
    int fd;
    char *folder;
    char *temp; /* its name, or NULL if it has none */
} unnamed;

static int open_unnamed(unnamed *u, const char *path)
{
    const char *slash = strrchr(path, '/');
    u->folder = slash ? strndup(path, (size_t)(slash - path + (slash == path))) : strdup(".");
    u->fd = u->folder ? open(u->folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
    if (u->fd >= 0)
        return DONE;
    if (asprintf(&u->temp, "%s.XXXXXX", path) < 0)
        u->temp = NULL;
    u->fd = u->temp ? mkostemp(u->temp, O_CLOEXEC) : -1;
    return u->fd >= 0 ? DONE : fail("%s: %s", path, strerror(errno));
}

/* Link the file to a temporary name, from which it can be renamed. */
static int name_it(unnamed *u, const char *path)
{
    char self[40];
    if (u->temp)
        return 0;
    snprintf(self, sizeof self, "/proc/self/fd/%d", u->fd);
    for (int i = 0; i < 100; i++) {
        char *temp = NULL;
        if (asprintf(&temp, "%s.%d-%d", path, (int)getpid(), i) < 0)
            return ENOMEM;
        if (linkat(AT_FDCWD, self, AT_FDCWD, temp, AT_SYMLINK_FOLLOW) == 0) {
            u->temp = temp;
            return 0;
        }
        free(temp);
        if (errno != EEXIST)
            break;
    }
    return errno;
}

static int publish(const args *a, unnamed *u, const char *path)
{
    char self[40];
    snprintf(self, sizeof self, "/proc/self/fd/%d", u->fd);
    if (!a->no_sync && fsync(u->fd) != 0)
        return errno;
    if (!u->temp && linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    if (!a->force && !u->temp)
        return errno;
    int error = name_it(u, path);
    if (error)
        return error;
    if (!a->force)
        return link(u->temp, path) == 0 ? 0 : errno;
    if (rename(u->temp, path) != 0)
        return errno;
    free(u->temp);
    u->temp = NULL;
    return 0;
}

int write_whole(const args *a, const char *path, int (*print)(void *out, const void *user),
                const void *user)
{
    unnamed u = {.fd = -1};
    TRY(may_write(a, path));
    int code = open_unnamed(&u, path);
    FILE *f = code == DONE ? fdopen(dup(u.fd), "w") : NULL;
    if (code == DONE && !f)
        code = fail("%s: %s", path, strerror(errno));
    if (code == DONE)
        code = print(f, user);
    bool bad = f && ferror(f);
    if (f && fclose(f) != 0)
        bad = true;
    if (code == DONE && bad)
        code = fail("%s: %s", path, strerror(errno ? errno : EIO));
    int error = code == DONE ? publish(a, &u, path) : 0;
    if (error)
        code = error == EEXIST ? fail("%s already exists; use -f to overwrite", path)
                               : fail("%s: %s", path, strerror(error));
    if (u.fd >= 0)
        close(u.fd);
    if (u.temp)
        unlink(u.temp);
    int folder = code == DONE && !a->no_sync ? open(u.folder, O_RDONLY | O_CLOEXEC) : -1;
    if (folder >= 0) {
        (void)fsync(folder);
        close(folder);
    }
    free(u.temp);
    free(u.folder);
    return code;
}

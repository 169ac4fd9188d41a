/* reshard_also.c - reshard: copying other files of the inputs' folders that match --also.
 *
 * Files read as inputs, and indexes, are skipped.  Of two files with the same name the first
 * input's is used. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reshard.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* True if the file is one of the inputs. */
static bool is_input(const reshard *p, const struct stat *s)
{
    const char *before = "";
    for (int i = 0; i < p->nins; i++) {
        struct stat in;
        const char *path = tn_file_path(p->ins[i].from->f, p->ins[i].i);
        if (strcmp(path, before) != 0 && stat(path, &in) == 0 && in.st_dev == s->st_dev &&
            in.st_ino == s->st_ino)
            return true;
        before = path;
    }
    return false;
}

static bool is_result(const layout *l, const char *name)
{
    for (int64_t k = 0; k < l->n; k++)
        if (!strcmp(name, l->files[k].name))
            return true;
    return !strcmp(name, ".plan");
}

/* Add the file to the list if it matches and is not skipped. */
static int add_also(const reshard *p, const layout *l, also_files *files, const char *folder,
                    const char *name)
{
    struct stat s;
    char *path = NULL;
    if (fnmatch(p->a->also, name, FNM_PERIOD) != 0 || strstr(name, ".index.json"))
        return DONE;
    for (int i = 0; i < files->n; i++)
        if (!strcmp(name, base_name(files->paths[i])))
            return DONE;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return fail("out of memory");
    int code = DONE;
    char **more = NULL;
    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode) || is_input(p, &s)) {
        free(path);
        return DONE;
    }
    if (is_result(l, name))
        code = fail("%s: --also would overwrite the result of the same name", path);
    else if (!(more = realloc(files->paths, (size_t)(files->n + 1) * sizeof *more)))
        code = fail("out of memory");
    if (code != DONE) {
        free(path);
        return code;
    }
    files->paths = more;
    files->paths[files->n++] = path;
    return DONE;
}

static int find_beside(const reshard *p, const layout *l, also_files *files, const source *s)
{
    struct stat st;
    char *folder = strdup(s->path);
    if (!folder)
        return fail("out of memory");
    char *slash = strrchr(folder, '/');
    if (stat(folder, &st) == 0 && !S_ISDIR(st.st_mode)) {
        if (!slash)
            strcpy(folder, ".");
        else
            slash[slash == folder] = 0;
    }
    DIR *d = opendir(folder);
    int code = d ? DONE : fail("%s: %s", folder, strerror(errno));
    for (struct dirent *e; code == DONE && (e = readdir(d));)
        code = add_also(p, l, files, folder, e->d_name);
    if (d)
        closedir(d);
    free(folder);
    return code;
}

int find_also(const reshard *p, const layout *l, also_files *files)
{
    *files = (also_files){0};
    for (int i = 0; p->a->also && i < p->nsources; i++)
        TRY(find_beside(p, l, files, &p->sources[i]));
    return DONE;
}

void free_also(also_files *files)
{
    for (int i = 0; i < files->n; i++)
        free(files->paths[i]);
    free(files->paths);
    *files = (also_files){0};
}

static int copy_file(const args *a, const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    char part[1 << 14];
    size_t n;
    bool bad = !in || !out;
    while (!bad && (n = fread(part, 1, sizeof part, in)) > 0)
        bad = fwrite(part, 1, n, out) != n;
    bad = bad || ferror(in) || fflush(out) != 0 || (!a->no_sync && fsync(fileno(out)) != 0);
    int error = errno;
    if (in)
        fclose(in);
    if (out && fclose(out) != 0)
        bad = true;
    return bad ? fail("%s: %s", in ? to : from, strerror(error)) : DONE;
}

int copy_also(const args *a, const out_folder *out, const also_files *files)
{
    int code = DONE;
    for (int i = 0; code == DONE && i < files->n; i++) {
        char *to = NULL;
        code = folder_file(out, base_name(files->paths[i]), &to);
        if (code == DONE)
            code = copy_file(a, files->paths[i], to);
        free(to);
    }
    return code;
}

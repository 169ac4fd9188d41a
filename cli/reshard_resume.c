/* reshard_resume.c - reshard: writing OUTDIR.partial, and resuming one that a stopped run has
 * left.
 *
 * Its file .plan begins with a hash of everything that the plan depends on, followed by a list
 * of complete files: name, size and a checksum of the header. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reshard.h"

/* FNV-1a. */
static const uint64_t no_bytes = UINT64_C(0xcbf29ce484222325);

static uint64_t hash_more(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_more(hash, text, strlen(text) + 1);
}

/* Hash `left` bytes of a file; false: it is shorter. */
static bool hash_bytes(FILE *f, uint64_t left, uint64_t *hash)
{
    char part[1 << 12];
    while (left > 0) {
        const size_t want = left < sizeof part ? (size_t)left : sizeof part;
        if (fread(part, 1, want, f) != want)
            return false;
        *hash = hash_more(*hash, part, want);
        left -= want;
    }
    return true;
}

/* Hash a file's path, size and modification time; of a folder, which may contain OUTDIR, only
 * the path. */
static uint64_t hash_file(uint64_t hash, const char *path)
{
    char text[96];
    struct stat s;
    hash = hash_text(hash, path);
    if (stat(path, &s) != 0 || S_ISDIR(s.st_mode))
        return hash;
    snprintf(text, sizeof text, "%lld %lld %ld", (long long)s.st_size,
             (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
    return hash_text(hash, text);
}

/* Hash the contents of a file. */
static uint64_t hash_content(uint64_t hash, const char *path)
{
    struct stat s;
    FILE *f = fopen(path, "rb");
    if (f && fstat(fileno(f), &s) == 0)
        (void)hash_bytes(f, (uint64_t)s.st_size, &hash);
    if (f)
        fclose(f);
    return hash;
}

uint64_t plan_hash(const reshard *p)
{
    char text[128];
    const args *a = p->a;
    uint64_t hash = hash_text(no_bytes, tn_version());
    snprintf(text, sizeof text, "%d %lld %lld %lld", a->in_ranks, (long long)a->out_ranks,
             (long long)a->shard_size, (long long)a->align);
    hash = hash_text(hash, text);
    hash = hash_text(hash, a->also ? a->also : "");
    hash = hash_content(hash, a->operands[0]); /* the rules */
    for (int i = 1; i < a->n; i++)
        hash = hash_file(hash, a->operands[i]);
    const char *before = "";
    for (int i = 0; i < p->nins; i++) { /* a set has several files */
        const char *path = tn_file_path(p->ins[i].from->f, p->ins[i].i);
        if (strcmp(path, before) != 0)
            hash = hash_file(hash, path);
        hash = hash_text(hash, p->ins[i].name);
        before = path;
    }
    return hash;
}

/* Size of a .safetensors file and checksum of its header; 0: it has none. */
static uint64_t header_sum(const char *path, int64_t *size)
{
    unsigned char head[8];
    struct stat s;
    FILE *f = stat(path, &s) == 0 ? fopen(path, "rb") : NULL;
    uint64_t hash = no_bytes, length = 0;
    *size = f ? s.st_size : -1;
    bool good = f && fread(head, 1, sizeof head, f) == sizeof head;
    for (int i = 0; good && i < (int)sizeof head; i++)
        length |= (uint64_t)head[i] << 8 * i;
    good = good && hash_bytes(f, length, &hash);
    if (f)
        fclose(f);
    return good ? hash : 0;
}

int note_done(const args *a, const out_folder *out, const char *name, uint64_t hash)
{
    char *path = NULL, *file = NULL;
    int64_t size;
    int code = folder_file(out, ".plan", &path);
    if (code == DONE && name)
        code = folder_file(out, name, &file);
    FILE *f = code == DONE ? fopen(path, name ? "a" : "w") : NULL;
    if (code == DONE && !f)
        code = fail("%s: %s", path, strerror(errno));
    if (f && !name)
        fprintf(f, "%016" PRIx64 "\n", hash);
    if (f && name) {
        const uint64_t sum = header_sum(file, &size);
        fprintf(f, "%s %" PRId64 " %016" PRIx64 "\n", name, size, sum);
    }
    bool bad = f && (fflush(f) != 0 || (!a->no_sync && fsync(fileno(f)) != 0));
    if (f && (fclose(f) != 0 || bad))
        code = fail("%s: %s", path, strerror(errno));
    free(file);
    free(path);
    return code;
}

/* A temporary file of the library's writer, left by a killed process. */
static bool is_temporary(const char *name)
{
    return fnmatch(".tenon-*.tmp", name, 0) == 0;
}

static int remove_temporaries(const out_folder *out)
{
    DIR *d = opendir(out->partial);
    int code = d ? DONE : fail("%s: %s", out->partial, strerror(errno));
    for (struct dirent *e; code == DONE && (e = readdir(d));)
        if (is_temporary(e->d_name) && unlinkat(dirfd(d), e->d_name, 0) != 0)
            code = fail("%s/%s: %s", out->partial, e->d_name, strerror(errno));
    if (d)
        closedir(d);
    return code;
}

/* True if the folder has only files that this plan writes. */
static bool only_own_files(const reshard *p, const layout *l, const out_folder *out)
{
    DIR *d = opendir(out->partial);
    bool own = d != NULL;
    for (struct dirent *e; own && (e = readdir(d));) {
        own = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
              !strcmp(e->d_name, ".plan") || !strcmp(e->d_name, INDEX_FILE) ||
              is_temporary(e->d_name) ||
              (p->a->also && fnmatch(p->a->also, e->d_name, FNM_PERIOD) == 0);
        for (int64_t k = 0; k < l->n && !own; k++)
            own = !strcmp(e->d_name, l->files[k].name);
    }
    if (d)
        closedir(d);
    return own;
}

/* True if a line of .plan names the expected file, and that file is as it was written. */
static bool is_complete(const out_folder *out, const char *line, const char *expected)
{
    long long size;
    unsigned long long sum;
    int64_t now;
    char name[64], *path = NULL;
    if (sscanf(line, "%63s %lld %16llx", name, &size, &sum) != 3 ||
        strcmp(name, expected) != 0 || folder_file(out, name, &path) != DONE)
        return false;
    const bool same = header_sum(path, &now) == sum && now == size;
    free(path);
    return same;
}

/* Count the complete files listed in a folder that an earlier run has left.  A run that was
 * killed while it created the folder, or renamed it, has left no list: everything is done
 * again. */
static int files_done(const reshard *p, const layout *l, const out_folder *out, uint64_t hash,
                      int64_t *done)
{
    char *path = NULL, line[256];
    unsigned long long was = 0;
    *done = 0;
    TRY(folder_file(out, ".plan", &path));
    FILE *f = fopen(path, "r");
    free(path);
    const bool listed = f && fgets(line, sizeof line, f) && sscanf(line, "%16llx\n", &was) == 1;
    if (!listed && only_own_files(p, l, out)) {
        if (f)
            fclose(f);
        return note_done(p->a, out, NULL, hash);
    }
    while (listed && was == hash && *done < l->n && fgets(line, sizeof line, f) &&
           is_complete(out, line, l->files[*done].name))
        ++*done;
    if (f)
        fclose(f);
    return listed && was == hash
               ? DONE
               : fail("%s: is left from another plan; -f removes it", out->partial);
}

int begin_folder(const reshard *p, const layout *l, out_folder *out, uint64_t hash,
                 int64_t *done)
{
    const args *a = p->a;
    *out = (out_folder){0};
    *done = 0;
    char *partial = NULL;
    size_t n = a->out ? strlen(a->out) : 0;
    while (n > 1 && a->out[n - 1] == '/')
        n--;
    if (a->out && asprintf(&partial, "%.*s.partial", (int)n, a->out) < 0)
        return fail("out of memory");
    bool left = partial && folder_exists(partial) && !a->force && !folder_exists(a->out);
    if (!left) {
        free(partial);
        TRY(folder_begin(a, out));
        return note_done(a, out, NULL, hash);
    }
    out->partial = partial;
    out->path = strndup(a->out, n);
    if (!out->path)
        return fail("out of memory");
    out->made = true;
    TRY(files_done(p, l, out, hash, done));
    return remove_temporaries(out);
}

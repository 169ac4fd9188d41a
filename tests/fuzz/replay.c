/* replay.c - runs a target on every file that is named, or that is in a folder that is named.
 *
 * The bytes lie in a block of exactly their length. */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

static int files;

static void replay(const char *path)
{
    struct stat s;
    FILE *f = fopen(path, "rb");
    if (!f || fstat(fileno(f), &s) != 0) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    size_t n = (size_t)s.st_size;
    uint8_t *data = malloc(n ? n : 1);
    if (!data || fread(data, 1, n, f) != n)
        exit(1);
    fclose(f);
    LLVMFuzzerTestOneInput(data, n);
    free(data);
    files++;
}

static void replay_folder(const char *path, DIR *folder)
{
    char name[4096];
    for (struct dirent *e; (e = readdir(folder));) {
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.')
            replay(name);
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (folder) {
            replay_folder(argv[i], folder);
            closedir(folder);
        } else {
            replay(argv[i]);
        }
    }
    printf("%d files\n", files);
    return files ? 0 : 1;
}

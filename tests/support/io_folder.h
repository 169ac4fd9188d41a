/* io_folder.h - checking the folder of a test of io: the number of files, and the tensor in
 * one. */
#ifndef IO_FOLDER_H
#define IO_FOLDER_H

#include "io_oracle.h"

#include <dirent.h>

/* One name for each format that can be written. */
static const char *const suffixes[] = {"x.npy", "x.npz", "x.safetensors", "x.gguf"};

static inline int files_in_folder(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static inline void clean(void)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));)
        unlink(in_folder(e->d_name));
    closedir(d);
}

/* Assert that the only tensor of a file equals t. */
static inline void assert_holds(const char *path, const tn_tensor *t)
{
    tn_file *f = NULL;
    tn_tensor got;
    OK(tn_file_open(&f, path));
    assert_int_equal(tn_file_count(f), 1);
    OK(tn_file_read(f, 0, &got));
    assert_same_elements(&got, t);
    tn_free(&got);
    tn_file_close(f);
}

#endif

/* sgemm.c - finding cblas_sgemm; with OpenMP, OpenBLAS shares its threads with tenon. */
#include "sgemm.h"

#include <dlfcn.h>
#include <string.h>

sgemm_fn find_sgemm(void)
{
    static const char *const names[] = {
        "/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0", "libopenblas.so.0"};
    sgemm_fn sgemm = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && !sgemm; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        void *found = library ? dlsym(library, "cblas_sgemm") : NULL;
        memcpy(&sgemm, &found, sizeof found);
    }
    return sgemm;
}

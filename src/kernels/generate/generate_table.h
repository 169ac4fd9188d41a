/* generate_table.h - numbers computed from their flat index: ranges and random numbers. */
#ifndef TNI_GENERATE_TABLE_H
#define TNI_GENERATE_TABLE_H

#include <stdint.h>

#include <tenon/dtype.h>

typedef enum tni_generator {
    TNI_ARANGE, /* start + i * step in f64; for integer dtypes first + i * more in i64,
                   wrapping */
    TNI_RANDN,  /* normal distribution, mean 0, standard deviation 1; float dtypes */
    TNI_RANDINT /* first + a random number below count; integers, bool, floats */
} tni_generator;

typedef struct tni_generate {
    tni_generator maker;
    tn_dtype dtype;
    double start, step;
    int64_t first, more;
    uint64_t count, seed;
} tni_generate;

typedef struct tni_generate_kernels {
    /* Write elements index, …, index + n - 1 of m to d, d_step bytes apart.  The result depends
     * on nothing else: any division into calls gives the same bits, on every instruction
     * set. */
    void (*run)(const tni_generate *m, char *d, int64_t d_step, int64_t n, uint64_t index);
} tni_generate_kernels;

#endif

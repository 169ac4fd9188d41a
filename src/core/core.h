/* core.h - the words that every module shares: failing, dtype facts, checked arithmetic, small
 * floats, memory.
 *
 * Nothing here knows a shape. */
#ifndef TNI_CORE_H
#define TNI_CORE_H

#include <tenon/dtype.h>
#include <tenon/status.h>

#include "assert.h"
#include "checked.h"
#include "half.h"

/* Record the calling thread's sentence and give status back. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3), cold, noinline))
#endif
tn_status
tni_fail(tn_status status, const char *fmt, ...);

/* The same of a failure that lies at column (1 is the first byte) of the text of the call. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4), cold, noinline))
#endif
tn_status
tni_fail_at(tn_status status, int column, const char *fmt, ...);

/* Bytes of the letter of UTF-8 at text, which ends no later than end; 0: it is none. */
int tni_utf8_letter(const char *text, const char *end);
bool tni_is_utf8(const char *text);

/* Forward the first failure. */
#define TRY(call)                                                                              \
    do {                                                                                       \
        tn_status try_status = (call);                                                         \
        if (try_status != TN_OK)                                                               \
            return try_status;                                                                 \
    } while (0)

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

#if defined(__GNUC__)
#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define LIKELY(x)   (x)
#define UNLIKELY(x) (x)
#endif

/* A defence that no call reaches, kept for what it would prevent, or work that only a host of
 * the other byte order has: x is false, or TN_OK in TRY.  Counting coverage leaves out its line
 * and the statement it guards. */
#define TNI_NEVER(x) (x)

/* ---- sizes ---- */

/* n / each, rounded up, without overflow; n is at least 1 (0 may make 1). */
static inline int64_t tni_ceil_div(int64_t n, int64_t each)
{
    ASSERT(n >= 0 && each > 0);
    return (n - 1) / each + 1;
}

/* n rounded up to a multiple of each; 0 stays 0. */
static inline int64_t tni_round_up(int64_t n, int64_t each)
{
    return n > 0 ? tni_ceil_div(n, each) * each : 0;
}

/* n * by, saturated at INT64_MAX; n is not negative, by is positive. */
static inline int64_t tni_mul_saturated(int64_t n, int64_t by)
{
    return n > INT64_MAX / by ? INT64_MAX : n * by;
}

/* ---- dtype facts (dtype.c; one list, dtypes.def) ---- */

typedef enum tni_kind { /* rising: two dtypes promote to the higher kind */
                        TNI_NOTHING,
                        TNI_BOOL,
                        TNI_SIGNED,
                        TNI_UNSIGNED,
                        TNI_FLOAT,
                        TNI_COMPLEX
} tni_kind;

/* clang-format off */
#define DTYPE(...) + 1
enum { TNI_DTYPES = 1 /* one more than the largest tn_dtype */
#include "dtypes.def"
};
#undef DTYPE
/* clang-format on */

typedef struct tni_dtype_facts {
    const char *name;      /* "f32" */
    const char *long_name; /* "float32" */
    int8_t width;          /* bytes */
    int8_t kind;           /* tni_kind */
    int8_t real;           /* the dtype that kernels compute in */
    int8_t slot;           /* in the tables of kernels of its kind */
} tni_dtype_facts;

enum { /* slots as constants, for the tables */
#define DTYPE(ENUM, NAME, LONG, WIDTH, KIND, REAL, SLOT) TNI_SLOT_##ENUM = SLOT,
#include "dtypes.def"
#undef DTYPE
};

/* clang-format off */
enum { /* how many slots there are */
    TNI_INT_SLOTS = 0 /* bool, i8 … u64 */
#define DTYPE(ENUM, NAME, LONG, WIDTH, KIND, REAL, SLOT) + (TNI_##KIND <= TNI_UNSIGNED)
#include "dtypes.def"
#undef DTYPE
    , TNI_FLOAT_SLOTS = 0 /* f8e4m3 … f64 */
#define DTYPE(ENUM, NAME, LONG, WIDTH, KIND, REAL, SLOT) + (TNI_##KIND == TNI_FLOAT)
#include "dtypes.def"
#undef DTYPE
    , TNI_COMPLEX_SLOTS = 0 /* c64, c128 */
#define DTYPE(ENUM, NAME, LONG, WIDTH, KIND, REAL, SLOT) + (TNI_##KIND == TNI_COMPLEX)
#include "dtypes.def"
#undef DTYPE
    , TNI_NARROW_SLOTS = TNI_SLOT_F32 /* narrow floats are the first */
};
/* clang-format on */

extern const tni_dtype_facts tni_dtypes[TNI_DTYPES]; /* width 0: unknown */

static inline bool tni_dtype_known(tn_dtype dtype)
{
    return (unsigned)dtype < TNI_DTYPES && tni_dtypes[dtype].width > 0;
}

static inline int64_t tni_width(tn_dtype known)
{
    return tni_dtypes[known].width;
}

static inline tni_kind tni_kind_of(tn_dtype known)
{
    return (tni_kind)tni_dtypes[known].kind;
}

static inline bool tni_is_integer(tn_dtype known)
{
    return tni_kind_of(known) == TNI_SIGNED || tni_kind_of(known) == TNI_UNSIGNED;
}

static inline bool tni_is_float(tn_dtype known)
{
    return tni_kind_of(known) == TNI_FLOAT;
}

static inline bool tni_is_complex(tn_dtype known)
{
    return tni_kind_of(known) == TNI_COMPLEX;
}

/* The dtype that kernels compute in: f32 for narrow floats, that of the parts for complex. */
static inline tn_dtype tni_real_of(tn_dtype known)
{
    return (tn_dtype)tni_dtypes[known].real;
}

/* f8, f16 and bf16: floats that kernels compute in f32. */
static inline bool tni_is_narrow(tn_dtype known)
{
    return tni_is_float(known) && tni_real_of(known) != known;
}

/* What floats have besides (element.c; one list, floats.def). */
typedef struct tni_float_facts {
    int8_t digits;   /* of the significand, base 2 */
    int64_t largest; /* bits of the largest magnitude that is no NaN */
} tni_float_facts;

extern const tni_float_facts tni_floats[TNI_DTYPES]; /* digits 0: no float */

/* One element of a float dtype as f64, and f64 as such an element: rounded once, a NaN is the
 * positive quiet one. */
double tni_load_real(const char *at, tn_dtype dtype);
void tni_store_real(char *d, tn_dtype dtype, double x);

/* The low bytes of x as an element; bool: whether it is not 0. */
void tni_store_integer(char *d, tn_dtype dtype, uint64_t x);

/* ---- facts of ops (op.c; one list, ops.def) ---- */

#include "op.h"

/* ---- instruction set levels, rising (one list, isa.def) ---- */

typedef enum tni_isa {
#define LEVEL(ENUM, NAME) TNI_ISA_##ENUM,
#include "isa.def"
    TNI_ISA_COUNT
} tni_isa;

/* ---- memory (memory.c) ---- */

typedef struct tni_allocator {
    void *(*alloc)(void *user, size_t size, size_t align);
    void (*free)(void *user, void *ptr, size_t size);
    void *user;
} tni_allocator;

/* Make a the allocator of the calling thread; NULL is the system's.  *a is copied. */
void tni_allocator_use(const tni_allocator *a);

/* size bytes, 64-byte aligned, from the calling thread's allocator; NULL when there are none.
 * The block remembers its allocator: tni_free works on any thread.  NULL is fine there. */
void *tni_alloc(size_t size);
void tni_free(void *block);

#endif

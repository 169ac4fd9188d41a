/* core.h - what every module shares: errors, checked arithmetic, facts of dtypes and ops,
 * narrow floats, memory.
 *
 * Nothing here knows a shape. */
#ifndef TNI_CORE_H
#define TNI_CORE_H

#include <tenon/dtype.h>
#include <tenon/status.h>

#include "assert.h"
#include "checked.h"
#include "half.h"

enum { TNI_LINE = 64 }; /* bytes of a cache line on every CPU that kernels are compiled for */

/* Set the calling thread's error sentence and return status. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3), cold, noinline))
#endif
tn_status
tni_fail(tn_status status, const char *fmt, ...);

/* As tni_fail, for an error at a column of the call's text argument; column 1 is its first
 * byte. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4), cold, noinline))
#endif
tn_status
tni_fail_at(tn_status status, int column, const char *fmt, ...);

/* The length in bytes of the UTF-8 character at text, which must not extend past end; 0 if it
 * is invalid. */
int tni_utf8_letter(const char *text, const char *end);
bool tni_is_utf8(const char *text);

/* Return the status of call from the enclosing function unless it is TN_OK. */
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

/* Marks a condition that never holds: a defensive check that no call can trigger, or work that
 * only a host of the other byte order has.  x is false, or TN_OK in TRY.  Coverage excludes its
 * line and the statement it guards. */
#define TNI_NEVER(x) (x)

/* ---- sizes ---- */

/* n / each, rounded up, without overflow.  n is at least 1; for n = 0 the result is 0 or 1. */
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

typedef enum tni_kind { /* in ascending order: two dtypes promote to the higher kind */
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
    int8_t slot;           /* its index in the kernel tables of its kind */
} tni_dtype_facts;

enum { /* slots as constants, for the tables */
#define DTYPE(ENUM, NAME, LONG, WIDTH, KIND, REAL, SLOT) TNI_SLOT_##ENUM = SLOT,
#include "dtypes.def"
#undef DTYPE
};

/* clang-format off */
enum { /* the number of slots of each kind */
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
    , TNI_NARROW_SLOTS = TNI_SLOT_F32 /* narrow floats come first */
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

/* f16 and bf16: the floats of 16 bits. */
static inline bool tni_is_half(tn_dtype dtype)
{
    return dtype == TN_F16 || dtype == TN_BF16;
}

/* More facts of floats (element.c; one list, floats.def). */
typedef struct tni_float_facts {
    int8_t digits;   /* of the significand, in base 2 */
    int64_t largest; /* bits of the largest magnitude that is not NaN */
} tni_float_facts;

extern const tni_float_facts tni_floats[TNI_DTYPES]; /* digits 0: not a float */

/* Load an element of a float dtype as f64; store an f64 as such an element, rounded once.  A
 * NaN is stored as the positive quiet NaN. */
double tni_load_real(const char *at, tn_dtype dtype);
void tni_store_real(char *d, tn_dtype dtype, double x);

/* Store the low bytes of x as an element; a bool element becomes x != 0. */
void tni_store_integer(char *d, tn_dtype dtype, uint64_t x);

/* ---- facts of ops (op.c; one list, ops.def) ---- */

#include "op.h"

/* ---- instruction set levels, lowest first (one list, isa.def) ---- */

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

/* Make *a, which is copied, the calling thread's allocator; NULL restores the system's. */
void tni_allocator_use(const tni_allocator *a);

/* Allocate size bytes, 64-byte aligned, from the calling thread's allocator; NULL if there is
 * no memory.  The block remembers its allocator, so tni_free works on any thread; it accepts
 * NULL. */
void *tni_alloc(size_t size);
void tni_free(void *block);

#endif

/* dtype.h - the element types: names, sizes, promotion. */
#ifndef TENON_DTYPE_H
#define TENON_DTYPE_H

#include <tenon/status.h>

TN_BEGIN

typedef enum tn_dtype {
    TN_BOOL = 1,
    TN_I8,
    TN_I16,
    TN_I32,
    TN_I64,
    TN_U8,
    TN_U16,
    TN_U32,
    TN_U64,
    TN_F8E4M3, /* OCP: no infinity, NaN is 0x7f, the largest number is 448 */
    TN_F8E5M2,
    TN_F16,
    TN_BF16,
    TN_F32,
    TN_F64,
    TN_C64,  /* two f32: real, imaginary */
    TN_C128, /* two f64 */
} tn_dtype;

/* Bytes of one element; 0 for an unknown dtype. */
TN_API size_t tn_dtype_size(tn_dtype dtype);

/* "f32", "bf16", "bool", "c64", "f8e4m3"; "?" for an unknown dtype. */
TN_API const char *tn_dtype_name(tn_dtype dtype);

/* Look a dtype up by its short name, as above, or its long one (float32, bfloat16, int8, …).
 *
 * TN_ENULL   out or name is NULL
 * TN_EDTYPE  no dtype has this name */
TN_API TN_NODISCARD tn_status tn_dtype_parse(tn_dtype *out, const char *name);

/* The dtype that a and b promote to.
 *
 * Within a kind it is the wider one; i8..i64 with u8..u32 give the smallest signed type that
 * holds both; bool with x is x; integer with float is the float; real with complex is the
 * complex dtype of the wider part; f16 with bf16 is f32; f8 with the other f8 is f16, with
 * another float that float.
 *
 * TN_ENULL   out is NULL
 * TN_EDTYPE  a dtype is unknown, or they are u64 and a signed type */
TN_API TN_NODISCARD tn_status tn_promote(tn_dtype *out, tn_dtype a, tn_dtype b);

TN_END

#endif

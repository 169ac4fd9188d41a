/* status.h - how a call says what went wrong: a status, and one sentence for the calling
 * thread. */
#ifndef TENON_STATUS_H
#define TENON_STATUS_H

#include <tenon/export.h>

TN_BEGIN

typedef enum tn_status {
    TN_OK = 0,
    TN_ENULL, /* a required pointer is NULL, or a tensor with elements has no data */
    TN_EARG, /* an argument is outside its range: axis, index, width, step, count, enum value */
    TN_EDTYPE,   /* a dtype is unknown, not taken by this op, or does not fit the others */
    TN_ESHAPE,   /* shapes do not fit */
    TN_ESTRIDE,  /* strides cannot do what is asked: dst names an element twice, no such view */
    TN_EOVERLAP, /* dst shares bytes with a source in a way that would lose data */
    TN_EOVERFLOW,    /* a size or an offset does not fit 64 bits */
    TN_ENOMEM,       /* the allocator returned NULL */
    TN_EDEVICE,      /* no such device */
    TN_EIO,          /* the system refused a read or a write */
    TN_EFORMAT,      /* a file, a pattern or a slice text is malformed */
    TN_EUNSUPPORTED, /* understood, and not offered */
} tn_status;

/* "TN_ESHAPE" for TN_ESHAPE; "TN_?" for a number that is no status. */
TN_API const char *tn_status_name(tn_status status);

/* The calling thread's last failure as one sentence naming the call, the operand and both
 * values; "" if none.  A success leaves it as it is.  The pointer is good until the next
 * failing call of the same thread. */
TN_API const char *tn_error(void);

/* Where that failure lies in the text that its call was given (einsum, pattern, expression,
 * slice): 1 is the first byte, 0 nowhere in a text. */
TN_API int tn_error_column(void);

TN_END

#endif

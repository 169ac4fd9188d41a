/* status.h - errors: a status, and one sentence for the calling thread. */
#ifndef TENON_STATUS_H
#define TENON_STATUS_H

#include <tenon/export.h>

TN_BEGIN

typedef enum tn_status {
    TN_OK = 0,
    TN_ENULL,     /* a required pointer is NULL, or a tensor with elements has no data */
    TN_EARG,      /* an argument is out of range: axis, index, width, step, count, enum value */
    TN_EDTYPE,    /* a dtype is unknown, not supported by this op, or does not match */
    TN_ESHAPE,    /* shapes do not match */
    TN_ESTRIDE,   /* self-overlap of dst, or a view that no strides can express */
    TN_EOVERLAP,  /* dst overlaps a source */
    TN_EOVERFLOW, /* a size or an offset exceeds 2^63 - 1 */
    TN_ENOMEM,    /* the allocator returned NULL */
    TN_EDEVICE,   /* no such device */
    TN_EIO,       /* the system refused a read or a write */
    TN_EFORMAT,   /* a file, a pattern or a slice text is malformed */
    TN_EUNSUPPORTED, /* recognised but not supported */
    TN_ERANKS,       /* the ranks of a communicator disagree on a call */
    TN_EMPI,         /* an MPI call failed */
} tn_status;

/* "TN_ESHAPE" for TN_ESHAPE; "TN_?" for an unknown number. */
TN_API const char *tn_status_name(tn_status status);

/* The calling thread's last failure as one sentence that names the call, the operand, and the
 * actual and the expected value; "" if there was none.  It is UTF-8: other bytes in names are
 * written as \xff.  A successful call leaves it unchanged.  The pointer is valid until the next
 * failing call of the same thread. */
TN_API const char *tn_error(void);

/* Set the calling thread's sentence, truncated to 511 bytes, and return status: for libraries
 * that are built on tenon and report errors as it does.  NULL means "". */
TN_API tn_status tn_set_error(tn_status status, const char *sentence);

/* The position of that failure in the text of its call (einsum, pattern, expression, slice): 1
 * is the first byte; 0 means that the failure is not in a text. */
TN_API int tn_error_column(void);

TN_END

#endif

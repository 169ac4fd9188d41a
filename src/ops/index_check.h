/* index_check.h - the error for an index, or for another integer, that is out of range. */
#ifndef TNI_INDEX_CHECK_H
#define TNI_INDEX_CHECK_H

#include <tenon/tensor.h>

/* Fail with element number `at` of t: "<call>: <what> 7 at (1, 0) is not in [low, high)". */
tn_status tni_fail_element(const char *call, const char *what, const tn_tensor *t, int64_t at,
                           int64_t low, int64_t high);

#endif

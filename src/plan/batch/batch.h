/* batch.h - many copies as one piece of work. */
#ifndef TNI_BATCH_H
#define TNI_BATCH_H

#include <tenon/tensor.h>

/* n copies.  views describes copy k, which begins at index `first` of whatever the copies
 * divide, and returns where copy k + 1 begins; if d is NULL, it does only the latter. */
typedef struct tni_batch {
    int n;
    int64_t bytes, largest; /* of all copies, of the largest one */
    int64_t (*views)(const struct tni_batch *b, int k, int64_t first, tn_tensor *d,
                     const tn_tensor **s);
    const void *user;
} tni_batch;

/* Run the copies: on several threads if they are small, one after the other if one of them is
 * worth several threads. */
void tni_batch_run(const tni_batch *b);

#endif

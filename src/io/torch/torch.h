/* torch.h - recognising and reading torch archives among zip files. */
#ifndef TNI_TORCH_H
#define TNI_TORCH_H

#include "io/zip/zip.h"

/* Limit of listed tensors.  Tests lower it. */
extern int64_t tni_torch_most;

/* The data.pkl in the top folder of a torch archive; NULL: not a torch archive. */
const tni_zip_member *tni_torch_pickle(const tni_zip_member *members, int64_t n);

tn_status tni_torch_open(tn_file *f, const tni_zip_member *members, int64_t n,
                         const tni_zip_member *pickle);

#endif

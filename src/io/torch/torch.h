/* torch.h - torch's archives among the zip files. */
#ifndef TNI_TORCH_H
#define TNI_TORCH_H

#include "io/zip/zip.h"

/* Tensors that are listed at most.  Tests make it small. */
extern int64_t tni_torch_most;

/* The data.pkl in the top folder of an archive of torch; NULL: it is none. */
const tni_zip_member *tni_torch_pickle(const tni_zip_member *members, int64_t n);

tn_status tni_torch_open(tn_file *f, const tni_zip_member *members, int64_t n,
                         const tni_zip_member *pickle);

#endif

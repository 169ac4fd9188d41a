/* torch.h - torch's archives among the zip files. */
#ifndef TNI_TORCH_H
#define TNI_TORCH_H

#include "io/zip/zip.h"

/* The data.pkl in the top folder of an archive of torch; NULL: it is none. */
const tni_zip_member *tni_torch_pickle(const tni_zip_member *members, int64_t n);

tn_status tni_torch_open(tn_file *f, const tni_zip_member *members, int64_t n,
                         const tni_zip_member *pickle);

#endif

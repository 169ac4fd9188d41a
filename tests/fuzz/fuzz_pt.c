/* fuzz_pt.c - bytes as the pickle of a torch archive with two storages.
 *
 * A file that opens is consistent: its tensors lie inside their storages, are found by their
 * names and are the same read and fetched. */
#include <sys/mman.h>
#include <unistd.h>

#include "../support/torch_archive.h"
#include "fuzz.h"

enum { MOST_TENSORS = 20, MOST_ELEMENTS = 2000 };

static void look_at(const tn_file *f, int64_t i)
{
    tn_tensor desc, t, places, dst;
    int64_t at;
    MUST(tn_file_find(f, tn_file_name(f, i), &at) == TN_OK && at == i);
    if (tn_file_info(f, i, NULL, &desc, NULL) != TN_OK || tn_numel(&desc) > MOST_ELEMENTS)
        return;
    MUST(tn_file_read(f, i, &t) == TN_OK);
    MUST(tn_file_places(f, i, &places) == TN_OK);
    MUST(tn_alloc(&dst, t.dtype, t.ndim, t.shape) == TN_OK);
    MUST(tn_file_fetch(f, i, &dst, &places) == TN_OK);
    MUST(same_elements(&dst, &t));
    tn_free(&dst);
    tn_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    torch_archive a = {0};
    uint8_t storage[256];
    tn_file *f = NULL;
    for (int i = 0; i < 256; i++)
        storage[i] = (uint8_t)i;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    torch_member(&a, "m/data.pkl", data, size);
    torch_member(&a, "m/data/0", storage, sizeof storage);
    torch_member(&a, "m/data/1", storage, 16);
    torch_finish(&a);
    MUST(ftruncate(fd, 0) == 0 && pwrite(fd, a.bytes, a.n, 0) == (ssize_t)a.n);
    if (tn_file_open_fd(&f, fd, "in") == TN_OK)
        MUST(!strcmp(tn_file_format(f), "pt"));
    else
        MUST(!f && !strncmp(tn_error(), "in: ", 4));
    for (int64_t i = 0; i < tn_file_count(f) && i < MOST_TENSORS; i++)
        look_at(f, i);
    tn_file_close(f);
    torch_free(&a);
    return 0;
}

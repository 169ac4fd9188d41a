/* fuzz_slice.c - bytes as a tensor of a few axes and a text that slices it.
 *
 * What is accepted names elements of the tensor and nothing else; what is refused leaves out as
 * it was. */
#include "fuzz.h"

enum { MOST_AXES = 5, MOST_TEXT = 300, MOST_BYTES = 16384 };

/* Every element of out is one of t's 2-byte elements, and holds its own number. */
static void check_inside(const tn_tensor *out, const uint8_t *block, int64_t numel)
{
    int64_t index[TN_MAX_NDIM] = {0};
    MUST(tn_numel(out) <= numel);
    if (tn_numel(out) == 0)
        return;
    do {
        const uint8_t *at = at_index(out, index);
        uint16_t value;
        memcpy(&value, at, sizeof value);
        MUST((at - block) % 2 == 0 && value == (at - block) / 2);
    } while (next_index(out->ndim, out->shape, index));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes b = {data, size};
    int64_t shape[MOST_AXES] = {0}, numel = 1;
    int ndim = take_below(&b, MOST_AXES + 1);
    for (int i = 0; i < ndim; i++)
        numel *= shape[i] = take_below(&b, 6);
    char text[MOST_TEXT + 1];
    size_t n = b.left < MOST_TEXT ? b.left : MOST_TEXT;
    if (n)
        memcpy(text, b.at, n);
    text[n] = 0;
    char *exact = strdup(text);
    uint8_t *block = malloc((size_t)numel * 2 + !numel);
    MUST(exact && block);
    for (int64_t i = 0; i < numel; i++)
        memcpy(block + 2 * i, &(uint16_t){(uint16_t)i}, 2);

    tn_tensor t, out, before;
    MUST(tn_init(&t, block, TN_U16, ndim, shape) == TN_OK);
    memset(&out, 0x5a, sizeof out);
    before = out;
    tn_status status = tn_slice_text(&out, &t, exact);
    if (status == TN_OK) {
        check_inside(&out, block, numel);
        tn_tensor same = t;
        MUST(tn_slice_text(&same, &same, exact) == TN_OK && same_elements(&same, &out));
    } else {
        MUST(status == TN_EFORMAT || status == TN_EARG || status == TN_ESHAPE);
        MUST(!memcmp(&out, &before, sizeof out) && *tn_error());
    }
    free(block);
    free(exact);
    return 0;
}

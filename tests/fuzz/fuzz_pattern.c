/* fuzz_pattern.c - bytes as a tensor of a few axes, perhaps transposed, a pattern and sizes.
 *
 * Shape, copy, copy into a given tensor and, where there is one, the view agree; what is
 * refused leaves out as it was. */
#include "fuzz.h"

enum { MOST_AXES = 5, MOST_TEXT = 400, MOST_ELEMENTS = 4096 };

static void check_agree(const tn_tensor *src, const char *pattern, const char *sizes, int ndim,
                        const int64_t *shape)
{
    tn_tensor copy, view, into;
    tn_status status = tn_pattern_copy(&copy, src, pattern, sizes);
    if (status != TN_OK) {
        MUST(status == TN_ENOMEM);
        return;
    }
    MUST(copy.ndim == ndim && !memcmp(copy.shape, shape, (size_t)ndim * sizeof *shape));
    status = tn_pattern_view(&view, src, pattern, sizes);
    MUST(status == TN_OK || status == TN_ESTRIDE);
    if (tn_numel(&copy) <= MOST_ELEMENTS) {
        if (status == TN_OK)
            MUST(same_elements(&view, &copy));
        MUST(tn_alloc(&into, src->dtype, ndim, shape) == TN_OK);
        MUST(tn_pattern_into(&into, src, pattern, sizes) == TN_OK);
        MUST(same_elements(&into, &copy));
        tn_free(&into);
    }
    tn_free(&copy);
}

static void run(const tn_tensor *src, const char *pattern, const char *sizes)
{
    int64_t shape[TN_MAX_NDIM];
    int ndim = -1;
    tn_tensor out, before;
    memset(&out, 0x5a, sizeof out);
    before = out;
    tn_status status = tn_pattern_shape(pattern, sizes, src, &ndim, shape);
    if (status == TN_OK) {
        MUST(ndim >= 0 && ndim <= TN_MAX_NDIM);
        check_agree(src, pattern, sizes, ndim, shape);
        return;
    }
    MUST(status == TN_EFORMAT || status == TN_ESHAPE || status == TN_EARG ||
         status == TN_EOVERFLOW);
    MUST(*tn_error() && ndim == -1);
    MUST(tn_pattern_copy(&out, src, pattern, sizes) == status);
    MUST(tn_pattern_view(&out, src, pattern, sizes) == status);
    MUST(!memcmp(&out, &before, sizeof out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes b = {data, size};
    int64_t shape[MOST_AXES] = {0}, numel = 1;
    use_limit();
    limit = 4 << 20;
    int ndim = take_below(&b, MOST_AXES + 1), layout = take(&b);
    for (int i = 0; i < ndim; i++)
        numel *= shape[i] = take_below(&b, 7);
    char text[MOST_TEXT + 1];
    size_t n = b.left < MOST_TEXT ? b.left : MOST_TEXT;
    if (n)
        memcpy(text, b.at, n);
    text[n] = 0;
    char *sizes = strchr(text, '\n');
    if (sizes)
        *sizes++ = 0;
    char *exact = strdup(text), *exact_sizes = sizes ? strdup(sizes) : NULL;
    uint8_t *block = malloc((size_t)numel * 4 + !numel);
    MUST(exact && block && (exact_sizes || !sizes));
    for (int64_t i = 0; i < numel; i++)
        memcpy(block + 4 * i, &(uint32_t){(uint32_t)i}, 4);
    tn_tensor t;
    MUST(tn_init(&t, block, TN_U32, ndim, shape) == TN_OK);
    if (ndim > 1 && layout & 1)
        MUST(tn_transpose(&t, &t, layout / 8 % ndim, layout / 64 % ndim) == TN_OK);
    if (ndim > 0 && layout & 2)
        MUST(tn_flip(&t, &t, layout / 8 % ndim) == TN_OK);
    if (ndim > 0 && layout & 4)
        MUST(tn_slice(&t, &t, layout / 8 % ndim, 0, INT64_MAX, 2) == TN_OK);
    run(&t, exact, exact_sizes);
    MUST(held <= limit);
    free(block);
    free(exact_sizes);
    free(exact);
    return 0;
}

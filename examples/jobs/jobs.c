/* jobs.c - three jobs in C: images to channels first, borders by reflection, one tensor from a
 * file.  jobs.cpp and jobs.py do the same and print the same output. */
#include <stdio.h>

#include <tenon/tenon.h>

static void show(const char *job, const tn_tensor *t)
{
    const float *x = t->data;
    double sum = 0;
    for (int64_t i = 0; i < tn_numel(t); i++)
        sum += (double)x[i] * (double)(i % 7);
    printf("%s: (", job);
    for (int i = 0; i < t->ndim; i++)
        printf("%s%lld", i ? ", " : "", (long long)t->shape[i]);
    printf(") %.1f\n", sum);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "jobs.npy";
    tn_tensor images, nchw, padded, rows, places;
    tn_file *f = NULL;
    if (tn_alloc(&images, TN_F32, 1, (int64_t[]){2 * 4 * 5 * 3}) || tn_arange(&images, 0, 1) ||
        tn_reshape(&images, &images, 4, (int64_t[]){2, 4, 5, 3}))
        goto failed;

    /* 1. channels first */
    if (tn_pattern_copy(&nchw, &images, "b h w c -> b c h w", NULL))
        goto failed;
    show("rearrange", &nchw);

    /* 2. two pixels around each image, mirrored */
    const int64_t width[4] = {0, 0, 2, 2};
    if (tn_pad_copy(&padded, &nchw, width, width, TN_PAD_REFLECT, NULL))
        goto failed;
    show("pad", &padded);

    /* 3. save, then read every second row of the second image */
    if (tn_save(path, &padded) || tn_file_open(&f, path) || tn_file_places(f, 0, &places) ||
        tn_slice_text(&places, &places, "1, :, ::2") ||
        tn_alloc(&rows, TN_F32, places.ndim, places.shape) ||
        tn_file_fetch(f, 0, &rows, &places))
        goto failed;
    show("file", &rows);

    tn_file_close(f);
    tn_free(&images);
    tn_free(&nchw);
    tn_free(&padded);
    tn_free(&rows);
    return 0;
failed:
    fprintf(stderr, "%s\n", tn_error());
    return 1;
}

/* test_io_fetch.c - any view of a tensor in a file is read as the same view of memory is. */
#include "io_oracle.h"

#include "io/io.h"
#include "io/sys.h"

static uint64_t seed = 1;

static int64_t below(int64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

/* A few random steps, the same on both. */
static void wander(tn_tensor *a, tn_tensor *b)
{
    for (int64_t steps = below(5); steps > 0; steps--) {
        int dim = a->ndim ? (int)below(a->ndim) : 0;
        int64_t n = a->ndim ? a->shape[dim] : 0;
        int axes[TN_MAX_NDIM];
        switch (below(7)) {
        case 0:
        case 1:
            if (n > 0) {
                int64_t start = below(n), stop = start + 1 + below(n - start),
                        step = 1 + below(3);
                OK(tn_slice(a, a, dim, start, stop, step));
                OK(tn_slice(b, b, dim, start, stop, step));
            }
            break;
        case 2:
        case 3:
            for (int i = 0; i < a->ndim; i++)
                axes[i] = i;
            for (int i = a->ndim - 1; i > 0; i--) {
                int j = (int)below(i + 1), t = axes[i];
                axes[i] = axes[j];
                axes[j] = t;
            }
            OK(tn_permute(a, a, axes));
            OK(tn_permute(b, b, axes));
            break;
        case 4:
            if (a->ndim) {
                OK(tn_flip(a, a, dim));
                OK(tn_flip(b, b, dim));
            }
            break;
        case 5:
            if (a->ndim < 6 && n > 2) {
                OK(tn_windows(a, a, dim, 2, 1));
                OK(tn_windows(b, b, dim, 2, 1));
            }
            break;
        case 6:
            if (a->ndim < 6 && tn_numel(a) < 5000) {
                int64_t shape[TN_MAX_NDIM] = {3};
                memcpy(shape + 1, a->shape, (size_t)a->ndim * sizeof *shape);
                OK(tn_broadcast_to(a, a, a->ndim + 1, shape));
                OK(tn_broadcast_to(b, b, b->ndim + 1, shape));
            }
            break;
        }
    }
}

/* Fetch the view into a dense, a transposed or a sparse tensor. */
static void compare(const tn_file *f, const tn_tensor *places, const tn_tensor *view)
{
    tn_tensor d, block;
    int64_t shape[TN_MAX_NDIM];
    int kind = (int)below(3);
    for (int i = 0; i < view->ndim; i++)
        shape[i] = kind == 1 ? view->shape[view->ndim - 1 - i] : view->shape[i];
    if (kind == 2 && view->ndim)
        shape[0] *= 2;
    OK(tn_alloc(&block, view->dtype, view->ndim, shape));
    d = block;
    if (kind == 1)
        for (int i = 0; i < view->ndim / 2; i++)
            OK(tn_transpose(&d, &d, i, view->ndim - 1 - i));
    if (kind == 2 && view->ndim)
        OK(tn_slice(&d, &d, 0, 0, INT64_MAX, 2));
    OK(tn_file_fetch(f, 0, &d, places));
    assert_same_elements(&d, view);
    tn_free(&block);
}

static void random_views(void **state)
{
    (void)state;
    static const char *const paths[] = {
        DATA("c_f32.npy"), DATA("be_f64.npy"), DATA("be_c64.npy"), DATA("f_c128.npy"),
        DATA("c_u8.npy"),  DATA("scalar.npy"), DATA("empty.npy"),  DATA("many.safetensors")};
    static const int64_t stages[] = {16, 40, 100, 1000, 4 << 20};
    for (int k = 0; k < 8; k++) {
        tn_file *f = NULL;
        tn_tensor memory;
        OK(tn_file_open(&f, paths[k]));
        OK(tn_file_read(f, 0, &memory));
        for (int round = 0; round < 300; round++) {
            tn_tensor places, view = memory;
            OK(tn_file_places(f, 0, &places));
            wander(&places, &view);
            tni_stage_bytes = stages[below(5)];
            compare(f, &places, &view);
        }
        tn_free(&memory);
        tn_file_close(f);
    }
    tni_stage_bytes = 4 << 20;
}

/* Gaps beyond a page, so that reads are many, and several axes fill the stage. */
static void sparse_views(void **state)
{
    (void)state;
    tn_tensor t;
    OK(tn_alloc(&t, TN_I16, 4, (int64_t[]){7, 3, 11, 4099}));
    for (int64_t i = 0; i < tn_numel(&t); i++)
        ((int16_t *)t.data)[i] = (int16_t)(i * 31);
    OK(tn_save(in_folder("x.npy"), &t));
    tn_file *f = NULL;
    OK(tn_file_open(&f, in_folder("x.npy")));
    for (int round = 0; round < 40; round++) {
        tn_tensor places, view = t;
        int64_t start = below(4000), stop = start + 1 + below(90);
        OK(tn_file_places(f, 0, &places));
        OK(tn_slice(&places, &places, 3, start, stop, 1));
        OK(tn_slice(&view, &view, 3, start, stop, 1));
        OK(tn_permute(&places, &places, (int[]){3, 1, 0, 2}));
        OK(tn_permute(&view, &view, (int[]){3, 1, 0, 2}));
        if (round % 2) {
            OK(tn_flip(&places, &places, 2));
            OK(tn_flip(&view, &view, 2));
        }
        tni_stage_bytes = round % 4 ? 300 : 4 << 20;
        compare(f, &places, &view);
    }
    tni_stage_bytes = 4 << 20;
    tn_file_close(f);
    tn_free(&t);
}

/* Views that are transposed so far that a stage must be cut along two axes. */
static void far_turns(void **state)
{
    (void)state;
    static const int orders[][4] = {{3, 2, 1, 0}, {3, 0, 1, 2}, {2, 3, 1, 0}, {1, 3, 2, 0}};
    tn_tensor t;
    OK(tn_alloc(&t, TN_I32, 4, (int64_t[]){37, 6, 29, 41}));
    for (int64_t i = 0; i < tn_numel(&t); i++)
        ((int32_t *)t.data)[i] = (int32_t)i;
    OK(tn_save(in_folder("y.npy"), &t));
    tn_file *f = NULL;
    OK(tn_file_open(&f, in_folder("y.npy")));
    for (int round = 0; round < 24; round++) {
        tn_tensor places, view;
        OK(tn_file_places(f, 0, &places));
        OK(tn_permute(&places, &places, orders[round % 4]));
        OK(tn_permute(&view, &t, orders[round % 4]));
        tni_stage_bytes = (int64_t)1024 << round % 6 * 2;
        compare(f, &places, &view);
    }
    tni_stage_bytes = 4 << 20;
    tn_file_close(f);
    tn_free(&t);
}

static int64_t reads, read_bytes;

static int count_reads(const char *call, size_t *n)
{
    if (strcmp(call, "pread") == 0) {
        reads++;
        read_bytes += (int64_t)*n;
    }
    return 0;
}

static size_t largest; /* block that was asked for */

static void *watched_alloc(void *user, size_t size, size_t align)
{
    (void)user;
    largest = size > largest ? size : largest;
    return aligned_alloc(align, size);
}

static void watched_free(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)size;
    free(ptr);
}

static const tni_allocator watched = {watched_alloc, watched_free, NULL};

/* Turned elements pass through 4 MiB on their way to a file and from it. */
static void memory_is_one_stage(void **state)
{
    (void)state;
    tn_tensor t, v, places, dst;
    tn_file *f = NULL;
    OK(tn_alloc(&t, TN_U8, 2, (int64_t[]){3000, 4001}));
    memset(t.data, 1, 3000 * 4001);
    OK(tn_transpose(&v, &t, 0, 1));
    OK(tn_alloc(&dst, TN_U8, 2, (int64_t[]){3000, 4001}));
    for (int fetch = 0; fetch < 2; fetch++) {
        if (fetch) {
            OK(tn_file_open(&f, in_folder("m.npy")));
            OK(tn_file_places(f, 0, &places));
            OK(tn_transpose(&places, &places, 0, 1));
        }
        largest = 0;
        tni_allocator_use(&watched);
        OK(fetch ? tn_file_fetch(f, 0, &dst, &places) : tn_save(in_folder("m.npy"), &v));
        tni_allocator_use(NULL);
        assert_in_range(largest, 2 << 20, (4 << 20) + 256);
    }
    tn_file_close(f);
    tn_free(&dst);
    tn_free(&t);
}

/* How often the file is read, and how much: gaps up to a page, and up to as much as is wanted,
 * are read too; a stage is filled along the file, whatever the order of the axes; and where dst
 * is transposed, so much along its dense axis that its lines are whole. */
static void reads_are_few(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        int64_t shape[2], last[3]; /* extents of bytes; start, stop, step of axis 1 */
        bool transpose, transpose_dst;
        int64_t stage, reads, bytes;
    } rows[] = {
        {"all", {8, 9000}, {0, 9000, 1}, 0, 0, 4 << 20, 1, 72000},
        {"a gap of a page", {8, 4196}, {0, 100, 1}, 0, 0, 4 << 20, 1, 29472},
        {"one byte more", {8, 4197}, {0, 100, 1}, 0, 0, 4 << 20, 8, 800},
        {"a gap as long as what is wanted", {8, 12001}, {0, 6000, 1}, 0, 0, 4 << 20, 1, 90007},
        {"half as long again", {8, 12002}, {0, 6000, 1}, 0, 0, 4 << 20, 8, 48000},
        {"every third", {1, 9000}, {0, 9000, 3}, 0, 0, 4 << 20, 1, 8998},
        {"transposed", {80, 4196}, {0, 100, 1}, 1, 0, 4 << 20, 1, 331584},
        {"both transposed", {8, 9000}, {0, 9000, 1}, 1, 1, 4 << 20, 1, 72000},
        {"in stages", {8, 9000}, {0, 8990, 1}, 0, 0, 4096, 24, 71920},
        {"transposed in stages", {300, 300}, {0, 300, 1}, 1, 0, 4096, 24, 90000},
        {"in stages of a row", {8, 9000}, {0, 4096, 1}, 0, 0, 4096, 8, 32768},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        tn_tensor t, places, view, dst, d;
        tn_file *f = NULL;
        OK(tn_alloc(&t, TN_U8, 2, rows[k].shape));
        for (int64_t i = 0; i < tn_numel(&t); i++)
            ((uint8_t *)t.data)[i] = (uint8_t)(i * 31 >> 3);
        OK(tn_save(in_folder("r.npy"), &t));
        OK(tn_file_open(&f, in_folder("r.npy")));
        OK(tn_file_places(f, 0, &places));
        const int64_t *last = rows[k].last;
        OK(tn_slice(&places, &places, 1, last[0], last[1], last[2]));
        OK(tn_slice(&view, &t, 1, last[0], last[1], last[2]));
        if (rows[k].transpose) {
            OK(tn_transpose(&places, &places, 0, 1));
            OK(tn_transpose(&view, &view, 0, 1));
        }
        int64_t shape[2] = {view.shape[rows[k].transpose_dst],
                            view.shape[!rows[k].transpose_dst]};
        OK(tn_alloc(&dst, TN_U8, 2, shape));
        d = dst;
        if (rows[k].transpose_dst)
            OK(tn_transpose(&d, &d, 0, 1));
        tni_stage_bytes = rows[k].stage;
        reads = read_bytes = 0;
        tni_sys_hook = count_reads;
        largest = 0;
        tni_allocator_use(&watched);
        OK(tn_file_fetch(f, 0, &d, &places));
        tni_allocator_use(NULL);
        tni_sys_hook = NULL;
        assert_true(largest <= (size_t)rows[k].stage + 128); /* 128: the label of a block */
        tni_stage_bytes = 4 << 20;
        assert_same_elements(&d, &view);
        if (reads != rows[k].reads || read_bytes != rows[k].bytes)
            fail_msg("%s: %lld reads of %lld bytes", rows[k].what, (long long)reads,
                     (long long)read_bytes);
        tn_file_close(f);
        tn_free(&dst);
        tn_free(&t);
    }
}

static void strangers_are_refused(void **state)
{
    (void)state;
    tn_file *f = NULL;
    tn_tensor places, dst, wrong;
    OK(tn_file_open(&f, DATA("many.safetensors")));
    OK(tn_alloc(&dst, TN_I64, 1, (int64_t[]){30}));
    int64_t i, other;
    OK(tn_file_find(f, "layer.i64", &i));
    OK(tn_file_find(f, "layer.u64", &other));
    OK(tn_init_const(&places, dst.data, TN_I64, 1, (int64_t[]){30}, NULL));
    assert_int_equal(tn_file_fetch(f, i, &dst, &places), TN_EARG);
    OK(tn_file_places(f, i, &places));
    OK(tn_reshape(&places, &places, 1, (int64_t[]){30}));
    OK(tn_file_fetch(f, i, &dst, &places));
    assert_int_equal(tn_file_fetch(f, other, &dst, &places), TN_EARG);
    wrong = places;
    wrong.data = (char *)wrong.data + 1;
    assert_int_equal(tn_file_fetch(f, i, &dst, &wrong), TN_EARG);
    wrong = places;
    wrong.stride[0] = 9;
    assert_int_equal(tn_file_fetch(f, i, &dst, &wrong), TN_EARG);
    wrong.stride[0] = -8;
    assert_int_equal(tn_file_fetch(f, i, &dst, &wrong), TN_EARG);
    wrong.data = NULL;
    assert_int_equal(tn_file_fetch(f, i, &dst, &wrong), TN_ENULL);
    for (int far = 0; far < 3; far++) { /* nowhere near the file, and behind it */
        const uintptr_t at[] = {64, UINTPTR_MAX - 4095, (uintptr_t)places.data + (1 << 24)};
        wrong = places;
        memcpy(&wrong.data, &at[far], sizeof wrong.data);
        assert_int_equal(tn_file_fetch(f, i, &dst, &wrong), TN_EARG);
    }
    wrong = places;
    wrong.ndim = -1;
    assert_int_equal(tn_file_fetch(f, i, &dst, &wrong), TN_EARG);
    tn_tensor none = dst;
    none.data = NULL;
    assert_int_equal(tn_file_fetch(f, i, &none, &places), TN_ENULL);
    wrong = places; /* both alike, but not as wide as the tensor */
    wrong.dtype = none.dtype = TN_I32;
    none.data = dst.data;
    wrong.stride[0] = none.stride[0] = 4;
    assert_int_equal(tn_file_fetch(f, i, &none, &wrong), TN_EDTYPE);
    wrong = places;
    wrong.dtype = TN_F64;
    assert_int_equal(tn_file_fetch(f, i, &dst, &wrong), TN_EDTYPE);
    dst.dtype = TN_F64;
    OK(tn_file_fetch(f, i, &dst, &wrong));
    dst.shape[0] = 29;
    assert_int_equal(tn_file_fetch(f, i, &dst, &wrong), TN_ESHAPE);
    dst.shape[0] = 30;
    dst.stride[0] = 0;
    assert_int_equal(tn_file_fetch(f, i, &dst, &wrong), TN_ESTRIDE);
    dst.stride[0] = 8;
    dst.flags = TN_READONLY;
    assert_int_equal(tn_file_fetch(f, i, &dst, &wrong), TN_EARG);
    assert_int_equal(tn_file_fetch(f, i, NULL, &wrong), TN_ENULL);
    assert_int_equal(tn_file_fetch(f, i, &dst, NULL), TN_ENULL);
    tn_file_close(f);
    OK(tn_file_open(&f, host_is_big() ? DATA("c_i64.npy") : DATA("be_i64.npy")));
    OK(tn_file_places(f, 0, &places));
    OK(tn_init_strided(&places, places.data, TN_I64, 1, (int64_t[]){29}, (int64_t[]){7}));
    dst.dtype = TN_I64;
    dst.shape[0] = 29;
    dst.flags = 0;
    assert_int_equal(tn_file_fetch(f, 0, &dst, &places), TN_EUNSUPPORTED);
    tn_file_close(f);
    OK(tn_file_open(&f, DATA("deflated.npz")));
    assert_int_equal(tn_file_places(f, 0, &places), TN_EUNSUPPORTED);
    tn_file_close(f);
    dst.flags = 0;
    tn_free(&dst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_one_stage), /* before any other sets the stage */
        cmocka_unit_test(random_views),
        cmocka_unit_test(sparse_views),
        cmocka_unit_test(far_turns),
        cmocka_unit_test(reads_are_few),
        cmocka_unit_test(strangers_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}

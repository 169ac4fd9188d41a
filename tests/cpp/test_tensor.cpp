/* test_tensor.cpp - tn::tensor, tn::view and their failures, with exceptions and without. */
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include <tenon/tenon.hpp>

static int failures;

#define CHECK(x)                                                                               \
    do {                                                                                       \
        if (!(x)) {                                                                            \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #x);                                \
            failures++;                                                                        \
        }                                                                                      \
    } while (0)

/* The status that a call fails with, in both modes. */
template <class F> tn_status status_of(F f, std::string *text = nullptr)
{
#ifndef TENON_NO_EXCEPTIONS
    try {
        (void)f();
    } catch (const tn::error &e) {
        if (text)
            *text = e.what();
        return e.status();
    }
    return TN_OK;
#else
    auto r = f();
    if (r)
        return TN_OK;
    if (text)
        *text = r.error().what();
    return r.error().status();
#endif
}

static void shapes()
{
    tn::shape a{2, 3}, b(2, 3);
    CHECK(a == b && a.size() == 2 && a[1] == 3 && a.str() == "(2, 3)");
    CHECK(tn::shape().str() == "()" && tn::shape{4}.str() == "(4,)" && a != tn::shape{2});
    CHECK(std::accumulate(a.begin(), a.end(), int64_t{0}) == 5);
}

static void views()
{
    std::vector<float> x(24);
    std::iota(x.begin(), x.end(), 0.0f);
    tn::view v = tn::take(tn::view::of(x, {2, 3, 4}));
    CHECK(v.ndim() == 3 && v.size() == 24 && v.dtype() == TN_F32 && v.is_contiguous());
    CHECK(v.at<float>(1, 2, 3) == 23);
    tn::view t = tn::take(v.permute({2, 0, 1}));
    CHECK((t.shape() == tn::shape{4, 2, 3}) && t.strides()[0] == 4 && !t.is_contiguous());
    CHECK(t.at<float>(3, 1, 2) == 23 && t.data() == x.data());
    CHECK(tn::take(v("1, ::-1, ...")).at<float>(0, 0) == 20);
    CHECK(tn::take(tn::take(v.slice(0, 1, 2)).squeeze(0)).ndim() == 2);
    CHECK(tn::take(v.reshape({6, -1})).shape() == (tn::shape{6, 4}));
    CHECK(tn::take(v.unsqueeze(0)).ndim() == 4 && tn::take(v.flip(2)).at<float>(0, 0, 0) == 3);
    CHECK(tn::take(v.select(1, 2)).ndim() == 2 && tn::take(v.windows(2, 3)).ndim() == 4);
    CHECK(tn::take(v.transpose(0, 1)).extents()[0] == 3);
    tn::view row = tn::take(tn::take(v.select(0, 0)).select(0, 0));
    CHECK(tn::take(row.broadcast_to({5, 4})).strides()[0] == 0);
    const std::vector<int> c{1, 2, 3};
    CHECK(tn::take(tn::view::of(c.data(), {3})).readonly());
    CHECK(tn::take(v.pattern_view("a b c -> c a b")).extents()[0] == 4);
}

/* A scalar of type T reads as the number it was given. */
template <class T> bool scalar_reads(T value)
{
    const tn::scalar s(value);
    const tn_tensor *t = s;
    return t->ndim == 0 && t->dtype == tn::dtype_of<T>() && t->flags == TN_READONLY &&
           *static_cast<const T *>(t->data) == value;
}

static void scalars()
{
    CHECK(scalar_reads(true) && scalar_reads(int8_t{-1}) && scalar_reads(int16_t{-2}));
    CHECK(scalar_reads(int32_t{-3}) && scalar_reads(int64_t{-4}) && scalar_reads(uint8_t{255}));
    CHECK(scalar_reads(uint16_t{65535}) && scalar_reads(uint32_t{1}) &&
          scalar_reads(uint64_t{1} << 63) && scalar_reads(0.5f) && scalar_reads(0.25));
    std::vector<float> x{1, 2, 3};
    tn_tensor t;
    const int64_t n = 3;
    CHECK(tn_init(&t, x.data(), TN_F32, 1, &n) == TN_OK);
    CHECK(tn_mul(&t, &t, tn::scalar(0.5f)) == TN_OK && x[2] == 1.5f);
}

static void tensors()
{
    tn::tensor a = tn::take(tn::tensor::arange(6, 0, 1, TN_F64));
    tn::tensor b = tn::take(tn::take(a.reshape({2, 3})).copy());
    CHECK(b.data() != a.data() && b.at<double>(1, 2) == 5);
    tn::tensor moved = std::move(b);
    CHECK(b.data() == nullptr && moved.at<double>(1, 2) == 5);
    b = std::move(moved);
    CHECK(b.at<double>(0, 1) == 1);
    (void)tn::take(b.astype(TN_F32)).fill(1);
    tn::tensor f = tn::take(tn::tensor::full(tn::shape{2, 2}, 3.5f));
    CHECK(f.at<float>(1, 1) == 3.5f && f.dtype() == TN_F32);
    (void)f.fill(2);
    CHECK(f.at<float>(0, 0) == 2);
    (void)tn::take(b("0, :2")).assign(tn::take(f.select(0, 0)));
    CHECK(b.at<double>(0, 1) == 2);
    CHECK(tn::take(tn::tensor::zeros({0, 3})).size() == 0);
    tn::tensor sum = tn::take(tn::apply(TN_ADD, {f, f}));
    CHECK(sum.at<float>(0, 0) == 4);
    tn::tensor joined = tn::take(tn::concat({f, sum}, 1));
    CHECK((joined.shape() == tn::shape{2, 4}) && joined.at<float>(1, 3) == 4);
    CHECK((tn::take(tn::stack({f, sum}, 0)).shape() == tn::shape{2, 2, 2}));
    tn::tensor transposed = tn::take(joined.rearrange("a (b c) -> b (c a)", "b=2"));
    CHECK((transposed.shape() == tn::shape{2, 4}));
    CHECK((tn::take(tn::pad(f, {1, 0}, {0, 2}, TN_PAD_EDGE)).shape() == tn::shape{3, 4}));
    CHECK(f.str().find('2') != std::string::npos);
    tn_tensor given = f.release();
    CHECK(f.data() == nullptr && given.data);
    tn_free(&given);
    CHECK(tn::take(tn::tensor::randn({4}, 1)).at<float>(0) ==
          tn::take(tn::tensor::randn({8}, 1)).at<float>(0));
}

static void failing()
{
    tn::tensor a = tn::take(tn::tensor::zeros({2, 3}));
    std::string text;
    CHECK(status_of([&] { return a.squeeze(0); }, &text) == TN_ESHAPE);
    CHECK(text.find("squeeze") != std::string::npos);
    CHECK(status_of([&] { return a.transpose(0, 5); }) == TN_EARG);
    CHECK(status_of([&] { return a.permute({0}); }) == TN_EARG);
    CHECK(status_of([&] { return a("9"); }) == TN_EARG);
    CHECK(status_of([&] { return tn::tensor::empty({-1}); }) == TN_ESHAPE);
    CHECK(status_of([&] { return tn::concat({}, 0); }) == TN_EARG);
    CHECK(status_of([&] { return tn::load("/no/such/file.npy"); }) == TN_EIO);
    std::vector<float> small(3);
    CHECK(status_of([&] { return tn::view::of(small, {2, 3}); }) == TN_ESHAPE);
}

static void expressions()
{
    tn::tensor a = tn::take(tn::tensor::arange(6)), b = tn::take(tn::tensor::full({6}, 2.0f));
    tn::expr e = a * b + 1;
    CHECK(e.text() == "((x0 * x1) + 1)");
    CHECK((tn::exp(a) / (1 + tn::exp(a))).text() == "(exp(x0) / (1 + exp(x0)))");
    tn::tensor c = tn::take(e.eval());
    CHECK(c.dtype() == TN_F32 && c.at<float>(5) == 11);
    (void)(c - a).eval_into(c);
    CHECK(c.at<float>(5) == 6);
    CHECK(tn::take(tn::where(a > 2.5, a, -1).eval()).at<float>(0) == -1);
    CHECK(tn::take((a == b).eval()).dtype() == TN_BOOL);
    tn::tensor wide = tn::take(tn::tensor::zeros({7}));
    CHECK(status_of([&] { return (a + wide).eval(); }) == TN_ESHAPE);
#ifndef TENON_NO_EXCEPTIONS
    tn::tensor z = tn::sqrt(tn::square(a)) - a;
    CHECK(z.at<float>(3) == 0);
#endif
}

#ifdef __cpp_lib_mdspan
static void mdspans()
{
    std::vector<int> x(12);
    std::iota(x.begin(), x.end(), 0);
    std::mdspan<int, std::dextents<int, 2>> m(x.data(), 3, 4);
    tn::view v = tn::take(tn::view::of(m));
    CHECK((v.shape() == tn::shape{3, 4}) && v.at<int>(2, 3) == 11);
    std::mdspan<int, std::dextents<int, 2>, std::layout_left> left(x.data(), 4, 3);
    CHECK(tn::take(tn::view::of(left)).at<int>(3, 2) == 11);
    auto back = tn::take(v.transpose(0, 1)).mdspan<int, 2>();
    CHECK(back.extent(0) == 4 && (back[std::array<int64_t, 2>{3, 2}] == 11));
}
#endif

int main()
{
    shapes();
    views();
    scalars();
    tensors();
    failing();
    expressions();
#ifdef __cpp_lib_mdspan
    mdspans();
    std::puts("with mdspan");
#endif
    std::printf("%d failures\n", failures);
    return failures != 0;
}

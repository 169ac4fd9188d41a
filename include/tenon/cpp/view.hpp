/* view.hpp - tn::view, a tensor that owns nothing. */
#ifndef TENON_CPP_VIEW_HPP
#define TENON_CPP_VIEW_HPP

#include <cstring>

#include <tenon/cpp/core.hpp>

#if __has_include(<mdspan>)
#include <array>
#include <mdspan>
#endif

namespace tn
{
#ifndef TENON_NO_EXCEPTIONS
inline namespace throwing
#else
inline namespace returning
#endif
{

class tensor;

/* A description of memory: dtype, shape and strides in bytes.  Copying it copies no element. */
class view
{
  public:
    view() : t_()
    {
        t_.dtype = TN_F32;
    }
    explicit view(const tn_tensor &t) : t_(t)
    {
    }

    /* Memory of the caller; a pointer to const makes a read-only view. */
    template <class T> static ret<view> of(T *data, const shape &s)
    {
        view v;
        if constexpr (std::is_const_v<T>)
            TENON_TRY(tn_init_const(&v.t_, data, dtype_of<T>(), s.size(), s.data(), nullptr));
        else
            TENON_TRY(tn_init(&v.t_, data, dtype_of<T>(), s.size(), s.data()));
        return v;
    }
    template <class T> static ret<view> of(T *data, const shape &s, const shape &byte_strides)
    {
        view v;
        if (byte_strides.size() != s.size())
            return fail(TN_EARG, "view::of: as many strides as extents are needed");
        if constexpr (std::is_const_v<T>)
            TENON_TRY(tn_init_const(&v.t_, data, dtype_of<T>(), s.size(), s.data(),
                                    byte_strides.data()));
        else
            TENON_TRY(tn_init_strided(&v.t_, data, dtype_of<T>(), s.size(), s.data(),
                                      byte_strides.data()));
        return v;
    }
    template <class T> static ret<view> of(std::vector<T> &data, const shape &s)
    {
        int64_t n = 1;
        for (int64_t extent : s)
            n *= extent;
        if (n > static_cast<int64_t>(data.size()))
            return fail(TN_ESHAPE, "view::of: shape " + s.str() + " needs " +
                                       std::to_string(n) + " elements, the vector has " +
                                       std::to_string(data.size()));
        return of(data.data(), s);
    }

#ifdef __cpp_lib_mdspan
    template <class T, class E, class L, class A>
    static ret<view> of(const std::mdspan<T, E, L, A> &m)
    {
        std::vector<int64_t> extents, strides;
        for (size_t i = 0; i < E::rank(); i++) {
            extents.push_back(static_cast<int64_t>(m.extent(i)));
            strides.push_back(static_cast<int64_t>(m.stride(i)) *
                              static_cast<int64_t>(sizeof(T)));
        }
        return of(m.data_handle(), tn::shape(extents), tn::shape(strides));
    }

    /* The same memory as a std::mdspan of N axes; T and N must be the tensor's. */
    template <class T, size_t N> auto mdspan() const
    {
        using extents = std::dextents<int64_t, N>;
        std::array<int64_t, N> n{}, steps{};
        for (size_t i = 0; i < N; i++) {
            n[i] = t_.shape[i];
            steps[i] = t_.shape[i] > 1 ? t_.stride[i] / static_cast<int64_t>(sizeof(T)) : 1;
        }
        return std::mdspan<T, extents, std::layout_stride>(
            static_cast<T *>(t_.data), std::layout_stride::mapping<extents>(extents(n), steps));
    }
#endif

    /* ---- facts ---- */

    const tn_tensor *c() const noexcept
    {
        return &t_;
    }
    tn::dtype dtype() const noexcept
    {
        return t_.dtype;
    }
    int ndim() const noexcept
    {
        return t_.ndim;
    }
    axes extents() const noexcept
    {
        return {t_.shape, t_.ndim};
    }
    axes strides() const noexcept
    {
        return {t_.stride, t_.ndim};
    }
    tn::shape shape() const
    {
        return tn::shape(extents());
    }
    int64_t size() const noexcept
    {
        return tn_numel(&t_);
    }
    int64_t nbytes() const noexcept
    {
        return tn_nbytes(&t_);
    }
    bool readonly() const noexcept
    {
        return t_.flags & TN_READONLY;
    }
    bool is_contiguous() const noexcept
    {
        return tn_is_contiguous(&t_);
    }
    void *data() const noexcept
    {
        return t_.data;
    }
    template <class T> T *data() const noexcept
    {
        return static_cast<T *>(t_.data);
    }

    /* The element at an index; reading one of another type than the tensor's is an error of the
     * program, as is an index out of range. */
    template <class T, class... I> T &at(I... index) const
    {
        const int64_t i[sizeof...(I) + 1] = {static_cast<int64_t>(index)...};
        return *static_cast<T *>(tn_at(&t_, i));
    }
    template <class T> T item() const
    {
        T value;
        std::memcpy(&value, t_.data, sizeof value);
        return value;
    }

    /* ---- views ---- */

#define TENON_VIEW(call)                                                                       \
    view v;                                                                                    \
    TENON_TRY(call);                                                                           \
    return v

    ret<view> unsqueeze(int dim) const
    {
        TENON_VIEW(tn_unsqueeze(&v.t_, &t_, dim));
    }
    ret<view> squeeze(int dim) const
    {
        TENON_VIEW(tn_squeeze(&v.t_, &t_, dim));
    }
    ret<view> squeeze() const
    {
        TENON_VIEW(tn_squeeze_all(&v.t_, &t_));
    }
    ret<view> transpose(int a, int b) const
    {
        TENON_VIEW(tn_transpose(&v.t_, &t_, a, b));
    }
    ret<view> flip(int dim) const
    {
        TENON_VIEW(tn_flip(&v.t_, &t_, dim));
    }
    ret<view> diagonal(int a, int b) const
    {
        TENON_VIEW(tn_diagonal(&v.t_, &t_, a, b));
    }
    ret<view> select(int dim, int64_t i) const
    {
        TENON_VIEW(tn_select(&v.t_, &t_, dim, i));
    }
    ret<view> slice(int dim, int64_t start, int64_t stop, int64_t step = 1) const
    {
        TENON_VIEW(tn_slice(&v.t_, &t_, dim, start, stop, step));
    }
    ret<view> windows(int dim, int64_t n, int64_t step = 1) const
    {
        TENON_VIEW(tn_windows(&v.t_, &t_, dim, n, step));
    }
    ret<view> reshape(const tn::shape &s) const
    {
        TENON_VIEW(tn_reshape(&v.t_, &t_, s.size(), s.data()));
    }
    ret<view> broadcast_to(const tn::shape &s) const
    {
        TENON_VIEW(tn_broadcast_to(&v.t_, &t_, s.size(), s.data()));
    }
    ret<view> permute(const std::vector<int> &order) const
    {
        if (static_cast<int>(order.size()) != t_.ndim)
            return fail(TN_EARG, "permute: got " + std::to_string(order.size()) +
                                     " axes for a " + std::to_string(t_.ndim) + "-d tensor");
        TENON_VIEW(tn_permute(&v.t_, &t_, order.data()));
    }

    /* Python's index: v("0, ::2, ..., None"). */
    ret<view> operator()(const char *text) const
    {
        TENON_VIEW(tn_slice_text(&v.t_, &t_, text));
    }
    ret<view> pattern_view(const char *pattern, const char *sizes = nullptr) const
    {
        TENON_VIEW(tn_pattern_view(&v.t_, &t_, pattern, sizes));
    }
#undef TENON_VIEW

    /* ---- elements ---- */

    /* Set every element; the number is converted as by tn_cast. */
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    ret<void> fill(T value) const
    {
        unsigned char one[16];
        tn_tensor d, s;
        TENON_TRY(tn_init(&d, one, t_.dtype, 0, nullptr));
        TENON_TRY(tn_init(&s, &value, dtype_of<T>(), 0, nullptr));
        TENON_TRY(tn_cast(&d, &s));
        TENON_TRY(tn_fill(&t_, one));
        TENON_DONE;
    }

    /* Copy the elements of another view, broadcast and converted where they differ. */
    ret<void> assign(const view &other) const
    {
        tn_tensor wide;
        TENON_TRY(tn_broadcast_to(&wide, &other.t_, t_.ndim, t_.shape));
        if (other.t_.dtype == t_.dtype)
            TENON_TRY(tn_rearrange(&t_, &wide));
        else
            TENON_TRY(tn_cast(&t_, &wide));
        TENON_DONE;
    }

    ret<tensor> copy() const;
    ret<tensor> astype(tn::dtype d) const;
    ret<tensor> rearrange(const char *pattern, const char *sizes = nullptr) const;

    std::string str() const
    {
        std::string s(4096, '\0');
        if (tn_print(&t_, &s[0], s.size()) != TN_OK)
            return tn_error();
        s.resize(std::strlen(s.c_str()));
        return s;
    }

  protected:
    static ret<view> fail(tn_status status, const std::string &text)
    {
#ifndef TENON_NO_EXCEPTIONS
        throw error(status, text);
#else
        return error(status, text);
#endif
    }

    tn_tensor t_;
};

} // inline namespace
} // namespace tn

#endif

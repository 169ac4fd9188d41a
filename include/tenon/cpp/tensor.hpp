/* tensor.hpp - tn::tensor, which owns its elements. */
#ifndef TENON_CPP_TENSOR_HPP
#define TENON_CPP_TENSOR_HPP

#include <tenon/cpp/view.hpp>

namespace tn
{
#ifndef TENON_NO_EXCEPTIONS
inline namespace throwing
#else
inline namespace returning
#endif
{

/* A tensor that owns dense elements; it can be moved, and is copied by copy() only. */
class tensor : public view
{
  public:
    tensor() = default;
    tensor(const tensor &) = delete;
    tensor &operator=(const tensor &) = delete;
    tensor(tensor &&other) noexcept : view(other.t_)
    {
        other.forget();
    }
    tensor &operator=(tensor &&other) noexcept
    {
        if (this != &other) {
            tn_free(&t_);
            t_ = other.t_;
            other.forget();
        }
        return *this;
    }
    ~tensor()
    {
        tn_free(&t_);
    }

    /* Take ownership of the result of tn_alloc or of a _copy call. */
    static tensor adopt(const tn_tensor &t)
    {
        tensor made;
        made.t_ = t;
        return made;
    }

    static ret<tensor> empty(const tn::shape &s, tn::dtype d = TN_F32)
    {
        tensor made;
        TENON_TRY(tn_alloc(&made.t_, d, s.size(), s.data()));
        return made;
    }
    static ret<tensor> zeros(const tn::shape &s, tn::dtype d = TN_F32)
    {
        tensor made;
        TENON_TRY(tn_full(&made.t_, d, s.size(), s.data(), nullptr));
        return made;
    }

    /* Every element is value, whose dtype is the dtype of the tensor. */
    template <class T> static ret<tensor> full(const tn::shape &s, T value)
    {
        tensor made;
        TENON_TRY(tn_full(&made.t_, dtype_of<T>(), s.size(), s.data(), &value));
        return made;
    }
    static ret<tensor> arange(int64_t n, double start = 0, double step = 1,
                              tn::dtype d = TN_F32)
    {
        TENON_GET(tensor, made, empty(tn::shape{n}, d));
        TENON_TRY(tn_arange(&made.t_, start, step));
        return made;
    }
    static ret<tensor> randn(const tn::shape &s, uint64_t seed, tn::dtype d = TN_F32)
    {
        TENON_GET(tensor, made, empty(s, d));
        TENON_TRY(tn_randn(&made.t_, seed));
        return made;
    }
    static ret<tensor> randint(int64_t low, int64_t high, const tn::shape &s, uint64_t seed,
                               tn::dtype d = TN_I32)
    {
        TENON_GET(tensor, made, empty(s, d));
        TENON_TRY(tn_randint(&made.t_, seed, low, high));
        return made;
    }

    /* The C tensor; its data must remain the pointer that tn_alloc returned. */
    tn_tensor *raw() noexcept
    {
        return &t_;
    }

    /* Release ownership: the caller frees the elements with tn_free. */
    tn_tensor release() noexcept
    {
        tn_tensor t = t_;
        forget();
        return t;
    }

  private:
    void forget() noexcept
    {
        t_.data = nullptr;
    }
};

inline ret<tensor> view::copy() const
{
    tn_tensor made;
    TENON_TRY(tn_contiguous(&made, &t_));
    made.flags = 0;
    return tensor::adopt(made);
}

inline ret<tensor> view::astype(tn::dtype d) const
{
    TENON_GET(tensor, made, tensor::empty(shape(), d));
    TENON_TRY(tn_cast(made.c(), &t_));
    return made;
}

inline ret<tensor> view::rearrange(const char *pattern, const char *sizes) const
{
    tn_tensor made;
    TENON_TRY(tn_pattern_copy(&made, &t_, pattern, sizes));
    return tensor::adopt(made);
}

} // inline namespace
} // namespace tn

#endif

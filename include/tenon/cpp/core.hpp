/* core.hpp - errors, results, dtypes and shapes of the C++ header.
 *
 * With exceptions a call returns its value or throws tn::error.  Without them
 * (TENON_NO_EXCEPTIONS, or exceptions disabled in the compiler) the same call returns a
 * tn::result. */
#ifndef TENON_CPP_CORE_HPP
#define TENON_CPP_CORE_HPP

#include <complex>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tenon/tenon.h>

#if !defined(TENON_NO_EXCEPTIONS) && !defined(__cpp_exceptions)
#define TENON_NO_EXCEPTIONS 1
#endif
#ifndef TENON_NO_EXCEPTIONS
#include <stdexcept>
#else
#include <cstdlib>
#include <optional>
#endif

namespace tn
{

#ifndef TENON_NO_EXCEPTIONS
inline namespace throwing
{

/* A failure: the status, and the library's sentence as what(). */
class error : public std::runtime_error
{
  public:
    explicit error(tn_status status) : std::runtime_error(tn_error()), status_(status)
    {
    }
    error(tn_status status, const std::string &text) : std::runtime_error(text), status_(status)
    {
    }
    tn_status status() const noexcept
    {
        return status_;
    }
    const char *name() const noexcept
    {
        return tn_status_name(status_);
    }

  private:
    tn_status status_;
};

template <class T> using ret = T;
template <class T> T &&take(T &&value)
{
    return static_cast<T &&>(value);
}

#define TENON_FAIL(status)          throw ::tn::error(status)
#define TENON_DONE                  return
#define TENON_GET(type, name, call) type name = (call)

#else
inline namespace returning
{

/* A failure: the status, and the library's sentence. */
class error
{
  public:
    explicit error(tn_status status) : status_(status), text_(tn_error())
    {
    }
    error(tn_status status, std::string text) : status_(status), text_(std::move(text))
    {
    }
    tn_status status() const noexcept
    {
        return status_;
    }
    const char *name() const noexcept
    {
        return tn_status_name(status_);
    }
    const char *what() const noexcept
    {
        return text_.c_str();
    }

  private:
    tn_status status_;
    std::string text_;
};

/* A value, or the error of the call that should have produced it; taking the value of a failure
 * terminates the program. */
template <class T> class [[nodiscard]] result
{
  public:
    result(T value) : value_(std::move(value))
    {
    }
    result(class error failure) : error_(std::move(failure))
    {
    }
    explicit operator bool() const noexcept
    {
        return value_.has_value();
    }
    T &value() &
    {
        if (!value_)
            std::abort();
        return *value_;
    }
    T &&value() &&
    {
        return std::move(value());
    }
    T *operator->()
    {
        return &value();
    }
    T &operator*() &
    {
        return value();
    }
    const class error &error() const
    {
        if (!error_)
            std::abort();
        return *error_;
    }

  private:
    std::optional<T> value_;
    std::optional<class error> error_;
};

template <> class [[nodiscard]] result<void>
{
  public:
    result() = default;
    result(class error failure) : error_(std::move(failure))
    {
    }
    explicit operator bool() const noexcept
    {
        return !error_.has_value();
    }
    const class error &error() const
    {
        if (!error_)
            std::abort();
        return *error_;
    }

  private:
    std::optional<class error> error_;
};

template <class T> using ret = result<T>;
template <class T> T take(result<T> value)
{
    return std::move(value).value();
}

#define TENON_FAIL(status) return ::tn::error(status)
#define TENON_DONE         return ::tn::result<void>()
#define TENON_GET(type, name, call)                                                            \
    auto name##_result = (call);                                                               \
    if (!name##_result)                                                                        \
        return name##_result.error();                                                          \
    type name = std::move(name##_result).value()

#endif

/* Forward the first failure of a C call. */
#define TENON_TRY(call)                                                                        \
    do {                                                                                       \
        tn_status tenon_status = (call);                                                       \
        if (tenon_status != TN_OK)                                                             \
            TENON_FAIL(tenon_status);                                                          \
    } while (0)

/* ---- dtypes ---- */

using dtype = tn_dtype;

/* The dtype of a C++ type; a type without one does not compile. */
template <class T> constexpr dtype dtype_of()
{
    using U = std::remove_cv_t<T>;
    constexpr bool whole = std::is_integral_v<U> && !std::is_same_v<U, bool>;
    constexpr bool has_sign = std::is_signed_v<U>;
    if constexpr (std::is_same_v<U, bool>)
        return TN_BOOL;
    else if constexpr (whole && sizeof(U) == 1)
        return has_sign ? TN_I8 : TN_U8;
    else if constexpr (whole && sizeof(U) == 2)
        return has_sign ? TN_I16 : TN_U16;
    else if constexpr (whole && sizeof(U) == 4)
        return has_sign ? TN_I32 : TN_U32;
    else if constexpr (whole && sizeof(U) == 8)
        return has_sign ? TN_I64 : TN_U64;
    else if constexpr (std::is_same_v<U, float>)
        return TN_F32;
    else if constexpr (std::is_same_v<U, double>)
        return TN_F64;
    else if constexpr (std::is_same_v<U, std::complex<float>>)
        return TN_C64;
    else {
        static_assert(std::is_same_v<U, std::complex<double>>, "no dtype is this type");
        return TN_C128;
    }
}

/* One number as an operand of a C call, a read-only tensor without axes:
 *
 *     tn_mul(&y, &x, tn::scalar(0.5f))
 *
 * It holds the number, so it is valid to the end of the expression, or as long as the variable
 * it is stored in. */
template <class T> class scalar
{
  public:
    explicit scalar(T value) noexcept : value_(value), t_()
    {
        t_.data = &value_;
        t_.dtype = dtype_of<T>();
        t_.flags = TN_READONLY;
    }
    scalar(const scalar &) = delete;
    scalar &operator=(const scalar &) = delete;
    operator const tn_tensor *() const noexcept
    {
        return &t_;
    }

  private:
    T value_;
    tn_tensor t_;
};

/* ---- shapes ---- */

/* Extents or strides of a tensor, as a range that owns nothing. */
class axes
{
  public:
    axes(const int64_t *first, int count) : first_(first), count_(count)
    {
    }
    const int64_t *begin() const noexcept
    {
        return first_;
    }
    const int64_t *end() const noexcept
    {
        return first_ + count_;
    }
    int size() const noexcept
    {
        return count_;
    }
    bool empty() const noexcept
    {
        return count_ == 0;
    }
    int64_t operator[](int i) const noexcept
    {
        return first_[i];
    }

  private:
    const int64_t *first_;
    int count_;
};

/* A list of extents: {2, 3}, shape(2, 3), or another tensor's. */
class shape
{
  public:
    shape() = default;
    shape(std::initializer_list<int64_t> extents) : extents_(extents)
    {
    }
    template <class... N,
              std::enable_if_t<(std::is_integral_v<N> && ...) && (sizeof...(N) > 0), int> = 0>
    explicit shape(N... extents) : extents_{static_cast<int64_t>(extents)...}
    {
    }
    shape(axes a) : extents_(a.begin(), a.end())
    {
    }
    shape(std::vector<int64_t> extents) : extents_(std::move(extents))
    {
    }

    int size() const noexcept
    {
        return static_cast<int>(extents_.size());
    }
    const int64_t *data() const noexcept
    {
        return extents_.data();
    }
    auto begin() const noexcept
    {
        return extents_.begin();
    }
    auto end() const noexcept
    {
        return extents_.end();
    }
    int64_t operator[](int i) const
    {
        return extents_[static_cast<size_t>(i)];
    }
    friend bool operator==(const shape &a, const shape &b)
    {
        return a.extents_ == b.extents_;
    }
    friend bool operator!=(const shape &a, const shape &b)
    {
        return !(a == b);
    }

    std::string str() const
    {
        std::string s = "(";
        for (int i = 0; i < size(); i++)
            s += (i ? ", " : "") + std::to_string((*this)[i]);
        return s + (size() == 1 ? ",)" : ")");
    }

  private:
    std::vector<int64_t> extents_;
};

} // inline namespace
} // namespace tn

#endif

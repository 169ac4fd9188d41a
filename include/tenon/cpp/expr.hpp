/* expr.hpp - operators and functions that build one expression, evaluated in one pass.
 *
 * An expression holds descriptions of its tensors, not their elements: they must live until it
 * is evaluated.  text() returns the text that is passed to the library. */
#ifndef TENON_CPP_EXPR_HPP
#define TENON_CPP_EXPR_HPP

#include <cmath>
#include <cstdio>

#include <tenon/cpp/tensor.hpp>
#include <tenon/expr.h>

namespace tn
{
#ifndef TENON_NO_EXCEPTIONS
inline namespace throwing
#else
inline namespace returning
#endif
{

class expr
{
  public:
    expr(const view &v) : text_("x0")
    {
        leaves_.push_back(v);
    }
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    expr(T number) : text_(number_text(number))
    {
    }

    /* "(x0 + x1)": the text, with a name for each tensor. */
    const std::string &text() const noexcept
    {
        return text_;
    }

    /* The value in a new tensor. */
    ret<tensor> eval() const
    {
        names all(leaves_);
        tn_tensor made;
        TENON_TRY(
            tn_eval_copy(&made, text_.c_str(), all.count(), all.text.data(), all.at.data()));
        return tensor::adopt(made);
    }

    /* The value in dst, which may be exactly one of the tensors. */
    ret<void> eval_into(const view &dst) const
    {
        names all(leaves_);
        TENON_TRY(tn_eval(dst.c(), text_.c_str(), all.count(), all.text.data(), all.at.data()));
        TENON_DONE;
    }

#ifndef TENON_NO_EXCEPTIONS
    operator tensor() const
    {
        return eval();
    }
#endif

    /* A call or an operator on several expressions, whose tensors are numbered
     * consecutively. */
    static expr join(const char *open, const char *between, std::initializer_list<expr> parts)
    {
        expr e;
        e.text_ = open;
        bool first = true;
        for (const expr &p : parts) {
            if (!first)
                e.text_ += between;
            e.text_ += e.add(p);
            first = false;
        }
        e.text_ += ')';
        return e;
    }

  private:
    struct names {
        explicit names(const std::vector<view> &leaves)
        {
            for (size_t i = 0; i < leaves.size(); i++)
                kept.push_back("x" + std::to_string(i));
            for (size_t i = 0; i < leaves.size(); i++) {
                text.push_back(kept[i].c_str());
                at.push_back(leaves[i].c());
            }
        }
        int count() const
        {
            return static_cast<int>(at.size());
        }
        std::vector<std::string> kept;
        std::vector<const char *> text;
        std::vector<const tn_tensor *> at;
    };

    expr() = default;

    static bool same(const view &a, const view &b)
    {
        bool equal = a.data() == b.data() && a.dtype() == b.dtype() && a.ndim() == b.ndim();
        for (int i = 0; equal && i < a.ndim(); i++)
            equal = a.extents()[i] == b.extents()[i] && a.strides()[i] == b.strides()[i];
        return equal;
    }

    /* Append the tensors of another expression; returns its text with their names in this
     * one. */
    std::string add(const expr &other)
    {
        std::vector<size_t> number;
        for (const view &v : other.leaves_) {
            size_t i = 0;
            while (i < leaves_.size() && !same(leaves_[i], v))
                i++;
            if (i == leaves_.size())
                leaves_.push_back(v);
            number.push_back(i);
        }
        std::string out;
        for (size_t i = 0; i < other.text_.size();) {
            bool starts = other.text_[i] == 'x' && i + 1 < other.text_.size() &&
                          digit(other.text_[i + 1]) && (i == 0 || !word(other.text_[i - 1]));
            if (!starts) {
                out += other.text_[i++];
                continue;
            }
            size_t n = 0;
            for (i++; i < other.text_.size() && digit(other.text_[i]); i++)
                n = 10 * n + static_cast<size_t>(other.text_[i] - '0');
            out += "x" + std::to_string(number[n]);
        }
        return out;
    }

    static bool digit(char c)
    {
        return c >= '0' && c <= '9';
    }
    static bool word(char c)
    {
        return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    }

    template <class T> static std::string number_text(T number)
    {
        if constexpr (std::is_same_v<T, bool>)
            return number ? "true" : "false";
        else if constexpr (std::is_integral_v<T>)
            return number < 0 ? "(" + std::to_string(number) + ")" : std::to_string(number);
        else {
            double d = static_cast<double>(number);
            if (std::isnan(d))
                return "nan";
            if (std::isinf(d))
                return d < 0 ? "(-inf)" : "inf";
            char s[40];
            std::snprintf(s, sizeof s, "%.17g", d);
            std::string t = s;
            if (t.find_first_of(".e") == std::string::npos)
                t += ".0";
            return d < 0 ? "(" + t + ")" : t;
        }
    }

    std::string text_;
    std::vector<view> leaves_;
};

namespace detail
{
template <class T>
constexpr bool is_tensor =
    std::is_base_of_v<view, std::decay_t<T>> || std::is_same_v<std::decay_t<T>, expr>;
template <class T>
constexpr bool is_term = is_tensor<T> || std::is_arithmetic_v<std::decay_t<T>>;
template <class A, class B>
using enable =
    std::enable_if_t<is_term<A> && is_term<B> && (is_tensor<A> || is_tensor<B>), int>;
template <class A> using enable1 = std::enable_if_t<is_tensor<A>, int>;
} // namespace detail

#define TENON_BINARY(op)                                                                       \
    template <class A, class B, detail::enable<A, B> = 0>                                      \
    expr operator op(const A &a, const B &b)                                                   \
    {                                                                                          \
        return expr::join("(", " " #op " ", {expr(a), expr(b)});                               \
    }
TENON_BINARY(+)
TENON_BINARY(-)
TENON_BINARY(*)
TENON_BINARY(/)
TENON_BINARY(%)
TENON_BINARY(<)
TENON_BINARY(<=)
TENON_BINARY(>)
TENON_BINARY(>=)
TENON_BINARY(==)
TENON_BINARY(!=)
TENON_BINARY(&)
TENON_BINARY(|)
TENON_BINARY(^)
#undef TENON_BINARY

template <class A, detail::enable1<A> = 0> expr operator-(const A &a)
{
    return expr::join("(-", "", {expr(a)});
}
template <class A, detail::enable1<A> = 0> expr operator~(const A &a)
{
    return expr::join("(~", "", {expr(a)});
}

#define TENON_FUNCTION(name)                                                                   \
    template <class A, detail::enable1<A> = 0> expr name(const A &a)                           \
    {                                                                                          \
        return expr::join(#name "(", "", {expr(a)});                                           \
    }
TENON_FUNCTION(abs)
TENON_FUNCTION(sign)
TENON_FUNCTION(square)
TENON_FUNCTION(sqrt)
TENON_FUNCTION(rsqrt)
TENON_FUNCTION(floor)
TENON_FUNCTION(ceil)
TENON_FUNCTION(trunc)
TENON_FUNCTION(round)
TENON_FUNCTION(exp)
TENON_FUNCTION(expm1)
TENON_FUNCTION(log)
TENON_FUNCTION(log1p)
TENON_FUNCTION(sin)
TENON_FUNCTION(cos)
TENON_FUNCTION(tan)
TENON_FUNCTION(tanh)
TENON_FUNCTION(erf)
TENON_FUNCTION(relu)
TENON_FUNCTION(gelu)
TENON_FUNCTION(silu)
TENON_FUNCTION(sigmoid)
TENON_FUNCTION(isnan)
TENON_FUNCTION(sum)
TENON_FUNCTION(mean)
TENON_FUNCTION(any)
TENON_FUNCTION(all)
#undef TENON_FUNCTION

#define TENON_FUNCTION2(name)                                                                  \
    template <class A, class B, detail::enable<A, B> = 0> expr name(const A &a, const B &b)    \
    {                                                                                          \
        return expr::join(#name "(", ", ", {expr(a), expr(b)});                                \
    }
TENON_FUNCTION2(min)
TENON_FUNCTION2(max)
TENON_FUNCTION2(pow)
TENON_FUNCTION2(atan2)
TENON_FUNCTION2(hypot)
#undef TENON_FUNCTION2

/* x where the condition is not zero, else y. */
template <class C, class A, class B, detail::enable1<C> = 0>
expr where(const C &condition, const A &x, const B &y)
{
    return expr::join("where(", ", ", {expr(condition), expr(x), expr(y)});
}

} // inline namespace
} // namespace tn

#endif

/* tenon.hpp - tenon for C++17: tn::tensor, tn::view, errors as exceptions or results.
 *
 *     auto x = tn::tensor::randn({2, 3}, 42);
 *     auto y = x.transpose(0, 1).copy();          // throws tn::error when something is wrong
 *     tn::tensor z = tn::exp(y) * 2 + 1;          // one pass over memory
 *
 * Header-only; link libtenon.  If exceptions are disabled, or TENON_NO_EXCEPTIONS is defined,
 * each call returns a tn::result: if (auto r = x.transpose(0, 1)) use(*r); else
 * puts(r.error().what()); */
#ifndef TENON_HPP
#define TENON_HPP

#include <tenon/cpp/core.hpp>
#include <tenon/cpp/expr.hpp>
#include <tenon/cpp/ops.hpp>
#include <tenon/cpp/tensor.hpp>
#include <tenon/cpp/view.hpp>

#endif

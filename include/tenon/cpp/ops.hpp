/* ops.hpp - functions of tensors: axes of extent 1, pad, joins, elementwise work, files. */
#ifndef TENON_CPP_OPS_HPP
#define TENON_CPP_OPS_HPP

#include <tenon/cpp/tensor.hpp>

namespace tn
{
#ifndef TENON_NO_EXCEPTIONS
inline namespace throwing
#else
inline namespace returning
#endif
{

/* ---- axes of extent 1 and padded images: a copy, in place, or into a given tensor ---- */

inline ret<tensor> unsqueeze(const view &a, int dim)
{
    tn_tensor made;
    TENON_TRY(tn_unsqueeze_copy(&made, a.c(), dim));
    return tensor::adopt(made);
}
inline ret<void> unsqueeze_inplace(tensor &a, int dim)
{
    TENON_TRY(tn_unsqueeze_inplace(a.raw(), dim));
    TENON_DONE;
}
inline ret<void> unsqueeze_into(const view &src, const view &dst)
{
    TENON_TRY(tn_unsqueeze_into(dst.c(), src.c()));
    TENON_DONE;
}
inline ret<tensor> squeeze(const view &a, int dim)
{
    tn_tensor made;
    TENON_TRY(tn_squeeze_copy(&made, a.c(), dim));
    return tensor::adopt(made);
}
inline ret<void> squeeze_inplace(tensor &a, int dim)
{
    TENON_TRY(tn_squeeze_inplace(a.raw(), dim));
    TENON_DONE;
}
inline ret<void> squeeze_into(const view &src, const view &dst)
{
    TENON_TRY(tn_squeeze_into(dst.c(), src.c()));
    TENON_DONE;
}

/* Zeros around the last two axes. */
inline ret<tensor> pad(const view &a, int64_t padding)
{
    tn_tensor made;
    TENON_TRY(tn_pad_hw_copy(&made, a.c(), padding));
    return tensor::adopt(made);
}
inline ret<void> pad_inplace(tensor &a, int64_t padding)
{
    TENON_TRY(tn_pad_hw_inplace(a.raw(), padding));
    TENON_DONE;
}
inline ret<void> pad_into(const view &src, int64_t padding, const view &dst)
{
    TENON_TRY(tn_pad_hw_into(dst.c(), src.c(), padding));
    TENON_DONE;
}

/* Any widths and mode; before and after have an entry for each axis. */
inline ret<tensor> pad(const view &a, const shape &before, const shape &after,
                       tn_pad_mode mode = TN_PAD_CONSTANT)
{
    tn_tensor made;
    if (before.size() != a.ndim() || after.size() != a.ndim())
        TENON_TRY(tn_pad_copy(&made, a.c(), nullptr, nullptr, mode, nullptr));
    TENON_TRY(tn_pad_copy(&made, a.c(), before.data(), after.data(), mode, nullptr));
    return tensor::adopt(made);
}

/* ---- joins ---- */

namespace detail
{
inline std::vector<const tn_tensor *> pointers(const std::vector<view> &parts)
{
    std::vector<const tn_tensor *> at;
    for (const view &v : parts)
        at.push_back(v.c());
    return at;
}
} // namespace detail

inline ret<tensor> concat(const std::vector<view> &parts, int dim)
{
    auto at = detail::pointers(parts);
    std::vector<int64_t> extents;
    if (!parts.empty() && dim >= 0 && dim < parts[0].ndim()) {
        extents.assign(parts[0].extents().begin(), parts[0].extents().end());
        for (size_t k = 1; k < parts.size(); k++)
            extents[static_cast<size_t>(dim)] +=
                parts[k].ndim() > dim ? parts[k].extents()[dim] : 0;
    }
    TENON_GET(tensor, made,
              tensor::empty(shape(extents), parts.empty() ? TN_F32 : parts[0].dtype()));
    TENON_TRY(tn_concat(made.c(), dim, static_cast<int>(at.size()), at.data()));
    return made;
}

inline ret<tensor> stack(const std::vector<view> &parts, int dim)
{
    auto at = detail::pointers(parts);
    std::vector<int64_t> extents;
    if (!parts.empty())
        extents.assign(parts[0].extents().begin(), parts[0].extents().end());
    if (dim >= 0 && dim <= static_cast<int>(extents.size()))
        extents.insert(extents.begin() + dim, static_cast<int64_t>(parts.size()));
    TENON_GET(tensor, made,
              tensor::empty(shape(extents), parts.empty() ? TN_F32 : parts[0].dtype()));
    TENON_TRY(tn_stack(made.c(), dim, static_cast<int>(at.size()), at.data()));
    return made;
}

/* ---- one op, by its name in C ---- */

inline ret<tensor> apply(tn_op op, const std::vector<view> &sources,
                         const double *params = nullptr)
{
    auto at = detail::pointers(sources);
    tn_dtype in[3] = {TN_F32, TN_F32, TN_F32}, d = TN_F32;
    for (size_t k = 0; k < sources.size() && k < 3; k++)
        in[k] = sources[k].dtype();
    int n = static_cast<int>(at.size()), ndim = 0;
    int64_t extents[TN_MAX_NDIM];
    TENON_TRY(tn_op_result(op, in, n, &d));
    TENON_TRY(tn_broadcast_shape(n, at.data(), &ndim, extents));
    tensor made;
    TENON_TRY(tn_alloc(made.raw(), d, ndim, extents));
    TENON_TRY(tn_apply(op, params, made.c(), n, at.data()));
    return made;
}

inline ret<void> apply_into(tn_op op, const view &dst, const std::vector<view> &sources,
                            const double *params = nullptr)
{
    auto at = detail::pointers(sources);
    TENON_TRY(tn_apply(op, params, dst.c(), static_cast<int>(at.size()), at.data()));
    TENON_DONE;
}

/* ---- files ---- */

inline ret<void> save(const std::string &path, const view &v)
{
    TENON_TRY(tn_save(path.c_str(), v.c()));
    TENON_DONE;
}

/* Tensor number i of a file, in newly allocated memory. */
inline ret<tensor> load(const std::string &path, int64_t i = 0)
{
    tn_file *f = nullptr;
    TENON_TRY(tn_file_open(&f, path.c_str()));
    tn_tensor made;
    tn_status status = tn_file_read(f, i, &made);
    tn_file_close(f);
    TENON_TRY(status);
    return tensor::adopt(made);
}

} // inline namespace
} // namespace tn

#endif

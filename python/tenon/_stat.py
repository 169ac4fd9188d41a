"""Reductions, scans, sorting, sets, products."""

import builtins as _b
from collections import namedtuple as _namedtuple

from . import _core
from ._base import as_tensor, axes_of, axis_of, result_type
from ._core import Tensor, broadcast_to, permute_dims, reshape


def _reduce(name, x, axis, keepdims, dtype, out, param=None):
    if type(x) is not Tensor:
        record = getattr(x, "__tenon_reduce__", None)
        if record is not None:
            return record(name, axis, keepdims)
        x = as_tensor(x)
    return _core._reduce(name, x, axes_of(axis, x.ndim, name), keepdims, dtype, out, param)


def sum(x, /, *, axis=None, dtype=None, keepdims=False, out=None):
    """The sum over axes; small integers are added in 64 bits, floats by one fixed tree."""
    return _reduce("sum", x, axis, keepdims, dtype, out)


def prod(x, /, *, axis=None, dtype=None, keepdims=False, out=None):
    """The product over axes."""
    return _reduce("prod", x, axis, keepdims, dtype, out)


def mean(x, /, *, axis=None, keepdims=False, dtype=None, out=None):
    """The mean over axes."""
    return _reduce("mean", x, axis, keepdims, dtype, out)


def var(x, /, *, axis=None, correction=0.0, keepdims=False, out=None):
    """The variance over axes; correction 1 is the estimate from a sample."""
    return _reduce("var", x, axis, keepdims, None, out, _b.float(correction))


def std(x, /, *, axis=None, correction=0.0, keepdims=False, out=None):
    """The standard deviation over axes."""
    return _reduce("std", x, axis, keepdims, None, out, _b.float(correction))


def max(x, /, *, axis=None, keepdims=False, out=None):
    """The greatest element over axes; NaN if there is one."""
    return _reduce("max", x, axis, keepdims, None, out)


def min(x, /, *, axis=None, keepdims=False, out=None):
    """The smallest element over axes; NaN if there is one."""
    return _reduce("min", x, axis, keepdims, None, out)


def argmax(x, /, *, axis=None, keepdims=False, out=None):
    """The index of the first greatest element, along an axis or over all elements."""
    return _reduce("argmax", x, axis, keepdims, None, out)


def argmin(x, /, *, axis=None, keepdims=False, out=None):
    """The index of the first smallest element, along an axis or over all elements."""
    return _reduce("argmin", x, axis, keepdims, None, out)


def any(x, /, *, axis=None, keepdims=False, out=None):
    """True if some element over axes is not zero."""
    return _reduce("any", x, axis, keepdims, None, out)


def all(x, /, *, axis=None, keepdims=False, out=None):
    """True if no element over axes is zero."""
    return _reduce("all", x, axis, keepdims, None, out)


def count_nonzero(x, /, *, axis=None, keepdims=False, out=None):
    """The number of elements that are not zero."""
    return _reduce("count_nonzero", x, axis, keepdims, None, out)


def norm(x, /, *, ord=2, axis=None, keepdims=False, out=None):
    """The vector norm of an order over axes."""
    return _reduce("norm", x, axis, keepdims, None, out, _b.float(ord))


def logsumexp(x, /, *, axis=None, keepdims=False, out=None):
    """log(sum(exp(x))), without intermediate overflow."""
    return _reduce("logsumexp", x, axis, keepdims, None, out)


def _nan(name, text):
    def f(x, /, *, axis=None, keepdims=False, out=None):
        return _reduce(name, x, axis, keepdims, None, out)
    f.__name__ = f.__qualname__ = name
    f.__doc__ = text
    return f


nansum = _nan("nansum", "The sum over axes, NaN left out.")
nanprod = _nan("nanprod", "The product over axes, NaN left out.")
nanmean = _nan("nanmean", "The mean over axes, NaN left out.")
nanvar = _nan("nanvar", "The variance over axes, NaN left out.")
nanstd = _nan("nanstd", "The standard deviation over axes, NaN left out.")
nanmin = _nan("nanmin", "The smallest element over axes, NaN left out.")
nanmax = _nan("nanmax", "The greatest element over axes, NaN left out.")


# ---- scans ----

def _scan(name, x, axis, dtype, initial, call):
    x = as_tensor(x)
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"{call}: a tensor of {x.ndim} axes needs axis=")
        x, axis = (reshape(x, (1,)) if x.ndim == 0 else x), 0
    return _core._scan(name, x, axis_of(axis, x.ndim, call), dtype, initial)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running sums along an axis."""
    return _scan("cumsum", x, axis, dtype, include_initial, "cumulative_sum")


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running products along an axis."""
    return _scan("cumprod", x, axis, dtype, include_initial, "cumulative_prod")


def cumsum(x, /, axis=None, *, dtype=None):
    """Running sums along an axis; None: of all elements in row-major order."""
    x = as_tensor(x)
    return _scan("cumsum", reshape(x, (-1,)) if axis is None else x, axis, dtype, False, "cumsum")


def cumprod(x, /, axis=None, *, dtype=None):
    """Running products along an axis; None: of all elements in row-major order."""
    x = as_tensor(x)
    return _scan("cumprod", reshape(x, (-1,)) if axis is None else x, axis, dtype, False,
                 "cumprod")


def cummax(x, /, axis):
    """Running maxima along an axis."""
    return _scan("cummax", x, axis, None, False, "cummax")


def cummin(x, /, axis):
    """Running minima along an axis."""
    return _scan("cummin", x, axis, None, False, "cummin")


def logcumsumexp(x, /, axis):
    """Running logsumexp along an axis."""
    return _scan("logcumsumexp", x, axis, None, False, "logcumsumexp")


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Differences of neighbours along an axis, n times."""
    from ._manipulation import concat
    x = as_tensor(x)
    axis = axis_of(axis, x.ndim, "diff")
    if n < 0:
        raise ValueError(f"diff: n is {n}")
    if n == 0:
        return x
    parts = [as_tensor(p) for p in (prepend, x, append) if p is not None]
    one = x.shape[:axis] + (1,) + x.shape[axis + 1:]
    parts = [p if p.ndim else broadcast_to(p, one) for p in parts]
    if len(parts) > 1:
        x = concat(parts, axis=axis)
    for _ in range(n):
        x = _core._diff(x, axis)
    return x


# ---- rows ----

def softmax(x, /, *, axis=-1, out=None):
    """exp(x) / sum(exp(x)) along an axis."""
    x = as_tensor(x)
    return _core._softmax("softmax", x, axis_of(axis, x.ndim, "softmax"), out)


def log_softmax(x, /, *, axis=-1, out=None):
    """log(softmax(x)) along an axis."""
    x = as_tensor(x)
    return _core._softmax("log_softmax", x, axis_of(axis, x.ndim, "log_softmax"), out)


def causal_softmax(x, /, *, out=None):
    """softmax along the last axis, where row i attends to columns up to i."""
    return _core._softmax("causal_softmax", as_tensor(x), 0, out)


def rms_norm(x, weight=None, /, *, eps=1e-6, out=None):
    """x / sqrt(mean(x * x) + eps) * weight along the last axis."""
    return _core._norm(as_tensor(x), None if weight is None else as_tensor(weight), None, eps,
                       False, out)


def layer_norm(x, weight=None, bias=None, /, *, eps=1e-5, out=None):
    """(x - mean) / sqrt(var + eps) * weight + bias along the last axis."""
    return _core._norm(as_tensor(x), None if weight is None else as_tensor(weight),
                       None if bias is None else as_tensor(bias), eps, True, out)


# ---- chosen by data ----

def _whole(indices, call):
    indices = as_tensor(indices)
    if indices.dtype.kind not in "iu":
        raise IndexError(f"{call}: indices are {indices.dtype.name}, expected integers")
    return indices


def take(x, indices, /, *, axis=None):
    """The elements at indices along an axis; the axes of indices replace it."""
    x, indices = as_tensor(x), _whole(indices, "take")
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: a tensor of {x.ndim} axes needs axis=")
        axis = 0
    return _core._take(x, axis_of(axis, x.ndim, "take"), indices)


def take_along_axis(x, indices, /, *, axis=-1):
    """x[..., indices[..., i, ...], ...] along an axis."""
    x, indices = as_tensor(x), _whole(indices, "take_along_axis")
    if x.ndim != indices.ndim:
        raise ValueError(f"take_along_axis: {x.ndim} axes and {indices.ndim} of indices")
    return _core._take_along(x, axis_of(axis, x.ndim, "take_along_axis"), indices)


_PUT = {None: 0, "set": 0, "add": 1, "sum": 1, "mul": 2, "prod": 2, "multiply": 2, "min": 3,
        "amin": 3, "max": 4, "amax": 4}


def _put_op(reduce, call):
    if reduce not in _PUT:
        raise ValueError(f"{call}: reduce is {reduce!r}, expected one of "
                         "None, 'add', 'mul', 'min', 'max'")
    return _PUT[reduce]


def scatter(x, indices, updates, /, *, axis, reduce=None):
    """A copy of x with updates at indices along an axis; duplicates in row-major order."""
    x = as_tensor(x)
    out = _core._astype(x, x.dtype, True)
    updates = as_tensor(updates)
    if updates.dtype is not x.dtype:
        updates = _core._astype(updates, x.dtype, True)
    indices = _whole(indices, "scatter")
    op, axis = _put_op(reduce, "scatter"), axis_of(axis, x.ndim, "scatter")
    call = _core._put_along if indices.ndim == x.ndim and x.ndim > 1 else _core._put
    return call(op, out, axis, indices, updates)


def scatter_nd(x, indices, updates, /, *, reduce=None):
    """A copy of x with updates at coordinates: indices (..., k) index the first k axes."""
    from ._index import flat_index
    x, indices = as_tensor(x), _whole(indices, "scatter_nd")
    k = indices.shape[-1] if indices.ndim else 0
    if not 1 <= k <= x.ndim:
        raise ValueError(f"scatter_nd: {k} coordinates for {x.ndim} axes")
    out = _core._astype(x, x.dtype, True)
    flat = flat_index([indices[..., i] for i in range(k)], x.shape[:k])
    rows = reshape(out, (-1,) + x.shape[k:])
    updates = as_tensor(updates)
    if updates.dtype is not x.dtype:
        updates = _core._astype(updates, x.dtype, True)
    _core._put(_put_op(reduce, "scatter_nd"), rows, 0, flat, updates)
    return out


def nonzero(x, /):
    """The indices of non-zero elements, one tensor for each axis."""
    x = as_tensor(x)
    if x.ndim == 0:
        raise ValueError("nonzero: a tensor without axes")
    found = _core._nonzero(x)
    return tuple(found[:, i] for i in range(x.ndim))


def argwhere(x, /):
    """The indices of non-zero elements, one row for each element."""
    return _core._nonzero(as_tensor(x))


def compress(mask, x, /):
    """The elements where mask is true, in row-major order."""
    return _core._masked_select(as_tensor(x), as_tensor(mask))


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """x sorted along an axis; always stable, NaN last."""
    x = as_tensor(x)
    return _core._sort(x, axis_of(axis, x.ndim, "sort"), descending, True, False, -1)[0]


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """The indices that sort x along an axis."""
    x = as_tensor(x)
    return _core._sort(x, axis_of(axis, x.ndim, "argsort"), descending, False, True, -1)[1]


TopK = _namedtuple("TopK", "values indices")


def topk(x, k, /, *, axis=-1, largest=True):
    """The first k elements of the order along an axis: values and indices."""
    x = as_tensor(x)
    return TopK(*_core._sort(x, axis_of(axis, x.ndim, "topk"), largest, True, True, k))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """The positions at which the elements of x2 belong in the sorted x1."""
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is {side!r}, expected 'left' or 'right'")
    x1, x2 = as_tensor(x1), as_tensor(x2)
    if sorter is not None:
        x1 = take(x1, sorter, axis=0)
    d = result_type(x1, x2)
    x1, x2 = (x if x.dtype is d else _core._astype(x, d, True) for x in (x1, x2))
    return _core._searchsorted(x1, x2, side == "right")


UniqueAll = _namedtuple("UniqueAll", "values indices inverse_indices counts")
UniqueCounts = _namedtuple("UniqueCounts", "values counts")
UniqueInverse = _namedtuple("UniqueInverse", "values inverse_indices")


def unique_all(x, /):
    """Distinct elements, their first indices, the inverse and counts; each NaN is distinct."""
    values, first, inverse, counts = _core._unique(as_tensor(x), True)
    return UniqueAll(values, first, inverse, counts)


def unique_counts(x, /):
    """The distinct elements and their counts."""
    values, _, _, counts = _core._unique(as_tensor(x), True)
    return UniqueCounts(values, counts)


def unique_inverse(x, /):
    """The distinct elements and, for each element of x, the index of its value."""
    values, _, inverse, _ = _core._unique(as_tensor(x), True)
    return UniqueInverse(values, inverse)


def unique_values(x, /):
    """The distinct elements, in order."""
    return _core._unique(as_tensor(x), True)[0]


def unique(x, /):
    """The distinct elements, in order; all NaN count as one."""
    return _core._unique(as_tensor(x), False)[0]


def bincount(x, /, *, minlength=0):
    """The number of occurrences of each value."""
    x = as_tensor(x)
    n = 0 if x.size == 0 else _b.int(max(x)) + 1
    return _core._bincount(x, _b.max(n, minlength))


def histogram(x, /, bins=10, range=None):
    """Counts of equal bins, and their edges."""
    from ._base import linspace
    x = as_tensor(x)
    if range is None:
        range = (0.0, 1.0) if x.size == 0 else (_b.float(min(x)), _b.float(max(x)))
        if range[0] == range[1]:
            range = (range[0] - 0.5, range[1] + 0.5)
    return _core._histogram(x, bins, *range), linspace(*range, bins + 1)


# ---- products ----

def matmul(x1, x2, /, *, out=None):
    """The matrix product; batch axes broadcast."""
    return _core._matmul(as_tensor(x1), as_tensor(x2), out)


def vecdot(x1, x2, /, *, axis=-1):
    """The sum of conj(x1) * x2 along an axis."""
    from ._math import conj
    x1, x2 = as_tensor(x1), as_tensor(x2)
    n = _b.min(x1.ndim, x2.ndim)
    if n == 0 or not -n <= axis < 0:
        if axis >= 0 and x1.ndim == x2.ndim and axis < x1.ndim:
            axis -= x1.ndim
        else:
            axis_of(axis, n, "vecdot")
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: extents {x1.shape[axis]} and {x2.shape[axis]} of axis {axis} "
                         "differ")
    d = result_type(x1, x2)
    a, b = (_core._astype(x, d, False) for x in (x1, x2))
    return _core._vecdot(conj(a) if d.kind == "c" else a, b, axis)


def tensordot(x1, x2, /, *, axes=2):
    """Sum of products over axes of both arrays."""
    x1, x2 = as_tensor(x1), as_tensor(x2)
    if isinstance(axes, _b.int):
        if not 0 <= axes <= _b.min(x1.ndim, x2.ndim):
            raise ValueError(f"tensordot: axes is {axes}")
        left, right = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    else:
        left, right = (axes_of(tuple(a) if isinstance(a, (tuple, list)) else a, n, "tensordot")
                       for a, n in zip(axes, (x1.ndim, x2.ndim)))
    if len(left) != len(right) or _b.any(x1.shape[a] != x2.shape[b]
                                         for a, b in zip(left, right)):
        raise ValueError(f"tensordot: axes {left} of {x1.shape} do not fit {right} of {x2.shape}")
    keep1 = [i for i in range(x1.ndim) if i not in left]
    keep2 = [i for i in range(x2.ndim) if i not in right]
    k = 1
    for a in left:
        k *= x1.shape[a]
    rows = tuple(x1.shape[i] for i in keep1)
    columns = tuple(x2.shape[i] for i in keep2)
    a = reshape(permute_dims(x1, tuple(keep1) + left), (_count(rows), k))
    b = reshape(permute_dims(x2, right + tuple(keep2)), (k, _count(columns)))
    return reshape(matmul(a, b), rows + columns)


def _count(shape):
    n = 1
    for extent in shape:
        n *= extent
    return n


def outer(x1, x2, /):
    """Every product of an element of x1 and one of x2."""
    x1, x2 = reshape(as_tensor(x1), (-1,)), reshape(as_tensor(x2), (-1,))
    return _core.multiply(reshape(x1, (-1, 1)), x2)


def trace(x, /, *, offset=0, axis1=0, axis2=1, dtype=None):
    """The sum of a diagonal."""
    from ._manipulation import diagonal
    return sum(diagonal(x, offset, axis1, axis2), axis=-1, dtype=dtype)


def cross(x1, x2, /, *, axis=-1):
    """The cross product of vectors of three along an axis."""
    from ._manipulation import stack
    x1, x2 = as_tensor(x1), as_tensor(x2)
    a, b = axis_of(axis, x1.ndim, "cross"), axis_of(axis, x2.ndim, "cross")
    if x1.shape[a] != 3 or x2.shape[b] != 3:
        raise ValueError("cross: expected axes of extent 3")
    p = [x1[(slice(None),) * a + (i,)] for i in range(3)]
    q = [x2[(slice(None),) * b + (i,)] for i in range(3)]
    parts = [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
    return stack(parts, axis=axis)


def _letters(pattern):
    """Names replaced by letters, which tn_einsum reads unambiguously."""
    import re
    import string
    names, letters = {}, iter(string.ascii_letters)
    used = re.findall(r"[A-Za-z_][A-Za-z0-9_]*", pattern)
    for name in used:
        if name not in names:
            names[name] = next(letters)
    return re.sub(r"[A-Za-z_][A-Za-z0-9_]*", lambda m: names[m.group()], pattern)


def einsum(*operands, out=None):
    """Sums of products by names: einsum(a, b, "i j, j k -> i k") or einsum("ij,jk->ik", a, b)."""
    if operands and isinstance(operands[0], str):
        text, arrays = operands[0], operands[1:]
    elif operands and isinstance(operands[-1], str):
        text, arrays = _letters(operands[-1]), operands[:-1]
    else:
        raise TypeError("einsum: the first or the last argument is the text")
    return _core._einsum(text, [as_tensor(a) for a in arrays], out)




def reduce(x, pattern, /, reduction, **sizes):
    """einops.reduce: reduce(x, "b (h 2) (w 2) -> b h w", "max"); a name or a callable."""
    from ._manipulation import _pattern, _sizes, stack
    if isinstance(x, (list, tuple)):
        x = stack(x)
    x = as_tensor(x)
    if callable(reduction):
        left, merged, axes = _core_split(pattern, x, sizes)
        return _pattern(reduction(left, axes), merged, {}, None, "reduce")
    return _core._pattern_reduce(reduction, x, pattern, _sizes(sizes, "reduce"))


def _core_split(pattern, x, sizes):
    """For a callable: x with an axis for each name, the pattern that follows, the reduced axes."""
    from ._manipulation import rearrange
    from ._errors import PatternError
    if pattern.count("->") != 1:
        raise PatternError(f"reduce: {pattern!r} needs one ->")
    left, right = pattern.split("->")
    names = left.replace("(", " ").replace(")", " ").split()
    anonymous, flat = 0, []
    if "..." in names:
        grouped = left.replace("(", " ( ").replace(")", " ) ").split()
        outside = _outside(grouped)
        rest = x.ndim - (outside - 1)
        dots = [f"dots{i}" for i in range(rest)]
        left = left.replace("...", " ".join(dots))
        right = right.replace("...", " ".join(dots))
        names = left.replace("(", " ").replace(")", " ").split()
    spelled = left
    for name in names:
        if name.isdigit() and name != "1":
            new = f"number{anonymous}"
            anonymous += 1
            sizes[new] = _b.int(name)
            import re
            spelled = re.sub(rf"(?<![\w]){name}(?![\w])", new, spelled, count=1)
            name = new
        flat.append(name)
    flat = [n for n in flat if n != "1"]
    kept = right.replace("(", " ").replace(")", " ").split()
    reduced = tuple(i for i, n in enumerate(flat) if n not in kept)
    opened = rearrange(x, f"{spelled} -> {' '.join(flat)}", **sizes)
    rest = " ".join(n for n in flat if n in kept)
    return opened, f"{rest} -> {right}", reduced


def _outside(words):
    """The number of dimensions of the left side; a group counts once."""
    depth = count = 0
    for w in words:
        if w == "(":
            depth += 1
            count += depth == 1
        elif w == ")":
            depth -= 1
        elif depth == 0:
            count += 1
    return count

"""NumPy's protocols, imported when NumPy first uses them."""

import builtins as _b

from . import _core
from ._core import Tensor, asarray

_VOID = {"bfloat16", "float8_e4m3fn", "float8_e5m2"}


def numpy_dtype(dtype):
    """The NumPy dtype; bfloat16 and float8 are those of ml_dtypes."""
    import numpy as np
    if dtype.name not in _VOID:
        return np.dtype(dtype.name)
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(f"{dtype.name} has no NumPy dtype; install ml_dtypes, or "
                        "t.astype(tenon.float32)") from None
    return np.dtype(getattr(ml_dtypes, dtype.name))


def from_interface(obj, interface):
    """A Tensor over __array_interface__: bfloat16 and float8 of ml_dtypes have no buffer."""
    kind = interface["typestr"]
    name = getattr(getattr(obj, "dtype", None), "name", "")
    if name in _VOID:
        dtype = name
    elif kind[0] == ">":
        raise TypeError(f"asarray: {kind} is not in native byte order; convert it first, in "
                        'NumPy with x.astype(x.dtype.newbyteorder("="))')
    else:
        table = {"b1": "bool", "f2": "float16", "f4": "float32", "f8": "float64",
                 "c8": "complex64", "c16": "complex128"}
        table.update({f"i{n}": f"int{8 * n}" for n in (1, 2, 4, 8)})
        table.update({f"u{n}": f"uint{8 * n}" for n in (1, 2, 4, 8)})
        if kind[1:] not in table:
            raise TypeError(f"asarray: elements of type {name or kind} are not supported")
        dtype = table[kind[1:]]
    if interface.get("mask") is not None:
        raise TypeError("asarray: masked arrays are not supported")
    data = interface.get("data")
    if data is None:
        raise TypeError("asarray: __array_interface__ has no address")
    address, readonly = data
    return _core._at_address(obj, address, dtype, tuple(interface["shape"]),
                             interface.get("strides"), readonly)


def to_numpy(x):
    """The elements as an ndarray, which shares memory if NumPy has the dtype."""
    import numpy as np
    if x.dtype.name not in _VOID:
        return np.asarray(memoryview(x)) if x.ndim else np.asarray(memoryview(x)).reshape(())
    bits = _core._bitcast(x, "uint16" if x.itemsize == 2 else "uint8")
    return to_numpy(bits).view(numpy_dtype(x.dtype))


def array(x, dtype=None, copy=None):
    """__array__: used by NumPy for bfloat16 and float8, which a buffer cannot express."""
    import numpy as np
    a = to_numpy(x)
    if dtype is not None and np.dtype(dtype) != a.dtype:
        if copy is False:
            raise ValueError("__array__: copy=False, but another dtype needs a copy")
        return a.astype(dtype)
    return a.copy() if copy else a


_UFUNCS = {
    "true_divide": "divide", "absolute": "abs", "power": "pow", "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
    "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "rint": "round",
    "conjugate": "conj", "mod": "remainder", "fabs": "abs",
}
_REDUCE = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min",
           "logical_and": "all", "logical_or": "any"}


def _lower(value):
    """Convert Tensors inside arguments to ndarrays."""
    if isinstance(value, Tensor):
        return to_numpy(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_lower(v) for v in value) if type(value) in (list, tuple) else value
    if isinstance(value, dict):
        return {k: _lower(v) for k, v in value.items()}
    return value


def _raise(value):
    """Convert ndarrays of a result to Tensors, if tenon has the dtype."""
    import numpy as np
    if isinstance(value, (np.ndarray, np.generic)):
        try:
            return asarray(value)
        except TypeError:
            return value
    if type(value) in (list, tuple):
        return type(value)(_raise(v) for v in value)
    return value


def array_ufunc(self, ufunc, method, *inputs, out=None, **kwargs):
    """np.exp(t) and ndarray + t give Tensors; NumPy runs what tenon lacks, on the same memory."""
    import tenon
    name = _UFUNCS.get(ufunc.__name__, ufunc.__name__)
    target = None
    if out is not None:
        target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if method == "__call__" and not kwargs and not isinstance(target, tuple):
        f = getattr(tenon, name, None)
        if f is not None:
            try:
                return f(*inputs) if target is None else f(*inputs, out=target)
            except tenon.DTypeError:
                pass
    if method == "reduce" and ufunc.__name__ in _REDUCE and target is None and \
            not set(kwargs) - {"axis", "keepdims", "dtype"}:
        f = getattr(tenon, _REDUCE[ufunc.__name__])
        options = {k: v for k, v in kwargs.items() if v is not None or k == "axis"}
        options.setdefault("axis", 0)
        if ufunc.__name__ in ("add", "multiply") or "dtype" not in options:
            return f(inputs[0], **options)
    given = _lower(inputs)
    if out is not None:
        kwargs["out"] = _lower(out)
    result = getattr(ufunc, method)(*given, **_lower(kwargs))
    if target is not None and not isinstance(target, tuple):
        return target
    return _raise(result)


def _concatenate(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    import tenon
    made = tenon.concat(arrays, axis=axis)
    if dtype is not None:
        made = tenon.astype(made, dtype, copy=False)
    if out is None:
        return made
    asarray(out, copy=False)[...] = made
    return out


def _transpose(a, axes=None):
    return a.T if axes is None else _core.permute_dims(a, axes)


def _pad(array_, pad_width, mode="constant", **kwargs):
    import tenon
    if mode not in ("constant", "edge", "reflect", "symmetric", "wrap") or \
            set(kwargs) - {"constant_values"} or \
            not isinstance(kwargs.get("constant_values", 0), (_b.int, _b.float, _b.complex)):
        return NotImplemented
    return tenon.pad(array_, pad_width, mode, **kwargs)


def _einsum(*operands, out=None, optimize=False, **kwargs):
    import tenon
    if kwargs or not isinstance(operands[0], str):
        return NotImplemented
    return tenon.einsum(*operands, out=out)


def _tensordot(a, b, axes=2):
    import tenon
    return tenon.tensordot(a, b, axes=axes)


def _take(a, indices, axis=None, out=None, mode="raise"):
    import tenon
    if out is not None or mode != "raise":
        return NotImplemented
    return tenon.take(a.reshape(-1), indices, axis=0) if axis is None else \
        tenon.take(a, indices, axis=axis)


def _reduction(name):
    def f(a, axis=None, dtype=None, out=None, keepdims=False, **kwargs):
        import tenon
        g = getattr(tenon, name)
        options = {"axis": axis, "keepdims": _b.bool(keepdims), "out": out}
        if dtype is not None:
            if name not in ("sum", "prod", "mean"):
                return NotImplemented
            options["dtype"] = dtype
        if "ddof" in kwargs and name in ("var", "std"):
            options["correction"] = kwargs.pop("ddof")
        if kwargs:
            return NotImplemented
        return g(a, **options)
    return f


def _table():
    import tenon
    same = ("stack", "vstack", "hstack", "dstack", "column_stack", "broadcast_to", "reshape",
            "ravel", "squeeze", "tile", "roll", "flip", "fliplr", "flipud", "rot90",
            "moveaxis", "swapaxes", "diagonal", "where", "clip", "split", "array_split",
            "hsplit", "vsplit", "dsplit", "atleast_1d", "atleast_2d", "atleast_3d", "tril",
            "triu", "nonzero", "sort", "argsort", "searchsorted", "take_along_axis", "outer",
            "trace", "diff", "cumsum", "cumprod", "zeros_like", "ones_like", "empty_like",
            "full_like", "matmul", "count_nonzero", "repeat", "isclose")
    table = {n: getattr(tenon, n) for n in same if hasattr(tenon, n)}
    table.update(concatenate=_concatenate, concat=_concatenate, transpose=_transpose,
                 pad=_pad, einsum=_einsum, tensordot=_tensordot, take=_take)
    for name in ("sum", "prod", "mean", "max", "min", "any", "all", "argmax", "argmin", "var",
                 "std", "nansum", "nanprod", "nanmean", "nanmin", "nanmax", "nanvar", "nanstd"):
        table[name] = _reduction(name)
    table["amax"], table["amin"] = table["max"], table["min"]
    return table


_functions: dict = {}


def array_function(self, func, types, args, kwargs):
    """np.concatenate([t, u]) and so on: tenon's function of that name, otherwise NumPy's."""
    if not _functions:
        _functions.update(_table())
    f = _functions.get(func.__name__)
    if f is not None:
        try:
            result = f(*args, **kwargs)
            if result is not NotImplemented:
                return result
        except TypeError:
            pass  # an argument that only NumPy has
    return _raise(func(*_lower(args), **_lower(kwargs)))


def reduce_ex(x, protocol):
    """pickle: out-of-band buffers from protocol 5 on, the bytes themselves before."""
    import pickle
    dense = _core.contiguous(x)
    raw = _core._bitcast(dense.reshape(-1), "uint8") if x.size else dense
    if protocol >= 5 and x.size:
        return _rebuild, (pickle.PickleBuffer(raw), x.shape, x.dtype.name)
    return _rebuild, (_b.bytes(memoryview(raw)) if x.size else b"", x.shape, x.dtype.name)


def _rebuild(raw, shape, name):
    buffer = memoryview(raw)
    if not buffer.nbytes:
        return _core._empty(shape, name)
    flat = asarray(buffer.cast("B"))
    made = _core._bitcast(flat, name).reshape(shape)
    return _core._astype(made, name, True) if made.readonly and isinstance(raw, bytes) else made


def tokenize(x):
    """__dask_tokenize__: the same token for the same elements."""
    import hashlib
    dense = _core.contiguous(x)
    raw = memoryview(_core._bitcast(dense.reshape(-1), "uint8")) if x.size else b""
    return ("tenon.Tensor", x.shape, x.dtype.name, hashlib.sha1(raw).hexdigest())

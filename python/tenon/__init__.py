"""CPU tensors: zero-copy views, strided copies, patterns, elementwise ops and reductions.

The namespace contains that of the Array API, version 2024.12; results are always Tensors.
"""

from . import _core
from ._errors import (ArgumentError, AxisError, DeviceError, DTypeError, FileError, FormatError,
                      IndexingError, LayoutError, OutOfMemoryError, OverlapError, PatternError,
                      ShapeError, SizeError, TenonError, UnsupportedError)
from ._core import *  # noqa: F401,F403 the elementwise functions and dtypes
from ._core import DType, Plan, Tensor, asarray, broadcast_to, contiguous, permute_dims
from ._core import reshape, unsqueeze
from ._base import (__array_namespace_info__, arange, astype, can_cast, config, empty,
                    empty_like, eye, finfo, frombuffer, full, full_like,
                    get_num_threads, iinfo, isdtype, linspace, meshgrid, ones, ones_like,
                    randint, randn, result_type, set_num_threads, show_config, tensor, threads,
                    tril, triu, zeros, zeros_like)
from ._math import clip, conj, copy, fill_, gelu, imag, positive, real, view
from ._math import contains as _contains
from ._manipulation import (array_split, atleast_1d, atleast_2d, atleast_3d, broadcast_arrays,
                            broadcast_shapes, column_stack, concat, diagonal, dsplit, dstack,
                            expand, expand_dims, flatten, flip, fliplr, flipud, hsplit, hstack,
                            matrix_transpose, moveaxis, pack, pad, parse_shape, ravel, rearrange,
                            repeat, roll, rot90, sliding_window_view, split, squeeze, stack,
                            swapaxes, tile, transpose, unbind, unpack, unstack, vsplit, vstack,
                            windows)
from ._stat import (TopK, UniqueAll, UniqueCounts, UniqueInverse, all, any, argmax, argmin, argsort, argwhere, bincount, causal_softmax,
                    compress, count_nonzero, cross, cummax, cummin, cumprod, cumsum,
                    cumulative_prod, cumulative_sum, diff, einsum, histogram, layer_norm,
                    log_softmax, logcumsumexp, logsumexp, matmul, max, mean, min, nanmax, nanmean,
                    nanmin, nanprod, nanstd, nansum, nanvar, nonzero, norm, outer, prod, reduce,
                    rms_norm, scatter, scatter_nd, searchsorted, softmax, sort, std, sum, take,
                    take_along_axis, tensordot, topk, trace, unique, unique_all, unique_counts,
                    unique_inverse, unique_values, var, vecdot)
from ._index import getitem as _getitem, setitem as _setitem
from ._print import printoptions

import math as _math_constants

e, pi, inf, nan = (_math_constants.e, _math_constants.pi, _math_constants.inf,
                   _math_constants.nan)
newaxis = None
concatenate = concat
__array_api_version__ = "2024.12"
__version__ = _core._facts()["version"]
del _math_constants

for _name in ("Export", "register", "clip3", "gelu_erf", "open_file", "save_file", "open_writer"):
    globals().pop(_name, None)


# ---- what is imported when it is first used ----

def _lazy(module, name):
    def f(*args, **kwargs):
        import importlib
        return getattr(importlib.import_module(f"tenon.{module}"), name)(*args, **kwargs)
    f.__name__ = f.__qualname__ = name
    return f


_LATER = {
    "load": "_files", "open": "_files", "save": "_files", "writer": "_files", "File": "_files",
    "Writer": "_files", "Entry": "_files", "plan": "_plan", "explain": "_plan",
    "ViewPlan": "_plan", "eval": "_expr", "fuse": "_expr", "Fused": "_expr",
}


def __getattr__(name):
    if name in _LATER:
        import importlib
        value = getattr(importlib.import_module(f"tenon.{_LATER[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tenon' has no attribute {name!r}")


def __dir__():
    return sorted(set(globals()) | set(_LATER))


# ---- slots and methods ----

_core.register(
    getitem=_getitem, setitem=_setitem, contains=_contains, matmul=matmul, tensor=tensor,
    repr_tensor=_lazy("_print", "repr_tensor"), str_tensor=_lazy("_print", "str_tensor"),
    numpy_dtype=_lazy("_numpy", "numpy_dtype"), from_interface=_lazy("_numpy", "from_interface"))


def _methods():
    def to_device(self, device, /, *, stream=None):
        """The tensor itself: the CPU is the only device."""
        if device != "cpu" or stream is not None:
            raise ValueError(f"to_device: {device!r}, expected \"cpu\"")
        return self

    def array_ufunc(self, ufunc, method, *inputs, **kwargs):
        from ._numpy import array_ufunc
        return array_ufunc(self, ufunc, method, *inputs, **kwargs)

    def array_function(self, func, types, args, kwargs):
        from ._numpy import array_function
        return array_function(self, func, types, args, kwargs)

    def array(self, dtype=None, copy=None):
        from ._numpy import array
        return array(self, dtype, copy)

    def to_numpy(self):
        """The elements as an ndarray, which shares memory if NumPy has the dtype."""
        from ._numpy import to_numpy
        return to_numpy(self)

    def reduce_ex(self, protocol):
        from ._numpy import reduce_ex
        return reduce_ex(self, protocol)

    def tokenize(self):
        from ._numpy import tokenize
        return tokenize(self)

    def deep(self, memo):
        return copy(self)

    def form(self, spec):
        from ._print import format_tensor
        return format_tensor(self, spec)

    def html(self):
        from ._print import html_tensor
        return html_tensor(self)

    def type_as(self, dtype, *, copy=True):
        """The elements converted to another dtype."""
        return astype(self, dtype, copy=copy)

    special = {
        "to_device": to_device, "__array_ufunc__": array_ufunc,
        "__array_function__": array_function, "__array__": array, "to_numpy": to_numpy,
        "numpy": to_numpy, "__reduce_ex__": reduce_ex, "__dask_tokenize__": tokenize,
        "__copy__": copy, "__deepcopy__": deep, "__format__": form, "_repr_html_": html,
        "astype": type_as,
    }
    for f in (contiguous, copy, fill_, view, flatten, ravel, squeeze, unsqueeze, expand,
              transpose, clip, windows, diagonal, unbind, rearrange, pad, take, sum, mean, prod,
              max, min, argmax, argmin, all, any, cumsum, std, var, swapaxes, moveaxis, flip,
              conj, sort, argsort, softmax, repeat, roll):
        special[f.__name__] = f
    return special


def _by_position(f):
    """x.sum(0) as in NumPy: the first positional argument of a method may be the axis."""
    def method(self, axis=None, **options):
        return f(self, axis=axis, **options)
    method.__name__ = f.__name__
    method.__qualname__ = f"Tensor.{f.__name__}"
    method.__doc__ = f.__doc__
    return method


for _name, _f in _methods().items():
    if _f in (sum, mean, prod, max, min, argmax, argmin, all, any, std, var):
        _f = _by_position(_f)
    elif type(_f) is type(_core.asarray):
        _f = (lambda g: lambda self, *args, **options: g(self, *args, **options))(_f)
        _f.__name__, _f.__qualname__ = _name, f"Tensor.{_name}"
        _f.__doc__ = getattr(_core, _name).__doc__
    setattr(Tensor, _name, _f)


def _round(self, decimals=0):
    """Round to this number of decimals, halves to even."""
    scale = 10.0**decimals
    return _core.round(self) if decimals == 0 else _core.round(self * scale) / scale


_round.__name__, _round.__qualname__ = "round", "Tensor.round"
Tensor.round = _round
Tensor.real = property(real)
Tensor.imag = property(imag)
Tensor.__module__ = "tenon"
del _name, _f

import sys as _sys

if "einops" in _sys.modules:
    from . import einops as _einops  # noqa: F401
del _sys

"""Dtypes, creation, and the helpers that the other modules share."""

import builtins as _b
import math as _math
import os as _os

from . import _core
from ._core import DType, Tensor, asarray, dtype as _dtype

_NAMES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64",
          "complex64", "complex128")
_DTYPES = {name: getattr(_core, name) for name in _NAMES}
_NUMBERS = (_b.bool, _b.int, _b.float, _b.complex)
float64, int64, complex128, bool_ = (_DTYPES[n] for n in
                                     ("float64", "int64", "complex128", "bool"))


def as_tensor(x):
    """x as a Tensor, which shares memory if possible."""
    return x if type(x) is Tensor else asarray(x)


def check_device(device, call):
    if device is not None and device != "cpu":
        raise ValueError(f"{call}: device {device!r}, expected \"cpu\"")


def axis_of(axis, ndim, call):
    """One axis, counted from the front."""
    i = axis.__index__()
    if not -ndim <= i < ndim:
        from ._errors import AxisError
        raise AxisError(f"{call}: axis {i} is out of range for a tensor of {ndim} axes")
    return i + ndim if i < 0 else i


def axes_of(axis, ndim, call):
    """A tuple of distinct axes, counted from the front; None stays None."""
    if axis is None:
        return None
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(axis_of(a, ndim, call) for a in given)
    if len(set(axes)) != len(axes):
        raise ValueError(f"{call}: an axis is named twice in {tuple(given)}")
    return axes


def shape_of(shape):
    """A tuple of extents; a single number means one axis."""
    if isinstance(shape, (tuple, list)):
        return tuple(n.__index__() for n in shape)
    return (shape.__index__(),)


# ---- dtypes ----

_FLOATS = {  # bits, eps, max, smallest normal
    "float8_e4m3fn": (8, 2.0**-3, 448.0, 2.0**-6),
    "float8_e5m2": (8, 2.0**-2, 57344.0, 2.0**-14),
    "float16": (16, 2.0**-10, 65504.0, 2.0**-14),
    "bfloat16": (16, 2.0**-7, (2 - 2.0**-7) * 2.0**127, 2.0**-126),
    "float32": (32, 2.0**-23, (2 - 2.0**-23) * 2.0**127, 2.0**-126),
    "float64": (64, 2.0**-52, (2 - 2.0**-52) * 2.0**1023, 2.0**-1022),
}


class finfo:
    """Properties of a float dtype: bits, eps, max, min, smallest_normal, dtype."""

    __slots__ = ("bits", "eps", "max", "min", "smallest_normal", "dtype")

    def __init__(self, type, /):
        d = type.dtype if isinstance(type, Tensor) else _dtype(type)
        if d.kind == "c":
            d = _DTYPES["float32" if d.itemsize == 8 else "float64"]
        if d.kind != "f":
            raise TypeError(f"finfo: expected a float dtype, got {d.name}")
        self.bits, self.eps, self.max, self.smallest_normal = _FLOATS[d.name]
        self.min = -self.max
        self.dtype = d

    def __repr__(self):
        return f"finfo(bits={self.bits}, eps={self.eps}, max={self.max}, dtype={self.dtype.name})"


class iinfo:
    """Properties of an integer dtype: bits, max, min, dtype."""

    __slots__ = ("bits", "max", "min", "dtype")

    def __init__(self, type, /):
        d = type.dtype if isinstance(type, Tensor) else _dtype(type)
        if d.kind not in "iu":
            raise TypeError(f"iinfo: expected an integer dtype, got {d.name}")
        self.bits = 8 * d.itemsize
        self.min = -(1 << (self.bits - 1)) if d.kind == "i" else 0
        self.max = (1 << (self.bits - (d.kind == "i"))) - 1
        self.dtype = d

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype.name})"


_KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu",
    "real floating": "f", "complex floating": "c", "numeric": "iufc",
}


def isdtype(dtype, kind):
    """True if dtype is of this kind: a dtype, the name of a kind, or a tuple of them."""
    if isinstance(kind, tuple):
        return _b.any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"isdtype: unknown kind {kind!r}")
        return _dtype(dtype).kind in _KINDS[kind]
    return _dtype(dtype) is _dtype(kind)


def result_type(*arrays_and_dtypes):
    """The dtype that arrays, dtypes and Python numbers promote to."""
    strong, weak = [], []
    for x in arrays_and_dtypes:
        if isinstance(x, Tensor):
            strong.append(x.dtype)
        elif type(x) in _NUMBERS:
            weak.append(x)
        elif isinstance(x, (DType, str, type)):
            strong.append(_dtype(x))
        else:
            strong.append(_dtype(getattr(x, "dtype", x)))
    if not strong:
        if not weak:
            raise ValueError("result_type: nothing was given")
        strong, weak = [asarray(weak[0]).dtype], weak[1:]
    d = _core._promote(*strong)
    for number in weak:
        d = _core._weak(number, d)
    return d


def can_cast(from_, to, /):
    """True if promotion can convert from_ to to."""
    source = from_.dtype if isinstance(from_, Tensor) else _dtype(from_)
    to = _dtype(to)
    try:
        return _core._promote(source, to) is to
    except TypeError:
        return False


def astype(x, dtype, /, *, copy=True, device=None):
    """The elements converted to another dtype, by the library's defined casts."""
    check_device(device, "astype")
    return _core._astype(x, dtype, copy)


# ---- creation ----

def empty(shape, *, dtype=None, device=None):
    """A tensor with uninitialised elements."""
    check_device(device, "empty")
    return _core._empty(shape_of(shape), float64 if dtype is None else dtype)


def full(shape, fill_value, *, dtype=None, device=None):
    """A tensor whose elements all equal one value."""
    check_device(device, "full")
    if dtype is None:
        dtype = asarray(fill_value).dtype
    return _core._fill(_core._empty(shape_of(shape), dtype), fill_value)


def zeros(shape, *, dtype=None, device=None):
    """A tensor of zeros."""
    check_device(device, "zeros")
    return _core._fill(_core._empty(shape_of(shape), float64 if dtype is None else dtype), False)


def ones(shape, *, dtype=None, device=None):
    """A tensor of ones."""
    check_device(device, "ones")
    return _core._fill(_core._empty(shape_of(shape), float64 if dtype is None else dtype), True)


def _like(x, dtype, device, call):
    check_device(device, call)
    x = as_tensor(x)
    return _core._empty(x.shape, x.dtype if dtype is None else dtype)


def empty_like(x, /, *, dtype=None, device=None):
    """A tensor of x's shape with uninitialised elements."""
    return _like(x, dtype, device, "empty_like")


def zeros_like(x, /, *, dtype=None, device=None):
    """Zeros of x's shape."""
    return _core._fill(_like(x, dtype, device, "zeros_like"), False)


def ones_like(x, /, *, dtype=None, device=None):
    """Ones of x's shape."""
    return _core._fill(_like(x, dtype, device, "ones_like"), True)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """A tensor of x's shape whose elements all equal one value."""
    return _core._fill(_like(x, dtype, device, "full_like"), fill_value)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Numbers from start up to, but not including, stop, with spacing step."""
    check_device(device, "arange")
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ValueError("arange: step is 0")
    whole = _b.all(isinstance(v, _b.int) for v in (start, stop, step))
    d = (int64 if whole else float64) if dtype is None else _dtype(dtype)
    n = -((start - stop) // step) if whole else _math.ceil((stop - start) / step)
    out = _core._empty((_b.max(n, 0),), d)
    if n <= 0:
        return out
    if d.kind in "iu" and (_b.abs(start) > 1 << 53 or _b.abs(step) > 1 << 53):
        return _core._fill(out, [start + i * step for i in range(n)])
    return _core._arange(out, start, step)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """num numbers from start to stop, evenly spaced."""
    check_device(device, "linspace")
    if num < 0:
        raise ValueError(f"linspace: num is {num}")
    is_complex = isinstance(start, _b.complex) or isinstance(stop, _b.complex)
    d = (complex128 if is_complex else float64) if dtype is None else _dtype(dtype)
    parts = _b.max(num - 1 if endpoint else num, 1)
    if is_complex or d.kind == "c":
        a, z = _b.complex(start), _b.complex(stop)
        wide = _core._empty((num,), complex128)
        for k, (low, high) in enumerate(((a.real, z.real), (a.imag, z.imag))):
            _core._arange(_core._part(wide, k), low, (high - low) / parts)
    else:
        wide = _core._empty((num,), float64)
        _core._arange(wide, _b.float(start), (stop - start) / parts)
    if endpoint and num > 1:
        wide[-1] = stop
    return wide if wide.dtype is d else _core._astype(wide, d, True)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Ones on a diagonal, zeros elsewhere."""
    n_cols = n_rows if n_cols is None else n_cols
    out = zeros((n_rows, n_cols), dtype=dtype, device=device)
    part = out[:, k:] if k >= 0 else out[-k:, :]
    if 0 not in part.shape:
        _core._fill(_core._diagonal(part, 0, 1), True)
    return out


def _triangle(x, k, upper, call):
    x = as_tensor(x)
    if x.ndim < 2:
        raise ValueError(f"{call}: expected 2 axes or more, got {x.ndim}")
    rows, columns = x.shape[-2:]
    i, j = reshape(arange(rows), (rows, 1)), arange(columns)
    keep = (j - i >= k) if upper else (j - i <= k)
    return _core.where(keep, x, _core._fill(_core._empty((), x.dtype), False))


def tril(x, /, *, k=0):
    """x with zeros above the k-th diagonal."""
    return _triangle(x, k, False, "tril")


def triu(x, /, *, k=0):
    """x with zeros below the k-th diagonal."""
    return _triangle(x, k, True, "triu")


def meshgrid(*arrays, indexing="xy"):
    """Coordinates of a grid: a list of tensors, one for each array."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is {indexing!r}, expected 'xy' or 'ij'")
    ts = [as_tensor(a) for a in arrays]
    n = len(ts)
    if len({t.dtype for t in ts}) > 1:
        raise TypeError("meshgrid: the arrays have different dtypes")
    order = list(range(n))
    if indexing == "xy" and n > 1:
        order[0], order[1] = 1, 0
    shape = [0] * n
    for t, at in zip(ts, order):
        shape[at] = t.size
    return [_core.broadcast_to(reshape(t, tuple(t.size if i == at else 1 for i in range(n))),
                               tuple(shape)) for t, at in zip(ts, order)]


def randn(shape, *, seed, dtype=None):
    """Normally distributed random numbers, the same on every machine, for any number of threads."""
    return _core._randn(_core._empty(shape_of(shape), float64 if dtype is None else dtype), seed)


def randint(low, high, shape, *, seed, dtype=None):
    """Random integers in [low, high), the same on every machine, for any number of threads."""
    return _core._randint(_core._empty(shape_of(shape), int64 if dtype is None else dtype),
                          seed, low, high)


def tensor(data, dtype=None):
    """A new tensor with a copy of data."""
    return asarray(data, dtype=dtype, copy=True)


def frombuffer(buffer, dtype=float64, count=-1, offset=0):
    """A 1-D tensor over the bytes of a buffer, without a copy."""
    d = _dtype(dtype)
    raw = asarray(memoryview(buffer).cast("B"))
    available = (raw.size - offset) // d.itemsize
    n = available if count < 0 else count
    if offset < 0 or n > available or (count < 0 and (raw.size - offset) % d.itemsize):
        raise ValueError(f"frombuffer: got {raw.size} bytes, expected {n} elements of {d.name}, "
                         f"{d.itemsize} bytes each, from offset {offset}")
    return _core._bitcast(raw[offset:offset + n * d.itemsize], d)


reshape = _core.reshape

# ---- threads ----


def set_num_threads(n):
    """Set the number of threads for operations in every Python thread; 0 means the default."""
    _core._set_threads(n, False)


def get_num_threads():
    """The number of threads that operations of this Python thread may use."""
    n = _core._get_threads()
    if n:
        return n
    text = _os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return _b.int(text) if text.isdigit() and _b.int(text) else len(_os.sched_getaffinity(0))


class threads:
    """with threads(n): operations of this Python thread use n threads."""

    def __init__(self, n):
        self._n, self._old = n, []

    def __enter__(self):
        self._old.append(_core._set_threads(self._n, True))
        return self

    def __exit__(self, *unused):
        _core._set_threads(self._old.pop(), True)


class _Info:
    """The inspection interface of the Array API."""

    def capabilities(self):
        """Boolean and data-dependent indexing are supported; at most 64 axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        """Always "cpu"."""
        return "cpu"

    def devices(self):
        """The only device."""
        return ["cpu"]

    def default_dtypes(self, *, device=None):
        """The default dtypes of creation functions."""
        check_device(device, "default_dtypes")
        return {"real floating": float64, "complex floating": complex128, "integral": int64,
                "indexing": int64}

    def dtypes(self, *, device=None, kind=None):
        """The dtypes of the Array API, by name."""
        check_device(device, "dtypes")
        standard = {n: d for n, d in _DTYPES.items()
                    if n not in ("float8_e4m3fn", "float8_e5m2", "float16", "bfloat16")}
        if kind is None:
            return standard
        return {n: d for n, d in standard.items() if isdtype(d, kind)}


def __array_namespace_info__():
    """The inspection interface of the namespace."""
    return _Info()


def show_config():
    """Print the components of the library and the machine that it runs on."""
    for name, value in config().items():
        print(f"{name:10} {value}")


def config():
    """The components of the library and the machine that it runs on, as a dict."""
    return {**_core._facts(), "threads": get_num_threads(), **_core._parts()}



"""Elementwise functions composed of others, and the parts of complex numbers."""

import builtins as _b

from . import _core
from ._base import _NUMBERS, as_tensor


def clip(x, /, min=None, max=None, *, out=None):
    """x limited to [min, max]; None means no limit."""
    x = as_tensor(x)
    low, high = (v if v is None or type(v) in _NUMBERS else as_tensor(v) for v in (min, max))
    if low is not None and high is not None:
        return _core.clip3(x, low, high, out=out)
    if low is not None:
        return _core.maximum(x, low, out=out)
    if high is not None:
        return _core.minimum(x, high, out=out)
    return positive(x, out=out)


def positive(x, /, *, out=None):
    """A copy of x."""
    x = as_tensor(x)
    if out is None:
        return _core._astype(x, x.dtype, True)
    dst = as_tensor(out)
    dst[...] = x
    return out


def real(x, /):
    """A view of the real parts; for a real tensor, the tensor itself."""
    x = as_tensor(x)
    return _core._part(x, 0) if x.dtype.kind == "c" else x


def imag(x, /):
    """A view of the imaginary parts."""
    return _core._part(as_tensor(x), 1)


def conj(x, /, *, out=None):
    """x with the imaginary parts negated."""
    x = as_tensor(x)
    if x.dtype.kind != "c":
        return positive(x, out=out)
    made = _core._astype(x, x.dtype, True)
    part = _core._part(made, 1)
    _core.negative(part, out=part)
    if out is None:
        return made
    as_tensor(out)[...] = made
    return out


def gelu(x, /, *, approximate="none", out=None):
    """x times the normal distribution function; approximate="tanh" is the usual approximation."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: approximate is {approximate!r}, expected 'none' or 'tanh'")
    return (_core.gelu_tanh if approximate == "tanh" else _core.gelu_erf)(x, out=out)


def fill_(x, value, /):
    """Set every element of x to value; returns x."""
    return _core._fill(x, value)


def copy(x, /):
    """A dense copy of x."""
    x = as_tensor(x)
    return _core._astype(x, x.dtype, True)


def view(x, dtype, /):
    """A view of the same bytes as another dtype."""
    return _core._bitcast(x, dtype)


def contains(x, value):
    """True if value is in x."""
    from ._stat import any as any_
    return _b.bool(any_(x == value))

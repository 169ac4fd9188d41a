"""Plans: the same operation repeated on other data, and the choices of the library."""

from . import _core, _manipulation, _math
from ._base import _NUMBERS, _dtype, as_tensor, asarray, astype
from ._core import Tensor

_OPS = {  # functions whose op has another name in C
    "bitwise_and": "bit_and", "bitwise_or": "bit_or", "bitwise_xor": "bit_xor",
    "bitwise_invert": "bit_not", "bitwise_left_shift": "shl", "bitwise_right_shift": "shr",
    "divide": "div", "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le",
    "greater": "gt", "greater_equal": "ge", "maximum": "max", "minimum": "min",
    "multiply": "mul", "subtract": "sub", "negative": "neg", "gelu_erf": "gelu",
    "clip3": "clip",
}


class ViewPlan:
    """An operation that only changes strides."""

    kind = "view"
    nbytes_read = nbytes_written = 0

    def __init__(self, f):
        self._f = f

    def run(self, *arrays, out=None):
        """The view of arrays; with out, a copy of it."""
        view = self._f(*arrays)
        if out is None:
            return view
        asarray(out, copy=False)[...] = view
        return out

    __call__ = run

    def explain(self):
        """The description, always the same sentence."""
        return "a view: no element moves\n"


class _Through:
    """A plan that runs on a view of its source."""

    def __init__(self, plan, view):
        self._plan, self._view = plan, view

    def run(self, x, *, out=None):
        """Run on an array with the planned layout."""
        return self._plan.run(self._view(as_tensor(x)), out=out)

    __call__ = run

    def __getattr__(self, name):
        return getattr(self._plan, name)


def _operands(args):
    """The arguments as Tensors; numbers get the dtype that the others determine."""
    strong = [as_tensor(a) for a in args if type(a) not in _NUMBERS]
    if len(strong) == len(args):
        return strong
    d = _core._promote(*[t.dtype for t in strong]) if strong else None
    return [asarray(a, dtype=_core._weak(a, d) if d else None) if type(a) in _NUMBERS
            else as_tensor(a) for a in args]


def plan(fn, /, *args, out=None, **kwargs):
    """Plan fn(*args) for arrays of these shapes, strides and dtypes.

    fn is rearrange, permute_dims, pad, astype or any elementwise function.
    """
    if isinstance(out, Tensor) or out is None:
        dst = out
    else:
        dst = asarray(out, copy=False)
    if fn is _manipulation.rearrange or fn is _manipulation.repeat:
        x = as_tensor(args[0])
        result = fn(x, *args[1:], **kwargs)
        shared = result._address == x._address or result.base is not None
        if shared and dst is None:
            return ViewPlan(lambda y: fn(y, *args[1:], **kwargs))
        if shared:
            return _Through(_core._plan_copy(result, dst), lambda y: fn(y, *args[1:], **kwargs))
        left, right = args[1].split("->")
        return _pattern_plan(x, left, right, kwargs, dst)
    if fn is _core.permute_dims:
        x = as_tensor(args[0])
        axes = args[1] if len(args) > 1 else kwargs["axes"]
        return _Through(_core._plan_copy(fn(x, axes), dst), lambda y: fn(y, axes))
    if fn is _manipulation.pad:
        return _plan_pad(dst, *args, **kwargs)
    if fn is astype:
        return _core._plan_cast(as_tensor(args[0]), _dtype(args[1]), dst)
    name = getattr(fn, "__name__", "")
    if fn is _math.gelu:
        name = "gelu_tanh" if kwargs.pop("approximate", "none") == "tanh" else "gelu"
    elif fn is _math.clip:
        name = "clip"
    elif getattr(_core, name, None) is not fn:
        fused = getattr(fn, "_plan", None)
        if fused is not None:
            return fused(*args, out=dst, **kwargs)
        raise TypeError(f"plan: {name or fn!r} has no plan")
    params = tuple(kwargs.values()) or None
    return _core._plan_op(_OPS.get(name, name), params, _operands(args), dst)


def _pattern_plan(x, left, right, sizes, dst):
    """A pattern that needs a copy: the view of its axes is copied into the merged shape."""
    flat = right.replace("(", " ").replace(")", " ")
    names = flat.split()
    pattern = f"{left}->{' '.join(names)}"
    spread = _manipulation.rearrange(x, pattern, **sizes)
    shape = _core._pattern_shape(x, f"{left}->{right}", _manipulation._sizes(sizes, "rearrange"))
    if dst is not None:
        if dst.shape != shape:
            raise ValueError(f"plan: out has shape {dst.shape}, expected {shape}")
        target = _manipulation.reshape(dst, spread.shape, copy=False)
    else:
        target = None
    inner = _core._plan_copy(spread, target)
    return _Pattern(inner, lambda y: _manipulation.rearrange(y, pattern, **sizes), shape)


class _Pattern(_Through):
    """A plan whose result has a different shape than its copy."""

    def __init__(self, plan, view, shape):
        super().__init__(plan, view)
        self.shape = shape

    def run(self, x, *, out=None):
        """Run on an array with the planned layout."""
        view = self._view(as_tensor(x))
        if out is None:
            return _manipulation.reshape(self._plan.run(view), self.shape)
        dst = _manipulation.reshape(asarray(out, copy=False), view.shape, copy=False)
        self._plan.run(view, out=dst)
        return out

    __call__ = run


def _plan_pad(dst, x, pad_width, mode="constant", *, constant_values=0):
    x = as_tensor(x)
    before, after = _manipulation._widths(pad_width, x.ndim)
    return _core._plan_pad(x, before, after, _manipulation._MODES[mode], constant_values, dst)


def explain(fn, /, *args, **kwargs):
    """Describe what the library would do for fn(*args, **kwargs)."""
    return plan(fn, *args, **kwargs).explain()

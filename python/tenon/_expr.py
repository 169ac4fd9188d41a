"""Expressions in one pass: eval("(x - m) * s", x=..., m=..., s=...) and fuse(lambda ...)."""

import builtins as _b
import inspect as _inspect
import re as _re

from . import _core
from ._base import _NUMBERS, as_tensor


def _number(value):
    """A Python number in the grammar of the text."""
    if isinstance(value, _b.bool):
        return "true" if value else "false"
    if isinstance(value, _b.complex):
        return f"({_number(value.real)} + {_number(value.imag)}*1j)"
    if isinstance(value, _b.float):
        if value != value:
            return "nan"
        if value in (_b.float("inf"), -_b.float("inf")):
            return "inf" if value > 0 else "(-inf)"
    text = repr(value)
    return f"({text})" if text[0] == "-" else text


def _bind(text, arrays):
    """Numbers become part of the text, all other arguments named tensors."""
    names, tensors = [], []
    for name, value in arrays.items():
        if type(value) in _NUMBERS:
            text = _re.sub(rf"(?<![A-Za-z0-9_.]){name}(?![A-Za-z0-9_]|\s*\()", _number(value),
                           text)
        else:
            names.append(name)
            tensors.append(as_tensor(value))
    return text, names, tensors


def eval(text, /, *, out=None, **arrays):
    """Evaluate a text over named arrays in one pass: eval("a * b + 1", a=x, b=y).

    Every step has the dtype and the bits of the corresponding function.
    """
    return _core._eval(*_bind(text, arrays), out)


class Traced:
    """A placeholder for an array while fuse records the operations on it."""

    __array_ufunc__ = None
    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text

    def __tenon_function__(self, name, args, numbers):
        words = [_text(a) for a in args] + [_number(_b.float(n)) for n in numbers]
        return Traced(f"{name}({', '.join(words)})")

    def __tenon_reduce__(self, name, axis, keepdims):
        if keepdims:
            raise TypeError("fuse: keepdims inside a traced function")
        if axis is None:
            return Traced(f"{name}({self.text})")
        axes = tuple(axis) if isinstance(axis, (tuple, list)) else axis
        return Traced(f"{name}({self.text}, axis={axes})")

    def astype(self, dtype, copy=True):
        """Cast inside the text."""
        return Traced(f"{_core.dtype(dtype).short}({self.text})")

    def __bool__(self):
        raise TypeError("fuse: a traced value has no truth; use tenon.where")

    __hash__ = None  # type: ignore[assignment]

    def __neg__(self):
        return Traced(f"(-{self.text})")

    def __invert__(self):
        return Traced(f"(~{self.text})")

    def __abs__(self):
        return Traced(f"abs({self.text})")

    def __pos__(self):
        return self


def _text(value):
    if isinstance(value, Traced):
        return value.text
    if type(value) in _NUMBERS:
        return _number(value)
    raise TypeError(f"fuse: {type(value).__name__} inside a traced function; make it an argument")


def _operator(sign):
    def forward(self, other):
        if isinstance(other, Traced) or type(other) in _NUMBERS:
            return Traced(f"({self.text} {sign} {_text(other)})")
        return NotImplemented

    def backward(self, other):
        if type(other) in _NUMBERS:
            return Traced(f"({_text(other)} {sign} {self.text})")
        return NotImplemented
    return forward, backward


for _name, _sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"),
                     ("floordiv", "//"), ("mod", "%"), ("pow", "**"), ("and", "&"), ("or", "|"),
                     ("xor", "^"), ("lshift", "<<"), ("rshift", ">>")):
    _f, _g = _operator(_sign)
    setattr(Traced, f"__{_name}__", _f)
    setattr(Traced, f"__r{_name}__", _g)
for _name, _sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="),
                     ("ne", "!=")):
    setattr(Traced, f"__{_name}__", _operator(_sign)[0])
del _name, _sign, _f, _g


class Fused:
    """A function as one expression; .text shows it, .explain(*arrays) the choices of its plan."""

    def __init__(self, f):
        self._names = [p.name for p in _inspect.signature(f).parameters.values()]
        self.text = _text(f(*[Traced(n) for n in self._names]))
        self.__doc__ = f.__doc__
        self.__name__ = getattr(f, "__name__", "fused")

    def _bound(self, arrays):
        if len(arrays) != len(self._names):
            raise TypeError(f"{self.__name__}() takes {len(self._names)} arrays, got "
                            f"{len(arrays)}")
        return _bind(self.text, dict(zip(self._names, arrays)))

    def __call__(self, *arrays, out=None):
        return _core._eval(*self._bound(arrays), out)

    def _plan(self, *arrays, out=None):
        text, names, tensors = self._bound(arrays)
        plan = _core._plan_expr(text, names, tensors, out)
        order = _core._expr_names(text)
        at = [self._names.index(n) for n in order]
        return plan if at == list(range(len(arrays))) else Ordered(plan, at)

    def explain(self, *arrays):
        """The choices of the library for these arrays, as text."""
        return self._plan(*arrays).explain()

    def __repr__(self):
        return f"<tenon.fuse {', '.join(self._names)}: {self.text}>"


class Ordered:
    """A plan whose text names the arrays in a different order than the function."""

    def __init__(self, plan, at):
        self._plan, self._at = plan, at

    def run(self, *arrays, out=None):
        """Evaluate on arrays in the order of the function."""
        return self._plan.run(*[arrays[i] for i in self._at], out=out)

    __call__ = run

    def __getattr__(self, name):
        return getattr(self._plan, name)


def fuse(f, /):
    """Record a function of arrays as one expression: fuse(lambda a, b: tenon.exp(a) * b + 1)."""
    return Fused(f)

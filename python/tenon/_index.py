"""Indexing with arrays: masks and integers, by NumPy's rules; the results are copies."""

import builtins as _b

from . import _core
from ._base import as_tensor, asarray
from ._core import Tensor, broadcast_to, permute_dims, reshape
from ._errors import IndexingError


def _is_basic(key):
    return key is None or isinstance(key, slice) or \
        (hasattr(key, "__index__") and not isinstance(key, (_b.bool, Tensor))
         and getattr(key, "ndim", 0) == 0)


def _array(key):
    try:
        t = as_tensor(key)
    except (TypeError, ValueError):
        raise IndexError(f"an index is an integer, a slice, ..., None or an array of integers "
                         f"or bool, got {type(key).__name__}") from None
    if t.size == 0 and not isinstance(key, Tensor) and t.dtype.kind == "f" and \
            isinstance(key, (list, tuple)):
        t = asarray(key, dtype="int64")
    if t.dtype.kind not in "iub":
        raise IndexingError(f"an index array is {t.dtype.name}, expected integers or bool")
    return t


def flat_index(indices, shape):
    """Combine several indices into one, row-major over shape; checked and made non-negative."""
    from ._stat import max as max_, min as min_
    flat = None
    for i, (index, n) in enumerate(zip(indices, shape)):
        index = _core._astype(index, "int64", False)
        if index.size and not (min_(index) >= -n and max_(index) < n):
            low, high = _b.int(min_(index)), _b.int(max_(index))
            raise IndexingError(f"index {low if low < -n else high} is out of range for axis {i} "
                                f"of extent {n}")
        index = _core.where(index < 0, index + n, index)
        flat = index if flat is None else flat * n + index
    return flat


class _Key:
    """A key in normal form: a basic part, then arrays that index some axes of its result."""

    def __init__(self, x, key):
        keys = list(key) if isinstance(key, tuple) else [key]
        expanded, taken = [], 0
        for k in keys:
            if k is Ellipsis or _is_basic(k):
                expanded.append(k)
                taken += k is not None and k is not Ellipsis
                continue
            if isinstance(k, _b.bool):
                expanded.append(asarray(k))
                continue
            t = _array(k)
            expanded.append(t)
            taken += t.ndim if t.dtype.kind == "b" else 1
        if taken > x.ndim:
            raise IndexingError(f"too many indices: {taken} for a tensor of {x.ndim} axes")
        dots = _b.sum(1 for k in expanded if k is Ellipsis)
        if dots > 1:
            raise IndexingError("an index has one ... at most")
        if dots == 0:
            expanded.append(Ellipsis)
        basic, self.arrays, self.positions, axis, source = [], [], [], 0, 0
        numbers = []  # of the keys that are arrays, to see whether they are neighbours
        for number, k in enumerate(expanded):
            if k is Ellipsis:
                n = x.ndim - taken
                basic += [slice(None)] * n
                axis += n
                source += n
            elif k is None:
                basic.append(None)
                axis += 1
            elif isinstance(k, slice):
                basic.append(k)
                axis += 1
                source += 1
            elif _is_basic(k):  # beside arrays an integer is an array without axes
                basic.append(slice(None))
                self._add(asarray(k.__index__()), axis, numbers, number)
                axis += 1
                source += 1
            elif k.dtype.kind == "b" and k.ndim == 0:
                basic.append(None)
                one = asarray([0] if k.item() else [], dtype="int64")
                self._add(one, axis, numbers, number)
                axis += 1
            elif k.dtype.kind == "b":
                shape = x.shape[source:source + k.ndim]
                # as in NumPy, an axis without elements chooses none, whatever its extent there
                if not _b.all(m in (n, 0) for m, n in zip(k.shape, shape)):
                    raise IndexingError(f"a mask of shape {k.shape} on axes of shape {shape}")
                found = _core._nonzero(k)
                for i in range(k.ndim):
                    basic.append(slice(None))
                    self._add(found[:, i], axis, numbers, number)
                    axis += 1
                source += k.ndim
            else:
                basic.append(slice(None))
                self._add(k, axis, numbers, number)
                axis += 1
                source += 1
        self.view = x[tuple(basic)]
        self.shape = _core._broadcast_shape(self.arrays)
        span = sorted(set(numbers))
        self.together = span[-1] - span[0] == len(span) - 1
        self.front = self.positions[0] if self.together else 0

    def _add(self, t, axis, numbers, number):
        self.arrays.append(t)
        self.positions.append(axis)
        numbers.append(number)

    def rows(self):
        """The view with the indexed axes merged in front, and one index into the merged axis."""
        rest = [i for i in range(self.view.ndim) if i not in self.positions]
        moved = permute_dims(self.view, tuple(self.positions + rest))
        n = len(self.positions)
        extents = moved.shape[:n]
        total = 1
        for extent in extents:
            total *= extent
        index = flat_index([broadcast_to(t, self.shape) for t in self.arrays], extents)
        return moved, (total,) + moved.shape[n:], index

    def arrange(self, taken):
        """Move the axes of the arrays to where NumPy puts them."""
        k, rest = len(self.shape), taken.ndim - len(self.shape)
        at = _b.min(self.front, rest)
        order = list(range(k, k + at)) + list(range(k)) + list(range(k + at, k + rest))
        return permute_dims(taken, tuple(order))

    def arrange_back(self, value):
        """The reverse of arrange."""
        k, rest = len(self.shape), value.ndim - len(self.shape)
        at = _b.min(self.front, rest)
        order = list(range(at, at + k)) + list(range(at)) + list(range(at + k, k + rest))
        return permute_dims(value, tuple(order))


def _full_mask(x, key):
    if isinstance(key, tuple) and len(key) == 1:
        key = key[0]
    if isinstance(key, (tuple, _b.bool, slice)) or key is None or key is Ellipsis:
        return None
    t = _array(key)
    return t if t.dtype.kind == "b" and t.ndim and t.shape == x.shape else None


def getitem(x, key):
    """x[key] where key contains arrays."""
    mask = _full_mask(x, key)
    if mask is not None:
        return _core._masked_select(x, mask)
    k = _Key(x, key)
    if len(k.arrays) == 1 and k.together:
        return _core._take(k.view, k.positions[0], k.arrays[0])
    moved, shape, index = k.rows()
    return k.arrange(_core._take(reshape(moved, shape), 0, index))


def _value(x, shape, value):
    """value converted to x's dtype and broadcast to shape."""
    made = _core._empty(shape, x.dtype)
    made[...] = value
    return made


def setitem(x, key, value):
    """x[key] = value where key contains arrays."""
    if x.readonly:
        raise ValueError("assignment: the tensor is read-only")
    mask = _full_mask(x, key)
    if mask is not None:
        v = as_tensor(value)
        if v.ndim == 0:
            return _core._masked_put(x, mask, _value(x, (), value))
        n = _b.int(_core._reduce("count_nonzero", mask, None, False, None, None, None))
        return _core._masked_put(x, mask, _value(x, (n,), value))
    k = _Key(x, key)
    moved, shape, index = k.rows()
    rest = moved.shape[len(k.positions):]
    at = _b.min(k.front, len(rest))
    target = _value(x, rest[:at] + k.shape + rest[at:], value)
    source = k.arrange_back(target)
    try:
        rows = reshape(moved, shape, copy=False)
    except ValueError:  # strides cannot merge the axes: put into a copy, then copy back
        rows = reshape(moved, shape, copy=True)
        _core._put(0, rows, 0, index, source)
        moved[...] = reshape(rows, moved.shape)
        return None
    return _core._put(0, rows, 0, index, source)

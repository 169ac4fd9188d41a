"""Manipulation functions: shapes and axes, joining and splitting, padding, einops patterns."""

import builtins as _b

from . import _core
from ._base import (as_tensor, axes_of, axis_of, asarray, result_type, shape_of)
from ._core import broadcast_to, permute_dims, reshape, unsqueeze


def _together(arrays, call):
    """Promote tensors to one dtype."""
    ts = [as_tensor(a) for a in arrays]
    if not ts:
        raise ValueError(f"{call}: nothing to join")
    d = result_type(*ts)
    return [t if t.dtype is d else _core._astype(t, d, True) for t in ts], d


def _destination(out, shape, dtype, call):
    if out is None:
        return _core._empty(shape, dtype)
    out = asarray(out, copy=False)
    if out.shape != tuple(shape) or out.dtype is not dtype:
        raise ValueError(f"{call}: out is {out.dtype.name} {out.shape}, expected {dtype.name} "
                         f"{tuple(shape)}")
    return out


def concat(arrays, /, *, axis=0, out=None):
    """Concatenate arrays along an axis; None flattens them first."""
    ts, d = _together(arrays, "concat")
    if axis is None:
        ts, axis = [reshape(t, (-1,)) for t in ts], 0
    axis = axis_of(axis, ts[0].ndim, "concat")
    if len({t.ndim for t in ts}) > 1:
        raise ValueError("concat: the arrays have different numbers of axes: "
                         + ", ".join(str(t.shape) for t in ts))
    shape = list(ts[0].shape)
    shape[axis] = _b.sum(t.shape[axis] for t in ts)
    return _core._concat(_destination(out, shape, d, "concat"), axis, ts)


def stack(arrays, /, *, axis=0, out=None):
    """Stack arrays of one shape along a new axis."""
    ts, d = _together(arrays, "stack")
    axis = axis_of(axis, ts[0].ndim + 1, "stack")
    shape = ts[0].shape[:axis] + (len(ts),) + ts[0].shape[axis:]
    return _core._stack(_destination(out, shape, d, "stack"), axis, ts)


def unstack(x, /, *, axis=0):
    """The views along an axis, as a tuple."""
    x = as_tensor(x)
    axis = axis_of(axis, x.ndim, "unstack")
    lead = (slice(None),) * axis
    return tuple(x[lead + (i,)] for i in range(x.shape[axis]))


def unbind(x, axis=0):
    """The views along an axis, as a tuple."""
    return unstack(x, axis=axis)


def array_split(x, indices_or_sections, axis=0):
    """Views of consecutive parts, as equal as possible or cut at indices."""
    x = as_tensor(x)
    axis = axis_of(axis, x.ndim, "array_split")
    n = x.shape[axis]
    if isinstance(indices_or_sections, _b.int):
        parts = indices_or_sections
        if parts < 1:
            raise ValueError("array_split: the number of sections is less than 1")
        size, more = divmod(n, parts)
        cuts = [i * size + _b.min(i, more) for i in range(1, parts)]
    else:
        cuts = [_b.int(i) for i in indices_or_sections]
    lead = (slice(None),) * axis
    return [x[lead + (slice(a, z),)] for a, z in zip([0] + cuts, cuts + [n])]


def split(x, indices_or_sections, axis=0):
    """As array_split, but a number of parts must divide the extent."""
    x = as_tensor(x)
    n = x.shape[axis_of(axis, x.ndim, "split")]
    if isinstance(indices_or_sections, _b.int) and n % indices_or_sections:
        raise ValueError(f"split: {n} elements are not {indices_or_sections} equal parts")
    return array_split(x, indices_or_sections, axis)


def hsplit(x, parts):
    """split along axis 1, or along axis 0 of a 1-D array."""
    x = as_tensor(x)
    return split(x, parts, 1 if x.ndim > 1 else 0)


def vsplit(x, parts):
    """split along axis 0."""
    return split(x, parts, 0)


def dsplit(x, parts):
    """split along axis 2."""
    return split(x, parts, 2)


def atleast_1d(x, /):
    """x with at least one axis."""
    x = as_tensor(x)
    return x if x.ndim else reshape(x, (1,))


def atleast_2d(x, /):
    """x with at least two axes; new ones are in front."""
    x = atleast_1d(x)
    return x if x.ndim > 1 else unsqueeze(x, 0)


def atleast_3d(x, /):
    """x with at least three axes, placed as in NumPy."""
    x = as_tensor(x)
    if x.ndim == 0:
        return reshape(x, (1, 1, 1))
    if x.ndim == 1:
        return x[None, :, None]
    return x[:, :, None] if x.ndim == 2 else x


def vstack(arrays, /):
    """Stack arrays as rows, along axis 0."""
    return concat([atleast_2d(a) for a in arrays], axis=0)


def hstack(arrays, /):
    """Concatenate along axis 1, or along axis 0 if the arrays are 1-D."""
    ts = [atleast_1d(a) for a in arrays]
    return concat(ts, axis=0 if ts[0].ndim == 1 else 1)


def dstack(arrays, /):
    """Concatenate along axis 2."""
    return concat([atleast_3d(a) for a in arrays], axis=2)


def column_stack(arrays, /):
    """1-D arrays as the columns of a matrix."""
    ts = [as_tensor(a) for a in arrays]
    return concat([t if t.ndim > 1 else reshape(t, (-1, 1)) for t in ts], axis=1)


def expand_dims(x, /, axis=0):
    """A view with an axis of extent 1 at axis."""
    return unsqueeze(x, axis)


def squeeze(x, /, axis=None):
    """A view without axes of extent 1: the given ones, or all."""
    x = as_tensor(x)
    if axis is None:
        axes = [i for i, n in enumerate(x.shape) if n == 1]
    else:
        axes = axes_of(axis, x.ndim, "squeeze")
    for a in sorted(axes, reverse=True):
        x = _core._squeeze(x, a)
    return x


def flip(x, /, *, axis=None):
    """A view with axes reversed: the given ones, or all."""
    x = as_tensor(x)
    axes = axes_of(axis, x.ndim, "flip")
    for a in range(x.ndim) if axes is None else axes:
        x = _core._flip(x, a)
    return x


def fliplr(x, /):
    """A view with axis 1 reversed."""
    return flip(x, axis=1)


def flipud(x, /):
    """A view with axis 0 reversed."""
    return flip(x, axis=0)


def rot90(x, k=1, axes=(0, 1)):
    """A view rotated k times by 90 degrees in the plane of two axes."""
    x = as_tensor(x)
    a, b = axes_of(axes, x.ndim, "rot90")
    k %= 4
    if k == 2:
        return flip(x, axis=(a, b))
    if k == 1:
        return swapaxes(flip(x, axis=b), a, b)
    return flip(swapaxes(x, a, b), axis=b) if k == 3 else x


def moveaxis(x, source, destination, /):
    """A view with some axes moved; the others keep their order."""
    x = as_tensor(x)
    src = axes_of(source, x.ndim, "moveaxis")
    dst = axes_of(destination, x.ndim, "moveaxis")
    if len(src) != len(dst):
        raise ValueError("moveaxis: source and destination differ in length")
    order = [i for i in range(x.ndim) if i not in src]
    for d, s in sorted(zip(dst, src)):
        order.insert(d, s)
    return permute_dims(x, tuple(order))


def swapaxes(x, a, b, /):
    """A view with two axes exchanged."""
    x = as_tensor(x)
    a, b = axis_of(a, x.ndim, "swapaxes"), axis_of(b, x.ndim, "swapaxes")
    order = list(range(x.ndim))
    order[a], order[b] = b, a
    return permute_dims(x, tuple(order))


def transpose(x, *axes):
    """Reverse the axes; two numbers exchange these axes; one tuple gives the order."""
    x = as_tensor(x)
    if not axes or axes == (None,):
        return x.T
    if len(axes) == 1:
        return permute_dims(x, axes[0])
    return swapaxes(x, *axes) if len(axes) == 2 and x.ndim != 2 else permute_dims(x, axes)


def matrix_transpose(x, /):
    """A view with the last two axes exchanged."""
    return as_tensor(x).mT


def ravel(x, /):
    """Flatten to one axis: a view if strides can express it, otherwise a copy."""
    return reshape(x, (-1,))


def flatten(x, start=0, end=-1, /):
    """Merge axes start to end into one."""
    x = as_tensor(x)
    if x.ndim == 0:
        return reshape(x, (1,))
    a, z = axis_of(start, x.ndim, "flatten"), axis_of(end, x.ndim, "flatten")
    n = 1
    for extent in x.shape[a:z + 1]:
        n *= extent
    return reshape(x, x.shape[:a] + (n,) + x.shape[z + 1:])


def broadcast_arrays(*arrays):
    """Views broadcast to one shape, as a list."""
    ts = [as_tensor(a) for a in arrays]
    shape = _core._broadcast_shape(ts) if ts else ()
    return [broadcast_to(t, shape) for t in ts]


def broadcast_shapes(*shapes):
    """The shape that shapes broadcast to."""
    return _core._broadcast_shape([broadcast_to(asarray(False), shape_of(s)) for s in shapes])


def expand(x, *shape):
    """A view broadcast to shape; -1 keeps an extent."""
    x = as_tensor(x)
    shape = shape_of(shape[0]) if len(shape) == 1 else shape
    lead = len(shape) - x.ndim
    if lead < 0:
        raise ValueError(f"expand: {x.shape} has more axes than {shape}")
    return broadcast_to(x, tuple(x.shape[i - lead] if n == -1 and i >= lead else n
                                 for i, n in enumerate(shape)))


def tile(x, repetitions, /):
    """Repeat x several times along each axis."""
    x = as_tensor(x)
    reps = shape_of(repetitions)
    n = _b.max(x.ndim, len(reps))
    reps = (1,) * (n - len(reps)) + reps
    x = reshape(x, (1,) * (n - x.ndim) + x.shape)
    out = _core._empty(tuple(a * b for a, b in zip(x.shape, reps)), x.dtype)
    return _core._tile(out, x, reps)


def roll(x, /, shift, *, axis=None):
    """Rotate elements along axes; those shifted out at one end enter at the other."""
    x = as_tensor(x)
    if axis is None:
        return reshape(roll(reshape(x, (-1,)), shift, axis=0), x.shape)
    axes = axes_of(axis, x.ndim, "roll") if not isinstance(axis, tuple) else \
        tuple(axis_of(a, x.ndim, "roll") for a in axis)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    if len(shifts) != len(axes):
        raise ValueError("roll: shift and axis differ in length")
    for s, a in zip(shifts, axes):
        x = _core._roll(_core._empty(x.shape, x.dtype), x, a, s)
    return x if axes else _core._astype(x, x.dtype, True)


def repeat(x, repeats, /, *, axis=None, **sizes):
    """Repeat each element along an axis; with a pattern in place of repeats, einops.repeat."""
    if isinstance(repeats, str):
        if axis is not None:
            sizes["axis"] = axis
        return _pattern(x, repeats, sizes, None, "repeat")
    if sizes:
        raise TypeError(f"repeat: unexpected {', '.join(sizes)}")
    x = as_tensor(x)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = axis_of(axis, x.ndim, "repeat")
    if isinstance(repeats, _b.int):
        if repeats < 0:
            raise ValueError("repeat: repeats is negative")
        shape = x.shape[:axis] + (x.shape[axis] * repeats,) + x.shape[axis + 1:]
        return _core._repeat(_core._empty(shape, x.dtype), x, axis, repeats)
    counts = as_tensor(repeats)
    if counts.dtype.kind not in "iu":
        raise TypeError("repeat: repeats are not integers")
    counts = counts.tolist()
    if isinstance(counts, _b.int) or len(counts) == 1:
        return repeat(x, counts if isinstance(counts, _b.int) else counts[0], axis=axis)
    if len(counts) != x.shape[axis]:
        raise ValueError(f"repeat: {len(counts)} repeats for an axis of {x.shape[axis]}")
    lead = (slice(None),) * axis
    parts = [broadcast_to(x[lead + (slice(i, i + 1),)],
                          x.shape[:axis] + (n,) + x.shape[axis + 1:])
             for i, n in enumerate(counts)]
    return concat(parts, axis=axis) if parts else x


_MODES = {"constant": 0, "edge": 1, "reflect": 2, "symmetric": 3, "wrap": 4, "empty": 0}


def _widths(pad_width, ndim):
    """Widths in NumPy's forms: a number, (before, after), or one pair for each axis."""
    if isinstance(pad_width, _b.int):
        return [pad_width] * ndim, [pad_width] * ndim
    pairs = [tuple(p) if isinstance(p, (tuple, list)) else p for p in pad_width]
    if len(pairs) == 2 and _b.all(isinstance(p, _b.int) for p in pairs) and ndim != 0:
        pairs = [tuple(pairs)] * ndim
    elif len(pairs) == 1:
        only = pairs[0] if isinstance(pairs[0], tuple) else (pairs[0],)
        pairs = [only if len(only) == 2 else only * 2] * ndim
    if len(pairs) != ndim or not _b.all(isinstance(p, tuple) and len(p) == 2 for p in pairs):
        raise ValueError(f"pad: widths {pad_width!r} do not fit {ndim} axes")
    return [p[0] for p in pairs], [p[1] for p in pairs]


def pad(x, pad_width, mode="constant", *, constant_values=0, out=None):
    """x with borders: constant, edge, reflect, symmetric, wrap or empty, of any width."""
    x = as_tensor(x)
    if mode not in _MODES:
        raise ValueError(f"pad: mode {mode!r}, expected one of {', '.join(_MODES)}")
    before, after = _widths(pad_width, x.ndim)
    if _b.any(w < 0 for w in before + after):
        raise ValueError("pad: a width is negative")
    shape = tuple(b + n + a for b, n, a in zip(before, x.shape, after))
    dst = _destination(out, shape, x.dtype, "pad")
    _core._pad(dst, x, before, after, _MODES[mode], constant_values)
    return dst if out is None else out


def windows(x, size, *, axis, step=1):
    """A view of sliding windows along an axis; the new last axis runs inside a window."""
    x = as_tensor(x)
    return _core._windows(x, axis_of(axis, x.ndim, "windows"), size, step)


def sliding_window_view(x, window_shape, axis=None):
    """NumPy's sliding windows, as a view."""
    x = as_tensor(x)
    sizes = shape_of(window_shape)
    if axis is None:
        axes = tuple(range(x.ndim))
    else:
        given = axis if isinstance(axis, (tuple, list)) else (axis,)
        axes = tuple(axis_of(a, x.ndim, "sliding_window_view") for a in given)
    if len(sizes) != len(axes):
        raise ValueError("sliding_window_view: one size for each axis is needed")
    for size, a in zip(sizes, axes):
        x = _core._windows(x, a, size, 1)
    return x


def diagonal(x, offset=0, axis1=0, axis2=1):
    """A view of the elements whose indices on two axes differ by offset."""
    x = as_tensor(x)
    a, b = axis_of(axis1, x.ndim, "diagonal"), axis_of(axis2, x.ndim, "diagonal")
    if a == b:
        raise ValueError("diagonal: the two axes are the same")
    cut = [slice(None)] * x.ndim
    cut[b if offset > 0 else a] = slice(_b.abs(offset), None)
    return _core._diagonal(x[tuple(cut)], a, b)


# ---- patterns ----

def _sizes(sizes, call):
    words = []
    for name, n in sizes.items():
        try:
            words.append(f"{name}={n.__index__()}")
        except AttributeError:
            raise TypeError(f"{call}: the size of {name} is {n!r}, expected an integer") from None
    return " ".join(words)


def _pattern(x, pattern, sizes, out, call):
    if isinstance(x, (list, tuple)):
        x = stack(x)
    return _core._pattern(x, pattern, _sizes(sizes, call), out)


def rearrange(x, pattern, /, *, out=None, **sizes):
    """Rearrange axes by name, as einops does: rearrange(x, "b (h p) w -> b h w p", p=2).

    The result is a view if strides can express it, otherwise a copy; with out, a copy into out.
    """
    return _pattern(x, pattern, sizes, out, "rearrange")


def parse_shape(x, pattern, /):
    """The extents of x by the names of a pattern; _ is skipped."""
    from ._errors import PatternError
    x = as_tensor(x)
    names = pattern.split()
    if "..." in names:
        at, rest = names.index("..."), x.ndim - len(names) + 1
        names[at:at + 1] = ["_"] * rest
    if len(names) != x.ndim:
        raise PatternError(f"parse_shape: {pattern!r} names {len(names)} axes, the tensor has "
                           f"{x.ndim}")
    found = {}
    for name, n in zip(names, x.shape):
        if name.isdigit() and _b.int(name) != n:
            raise PatternError(f"parse_shape: an axis of {name} has extent {n}")
        if name != "_" and not name.isdigit():
            found[name] = n
    return found


def _split_pattern(pattern, call):
    from ._errors import PatternError
    names = pattern.split()
    if names.count("*") != 1:
        raise PatternError(f"{call}: {pattern!r} needs exactly one *")
    for name in names:
        if name != "*" and (not name.isidentifier() or name[0] == "_" or name[-1] == "_"):
            raise PatternError(f"{call}: {name!r} in {pattern!r} is not the name of an axis")
        if names.count(name) > 1:
            raise PatternError(f"{call}: {name!r} is twice in {pattern!r}")
    at = names.index("*")
    return at, len(names) - 1 - at


def pack(tensors, pattern):
    """einops.pack: the tensors joined along *, and the shapes that * stood for."""
    before, after = _split_pattern(pattern, "pack")
    shapes, parts = [], []
    for t in (as_tensor(t) for t in tensors):
        if t.ndim < before + after:
            raise ValueError(f"pack: {t.shape} has fewer axes than {pattern!r}")
        end = t.ndim - after
        shapes.append(t.shape[before:end])
        parts.append(reshape(t, t.shape[:before] + (_count(t.shape[before:end]),)
                             + t.shape[end:]))
    return concat(parts, axis=before), shapes


def _count(shape):
    n = 1
    for extent in shape:
        n *= extent
    return n


def unpack(x, packed_shapes, pattern):
    """einops.unpack: the tensors that pack joined; one -1 is inferred."""
    x = as_tensor(x)
    before, after = _split_pattern(pattern, "unpack")
    if x.ndim != before + 1 + after:
        raise ValueError(f"unpack: {x.shape} does not fit {pattern!r}")
    total = x.shape[before]
    known = [-1 if -1 in s else _count(s) for s in packed_shapes]
    if known.count(-1) > 1:
        raise ValueError("unpack: more than one shape has a -1")
    rest = total - _b.sum(n for n in known if n != -1)
    if rest < 0 or (-1 not in known and rest):
        raise ValueError(f"unpack: the shapes do not add up to {total}")
    lead, at, out = (slice(None),) * before, 0, []
    for shape, n in zip(packed_shapes, known):
        n = rest if n == -1 else n
        part = x[lead + (slice(at, at + n),)]
        out.append(reshape(part, x.shape[:before] + tuple(shape) + x.shape[before + 1:]))
        at += n
    return out

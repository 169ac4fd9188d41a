"""tenon with Dask: rearrange, pad and map over chunks, files as arrays, Tensors as chunks."""

import functools as _functools

import numpy as _np
import dask.array as _da
from dask.array.backends import (concatenate_lookup as _concatenate, einsum_lookup as _einsum,
                                 tensordot_lookup as _tensordot)

import tenon as _tn

__all__ = ["einsum", "eval", "load", "map", "pad", "rearrange", "reduce", "register", "save"]


def register():
    """Register Tensor as a chunk type of Dask; importing this module does so."""
    _da.register_chunk_type(_tn.Tensor)
    _concatenate.register(_tn.Tensor, lambda arrays, axis=0: _tn.concat(arrays, axis=axis))
    _tensordot.register(_tn.Tensor, lambda a, b, axes=2: _tn.tensordot(a, b, axes=axes))
    _einsum.register(_tn.Tensor, lambda *operands, **kwargs: _tn.einsum(*operands))


register()


def _serial(f, *blocks, **options):
    """Run each task on one thread, because Dask has its own threads."""
    with _tn.threads(1):
        return _np.asarray(f(*blocks, **options))


def map(fn, *arrays, dtype=None):
    """Apply a function of tenon to the blocks of arrays of one shape."""
    return _da.map_blocks(_serial, fn, *arrays, dtype=dtype or arrays[0].dtype)


def _words(side):
    """The dimensions of one side of a pattern, each a list of names."""
    out, group = [], None
    for word in side.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(":
            group = []
        elif word == ")":
            out.append(group)
            group = None
        elif group is not None:
            group.append(word)
        else:
            out.append([word])
    return out


def _sizes_of(d, left, sizes):
    """The extent of every name on the left."""
    found = dict(sizes)
    for n, names in zip(d.shape, left):
        known, missing = 1, None
        for name in names:
            size = int(name) if name.isdigit() else found.get(name)
            if size is None:
                missing = name
            else:
                known *= size
        if missing is not None:
            found[missing] = n // known
    return found


def rearrange(d, pattern, /, **sizes):
    """Rearrange axes by name over chunks: each block is transposed as it is copied.

    Axes of a group whose chunks would be cut in the wrong place are rechunked to one chunk first.
    """
    _tn.rearrange(_tn.broadcast_to(_tn.asarray(0), d.shape), pattern, **sizes)  # or its exception
    left_text, right_text = pattern.split("->")
    left, right = _words(left_text), _words(right_text)
    if "..." in left_text:
        dots = [f"dots{i}" for i in range(d.ndim - len(left) + 1)]
        left_text, right_text = (t.replace("...", " ".join(dots)) for t in (left_text,
                                                                            right_text))
        left, right = _words(left_text), _words(right_text)
    found = _sizes_of(d, left, sizes)
    outer = {}  # name -> chunks, for names that lead a dimension on both sides
    led = {names[0] for names in right if names}
    chunks = []
    for n, (names, given) in enumerate(zip(left, d.chunks)):
        inner = 1
        for name in names[1:]:
            inner *= int(name) if name.isdigit() else found[name]
        whole = not names or names[0].isdigit() or names[0] not in led or \
            any(c % inner for c in given)
        if whole:
            chunks.append((d.shape[n],))
        else:
            chunks.append(given)
            outer[names[0]] = tuple(c // inner for c in given)
    d = d.rechunk(tuple(chunks))
    index_in = tuple(names[0] if names and names[0] in outer else f"_whole{i}"
                     for i, names in enumerate(left))
    index_out, new_axes, adjust = [], {}, {}
    for i, names in enumerate(right):
        extent = 1
        for name in names:
            extent *= int(name) if name.isdigit() else found[name]
        if names and names[0] in outer:
            inner = extent // found[names[0]] if found[names[0]] else 1
            index_out.append(names[0])
            adjust[names[0]] = tuple(c * inner for c in outer[names[0]])
        else:
            index_out.append(f"_new{i}")
            new_axes[f"_new{i}"] = extent
    inner_sizes = {k: v for k, v in found.items() if k not in outer and not k.startswith("dots")
                   and k not in [n[0] for n in left if len(n) == 1]}
    return _da.blockwise(_block, tuple(index_out), d, index_in, new_axes=new_axes,
                         adjust_chunks=adjust, concatenate=True, dtype=d.dtype,
                         text=f"{left_text}->{right_text}", sizes=inner_sizes, align_arrays=False)


def _block(block, text, sizes):
    with _tn.threads(1):
        return _np.asarray(_tn.contiguous(_tn.rearrange(block, text, **sizes)))


def pad(d, pad_width, mode="constant", *, constant_values=0):
    """Borders around a Dask array."""
    kwargs = {"constant_values": constant_values} if mode == "constant" else {}
    return _da.pad(d, pad_width, mode=mode, **kwargs)


class _Part:
    """Reads parts of one tensor of a file; each process opens the file itself."""

    def __init__(self, path, name):
        self.path, self.name = path, name
        with _tn.open(path) as f:
            entry = f.entry(name)
            self.shape, self.dtype = entry.shape, _np.dtype(entry.dtype)
        self.ndim = len(self.shape)

    def __getitem__(self, key):
        with _tn.threads(1), _tn.open(self.path) as f:
            return _np.asarray(f.entry(self.name)[key])


def load(path, chunks="auto", *, name=""):
    """A tensor of a file as a Dask array; each chunk is read separately."""
    part = _Part(str(path), name)
    return _da.from_array(part, chunks=chunks, asarray=False, name=False, inline_array=True)


def save(path, d):
    """Write a Dask array into one file, chunks in order; only one row of chunks is in memory."""
    shape, dtype = d.shape, _tn.dtype(d.dtype)
    with _tn.writer(path, (shape, dtype) if str(path).endswith(".npy")
                    else {"tensor": (shape, dtype)}) as w:
        if d.ndim == 0:
            w.put(_np.asarray(d.compute()))
            return
        start = 0
        for rows in d.chunks[0]:
            w.put(_np.ascontiguousarray(d[start:start + rows].compute()))
            start += rows


# ---- work that meets across chunks ----

_SAME = ("all", "any", "max", "min", "prod", "sum")  # of partial results, the same again


def _reduced(block, axis, keepdims, op=None):
    with _tn.threads(1):
        return _np.asarray(getattr(_tn, op)(block, axis=axis, keepdims=keepdims))


def reduce(d, op, axis=None, keepdims=False):
    """sum, prod, max, min, any, all or mean over axes, of each chunk, then of the partial results.

    Partial results are combined in the order of the chunks, so the bits of a sum depend on them.
    """
    if op == "mean":
        total = reduce(d, "sum", axis, keepdims)
        return total / (d.size / total.size if total.size else 1)
    if op not in _SAME:
        raise _tn.ArgumentError(f"dask.reduce: op is {op!r}, expected one of {_SAME} or 'mean'")
    part = _functools.partial(_reduced, op=op)
    dtype = _np.asarray(getattr(_tn, op)(_np.ones((1,), d.dtype))).dtype
    return _da.reduction(d, part, part, axis=axis, keepdims=keepdims, dtype=dtype, concatenate=True)


def _einsum_block(*blocks, text, summed):
    with _tn.threads(1):
        out = _np.asarray(_tn.einsum(text, *blocks))
    return out.reshape(out.shape + (1,) * summed)


def einsum(subscripts, *arrays):
    """Products summed over letters missing from the result: of each chunk, then over chunks."""
    left, arrow, out = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if not arrow or len(terms) != len(arrays) or "." in left:
        raise _tn.PatternError(f"dask.einsum: {subscripts!r}: expected letters of {len(arrays)} "
                               "arrays and \"->\"")
    summed = sorted(set(left) - set(out) - {","})
    pairs = [x for array, term in zip(arrays, terms) for x in (array, term)]
    dtype = _np.result_type(*(a.dtype for a in arrays))
    d = _da.blockwise(_einsum_block, out + "".join(summed), *pairs,
                      adjust_chunks={c: lambda n: 1 for c in summed}, dtype=dtype,
                      text=",".join(terms) + "->" + out, summed=len(summed),
                      meta=_np.empty((0,) * (len(out) + len(summed)), dtype))
    axes = tuple(range(len(out), len(out) + len(summed)))
    return reduce(d, "sum", axes).astype(dtype) if summed else d


def _eval_block(*blocks, text, names):
    with _tn.threads(1):
        return _np.asarray(_tn.eval(text, **dict(zip(names, blocks))))


def eval(text, /, **arrays):
    """Evaluate an elementwise expression over named arrays, in one pass over each chunk."""
    ones = {k: _np.ones((1,), getattr(v, "dtype", type(v))) for k, v in arrays.items()}
    dtype = _np.asarray(_tn.eval(text, **ones)).dtype
    return _da.core.elemwise(_functools.partial(_eval_block, text=text, names=tuple(arrays)),
                             *arrays.values(), dtype=dtype)

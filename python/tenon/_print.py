"""repr, str and HTML: the corners of a tensor, in time independent of its size."""

import builtins as _b
import math as _math
import struct as _struct
from contextlib import contextmanager as _contextmanager

_options = {"precision": 8, "edge": 3, "threshold": 1000}


@_contextmanager
def printoptions(*, precision=None, edge=None, threshold=None):
    """with printoptions(...): digits of floats, elements at each end, size above which to elide."""
    old = dict(_options)
    for name, value in (("precision", precision), ("edge", edge), ("threshold", threshold)):
        if value is not None:
            _options[name] = value
    try:
        yield
    finally:
        _options.update(old)


_PACK = {"float16": "e", "float32": "f", "float64": "d"}
_DIGITS = {"float8_e4m3fn": 3, "float8_e5m2": 3, "bfloat16": 4}


def _float(v, name):
    if v != v:
        return "nan"
    if v in (_math.inf, -_math.inf):
        return "inf" if v > 0 else "-inf"
    most = _options["precision"]
    code = _PACK.get(name)
    for digits in range(1, _b.min(most, _DIGITS.get(name, 17)) + 1):
        text = f"{v:.{digits}g}"
        near = _b.float(text)
        if near == v or (code and _same(near, v, code)):
            break
    size = _b.abs(v)
    if size == 0 or 1e-4 <= size < 1e16:
        text = f"{_b.float(text):.{_b.max(0, digits - 1 - (_math.floor(_math.log10(size)) if size else 0))}f}"
        return text + "." if "." not in text else text.rstrip("0")
    return text if "e" in text else f"{v:.{digits - 1}e}"


def _same(near, v, code):
    try:
        return _struct.pack(code, near) == _struct.pack(code, v)
    except OverflowError:
        return False


_REAL = {"complex64": "float32", "complex128": "float64"}


def _number(v, dtype):
    if dtype.kind == "f":
        return _float(v, dtype.name)
    if dtype.kind == "c":
        part = _REAL[dtype.name]
        imag = _float(v.imag, part)
        return f"{_float(v.real, part)}{'' if imag[0] == '-' else '+'}{imag}j"
    return str(v)


def _show(x):
    return _cut(x) if x.ndim else x.item()


def _cut(x):
    edge = _options["edge"]
    n = x.shape[0]
    if _elide[0] and n > 2 * edge + 1:
        rows = list(range(edge)) + [None] + list(range(n - edge, n))
    else:
        rows = range(n)
    return [None if i is None else _show(x[i]) for i in rows]


_elide = [False]


def _texts(nested, dtype):
    if nested is None:
        return "..."
    if isinstance(nested, list):
        return [_texts(v, dtype) for v in nested]
    return _number(nested, dtype)


def _widest(nested):
    if isinstance(nested, list):
        return _b.max((_widest(v) for v in nested), default=0)
    return 0 if nested == "..." else len(nested)


def _layout(nested, width, indent, depth, separator):
    if not isinstance(nested, list):
        return nested if nested == "..." else nested.rjust(width)
    if not nested or not _b.any(isinstance(v, list) for v in nested):
        return "[" + separator.join(_layout(v, width, indent, depth, separator)
                                    for v in nested) + "]"
    pad = ",\n" if separator == ", " else "\n"
    gap = pad + "\n" * (_deep(nested) - 2) + " " * (indent + 1)
    return "[" + gap.join(_layout(v, width, indent + 1, depth + 1, separator)
                          for v in nested) + "]"


def _deep(nested):
    return 1 + _deep(next((v for v in nested if isinstance(v, list)), [])) \
        if isinstance(nested, list) and _b.any(isinstance(v, list) for v in nested) else 1


def _body(x, indent, separator):
    if x.size == 0:
        return "[]" if x.ndim else ""
    _elide[0] = x.size > _options["threshold"]
    texts = _texts(_show(x), x.dtype)
    return _layout(texts, _widest(texts), indent, 0, separator)


def str_tensor(x):
    """The numbers alone."""
    return _body(x, 0, " ")


def repr_tensor(x):
    """The numbers with dtype, shape and special properties."""
    facts = f"dtype={x.dtype.name}, shape={x.shape}"
    if x.readonly:
        facts += ", readonly"
    if x.ndim and not x.is_contiguous():
        facts += f", strides={x.strides}"
    return f"tensor({_body(x, 7, ', ')}, {facts})"


def format_tensor(x, spec):
    """A 0-d tensor is formatted as its number."""
    if x.ndim == 0:
        return format(x.item(), spec)
    if spec:
        raise TypeError("a format applies to a tensor without axes")
    return str(x)


def _layout_word(x):
    if x.is_contiguous():
        return "row-major"
    if x.T.is_contiguous():
        return "column-major"
    if 0 in x.strides:
        return "broadcast"
    return "strided"


def _thumbnail(x):
    """An inline SVG of the last two axes, at most 64 x 64 cells."""
    while x.ndim > 2:
        x = x[x.shape[0] // 2]
    rows, columns = (_b.min(n, 64) for n in x.shape)
    picked = [[_gray(x[r * x.shape[0] // rows, c * x.shape[1] // columns].item())
               for c in range(columns)] for r in range(rows)]
    flat = [v for row in picked for v in row if _math.isfinite(v)]
    low, high = _b.min(flat, default=0), _b.max(flat, default=0)
    scale = 255 / (high - low) if high > low else 0
    runs = {}  # shade -> strokes, one for each run of cells
    for r, row in enumerate(picked):
        shades = [_b.int((v - low) * scale) // 17 if _math.isfinite(v) else -1 for v in row]
        c = 0
        while c < columns:
            end = c
            while end < columns and shades[end] == shades[c]:
                end += 1
            runs.setdefault(shades[c], []).append(f"M{c} {r}h{end - c}")
            c = end
    parts = [f'<path stroke="{"#f44" if shade < 0 else "#" + f"{shade:x}" * 3}" '
             f'd="{"".join(strokes)}"/>' for shade, strokes in sorted(runs.items())]
    return (f'<svg viewBox="0 -.5 {columns} {rows}" width="{columns * 2}" height="{rows * 2}" '
            f'shape-rendering="crispEdges">{"".join(parts)}</svg>')


def _gray(v):
    return _b.abs(v) if isinstance(v, _b.complex) else _b.float(v)


def html_tensor(x):
    """One line of properties, a table of the corner, and a thumbnail for two or three axes."""
    owner = "own" if x.base is None else type(x.base).__name__
    facts = f"shape {x.shape} · {x.dtype.name} · {x.nbytes} bytes · {_layout_word(x)} · {owner}"
    corner = x
    while corner.ndim > 2:
        corner = corner[0]
    rows = []
    if x.size:
        grid = corner if corner.ndim == 2 else corner.reshape(1, -1)
        for r in range(_b.min(grid.shape[0], 6)):
            cells = "".join(f"<td>{_number(grid[r, c].item(), x.dtype)}</td>"
                            for c in range(_b.min(grid.shape[1], 8)))
            rows.append(f"<tr>{cells}</tr>")
    svg = _thumbnail(x) if x.ndim in (2, 3) and x.size else ""
    return f"<div><div>{facts}</div><table>{''.join(rows)}</table>{svg}</div>"

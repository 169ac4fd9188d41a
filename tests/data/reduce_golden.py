#!/usr/bin/env python3
"""reduce_golden.py > reduce_golden.h - what NumPy makes of reductions, scans and indexing.

The input has shape (3, 4, 5); element k, counted in row-major order, is (37 k % 101 - 50) / 8, in
integers 37 k % 101 - 50; with "nan" elements k % 13 == 5 are NaN.  Results are of f64.
"""
import numpy as np

K = np.arange(60)
INTS = (37 * K % 101 - 50).reshape(3, 4, 5)
FLOATS = INTS / 8
NANS = np.where(K.reshape(3, 4, 5) % 13 == 5, np.nan, FLOATS)
INPUTS = {"f64": FLOATS, "i32": INTS.astype("i4"), "nan": NANS}
AXES = [(0, 1, 2), (0,), (2,), (0, 2)]


def text(x):
    x = float(x)
    return "NAN" if np.isnan(x) else "INFINITY" if x == np.inf else "-INFINITY" if x == -np.inf else repr(x)


def row(call, source, axes, param, result):
    values = np.asarray(result, dtype="f8").reshape(-1)
    mask = sum(1 << a for a in axes)
    line = f'{{"{call}", "{source}", {mask}, {text(param)}, {len(values)}, {{'
    for v in values:
        word = text(v) + ", "
        if len(line) + len(word) > 95:
            print(line.rstrip())
            line = "    "
        line += word
    print(line.rstrip(", ") + "}},")


def reductions(source):
    x = INPUTS[source]
    whole = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "var": np.var, "std": np.std, "min": np.min,
             "max": np.max, "any": np.any, "all": np.all, "count_nonzero": np.count_nonzero,
             "sumsq": lambda v, axis: np.sum(v * v, axis=axis)}
    if source == "nan":
        whole = {"nansum": np.nansum, "nanprod": np.nanprod, "nanmean": np.nanmean, "nanvar": np.nanvar,
                 "nanstd": np.nanstd, "nanmin": np.nanmin, "nanmax": np.nanmax, "min": np.min, "sum": np.sum}
    for axes in AXES:
        for name, call in whole.items():
            if name == "prod" and source == "i32":
                continue  # wraps
            row(name, source, axes, 0, call(x, axis=axes))
        if source != "i32":
            row("logsumexp", source, axes, 0, np.logaddexp.reduce(np.moveaxis(x, axes, range(len(axes))).reshape(
                (-1,) + tuple(n for i, n in enumerate(x.shape) if i not in axes)), axis=0))
    for axis in range(3):
        row("argmin", source, (axis,), 0, np.argmin(x, axis=axis))
        row("argmax", source, (axis,), 0, np.argmax(x, axis=axis))
        if source == "f64":
            row("var", source, (axis,), 1, np.var(x, axis=axis, ddof=1))
            for order in (0, 1, 3, np.inf, -np.inf):
                row("norm", source, (axis,), order, np.linalg.norm(x, ord=order, axis=axis))


def along(source):
    x = INPUTS[source]
    for axis in range(3):
        row("cumsum", source, (axis,), 0, np.cumsum(x, axis=axis))
        row("cummax", source, (axis,), 0, np.maximum.accumulate(x, axis=axis))
        row("diff", source, (axis,), 0, np.diff(x, axis=axis))
        row("sort", source, (axis,), 0, np.sort(x, axis=axis, kind="stable"))
        row("argsort", source, (axis,), 0, np.argsort(x, axis=axis, kind="stable"))
        row("take", source, (axis,), 0, np.take(x, [2, -1, 0, 1], axis=axis))
    row("nonzero", source, (0,), 0, np.transpose(np.nonzero(x)))
    row("masked_select", source, (0,), 0, x[x > 1])
    row("unique", source, (0,), 0, np.unique(x))
    row("searchsorted", source, (0,), 0, np.searchsorted(np.sort(x.reshape(-1)[:20]), x))
    if source == "f64":
        row("histogram", source, (0,), 0, np.histogram(x, bins=7, range=(-5, 5))[0])


print("/* reduce_golden.h - what NumPy " + np.__version__ + " makes of reductions, scans and indexing:")
print(" * written by tests/data/reduce_golden.py. */")
print("/* clang-format off */")
for s in INPUTS:
    reductions(s)
for s in ("f64", "i32"):
    along(s)
print("/* clang-format on */")

#!/usr/bin/env python3
"""tenon_bench_index --list | peers_index.py [--quick] - the same cases in NumPy and PyTorch.

Each line is a name, a kind, a dtype, the number of elements or rows, the width of a row or the
number of elements searched or counted, and an op or a percentage.  NumPy uses one thread,
PyTorch two.  Figures are milliseconds, the best of several rounds; "-" is a peer that is not
installed or has no such call.
"""
import sys

from timing import best, np, torch


def filled(dtype, shape, most):
    g = np.random.default_rng(7)
    if dtype[0] == "f":
        return g.standard_normal(shape).astype("f4" if dtype == "f32" else "f8")
    return g.integers(0, most, shape).astype({"i32": "i4", "i64": "i8", "u8": "u1"}[dtype])


def data(kind, dtype, n, width, op):
    """src and its companions: a mask, the elements to search, indices."""
    g = np.random.default_rng(8)
    if kind == "nonzero":
        x = g.integers(0, 100, (n, width) if width > 1 else n) < op
        return (x if dtype == "bool" else x.astype("f4")), None
    rows = kind in ("put", "take") and width > 1
    x = filled(dtype, (n, width) if rows else n, width if width > 1 else 256)
    other = {"select": lambda: g.integers(0, 100, n) < op,
             "search": lambda: np.sort(filled(dtype, width, 1 << 30)),
             "put": lambda: g.integers(0, n, n),
             "take": lambda: g.integers(0, n, n)}.get(kind)
    return x, other and other()


def by_numpy(kind, x, other, width, op):
    out = np.zeros_like(x)
    at = {1: np.add.at, 4: np.maximum.at}
    return {"select": lambda: x[other],
            "nonzero": lambda: np.nonzero(x),
            "search": lambda: np.searchsorted(other, x),
            "unique": lambda: np.unique(x),
            "put": (lambda: at[op](out, other, x)) if op else (lambda: out.__setitem__(other, x)),
            "take": lambda: np.take(x, other, axis=0),
            "bincount": lambda: np.bincount(x, minlength=width),
            "histogram": lambda: np.histogram(x, 100, (-4, 4))}[kind]


def by_torch(kind, x, other, width, op):
    x, other = torch.from_numpy(x), other is not None and torch.from_numpy(other)
    out = torch.zeros_like(x)
    return {"select": lambda: torch.masked_select(x, other),
            "nonzero": lambda: torch.nonzero(x),
            "search": lambda: torch.searchsorted(other, x),
            "unique": lambda: torch.unique(x),
            "put": {1: lambda: out.index_add_(0, other, x),
                    4: lambda: out.index_reduce_(0, other, x, "amax")}.get(
                        op, lambda: out.index_copy_(0, other, x)),
            "take": lambda: torch.index_select(x, 0, other),
            "bincount": lambda: torch.bincount(x, minlength=width),
            "histogram": lambda: torch.histc(x, 100, -4, 4)}[kind]


def main():
    seconds = 0.15 if "--quick" in sys.argv else 0.8
    if np is None:
        print("not run: NumPy, PyTorch")
        return
    if torch:
        torch.set_num_threads(2)
    print(f"{'ms':30} {'NumPy':>8} {'PyTorch':>8}")
    for line in sys.stdin:
        name, kind, dtype, *numbers = line.rstrip("\n").split("\t")
        n, width, op = map(int, numbers)
        x, other = data(kind, dtype, n, width, op)
        cells = []
        for peer, there in ((by_numpy, np), (by_torch, torch)):
            run = there and peer(kind, x, other, width, op)
            cells.append(f"{best(run, seconds) * 1e3:8.2f}" if run else f"{'-':>8}")
        print(f"{name:30}", *cells, flush=True)


main()

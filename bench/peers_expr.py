#!/usr/bin/env python3
"""peers_expr.py [--quick] - the cases of tenon_bench_expr in numexpr, NumPy and PyTorch.

GB/s count the same bytes; the best of several rounds counts.  Run it after tenon_bench_expr on
the same idle machine.  A peer that is not installed, or lacks a function or dtype, is shown as
"-".
"""
import sys

from timing import best, np, torch

if np is None:
    sys.exit("not run: NumPy")
try:
    import numexpr as ne
except ImportError:
    ne = None

SECONDS = 0.4 if "--quick" in sys.argv else 2


def fused(text, out=None, **names):
    return lambda: ne.evaluate(text, local_dict=names, out=out, casting="unsafe")


def floats(*shape):
    return (np.random.default_rng(1).random(shape, dtype="f4") + 0.1).astype("f4")


def images():
    x = np.random.default_rng(2).integers(0, 256, (32, 512, 512, 3), dtype="u1").transpose(0, 3, 1, 2)
    m, s = floats(3, 1, 1), floats(3, 1, 1)
    out = np.empty((32, 3, 512, 512), "f4")
    c = np.float32(255)
    t = [torch.from_numpy(v) for v in (x, m, s)] if torch else None
    return (
        fused("(x / c - m) * s", out, x=x, c=c, m=m, s=s),
        lambda: np.multiply((x / c - m), s, out=out),
        lambda: ((t[0] / 255 - t[1]) * t[2]).contiguous(),
        x.nbytes + out.nbytes,
    )


def products(n):
    a, b, c, d = (floats(n) for _ in range(4))
    out, more = np.empty(n, "f4"), np.empty(n, "f4")
    t = [torch.from_numpy(v) for v in (a, b, c, d)] if torch else None

    def numpy():
        np.multiply(a, b, out=out)
        np.multiply(c, d, out=more)
        np.add(out, more, out=out)

    return (fused("a*b + c*d", out, a=a, b=b, c=c, d=d), numpy, lambda: t[0] * t[1] + t[2] * t[3], 5 * out.nbytes)


def lengths(n):
    x, y = floats(n), floats(n)
    out = np.empty(n, "f4")
    t = [torch.from_numpy(v) for v in (x, y)] if torch else None
    return (
        fused("sqrt(x*x + y*y)", out, x=x, y=y),
        lambda: np.sqrt(x * x + y * y, out=out),
        lambda: torch.sqrt(t[0] * t[0] + t[1] * t[1]),
        3 * out.nbytes,
    )


def without_nan(n):
    x = floats(n).astype("f2")
    t = torch.from_numpy(x) if torch else None
    zero = np.float16(0)
    return (
        None,
        lambda: np.where(np.isnan(x), zero, x),
        lambda: torch.where(torch.isnan(t), 0, t),
        2 * x.nbytes,
    )


def distance(n):
    x, y = floats(n), floats(n)
    t = [torch.from_numpy(v) for v in (x, y)] if torch else None
    return (
        fused("sum((x - y)**2)", x=x, y=y),
        lambda: np.sum((x - y) ** 2),
        lambda: torch.sum((t[0] - t[1]) ** 2),
        2 * x.nbytes,
    )


def transposed():
    x, y = floats(4096, 8192), floats(8192, 4096).T
    out = np.empty((4096, 8192), "f4")
    half = np.float32(0.5)
    t = [torch.from_numpy(v) for v in (x, y)] if torch else None
    return (
        fused("(x + y)*half", out, x=x, y=y, half=half),
        lambda: np.multiply(x + y, half, out=out),
        lambda: (t[0] + t[1]) * 0.5,
        3 * out.nbytes,
    )


CASES = {
    "a (x/255 - m)*s, NHWC to NCHW": images,
    "b a*b + c*d": lambda: products(32 << 20),
    "c sqrt(x*x + y*y)": lambda: lengths(32 << 20),
    "e where(isnan(x), 0, x), f16": lambda: without_nan(64 << 20),
    "f sum((x - y)**2)": lambda: distance(32 << 20),
    "(x + t)*0.5, t transposed": transposed,
    "g a*b + c*d, 64k": lambda: products(1 << 16),
}


def main():
    print(f"{'GB/s':34} {'numexpr':>8} {'NumPy':>8} {'PyTorch':>8}")
    for name, make in CASES.items():
        *runs, moved = make()
        shown = []
        for run, there in zip(runs, (ne, np, torch)):
            shown.append(f"{moved / best(run, SECONDS) / 1e9:8.1f}" if run and there else f"{'-':>8}")
        print(f"{name:34}", *shown, flush=True)


main()

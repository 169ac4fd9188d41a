#!/usr/bin/env python3
"""python.py [--quick] [--library FILE] - the cost of calls of the module, NumPy and PyTorch.

Small calls are in nanoseconds, on 4 x 4 float32 with one thread; the libraries are interleaved
and the best of several rounds counts.  The import is in milliseconds, without the start of the
interpreter.  Large work is the time of the same call of the C library (FILE, by default
build/release/libtenon.so) as a share of the module's.  "<" marks results behind the goal or
behind NumPy; a peer that is not installed or has no such call is "-".
"""
import argparse
import ctypes
import operator
import os
import subprocess
import sys
import time
import timeit

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before the libraries read it

import tenon as tn

try:
    import numpy as np
except ImportError:
    np = None
try:
    import torch
    torch.set_num_threads(1)
except ImportError:
    torch = None

# Name, goal in ns, statements of tenon, NumPy and PyTorch; t, n and p are their arrays.
CALLS = [
    ("add(a, b, out=o)", 130, "add(t, t2, out=t3)", "nadd(n, n2, out=n3)", "padd(p, p2, out=p3)"),
    ("a + b", None, "t + t2", "n + n2", "p + p2"),
    ("a + 1.0", None, "t + 1.0", "n + 1.0", "p + 1.0"),
    ("a += b", None, "iadd(t, t2)", "iadd(n, n2)", "iadd(p, p2)"),
    ("a.T", 80, "t.T", "n.T", "p.T"),
    ("a[1]", 80, "t[1]", "n[1]", "p[1]"),
    ("a[1:3, ::2]", None, "t[1:3, ::2]", "n[1:3, ::2]", "p[1:3, ::2]"),
    ("a.reshape(2, 8)", None, "t.reshape(2, 8)", "n.reshape(2, 8)", "p.reshape(2, 8)"),
    ("a.shape", None, "t.shape", "n.shape", "p.shape"),
    ("three ndarrays", 280, "add(n, n2, out=n3)", "nadd(n, n2, out=n3)", None),
    ("three torch tensors", None, "add(p, p2, out=p3)", None, "padd(p, p2, out=p3)"),
    ("np.asarray(t)", 200, "np.asarray(t)", None, None),
    ("asarray(ndarray)", None, "tn.asarray(n)", None, "torch.from_numpy(n)"),
    ("from_dlpack(ndarray)", None, "tn.from_dlpack(n)", "np.from_dlpack(n)",
     "torch.from_dlpack(n)"),
    ("from_dlpack(torch)", None, "tn.from_dlpack(p)", "np.from_dlpack(p)", None),
    ("a.sum()", None, "t.sum()", "n.sum()", "p.sum()"),
    ("a @ b", None, "t @ t2", "n @ n2", "p @ p2"),
    ("sqrt(a, out=o)", None, "tn.sqrt(t, out=t3)", "np.sqrt(n, out=n3)", "torch.sqrt(p, out=p3)"),
]


def names():
    """The names that the statements use."""
    words = {"tn": tn, "np": np, "torch": torch, "add": tn.add, "iadd": operator.iadd}
    for k in ("", "2", "3"):
        words["t" + k] = tn.full((4, 4), 1, dtype="f32")
        if np is not None:
            words["n" + k], words["nadd"] = np.ones((4, 4), np.float32), np.add
        if torch is not None:
            words["p" + k], words["padd"] = torch.ones(4, 4), torch.add
    return words


def small(statements, words, rounds):
    """The minimum ns of each statement; None for a missing statement or peer."""
    timers = [s and timeit.Timer(s, globals=words) for s in statements]
    least = [None] * len(timers)
    for _ in range(rounds):
        for i, timer in enumerate(timers):
            if timer is None:
                continue
            try:
                ns = timer.timeit(5000) / 5000 * 1e9
            except (NameError, AttributeError):
                timers[i] = None
                continue
            least[i] = ns if least[i] is None else min(least[i], ns)
    return least


def imported(module, rounds):
    """Milliseconds that an import adds to starting the interpreter."""
    least = {}
    for _ in range(rounds):
        for code in ("pass", f"import {module}"):
            at = time.perf_counter()
            done = subprocess.run([sys.executable, "-I", "-c", code], stderr=subprocess.DEVNULL)
            if done.returncode:
                return None
            least[code] = min(least.get(code, 9e9), time.perf_counter() - at)
    return 1e3 * (least[f"import {module}"] - least["pass"])


class Header(ctypes.Structure):
    """tn_tensor."""

    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("device", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * 64), ("stride", ctypes.c_int64 * 64)]


def header(t, dtypes):
    """The C library's descriptor of a tensor; dtypes maps names to the library's codes."""
    h = Header(ndim=t.ndim, dtype=dtypes[t.dtype.short])
    h.data = ctypes.addressof(ctypes.c_char.from_buffer(t))
    h.shape[:t.ndim], h.stride[:t.ndim] = t.shape, t.strides
    return h


def large(file, rounds):
    """Yield (name, seconds in C / seconds in Python) of calls on 64 MB."""
    c = ctypes.CDLL(file)
    code = ctypes.c_int()
    assert c.tn_dtype_parse(ctypes.byref(code), b"f32") == 0
    a, b, o = (tn.full((4096, 4096), 1, dtype="f32") for _ in range(3))
    x, y, z = (ctypes.byref(header(t, {"f32": code.value})) for t in (a, b, o))
    rows = [("add 4096 x 4096", lambda: c.tn_add(z, x, y), lambda: tn.add(a, b, out=o)),
            ("transpose 4096 x 4096", lambda: c.tn_pattern_into(z, x, b"a b -> b a", None),
             lambda: tn.rearrange(a, "a b -> b a", out=o))]
    for name, in_c, in_python in rows:
        least = [9e9, 9e9]
        assert in_c() == 0
        for _ in range(rounds):
            for i, run in enumerate((in_c, in_python)):
                at = time.perf_counter()
                run()
                least[i] = min(least[i], time.perf_counter() - at)
        yield name, least[0] / least[1]


def row(name, goal, reached, numpy=None, pytorch=None, form="{:.0f}", more=False):
    """Print one line; more: larger numbers are better."""
    def text(v):
        return "-" if v is None else form.format(v)
    behind = [v is not None and (reached < v if more else reached > v) for v in (goal, numpy)]
    print(f"{name:24}{text(goal):>8}{text(reached):>9}{'<' if any(behind) else ' '}"
          f"{text(numpy):>12}{text(pytorch):>10}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--library", default=os.path.join(os.path.dirname(__file__), os.pardir,
                                                          "build/release/libtenon.so"))
    options = parser.parse_args()
    rounds = 5 if options.quick else 25
    words = names()
    print(f"{'ns':24}{'goal':>8}{'reached':>9} {'peer: NumPy':>12}{'PyTorch':>10}")
    with torch.inference_mode() if torch else tn.threads(1):
        for name, goal, *statements in CALLS:
            reached, *peers = small(statements, words, rounds)
            if reached is not None:
                row(name, goal, reached, *peers)
    print("ms")
    least = [imported(m, 3 if options.quick else 10) for m in ("tenon", "numpy", "torch")]
    row("import", 30, *least, form="{:.1f}")
    print("C / Python")
    if os.path.exists(options.library):
        for name, share in large(options.library, 5 if options.quick else 25):
            row(name, 0.97, share, form="{:.2f}", more=True)
    else:
        print("not run: libtenon.so")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""peers.py [--quick] [--threads N] [--only WORD] [--json FILE] [--library FILE] - tenon against
NumPy and PyTorch.

Every case runs in one process on the same memory: tenon (through ctypes), NumPy, PyTorch and
memcpy are interleaved, and the best round of each counts.  GB/s are bytes read and written.  A
peer that is not installed or has no such call is shown as "-". tenon and PyTorch use N threads
(all cores by default), NumPy uses one.
"""
import argparse
import ctypes
import json
import math
import os
import platform
import subprocess
import sys
import time

words = argparse.ArgumentParser()
words.add_argument("--quick", action="store_true")
words.add_argument("--threads", type=int, default=os.cpu_count())
words.add_argument("--only", default="")
words.add_argument("--json")
words.add_argument("--library")
given = words.parse_args()
os.environ["OMP_WAIT_POLICY"] = "passive"  # idle threads of one must not slow the others
os.environ["OMP_NUM_THREADS"] = str(given.threads)  # before libraries with OpenMP are loaded
HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "..", "build", "release")

try:
    import numpy as np
except ImportError:
    print("not run: NumPy")
    sys.exit(0)
try:
    import torch
except ImportError:
    torch = None


# ---- tenon through ctypes ----

class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int), ("ndim", ctypes.c_int),
                ("device", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * 64), ("stride", ctypes.c_int64 * 64)]


class Tenon:
    """The measured calls, on NumPy's memory."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.tn_error.restype = self.lib.tn_version.restype = ctypes.c_char_p
        self.lib.tn_isa.restype = ctypes.c_char_p

    def must(self, status):
        if status:
            sys.exit(self.lib.tn_error().decode())

    def number(self, parse, name):
        value = ctypes.c_int()
        self.must(getattr(self.lib, parse)(ctypes.byref(value), name.encode()))
        return value.value

    def tensor(self, array, dtype=None):
        name = dtype or np.dtype(array.dtype).name
        t = Tensor(array.ctypes.data, self.number("tn_dtype_parse", name), array.ndim)
        t.array = array  # a tensor does not own its memory: keep the array alive
        t.shape[:array.ndim], t.stride[:array.ndim] = array.shape, array.strides
        return t

    def copy(self, dst, src):
        d, s = self.tensor(dst), self.tensor(src)
        return lambda: self.must(self.lib.tn_rearrange(ctypes.byref(d), ctypes.byref(s)))

    def cast(self, dst, src, dtype):
        d, s = self.tensor(dst, dtype), self.tensor(src)
        return lambda: self.must(self.lib.tn_cast(ctypes.byref(d), ctypes.byref(s)))

    def pad(self, dst, src, width, mode):
        d, s = self.tensor(dst), self.tensor(src)
        widths = (ctypes.c_int64 * src.ndim)(*[0] * (src.ndim - 2), width, width)
        mode = ["constant", "edge", "reflect", "symmetric", "wrap"].index(mode)
        return lambda: self.must(self.lib.tn_pad_into(
            ctypes.byref(d), ctypes.byref(s), widths, widths, mode, None))

    def apply(self, op, dst, *srcs):
        op = self.number("tn_op_parse", op)
        d, ts = self.tensor(dst), [self.tensor(s) for s in srcs]
        def run():
            list_ = (ctypes.POINTER(Tensor) * len(ts))(*[ctypes.pointer(t) for t in ts])
            self.must(self.lib.tn_apply(op, None, ctypes.byref(d), len(ts), list_))

        return run


# ---- cases: name, bytes read and written, and a call for each of tenon, NumPy, PyTorch ----

def as_torch(array):
    return torch.from_numpy(array) if torch else None


def numbers(shape, dtype="float32"):
    array = np.empty(shape, dtype)
    array.reshape(-1)[:] = np.resize(np.arange(1, 102), array.size).astype(dtype)
    if array.dtype.kind == "f":
        array *= np.array(0.01, dtype)
    return array


def permutation(tenon, shape, axes, dtype="float32"):
    src = numbers(shape, dtype)
    view = src.transpose(axes)
    dst = np.empty(view.shape, dtype)
    t_dst, t_view = (as_torch(dst), as_torch(src).permute(axes)) if torch else (None, None)
    return 2 * src.nbytes, (tenon.copy(dst, view), lambda: np.copyto(dst, view),
                            torch and (lambda: t_dst.copy_(t_view)))


def padding(tenon, shape, width, mode):
    src = numbers(shape)
    dst = np.empty(shape[:-2] + (shape[-2] + 2 * width, shape[-1] + 2 * width), "float32")
    widths = [(0, 0)] * (len(shape) - 2) + [(width, width)] * 2
    name = {"edge": "replicate", "wrap": "circular"}.get(mode, mode)
    pad = torch and torch.nn.functional.pad
    t_src = as_torch(src)
    return src.nbytes + dst.nbytes, (
        tenon.pad(dst, src, width, mode), lambda: np.pad(src, widths, mode),
        torch and (lambda: pad(t_src, [width] * 4, name)))


def op(tenon, name, shape, numpy_op, torch_op, dtype="float32", transposed=False, nsrc=1):
    srcs = [numbers(shape, dtype) for _ in range(nsrc)]
    dst = np.empty(shape, dtype)
    views = [s.T if transposed and k == 1 else s for k, s in enumerate(srcs)]
    ts, t_dst = [as_torch(v) for v in views], as_torch(dst)
    return (nsrc + 1) * dst.nbytes, (
        tenon.apply(name, dst, *views), numpy_op and (lambda: numpy_op(*views, out=dst)),
        torch and (lambda: torch_op(*ts, t_dst)))


def casting(tenon, count, to):
    src = numbers((count,))
    dst = np.empty(count, "uint16" if to == "bfloat16" else to)
    t_src = as_torch(src)
    t_dst = torch and torch.empty(count, dtype=getattr(torch, to))
    return src.nbytes + dst.nbytes, (
        tenon.cast(dst, src, to),
        None if to == "bfloat16" else (lambda: np.copyto(dst, src, casting="unsafe")),
        torch and (lambda: t_dst.copy_(t_src)))


def out(function):
    return lambda *args: function(*args[:-1], out=args[-1])


def cases():
    """Yield (name, maker) of every case."""
    f = torch and torch.nn.functional
    n, side = 16 << 20, 4096
    yield "transpose 4096 x 4096 f32", lambda t: permutation(t, (side, side), (1, 0))
    yield "NHWC to NCHW, 32 x 224 x 224 x 3 u8", lambda t: permutation(
        t, (32, 224, 224, 3), (0, 3, 1, 2), "uint8")
    yield "heads (8, 1024, 16, 64) f16 to (8, 16, 1024, 64)", lambda t: permutation(
        t, (8, 1024, 16, 64), (0, 2, 1, 3), "float16")
    yield "reverse the axes of (20, 20, 20, 20, 20) f32", lambda t: permutation(t, (20,) * 5, (4, 3, 2, 1, 0))
    yield "pad (64, 64, 56, 56) f32 by 1, constant", lambda t: padding(
        t, (64, 64, 56, 56), 1, "constant")
    yield "pad (64, 64, 56, 56) f32 by 1, reflect", lambda t: padding(
        t, (64, 64, 56, 56), 1, "reflect")
    yield "a + b, 64 MB f32", lambda t: op(t, "add", (n,), np.add, torch and out(torch.add), nsrc=2)
    yield "a + b.T, 4096 x 4096 f32", lambda t: op(
        t, "add", (side, side), np.add, torch and out(torch.add), transposed=True, nsrc=2)
    yield "a + b, 32 MB f16", lambda t: op(
        t, "add", (n,), np.add, torch and out(torch.add), "float16", nsrc=2)
    yield "exp, 64 MB f32", lambda t: op(t, "exp", (n,), np.exp, torch and out(torch.exp))
    yield "tanh, 64 MB f32", lambda t: op(t, "tanh", (n,), np.tanh, torch and out(torch.tanh))
    yield "gelu, 64 MB f32", lambda t: op(t, "gelu", (n,), None, lambda a, d: f.gelu(a))
    yield "cast f32 to f16, 64 MB", lambda t: casting(t, n, "float16")
    yield "cast f32 to bf16, 64 MB", lambda t: casting(t, n, "bfloat16")


def permutations():
    """The 57, as tenon_bench_rearrange lists them."""
    program = os.path.join(BUILD, "bench", "tenon_bench_rearrange")
    text = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        shape, axes, name = line.split(" ", 2)
        shape, axes = (tuple(map(int, x.split(","))) for x in (shape, axes))
        yield name, lambda t, shape=shape, axes=axes: permutation(t, shape, axes)


# ---- measuring ----

NAMES = ["tenon", "NumPy", "PyTorch", "memcpy"]


def measure(work, least, duration):
    """The best GB/s of each call and of a single-threaded memcpy of as many bytes; None: no
    call.  Rounds continue for `duration` seconds; there are at least `least` of them."""
    bytes_moved, calls = work
    a, b = np.ones(bytes_moved // 2, "uint8"), np.empty(bytes_moved // 2, "uint8")
    calls = list(calls) + [lambda: ctypes.memmove(b.ctypes.data, a.ctypes.data, a.nbytes)]
    best = [math.inf if call else None for call in calls]
    i, end = 0, time.perf_counter() + duration
    while i <= least or time.perf_counter() < end:  # the first round warms up
        i += 1
        for k, call in enumerate(calls):
            if call and best[k] is not None:
                begin = time.perf_counter()
                try:
                    call()
                except (RuntimeError, NotImplementedError, TypeError):
                    best[k] = None
                    continue
                spent = time.perf_counter() - begin
                best[k] = min(best[k], spent) if i > 1 else best[k]
    return [t and bytes_moved / t / 1e9 for t in best]


def show(name, rates):
    others = [r for r in rates[1:3] if r]
    print(f"{name:<50}", *(f"{r:8.1f}" if r else "       -" for r in rates),
          f"{rates[0] / max(others):8.1f}x" if others else "", flush=True)


def mean(rows):
    """The geometric mean of each complete column."""
    columns = zip(*rows)
    return [None if None in c else math.exp(sum(map(math.log, c)) / len(c)) for c in columns]


def cpu():
    with open("/proc/cpuinfo") as f:
        facts = dict(line.split(":", 1) for line in f if ":" in line)
    facts = {key.strip(): value.strip() for key, value in facts.items()}
    return (f'{facts.get("model name", platform.machine())} (family {facts.get("cpu family", "?")}, '
            f'model {facts.get("model", "?")}), {os.cpu_count()} cores')


def main():
    tenon = Tenon(given.library or os.path.join(BUILD, "libtenon.so"))
    versions = [tenon.lib.tn_version().decode() + " " + tenon.lib.tn_isa().decode(),
                np.__version__, torch.__version__.split("+")[0] if torch else "absent", "1 thread"]
    machine = f"{cpu()}, {given.threads} thread{'s' if given.threads > 1 else ''}"
    print(machine)
    print(f"{'GB/s, bytes read and written':<50}", *(f"{n:>8}" for n in NAMES), "to the best peer")
    print(f"{'':<50}", *(f"{v.split()[0]:>8}" for v in versions))
    rows = []
    for name, make in cases():
        if given.only in name:
            rates = measure(make(tenon), 3, 1 if given.quick else 5)
            rows.append({"case": name, **dict(zip(NAMES, rates))})
            show(name, rates)
    if not given.quick and given.only in "57 permutations":
        rates = mean([measure(make(tenon), 2, 0) for _, make in permutations()])
        rows.append({"case": "57 permutations, f32, geometric mean", **dict(zip(NAMES, rates))})
        show(rows[-1]["case"], rates)
    if given.json:
        with open(given.json, "w") as f:
            json.dump({"cpu": machine, "versions": dict(zip(NAMES, versions)),
                       "threads": given.threads, "cases": rows}, f, indent=1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""peers_ops.py - the work of tenon_bench_ops in NumPy and PyTorch, whichever can be imported.

GB/s are bytes read and written, the best of five.
"""
from peer import best, present

N = 32 << 20
SIDE = 4096


def numpy_work():
    import numpy

    a, b = numpy.full(N, 0.5, "float32"), numpy.full(N, 2, "float32")
    d = numpy.empty_like(a)
    square = a[: SIDE * SIDE].reshape(SIDE, SIDE), b[: SIDE * SIDE].reshape(SIDE, SIDE)
    out = d[: SIDE * SIDE].reshape(SIDE, SIDE)
    half = a.astype("float16"), b.astype("float16"), numpy.empty(N, "float16")
    return "NumPy " + numpy.__version__, {
        "add f32 128 MB": (lambda: numpy.add(a, b, out=d), 12 * N),
        "add f32 4096, a + b.T": (lambda: numpy.add(square[0], square[1].T, out=out), 12 * SIDE * SIDE),
        "add f16": (lambda: numpy.add(half[0], half[1], out=half[2]), 6 * N),
        "exp f32 128 MB": (lambda: numpy.exp(a, out=d), 8 * N),
        "tanh f32 128 MB": (lambda: numpy.tanh(a, out=d), 8 * N),
        "cast f32 to f16": (lambda: numpy.copyto(half[2], a, casting="unsafe"), 6 * N),
    }


def torch_work():
    import torch

    a, b = torch.full((N,), 0.5), torch.full((N,), 2.0)
    d = torch.empty_like(a)
    square = a[: SIDE * SIDE].view(SIDE, SIDE), b[: SIDE * SIDE].view(SIDE, SIDE)
    out = d[: SIDE * SIDE].view(SIDE, SIDE)
    half, brain = [[x.to(t) for x in (a, b, d)] for t in (torch.float16, torch.bfloat16)]
    f = torch.nn.functional
    return f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads", {
        "add f32 128 MB": (lambda: torch.add(a, b, out=d), 12 * N),
        "add f32 4096, a + b.T": (lambda: torch.add(square[0], square[1].T, out=out), 12 * SIDE * SIDE),
        "add f16": (lambda: torch.add(half[0], half[1], out=half[2]), 6 * N),
        "add bf16": (lambda: torch.add(brain[0], brain[1], out=brain[2]), 6 * N),
        "exp f32 128 MB": (lambda: torch.exp(a, out=d), 8 * N),
        "silu f32 128 MB": (lambda: f.silu(a), 8 * N),
        "tanh f32 128 MB": (lambda: torch.tanh(a, out=d), 8 * N),
        "gelu f32 128 MB": (lambda: f.gelu(a), 8 * N),
        "cast f32 to f16": (lambda: half[2].copy_(a), 6 * N),
        "cast f32 to bf16": (lambda: brain[2].copy_(a), 6 * N),
    }


def rate(run, count):
    return f"{count / best(run, 5) / 1e9:.1f}"


def main():
    peers = present("Elementwise work", numpy_work, torch_work)
    for case in dict.fromkeys(case for work in peers for case in work):
        rates = [rate(*work[case]) if case in work else "-" for work in peers]
        print(f"  {case:<30}", *(f"{r:>8}" for r in rates), flush=True)


main()

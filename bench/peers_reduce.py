#!/usr/bin/env python3
"""tenon_bench_reduce --list | peers_reduce.py [--quick] [--numpy] - the same cases in NumPy and
PyTorch, or in NumPy alone.

Each line is a name, a kind, a dtype, a shape, the reduced axes or the axis, the order of the
axes in memory, and the step along axis 1.  NumPy uses one thread, PyTorch two; results are
written to memory that is reused.  GB/s are bytes read, for row functions, scans and takes read
and written; the best of several rounds counts.  A peer that is not installed or has no such
call is shown as "-".
"""
import sys

from timing import best, np, torch

COPIES = ("softmax", "rms", "layer", "scan", "take")


def laid(x, shape, order, every):
    """View x, dense in memory order, as a tensor of this shape with a step along axis 1."""
    back = [order.index(i) for i in range(3)]
    x = x.reshape([shape[i] for i in order])
    x = x.permute(back) if torch and isinstance(x, torch.Tensor) else x.transpose(back)
    return x[:, ::every]


def by_numpy(kind, dtype, shape, axes, order, every):
    names = {"f32": "f4", "f16": "f2", "i8": "i1", "bool": "?"}
    if np is None or dtype not in names:
        return None
    x = (np.random.default_rng(1).standard_normal(shape, dtype="f4") * 8).astype(names[dtype])
    x = laid(x, shape, order, every)
    if kind == "scan":
        out = np.empty_like(x)
        return lambda: np.cumsum(x, axis=axes[0], out=out)
    if kind == "sort":
        return lambda: np.sort(x, axis=axes[0])
    if kind == "topk":
        return lambda: np.partition(x, shape[axes[0]] - 50, axis=axes[0])
    if kind == "take":
        index = np.random.default_rng(1).integers(0, shape[1], shape[1])
        table, out = x[0], np.empty_like(x[0])
        return lambda: np.take(table, index, axis=0, out=out)
    if kind == "argmax":
        return lambda: np.argmax(x, axis=axes[0] if len(axes) == 1 else None)
    call = getattr(np, kind, None)
    return call and (lambda: call(x, axis=axes))


def by_torch(kind, dtype, shape, axes, order, every):
    names = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8",
             "bool": "bool"}
    if torch is None or dtype not in names:
        return None
    x = laid((torch.randn(shape) * 8).to(getattr(torch, names[dtype])), shape, order, every)
    if kind == "softmax":
        return lambda: torch.softmax(x, axes[0])
    if kind == "layer":
        return lambda: torch.nn.functional.layer_norm(x, shape[-1:])
    if kind == "scan":
        return lambda: torch.cumsum(x, axes[0])
    if kind == "sort":
        return lambda: torch.sort(x, dim=axes[0], stable=True)
    if kind == "topk":
        return lambda: torch.topk(x, 50, axes[0])
    if kind == "take":
        index = torch.randint(0, shape[1], (shape[1],))
        return lambda: torch.index_select(x[0], 0, index)
    if kind == "rms":
        return lambda: torch.nn.functional.rms_norm(x, shape[-1:], eps=1e-6)
    if kind == "argmax":
        return lambda: torch.argmax(x, axes[0] if len(axes) == 1 else None)
    if kind == "count_nonzero":
        return lambda: torch.count_nonzero(x)
    call = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "var": torch.var}.get(kind)
    return call and (lambda: call(x, dim=axes))


def main():
    global torch
    seconds = 0.15 if "--quick" in sys.argv else 0.8
    if "--numpy" in sys.argv:
        torch = None
    if torch:
        torch.set_num_threads(2)
    if np is None and torch is None:
        print("not run: NumPy, PyTorch")
        return
    print(f"{'GB/s':30} {'NumPy':>8} {'PyTorch':>8}")
    for line in sys.stdin:
        name, kind, dtype, *numbers = line.rstrip("\n").split("\t")
        shape, axes, order, every = (tuple(map(int, n.split())) for n in numbers)
        width = {"f32": 4, "f16": 2, "bf16": 2}.get(dtype, 1)
        size = width * (2 if kind in COPIES else 1) / every[0] / 1e9
        for n in shape:
            size *= n
        cells = []
        for peer in (by_numpy, by_torch):
            run = peer(kind, dtype, shape, axes, order, every[0])
            cells.append(f"{size / best(run, seconds):8.1f}" if run else f"{'-':>8}")
        print(f"{name:30}", *cells, flush=True)


main()

#!/usr/bin/env python3
"""peers.py - the 57 permutations in NumPy and PyTorch, whichever can be imported.

Reads `tenon_bench_rearrange --list` on standard input: shape, axes, name.  GB/s are bytes read
and written, f32, the best of three.
"""
import sys

from peer import best, present


def numpy_copy():
    import numpy

    def prepare(shape, axes):
        src = numpy.ones(shape, numpy.float32).transpose(axes)
        dst = numpy.empty(src.shape, numpy.float32)
        return (lambda: numpy.copyto(dst, src)), 2 * dst.nbytes

    return "NumPy " + numpy.__version__, prepare


def torch_copy():
    import torch

    def prepare(shape, axes):
        src = torch.ones(shape, dtype=torch.float32).permute(axes)
        dst = torch.empty(src.shape, dtype=torch.float32)
        return (lambda: dst.copy_(src)), 8 * dst.numel()

    return f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads", prepare


def main():
    peers = present("The 57, f32", numpy_copy, torch_copy)
    if not peers:
        return
    products = [1.0] * len(peers)
    count = 0
    for line in sys.stdin:
        shape, axes, name = line.rstrip("\n").split(" ", 2)
        shape = tuple(map(int, shape.split(",")))
        axes = tuple(map(int, axes.split(",")))
        rates = []
        for i, prepare in enumerate(peers):
            run, moved = prepare(shape, axes)
            rates.append(moved / best(run, 3) / 1e9)
            products[i] *= rates[-1]
        count += 1
        print(f"  {name:<42}", *(f"{r:8.1f}" for r in rates), flush=True)
    print(f"  {'geometric mean':<42}", *(f"{p ** (1 / count):8.1f}" for p in products))


main()

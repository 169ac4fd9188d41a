#!/usr/bin/env python3
"""peers.py - the 57 permutations in NumPy and PyTorch, whichever can be imported.

Reads `tenon_bench_rearrange --list` on standard input: shape, axes, name.  GB/s are bytes read
and written, f32, the best of three.
"""
import sys
import time


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


def best(run, times=3):
    run()
    spent = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        spent.append(time.perf_counter() - begin)
    return min(spent)


def main():
    peers = []
    for peer in numpy_copy, torch_copy:
        try:
            peers.append(peer())
        except ImportError:
            pass
    if not peers:
        return
    print("\nThe 57, f32, GB/s:", "; ".join(name for name, _ in peers))
    products = [1.0] * len(peers)
    count = 0
    for line in sys.stdin:
        shape, axes, name = line.rstrip("\n").split(" ", 2)
        shape = tuple(map(int, shape.split(",")))
        axes = tuple(map(int, axes.split(",")))
        rates = []
        for i, (_, prepare) in enumerate(peers):
            run, moved = prepare(shape, axes)
            rates.append(moved / best(run) / 1e9)
            products[i] *= rates[-1]
        count += 1
        print(f"  {name:<42}", *(f"{r:8.1f}" for r in rates), flush=True)
    print(f"  {'geometric mean':<42}", *(f"{p ** (1 / count):8.1f}" for p in products))


main()

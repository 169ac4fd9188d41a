#!/usr/bin/env python3
"""peers_dims.py - the pads of tenon_bench_dims in NumPy and PyTorch, whichever can be imported.

GB/s are bytes read and written, the best of five.
"""
from peer import best, present

CASES = [
    ("(64,64,56,56) f32 by 1", (64, 64, 56, 56), "float32", 1),
    ("(64,64,56,56) i8 by 1", (64, 64, 56, 56), "int8", 1),
    ("(8,3,224,224) f32 by 1", (8, 3, 224, 224), "float32", 1),
    ("(8,3,224,224) i8 by 1", (8, 3, 224, 224), "int8", 1),
    ("(8192,8192) f32 by 8", (8192, 8192), "float32", 8),
]
MODES = ["constant", "edge", "reflect", "symmetric", "wrap"]


def numpy_pad():
    import numpy

    def prepare(shape, dtype, width, mode):
        src = numpy.ones(shape, dtype)
        widths = [(0, 0)] * (len(shape) - 2) + [(width, width)] * 2
        return (lambda: numpy.pad(src, widths, mode)), src.nbytes

    return "NumPy " + numpy.__version__, prepare


def torch_pad():
    import torch

    names = {"constant": "constant", "edge": "replicate", "reflect": "reflect", "wrap": "circular"}

    def prepare(shape, dtype, width, mode):
        four = (1,) * (4 - len(shape)) + shape
        src = torch.ones(four, dtype=getattr(torch, dtype))
        name = names[mode]
        return (lambda: torch.nn.functional.pad(src, [width] * 4, name)), src.nbytes

    return f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads", prepare


def rate(prepare, shape, dtype, width, mode):
    """GB/s as text; a dash for what the peer does not do."""
    try:
        run, read = prepare(shape, dtype, width, mode)
        spent = best(run, 5)
    except (KeyError, RuntimeError, NotImplementedError):
        return "-"
    grown = (shape[-1] + 2 * width) * (shape[-2] + 2 * width) / (shape[-1] * shape[-2])
    return f"{read * (1 + grown) / spent / 1e9:.1f}"


def main():
    peers = present("Pads", numpy_pad, torch_pad)
    if not peers:
        return
    for name, shape, dtype, width in CASES:
        for mode in MODES:
            rates = [rate(prepare, shape, dtype, width, mode) for prepare in peers]
            print(f"  {name + ', ' + mode:<42}", *(f"{r:>8}" for r in rates), flush=True)


main()

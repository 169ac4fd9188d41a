#!/usr/bin/env python3
"""tenon_bench_contract --list | peers_contract.py [--quick] - the same contractions in NumPy and
PyTorch.

NumPy runs einsum with optimize=True, PyTorch runs einsum; both run matmul if the text is a
plain product.  They use their default number of threads; the best of several rounds counts.  A
peer that is not installed or does not support the dtype is shown as "-".
"""
import sys

from timing import best, np, torch


def by_numpy(text, shapes, dtype, seconds):
    names = {"f32": "f4", "f64": "f8", "f16": "f2", "i32": "i4", "i8": "i1", "i16": "i2", "i64": "i8",
             "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "bool": "?", "c64": "c8", "c128": "c16"}
    if np is None or dtype not in names:
        return None
    made = [(np.random.default_rng(1).standard_normal(s) * 8).astype(names[dtype]) for s in shapes]
    if text == "ik,kj->ij":
        return best(lambda: np.matmul(*made), seconds)
    return best(lambda: np.einsum(text, *made, optimize=True), seconds)


def by_torch(text, shapes, dtype, seconds):
    names = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "c64": "complex64", "c128": "complex128"}
    if torch is None or dtype not in names:
        return None
    made = [torch.randn(s).to(getattr(torch, names[dtype])) for s in shapes]
    if text == "ik,kj->ij":
        return best(lambda: torch.matmul(*made), seconds)
    return best(lambda: torch.einsum(text, *made), seconds)


def main():
    seconds = 0.15 if "--quick" in sys.argv else 0.8
    if np is None and torch is None:
        print("not run: NumPy, PyTorch")
        return
    print(f"{'contraction, GF/s':30} {'NumPy':>8} {'PyTorch':>8}")
    for line in sys.stdin:
        name, text, sizes, dtype = line.rstrip("\n").split("\t")
        size = {word[0]: int(word[1:]) for word in sizes.split()}
        left, right = text.split("->")[0].split(",")
        flops = 2.0
        for letter in set(left + right):
            flops *= size[letter]
        shapes = [tuple(size[c] for c in term) for term in (left, right)]
        figures = [peer(text, shapes, dtype, seconds) for peer in (by_numpy, by_torch)]
        print(f"{name:30}", *(f"{flops / t / 1e9:8.3f}" if t else f"{'-':>8}" for t in figures))


main()

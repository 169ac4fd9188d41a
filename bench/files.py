#!/usr/bin/env python3
"""files.py TENON DIR [--quick] [--only WORD] - commands on model files against cat, cp.

Every run begins with an idle disk and an input that is not cached, and ends with a result that
is on disk.  Rounds of both are interleaved in alternating order; the best of each counts,
because on a virtual machine the first touch of memory costs more than the work.  The last row
is in /dev/shm, warm.  Needs 6 GB in DIR, with --quick 2 GB.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import time

ROUNDS = 5
quick = "--quick" in sys.argv
only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
tenon, folder = map(os.path.abspath, sys.argv[1:3])
layers = 8 if quick else 32
side = 4096  # of an f32 matrix: 64 MiB


def make_model(path):
    header, size = {}, side * side * 4
    for i in range(layers):
        header[f"layers.{i}.weight"] = {"dtype": "F32", "shape": [side, side],
                                        "data_offsets": [i * size, (i + 1) * size]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    block = struct.pack(f"<{side}f", *((k * 40503 % 65536) / 65536 for k in range(side))) * 512
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for _ in range(layers * size // len(block)):
            f.write(block)
        os.fsync(f.fileno())


def make_matrix(path):
    n = 8192 if quick else 16384
    text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (n, n)
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\1\0" + struct.pack("<H", 118) + text.ljust(117) + b"\n")
        for i in range(n):
            f.write(struct.pack("<f", i) * n)


def forget(path):
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.unlink(path)


def timed(words, cold, sync=None):
    for path in ("out", "out.npy", "out.safetensors"):
        remove(path)
    if cold:
        os.sync()
        forget(cold)
    start = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    if sync:
        fd = os.open(sync, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)
    return time.perf_counter() - start


def measure(name, goal, peer, words, cold, sync):
    if only not in name:
        return
    theirs, ours = [], []
    for i in range(ROUNDS):
        turns = [(theirs, peer, sync), (ours, words, None)]
        for times, command, synced in turns if i % 2 else reversed(turns):
            times.append(timed(command, cold, synced))
    for path in ("out", "out.npy", "out.safetensors"):
        remove(path)
    a, b = min(theirs), min(ours)
    print(f"{name:34} {goal:5.2f} {a / b:8.2f} {'met' if a / b >= goal else '':4} {b:8.2f} "
          f"{peer[0]} {a:.2f}", flush=True)


def rules(text):
    path = f"rules-{abs(hash(text))}.txt"
    with open(path, "w") as f:
        f.write(text)
    return path


def main():
    work = os.path.join(folder, "tenon-bench-files")
    os.makedirs(work)
    os.chdir(work)
    try:
        model = "model.safetensors"
        make_model(model)
        print(f"{layers} matrices of 64 MiB")
        print(f"{'case':34} {'goal':>5} {'reached':>8} {'':4} {'tenon s':>8} peer s")
        copy = ["cp", model, "out"]
        measure("report", 0.70, ["cat", model], [tenon, "report", "-q", model, "-o", "out"],
                model, None)
        measure("stats", 0.70, ["cat", model], [tenon, "stats", "-q", model], model, None)
        reshard = [tenon, "reshard", "-q", "--max-mem", "256M"]
        for name, goal, text, more in (
                ("reshard: names", 0.8, "layers.{i}.weight -> h.{i}.w\n", []),
                ("reshard: shards of 512M", 0.8, "** -> =\n", ["--shard-size", "512M"]),
                ("reshard: 4 ranks along axis 0", 0.6, "** -> = ranks@0\n", ["--out-ranks", "4"]),
                ("reshard: 4 ranks along axis 1", 0.6, "** -> = ranks@1\n", ["--out-ranks", "4"]),
                ("reshard: cast bf16", 0.6, "** -> = : cast bf16\n", []),
                ("reshard: cast f64", 0.6, "** -> = : cast f64\n", [])):
            measure(name, goal, copy, reshard + [rules(text), model, "-o", "out"] + more, model, "out")
        measure("rename", 0.8, copy, [tenon, "rename", "-q", "layers.{i}.weight=h.{i}", model, "-o",
                                      "out.safetensors"], model, "out")
    finally:
        os.chdir("/")
        shutil.rmtree(work)
    work = "/dev/shm/tenon-bench-files"
    os.makedirs(work)
    os.chdir(work)
    try:
        make_matrix("in.npy")
        measure("transpose in memory-backed files", 0.6, ["cp", "in.npy", "out"],
                [tenon, "permute", "-q", "1,0", "in.npy", "--max-mem", "256M", "-o", "out.npy"], None, None)
    finally:
        os.chdir("/")
        shutil.rmtree(work)


main()

#!/usr/bin/env python3
"""with_numpy.py TENON - the command beside NumPy: random commands, the same elements.

Leaves with 77 (skipped) when NumPy is not there."""
import os
import random
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    system = "/usr/bin/python3"  # Debian's NumPy belongs to Debian's Python
    if os.path.exists(system) and not os.path.samefile(system, sys.executable):
        os.execv(system, [system] + sys.argv)
    print("not run: NumPy")
    sys.exit(77)

TENON = os.path.abspath(sys.argv[1])
ROUNDS = int(os.environ.get("ROUNDS", "60"))
DTYPES = ["bool", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16", ">f4", ">i2"]
MODES = ["constant", "edge", "reflect", "symmetric", "wrap"]
rng = random.Random(int(os.environ.get("SEED", "7")))


def tenon(*words):
    done = subprocess.run([TENON, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"tenon {words}: {done.stderr}")


def some_array(least=0):
    shape = tuple(rng.choice([1, 2, 3, 4, 7]) for _ in range(rng.randint(least, 4)))
    a = np.arange(int(np.prod(shape))).reshape(shape) % 97
    a = a.astype(rng.choice(DTYPES))
    return np.asfortranarray(a) if rng.random() < 0.3 else a


def pad_index(n, before, after, mode):
    """The element of the axis that each place of the result takes; numpy.pad differs on wide
    pads in some releases, the formula does not."""
    i = np.arange(-before, n + after)
    if mode == "edge":
        return np.clip(i, 0, n - 1)
    if mode == "wrap":
        return i % n
    if mode == "symmetric":
        r = i % (2 * n)
        return np.where(r < n, r, 2 * n - 1 - r)
    period = 2 * (n - 1)
    r = i % period if period else i * 0
    return np.where(r < n, r, period - r)


def permute(a):
    axes = rng.sample(range(a.ndim), a.ndim)
    return ["permute", ",".join(map(str, axes))], a.transpose(axes)


def slicing(a):
    items = []
    for n in a.shape[: rng.randint(1, a.ndim)]:
        bound = lambda: rng.choice(["", str(rng.randint(-n - 1, n + 1))])
        step = rng.choice(["", ":", ":2", ":-1", ":-3"])
        items.append(rng.choice([str(rng.randrange(n)), bound() + ":" + bound() + step]))
    if rng.random() < 0.3:
        items.insert(rng.randint(0, len(items)), "None")
    if rng.random() < 0.3:
        items.append("...")
    text = "[" + ", ".join(items) + "]"
    return ["slice", text], eval("a" + text)


def flip(a):
    axis = rng.randrange(a.ndim)
    return ["flip", "-a", str(axis)], np.flip(a, axis)


def roll(a):
    axis, shift = rng.randrange(a.ndim), rng.randint(-9, 9)
    return ["roll", str(shift), "-a", str(axis)], np.roll(a, shift, axis)


def unsqueeze(a):
    axis = rng.randint(0, a.ndim)
    return ["unsqueeze", "-a", str(axis)], np.expand_dims(a, axis)


def squeeze(a):
    return ["squeeze"], np.squeeze(a)


def pad(a):
    mode = rng.choice(MODES)
    before = [rng.randint(0, 5) for _ in a.shape]
    after = [rng.randint(0, 5) for _ in a.shape]
    words = ["pad", "--before", ",".join(map(str, before)), "--after", ",".join(map(str, after))]
    if mode == "constant":
        return words + ["--value", "1"], np.pad(a, list(zip(before, after)), constant_values=1)
    out = a
    for axis, n in enumerate(a.shape):
        out = np.take(out, pad_index(n, before[axis], after[axis], mode), axis)
    return words + ["--mode", mode], out


def rearrange(a):
    names = "abcd"[: a.ndim]
    order = rng.sample(names, a.ndim)
    out = a.transpose([names.index(c) for c in order])
    if a.ndim > 1 and rng.random() < 0.5:
        right = "(" + " ".join(order[:2]) + ") " + " ".join(order[2:])
        out = out.reshape((out.shape[0] * out.shape[1],) + out.shape[2:])
    else:
        right = " ".join(order)
    return ["rearrange", " ".join(names) + " -> " + right], out


def join(folder):
    a = some_array(1)
    axis, stack = rng.randrange(a.ndim), rng.random() < 0.5
    others = []
    for _ in range(rng.randint(0, 2)):
        shape = list(a.shape)
        if not stack:
            shape[axis] = rng.randint(1, 4)
        others.append((np.arange(int(np.prod(shape))).reshape(shape) % 5).astype(a.dtype))
    paths = []
    for i, x in enumerate([a] + others):
        paths.append(f"{folder}/j{i}.npy")
        np.save(paths[-1], x)
    tenon("stack" if stack else "concat", "-a", str(axis), *paths, "-f", "-o", f"{folder}/o.npy")
    want = (np.stack if stack else np.concatenate)([a] + others, axis)
    same(np.load(f"{folder}/o.npy"), want, "join")


def same(got, want, what):
    want = want.astype(want.dtype.newbyteorder("="))
    if got.dtype != want.dtype or got.shape != want.shape or got.tobytes() != want.tobytes():
        sys.exit(f"{what}: {got.dtype} {got.shape} is not {want.dtype} {want.shape}")


def one_round(folder):
    make = rng.choice([permute, slicing, flip, roll, unsqueeze, squeeze, pad, rearrange])
    a = some_array(1)
    words, want = make(a)
    name = rng.choice(["x.npy", "x.npz"])
    path, source = f"{folder}/{name}", f"{folder}/{name}"
    if name == "x.npy":
        np.save(path, a)
    else:
        rng.choice([np.savez, np.savez_compressed])(path, w=a, other=np.zeros(3))
        source += ":w"
    out = f"{folder}/" + rng.choice(["o.npy", "o.npz", "o.safetensors"])
    if out.endswith("safetensors") and a.dtype.kind == "c":
        out = f"{folder}/o.npy"
    extra = rng.choice([[], ["--max-mem", "1M"]])
    tenon(words[0], *words[1:], source, "-f", "-o", out, *extra)
    if out.endswith("safetensors"):
        tenon("convert", out, "-f", "-o", f"{folder}/o.npy")
        out = f"{folder}/o.npy"
    got = np.load(out)
    same(got if out.endswith("npy") else got[got.files[0]], want, words)


with tempfile.TemporaryDirectory() as folder:
    for k in range(ROUNDS):
        one_round(folder)
        if k % 5 == 0:
            join(folder)
print(f"{ROUNDS} rounds: the same elements")

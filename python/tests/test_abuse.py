"""Calls with nonsensical arguments: each gives a result or an exception, never a crash.

TENON_EXAMPLES scales the number of calls.  Objects that fail, lie or change under the call are among the
arguments; results, their buffers and their capsules are dropped in any order.
"""

import array
import gc
import inspect
import os
import random
import threading

import numpy as np
import pytest

import tenon as tn

CALLS = 30 * int(os.environ.get("TENON_EXAMPLES", "40"))
LEFT_OUT = {"set_num_threads", "show_config", "threads", "printoptions", "empty", "eye", "save",
            "writer", "open", "load"}
FUNCTIONS = [f for n, f in ((n, getattr(tn, n)) for n in sorted(dir(tn)))
             if not n.startswith("_") and callable(f) and not inspect.isclass(f) and
             n not in LEFT_OUT]
METHODS = [n for n in dir(tn.Tensor) if callable(getattr(tn.Tensor, n)) and
           (n not in dir(object) or n in ("__eq__", "__format__"))]
KEYWORDS = ["axis", "keepdims", "dtype", "out", "copy", "device", "mode", "step", "size", "shape",
            "indexing", "stable", "descending", "side", "k", "seed", "reduce"]
LOOP = []
LOOP.append(LOOP)


class Fails:
    def __index__(self):
        raise RuntimeError("index")

    __float__ = __len__ = __bool__ = __index__


class ItsOwnArray:
    def __array__(self, *args, **kwargs):
        return self


class Shrinks(list):
    def __getitem__(self, i):
        self.clear()
        return super().__getitem__(i)


class Lies:
    __array_interface__ = {"shape": (2**40,), "typestr": "<f4", "data": (0, False), "version": 3}


class BadCapsule:
    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **options):
        return self.capsule


def tensor(rng):
    shape = [rng.choice([0, 1, 2, 3, 5]) for _ in range(rng.randrange(5))]
    dtype = rng.choice(["bool", "i8", "i32", "i64", "u8", "u64", "f16", "bf16", "f32", "f64", "c64",
                        "float8_e4m3fn"])
    t = tn.zeros(shape, dtype=dtype)
    key = rng.choice([..., (..., None), slice(None, None, -1), slice(None, None, 2)])
    return t[key] if shape else tn.broadcast_to(t, (2, 3))


VALUES = [lambda rng: np.zeros((2, 3)), lambda rng: np.zeros((2, 3), ">f4"),
          lambda rng: np.array([object()]), lambda rng: memoryview(b"abcd"),
          lambda rng: array.array("d", [1, 2]), lambda rng: BadCapsule(tn.zeros(3).__dlpack__()),
          lambda rng: Shrinks([1, 2])] + [
    (lambda rng, x=x: x) for x in (
        b"x", "a b -> b a", "sum", "f32", 0, -1, 2**70, -2**70, float("nan"), 1e400, 1j, None, True, (),
        (0, 1), [1, [2]], LOOP, slice(None, None, -1), ..., Fails(), ItsOwnArray(), Lies(),
        BadCapsule(None), BadCapsule(3))] + 4 * [tensor]


def one(rng):
    """One call; its result, or None if it raises."""
    if rng.random() < 0.6:
        f = rng.choice(FUNCTIONS)
    else:
        f = getattr(tensor(rng), rng.choice(METHODS))
    args = [rng.choice(VALUES)(rng) for _ in range(rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]))]
    names = rng.sample(KEYWORDS, rng.choice([0, 0, 0, 1, 2]))
    try:
        return f(*args, **{n: rng.choice(VALUES)(rng) for n in names})
    except SystemError:
        raise AssertionError(f"{f} {args} {names}")
    except Exception:
        return None


def calls(seed, number):
    rng, held = random.Random(seed), []
    for _ in range(number):
        result = one(rng)
        if isinstance(result, tn.Tensor) and rng.random() < 0.3:
            held += [result, result.__dlpack__(max_version=(1, 1))]
            if result.dtype.name not in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
                held.append(memoryview(result))
        if len(held) > 50:
            rng.shuffle(held)
            del held[:30]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(2))
def test_calls(seed):
    before = gc.get_threshold()
    gc.set_threshold(1 if seed else 700)
    try:
        calls(seed, CALLS)
    finally:
        gc.set_threshold(*before)


@pytest.mark.filterwarnings("ignore")
def test_calls_of_threads():
    wrong = []

    def work(seed):
        try:
            calls(seed, CALLS // 4)
        except Exception as e:
            wrong.append(e)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong

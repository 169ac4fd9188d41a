"""infiniop_client.py - libinfiniop.so and libinfinirt.so as ctypes sees them: tensors in
buffers, operators made, run and destroyed.

Tensor descriptors are destroyed before an operator runs.  All bytes of a buffer that are no
element of the output are compared as well.
"""
import ctypes as C
import itertools
import os
import random
import sys

from infiniop_numbers import DTYPES, decode, encode, near

OK, BAD_PARAM, NULL, DEVICE, NOT_FOUND, DTYPE, SHAPE, STRIDES, SPACE = 0, 3, 4, 5, 6, 10, 11, 12, 13
BARE = ("Rearrange", "Embedding", "SelectLastTokenHidden")    # without a workspace
folder = os.path.abspath(sys.argv[1])
rt = C.CDLL(os.path.join(folder, "libinfinirt.so"))
lib = C.CDLL(os.path.join(folder, "libinfiniop.so"))
rng = random.Random(1)
checks = [0]


def expect(got, want, *about):
    checks[0] += 1
    if got != want:
        raise AssertionError(f"{' '.join(map(str, about))}: {got}, not {want}")


def fn(name):
    f = getattr(lib, "infiniop" + name)
    f.restype = C.c_int
    return f


# ---- tensors ----

def dense(shape):
    strides, n = [], 1
    for extent in reversed(shape):
        strides.insert(0, n)
        n *= max(extent, 1)
    return strides


class Tensor:
    """Elements somewhere in a buffer whose other bytes are noise."""

    def __init__(self, dtype, shape, strides=None):
        self.dtype, self.shape = dtype, tuple(shape)
        self.width = DTYPES[dtype][1]
        self.strides = list(strides if strides is not None else dense(shape))
        reach = [(n - 1) * s for n, s in zip(shape, self.strides) if n > 1]
        low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
        self.first = 4 - low
        noise = rng.randbytes((high - low + 9) * self.width)
        self.buffer = (C.c_char * len(noise)).from_buffer_copy(noise)

    def indices(self):
        return itertools.product(*map(range, self.shape))

    def at(self, index):
        return (self.first + sum(i * s for i, s in zip(index, self.strides))) * self.width

    def places(self):
        """Where each element is, in the order of indices()."""
        places = [self.first * self.width]
        for n, s in zip(self.shape, self.strides):
            steps = [i * s * self.width for i in range(n)]
            places = [place + step for place in places for step in steps]
        return places

    def get(self, index):
        return decode(self.dtype, self.buffer.raw[self.at(index):self.at(index) + self.width])

    def values(self):
        raw = self.buffer.raw
        return [decode(self.dtype, raw[place:place + self.width]) for place in self.places()]

    def fill(self, values):
        base = C.addressof(self.buffer)
        for place, value in zip(self.places(), values):
            C.memmove(base + place, encode(self.dtype, value), self.width)
        return self

    def noise(self):
        """The bytes that are no element."""
        raw = bytearray(self.buffer.raw)
        for place in self.places():
            raw[place:place + self.width] = bytes(self.width)
        return bytes(raw)

    @property
    def data(self):
        return C.c_void_p(C.addressof(self.buffer) + self.first * self.width)

    def describe(self):
        d = C.c_void_p()
        n = len(self.shape)
        strides = None if self.strides == dense(self.shape) else (C.c_ssize_t * n)(*self.strides)
        expect(fn("CreateTensorDescriptor")(C.byref(d), size(n), (C.c_size_t * n)(*self.shape),
                                            strides, DTYPES[self.dtype][0]), OK, self.shape)
        return d


def layouts(shape):
    """Strides of a shape: dense, with gaps, columns first, backwards."""
    yield dense(shape)
    yield [3 * s + 1 if i == 0 else 3 * s for i, s in enumerate(dense(shape))]
    yield list(reversed(dense(tuple(reversed(shape)))))
    yield [-2 * s for s in dense(shape)]


# ---- operators ----

handle = C.c_void_p()
expect(fn("CreateHandle")(C.byref(handle)), OK)


def create(op, args, status=OK):
    """The operator made from args, in which tensors stand for their descriptors."""
    d = C.c_void_p()
    made = [(a, a.describe()) if isinstance(a, Tensor) else (None, a) for a in args]
    expect(fn(f"Create{op}Descriptor")(handle, C.byref(d), *[a for _, a in made]), status, op)
    for tensor, a in made:
        if tensor:
            expect(fn("DestroyTensorDescriptor")(a), OK)
    expect(bool(d.value), status == OK, op, "descriptor")
    return d


def workspace(op, d):
    """How many bytes a run needs."""
    n = C.c_size_t(7)
    if op in BARE or fn(f"Get{op}WorkspaceSize")(d, C.byref(n)) != OK:
        return 0
    return n.value


def run(op, d, data, status=OK):
    """In a workspace of exactly the size that is asked for, at any address."""
    n = workspace(op, d)
    space = (C.c_char * (n + 24))(*[b"\xff"] * (n + 24))
    start = C.c_void_p(C.addressof(space) + 8)
    args = [a.data if isinstance(a, Tensor) else a for a in data]
    if n and status == OK:
        before = [a.buffer.raw for a in data if isinstance(a, Tensor)]
        expect(fn(op)(d, start, size(n - 1), *args, None), SPACE, op, "less")
        absent = BAD_PARAM if op == "MatrixPower" else SPACE
        expect(fn(op)(d, None, size(n), *args, None), absent, op, "no workspace")
        expect([a.buffer.raw for a in data if isinstance(a, Tensor)] == before, True, op, "less")
    at = [] if op in BARE else [start if n else None, size(n)]
    expect(fn(op)(d, *at, *args, None), status, op)
    expect(space.raw[n + 8:], b"\xff" * 16, op, "writes past its workspace")


def destroy(op, d):
    expect(fn(f"Destroy{op}Descriptor")(d), OK)


def compute(op, y, tensors, *more, data=None):
    """Make, run and destroy; nothing beside y's elements is written."""
    keep = [t.buffer.raw for t in tensors if t is not y]
    noise = y.noise()
    d = create(op, [y, *tensors, *more])
    run(op, d, [y, *tensors] if data is None else data)
    destroy(op, d)
    expect(y.noise() == noise, True, op, y.dtype, y.shape, y.strides, "writes outside")
    expect([t.buffer.raw for t in tensors if t is not y] == keep, True, op, "writes a source")


def same(op, y, want, ulps=0):
    """y's elements are these numbers, or near enough."""
    for got, w in zip(y.values(), want):
        checks[0] += 1
        if DTYPES[y.dtype][2] == "f":
            allowed = ulps if y.dtype == "F32" else min(ulps, 1) if y.dtype != "F64" else 3 * ulps
            if not near(y.dtype, got, w, allowed):
                raise AssertionError(f"{op} {y.dtype} {y.strides}: {got}, not {w}")
        elif got != w:
            raise AssertionError(f"{op} {y.dtype} {y.strides}: {got}, not {w}")


def size(n):
    return C.c_size_t(n % 2 ** 64)


def ints(*v):
    return (C.c_int * len(v))(*v)

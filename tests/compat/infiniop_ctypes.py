#!/usr/bin/env python3
"""infiniop_ctypes.py LIBRARIES [WATCHED] - every operator of InfiniOp in every dtype, contiguous,
strided, repeated and in place, against numbers that are computed here; then everything that is
to be refused.  The standard library is all it needs.
"""
import sys

sys.dont_write_bytecode = True
if sys.argv[2:] == ["1"]:
    print("not run: Python under clang's sanitizers, which cannot be loaded before it")
    sys.exit(77)

import infiniop_defects
import infiniop_model
import infiniop_more
import infiniop_reduced
import infiniop_refused
import infiniop_wrong
from infiniop_client import *
from infiniop_numbers import *

SPECIAL = [0.0, -0.0, INF, -INF, NAN]


def drawn(dtype, low, high, n, special=True):
    kind, width = DTYPES[dtype][2], 8 * DTYPES[dtype][1]
    if kind == "f":
        values = [rounded(dtype, rng.uniform(low, high)) for _ in range(n)]
        return SPECIAL[:n] + values[len(SPECIAL):] if special else values
    if kind in "xb":
        return [rng.randbytes(width // 8) if kind == "x" else bytes([rng.randrange(2)])
                for _ in range(n)]
    least = -2 ** (width - 1) if kind == "i" else 0
    edges = [0, 1, least, least + 2 ** width - 1, -1 if kind == "i" else 2]
    return (edges + [rng.randrange(least, least + 2 ** width) for _ in range(n)])[:n]


# ---- elementwise ----

def arranged(arity, shape):
    """Layouts of output and inputs: all alike, mixed, repeated inputs, rank 0, columns, empty."""
    every = list(layouts(shape))
    for strides in every:
        yield shape, [strides] * (arity + 1)
    yield shape, [every[k % 4] for k in range(arity + 1)]
    yield shape, [every[(k + 2) % 4] for k in range(arity + 1)]
    yield shape, [every[1]] + [[0, 1]] * arity
    yield shape, [every[2]] + [[1, 0]] * arity
    yield shape, [every[0]] + [[0, 0]] * arity
    yield (), [[]] * (arity + 1)
    yield (4, 1), [[3, 1]] * (arity + 1)
    yield (3, 0, 2), [[0, 2, 1]] * (arity + 1)
    yield (1, 3, 2), [[0, 2, 1]] + [[6, 2, 1]] * arity


def elementwise(op, dtypes, arity, rule, ulps, domain, *more, out=None, extra=()):
    """One operator in all its dtypes and layouts, and in place of each source.

    more is given to the making, extra to the run."""
    for dtype in dtypes:
        for shape, strides in arranged(arity, (3, 7)):
            xs = []
            for k in range(arity):
                values = drawn(dtype, *domain, math.prod(shape))
                rng.shuffle(values)
                xs.append(Tensor(dtype, shape, strides[k + 1]).fill(values))
            y = Tensor(out or dtype, shape, strides[0])
            want = [rule(*v) for v in zip(*[x.values() for x in xs])]
            compute(op, y, xs, *more, data=[y, *xs, *extra])
            same(op, y, want, ulps)
        if out:
            continue
        for k, strides in itertools.product(range(arity), layouts((3, 7))):
            xs = [Tensor(dtype, (3, 7), strides).fill(drawn(dtype, *domain, 21))
                  for _ in range(arity)]
            want = [rule(*v) for v in zip(*[x.values() for x in xs])]
            compute(op, xs[k], xs, *more, data=[xs[k], *xs, *extra])
            same(op + " in place", xs[k], want, ulps)


def test_elementwise():
    for op, (rule, ulps, domain) in UNARY.items():
        elementwise(op, FLOATS, 1, rule, ulps, domain)
    elementwise("Floor", INTS, 1, lambda x: x, 0, (0, 0))
    for op, (rule, ulps, domain) in BINARY.items():
        elementwise(op, FLOATS, 2, rule, ulps, domain)
    for op, rule in INT_BINARY.items():
        for dtype in ("I32", "I64"):
            elementwise(op, [dtype], 2, lambda a, b: wrapped(dtype, rule(a, b)), 0, (0, 0))
    elementwise("Equal", FLOATS + ["I32", "I64"], 2, lambda a, b: bytes([a == b]), 0, (-1, 1),
                out="BOOL")
    for dtype in INTS:
        width = 8 * DTYPES[dtype][1]
        elementwise("BitwiseRightShift", [dtype], 2, lambda a, n: shifted(a, n, width), 0, (0, 0))


def test_shift_counts():
    for dtype in INTS:
        width = 8 * DTYPES[dtype][1]
        y = Tensor(dtype, (width + 3,))
        x = Tensor(dtype, y.shape).fill([wrapped(dtype, -3)] * (width + 3))
        n = Tensor(dtype, y.shape).fill([wrapped(dtype, i) for i in range(-1, width + 2)])
        want = [shifted(a, b, width) for a, b in zip(x.values(), n.values())]
        compute("BitwiseRightShift", y, [x, n])
        same("BitwiseRightShift", y, want)


def test_with_numbers():
    def softplus(x, beta=0.75, threshold=3.0):
        return x if x * beta > threshold else math.log1p(exp(x * beta)) / beta

    def clip(x, low, high):
        return NAN if x != x or low != low or high != high else min(max(x, low), high)

    def addcmul(a, b, c):
        if all(map(math.isfinite, (a, b, c))):
            return Fraction(a) + Fraction(-1.25) * Fraction(b) * Fraction(c)
        return a + product(-1.25 * b, c)

    elementwise("HardTanh", FLOATS, 1, lambda x: clamp(x, -1.5, 2.25), 0, (-5, 5),
                C.c_float(-1.5), C.c_float(2.25))
    elementwise("Softplus", FLOATS, 1, softplus, 1.5, (-9, 9), C.c_float(0.75), C.c_float(3.0))
    elementwise("MulScalar", FLOATS, 1, lambda x: exactly(product)(x, 0.1), 0, (-9, 9),
                extra=[C.c_double(0.1)])
    elementwise("Clip", FLOATS, 3, clip, 1, (-9, 9))
    elementwise("Addcmul", FLOATS, 3, addcmul, 1.5, (-3, 3), C.c_float(-1.25))


def test_lerp():
    def lerp(a, b, w):
        return Fraction(a) + Fraction(w) * (Fraction(b) - Fraction(a))

    weight = struct.unpack("<f", struct.pack("<f", 0.3))[0]
    for dtype, strides in itertools.product(FLOATS, layouts((3, 7))):
        y = Tensor(dtype, (3, 7), strides)
        a = Tensor(dtype, (7,)).fill(drawn(dtype, -9, 9, 7, False))
        b = Tensor(dtype, (3, 1), [2, 1]).fill(drawn(dtype, -9, 9, 3, False))
        w = Tensor(dtype, (3, 7), strides).fill(drawn(dtype, 0, 1, 21, False))
        sources = [(a.get((j,)), b.get((i, 0)), w.get((i, j))) for i, j in y.indices()]
        ulps = 2 if dtype == "F64" else 4                   # the difference loses digits
        compute("Lerp", y, [a, b, w], C.c_float(9))
        same("Lerp", y, [lerp(*s) for s in sources], ulps)
        d = create("Lerp", [y, a, b, None, C.c_float(weight)])
        run("Lerp", d, [y, a, b, None])
        destroy("Lerp", d)
        same("Lerp by a number", y, [lerp(*s[:2], weight) for s in sources], ulps)


def test_ldexp():
    for dtype, kind, strides in itertools.product(FLOATS, ("I32", "I64", None), layouts((3, 7))):
        y = Tensor(dtype, (3, 7), strides)
        x = Tensor(dtype, (3, 1), [3, 1]).fill(drawn(dtype, -9, 9, 3, False))
        e = Tensor(kind or dtype, (7,), [2]).fill([-30, -5, -1, 0, 3, 7, 2000 if kind else 9])
        want = [Fraction(x.get((i, 0))) * Fraction(2) ** int(e.get((j,))) for i, j in y.indices()]
        compute("Ldexp", y, [x, e])
        same("Ldexp", y, want)


def test_float_power():
    def power(x, e):
        return NAN if x < 0 and e != int(e) else math.pow(x, e)

    for into, dtype, strides in itertools.product(FLOATS, FLOATS, layouts((3, 7))):
        y = Tensor(into, (3, 7), strides)
        x = Tensor(dtype, (3, 7), strides).fill(drawn(dtype, -4, 9, 21, False))
        e = Tensor(dtype, (3, 7), [0, 1]).fill([-2, 0.5, 1, 2.5, 3, 0, 1.25] * 3)
        compute("FloatPower", y, [x, e], C.c_float(0))
        same("FloatPower", y, [power(*v) for v in zip(x.values(), e.values())], 1)
        d = create("FloatPower", [y, x, None, C.c_float(1.5)])
        run("FloatPower", d, [y, x, None])
        destroy("FloatPower", d)
        same("FloatPower by a number", y, [power(v, 1.5) for v in x.values()], 1)


# ---- moves ----

def test_moves():
    for dtype in DTYPES:
        for a, b in itertools.product(layouts((3, 4, 5)), repeat=2):
            y = Tensor(dtype, (3, 4, 5), a)
            x = Tensor(dtype, (3, 4, 5), b)
            compute("Rearrange", y, [x])
            same("Rearrange", y, x.values())
            compute("Flipud", y, [x])
            same("Flipud", y, [x.get((2 - i, j, k)) for i, j, k in y.indices()])
            x = Tensor(dtype, (4, 1), b[1:])
            compute("BroadcastTo", y, [x])
            same("BroadcastTo", y, [x.get((j, 0)) for i, j, k in y.indices()])
        for a, b in zip(layouts((2, 3, 4, 6)), reversed(list(layouts((2, 12, 2, 3))))):
            y, x = Tensor(dtype, (2, 3, 4, 6), a), Tensor(dtype, (2, 12, 2, 3), b)
            compute("PixelShuffle", y, [x], 2)
            same("PixelShuffle", y,
                 [x.get((n, 4 * c + 2 * (h % 2) + w % 2, h // 2, w // 2))
                  for n, c, h, w in y.indices()])


def test_constants():
    one = {"F16": b"\0\x3c", "BF16": b"\x80\x3f", "F32": b"\0\0\x80\x3f",
           "F64": b"\0\0\0\0\0\0\xf0\x3f"}
    for dtype, strides in itertools.product(["BYTE", "BOOL"] + INTS + FLOATS, layouts((3, 7))):
        y = Tensor(dtype, (3, 7), strides)
        for op, raw in (("Ones", one.get(dtype, b"\1" + bytes(y.width - 1))),
                        ("Zeros", bytes(y.width))):
            d = create(op, [y, y])
            run(op, d, [y, None])
            destroy(op, d)
            same(op, y, [decode(dtype, raw)] * 21)


def place(mode, i, n):
    if 0 <= i < n or mode == "constant":
        return i if 0 <= i < n else None
    return {"replicate": min(max(i, 0), n - 1), "circular": i % n,
            "reflect": -i if i < 0 else 2 * (n - 1) - i}[mode]


def test_pad():
    two = {"BYTE": b"\2", "BOOL": b"\1", "F8": b"\x40", "C16": b"\x40\0", "C32": b"\0\x40\0\0",
           "C64": b"\0\0\0\x40\0\0\0\0", "C128": b"\0\0\0\0\0\0\0\x40" + bytes(8)}
    for dtype, mode in itertools.product(DTYPES, ["constant", "reflect", "replicate", "circular"]):
        for a, b in zip(layouts((2, 5, 9)), reversed(list(layouts((2, 3, 4))))):
            y, x = Tensor(dtype, (2, 5, 9), a), Tensor(dtype, (2, 3, 4), b)
            x.fill(drawn(dtype, -9, 9, 24, False))
            name = None if mode == "constant" and a == dense(y.shape) else C.c_char_p(mode.encode())
            compute("Pad", y, [x], ints(3, 2, 2, 0), size(16), name, C.c_double(2), data=[y, x])
            fill = two.get(dtype, 2)
            want = []
            for i, j, k in y.indices():
                p, q = place(mode, j - 2, 3), place(mode, k - 3, 4)
                want.append(fill if p is None or q is None else x.get((i, p, q)))
            same(f"Pad {mode}", y, want)
    wide, x = Tensor("F32", (11,)), Tensor("F32", (3,)).fill([1, 2, 3])
    compute("Pad", wide, [x], ints(4, 4), size(8), C.c_char_p(b"circular"), C.c_double(0))
    same("Pad", wide, [3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1])


def test_unfold():
    cases = [((2, 3, 5, 6), (2, 3), (1, 2), (0, 0), (1, 1)),
             ((2, 3, 5, 6), (3, 3), (1, 1), (1, 1), (1, 1)),
             ((1, 2, 7, 5), (2, 2), (2, 3), (2, 1), (3, 2)),
             ((2, 2, 9), (3,), (2,), (4,), (2,)),
             ((1, 1, 3, 4, 5), (2, 1, 3), (1, 2, 1), (1, 0, 2), (1, 1, 1)),
             ((1, 1, 1, 1), (1, 1), (1, 1), (3, 0), (1, 2 ** 31 - 1))]
    for dtype, (shape, kernel, stride, padding, dilation) in itertools.product(FLOATS, cases):
        image = shape[2:]
        out = [(n + 2 * p - d * (k - 1) - 1) // s + 1
               for n, k, s, p, d in zip(image, kernel, stride, padding, dilation)]
        to = (shape[0], shape[1] * math.prod(kernel), math.prod(out))
        for a, b in zip(layouts(to), reversed(list(layouts(shape)))):
            y, x = Tensor(dtype, to, a), Tensor(dtype, shape, b)
            x.fill(drawn(dtype, -9, 9, math.prod(shape), False))
            compute("Unfold", y, [x], *[ints(*v) for v in (kernel, stride, padding, dilation)],
                    data=[y, x])
            want = []
            for n, c, *k in itertools.product(*map(range, (*shape[:2], *kernel))):
                for o in itertools.product(*map(range, out)):
                    at = [w * s - p + i * d
                          for w, s, p, i, d in zip(o, stride, padding, k, dilation)]
                    inside = all(0 <= i < e for i, e in zip(at, image))
                    want.append(x.get((n, c, *at)) if inside else 0.0)
            same("Unfold", y, want)


def test_block_diag():
    shapes = [(2, 3), (1, 1), (0, 2), (3, 0), (2, 2)]
    for dtype, strides in itertools.product(FLOATS, layouts((8, 8))):
        y = Tensor(dtype, (8, 8), strides)
        xs = [Tensor(dtype, s, list(layouts(s))[k % 4]).fill(drawn(dtype, -9, 9, 6, False))
              for k, s in enumerate(shapes)]
        noise, descs = y.noise(), [x.describe() for x in xs]
        d = create("BlockDiag", [y, (C.c_void_p * 5)(*[t.value for t in descs]), size(5)])
        for t in descs:
            expect(fn("DestroyTensorDescriptor")(t), OK)
        data = [None if 0 in x.shape else x.data.value for x in xs]
        run("BlockDiag", d, [y, (C.c_void_p * 5)(*data)])
        destroy("BlockDiag", d)
        want, r, c = [[0.0] * 8 for _ in range(8)], 0, 0
        for x in xs:
            for i, j in x.indices():
                want[r + i][c + j] = x.get((i, j))
            r, c = r + x.shape[0], c + x.shape[1]
        same("BlockDiag", y, sum(want, []))
        expect(y.noise() == noise, True, "BlockDiag writes outside")


for where in (dict(globals()), vars(infiniop_model), vars(infiniop_reduced), vars(infiniop_more),
              vars(infiniop_refused), vars(infiniop_wrong), vars(infiniop_defects)):
    for name, test in where.items():
        if name.startswith("test_"):
            before = checks[0]
            test()
            print(f"{name[5:]}: {checks[0] - before}", flush=True)
expect(fn("DestroyHandle")(handle), OK)
print(f"{checks[0]} checks")

"""infiniop_more.py - losses, indices, windows, interpolation, products and 4-bit weights against
double."""
from infiniop_sweep import *

f32, f64 = C.c_float, C.c_double


def narrow(x):
    return f32(x).value


def sizes(*v):
    return (C.c_size_t * max(len(v), 1))(*v)


def folded(losses, reduction):
    if reduction == 0:
        return [losses]
    total = math.fsum(losses)
    return [[total if reduction == 2 else total / len(losses) if losses else math.nan]]


# ---- losses ----

def pointwise(op, rule, sources, numbers, draws, shapes=((3, 4), (7,))):
    for shape, reduction in itertools.product(shapes, range(3)):
        for single in ((), (1,)) if reduction else (shape,):
            sweep(op, FLOATS, [Spec(single)], [Spec(shape, draw=d) for d in draws],
                  lambda *xs: folded([rule(*v) for v in zip(*[x.values for x in xs])], reduction),
                  [*numbers, reduction], units=6,
                  inplace=[(0, 0)] if reduction == 0 else [])
        y = Tensor("F32", shape)
        create(op, [y] + [Tensor("F32", shape)] * sources + [*numbers, 3], BAD_PARAM)


def test_losses():
    def huber(x, t, delta=0.75):
        d = abs(x - t)
        return 0.5 * d * d if d < delta else delta * (d - 0.5 * delta)

    def smooth(x, t, beta=0.75):
        d = abs(x - t)
        return 0.5 * d * d / beta if d < beta else d - 0.5 * beta

    def hinge(x, t, margin=1.5):
        return x if t == 1 else max(0, margin - x) if t == -1 else max(x, margin)

    def gauss(full, eps=0.25):
        def rule(x, t, v):
            v = max(v, eps)
            return 0.5 * (math.log(v) + (x - t) ** 2 / v) + (0.5 * math.log(2 * math.pi) if full else 0)
        return rule

    signs = lambda n: [(1, -1, 0)[i % 3] for i in range(n)]
    pointwise("HuberLoss", huber, 2, [f32(0.75)], [(-2, 2)] * 2)
    pointwise("SmoothL1Loss", smooth, 2, [f32(0.75)], [(-2, 2)] * 2)
    pointwise("SmoothL1Loss", lambda x, t: abs(x - t), 2, [f32(0)], [(-2, 2)] * 2)
    pointwise("HingeEmbeddingLoss", hinge, 2, [f64(1.5)], [(-2, 2), signs])
    for full in (0, 1):
        pointwise("GaussianNllLoss", gauss(full), 3, [full, f64(0.25)], [(-2, 2), (-2, 2), (0, 2)])
    create("SmoothL1Loss", [Tensor("F32", (2,))] * 3 + [f32(-1), 0], BAD_PARAM)


def test_bce():
    for (weight, positive), reduction in itertools.product(
            ((None, None), ((3, 4), None), ((4,), (4,)), (None, (1,)), (None, (3, 4))), range(3)):
        def rule(x, y, w, pw):
            def of(t, i, j, other):
                return other if t is None else t.values[(i * 4 + j) % len(t.values)]
            return folded(made((3, 4), lambda i, j: of(w, i, j, 1) * (
                (1 - y[i, j]) * x[i, j] + (1 + (of(pw, i, j, 1) - 1) * y[i, j])
                * (math.log1p(math.exp(-abs(x[i, j]))) + max(-x[i, j], 0)))), reduction)
        optional = [None if s is None else Spec(s, draw=(0.5, 2)) for s in (weight, positive)]
        sweep("BCEWithLogits", FLOATS, [Spec(() if reduction else (3, 4))],
              [Spec((3, 4), draw=(-9, 9)), Spec((3, 4), draw=(0, 1)), *optional], rule, [reduction],
              units=6, repeats=False)
    create("BCEWithLogits", [Tensor("F32", (2, 3))] * 3 + [Tensor("F32", (5,)), None, 0], SHAPE)


def test_classes():
    for shape, ids in itertools.product(((5,), (3, 5), (2, 3, 5)), ("I32", "I64")):
        def entropy(x, t):
            def at(*i):
                row = [x[i + (j,)] for j in range(5)]
                k = t[i]
                return 0.0 if not 0 <= k < 5 else \
                    max(row) + math.log(math.fsum(math.exp(v - max(row)) for v in row)) - row[k]
            return [made(shape[:-1], at)]
        sweep("CrossEntropy", ["F16", "F32", "BF16"], [Spec(shape[:-1])],
              [Spec(shape), Spec(shape[:-1], ids, (-1, 6))], entropy, units=6)
    for p, weight, reduction in itertools.product((1, 2), (None, Spec((5,), draw=(0.5, 2))), range(3)):
        def margin(x, t, w):
            def at(i):
                k = t[i]
                if not 0 <= k < 5:
                    return 0.0
                return math.fsum(max(0, 0.5 - x[i, k] + x[i, c]) ** p for c in range(5) if c != k) / 5 \
                    * (1 if w is None else w[k])
            return folded(made((4,), at), reduction)
        sweep("MultiMarginLoss", FLOATS, [Spec((1,) if reduction else (4,))],
              [Spec((4, 5)), Spec((4,), "I64", (-1, 6)), weight], margin,
              [p, f32(0.5), reduction], units=6)


def test_triplets():
    def loss(a, p, n, d, rows, swap, reduction):
        out = []
        for r in rows:
            far = d(a, n, r)
            out.append(max(0, d(a, p, r) - (min(far, d(p, n, r)) if swap else far) + 1))
        return folded(out, reduction)

    for order, swap, reduction in itertools.product((1, 2, 3), (0, 1), range(3)):
        eps = narrow(1e-2)

        def d(x, y, i):
            return math.fsum(abs(x[i, j, k] - y[i, j, k] + eps) ** order
                             for j in range(2) for k in range(3)) ** (1 / order)
        sweep("TripletMarginLoss", FLOATS, [Spec(() if reduction else (4,))], [Spec((4, 2, 3))] * 3,
              lambda a, p, n: loss(a, p, n, d, range(4), swap, reduction),
              [f32(1), order, f32(eps), swap, reduction], units=8)
    for swap, reduction, whole in itertools.product((0, 1), range(3), (False, True)):
        def e(x, y, r):
            s = math.fsum((x[r + (k,)] - y[r + (k,)]) ** 2 for k in range(3))
            return math.sqrt(s + 1e-6)

        def rule(a, p, n):
            rows = list(itertools.product(range(4), range(2)))
            got = loss(a, p, n, e, rows, swap, reduction)
            return [[v for v in got[0] for _ in range(3)]] if whole and not reduction else got
        shape = () if reduction else (4, 2, 3) if whole else (4, 2)
        sweep("TripletMarginWithDistanceLoss", FLOATS, [Spec(shape)], [Spec((4, 2, 3))] * 3, rule,
              [f32(1), swap, reduction], units=8)


# ---- indices ----

def test_indices():
    for shape, ids in itertools.product(((5,), (2, 2), ()), ("I32", "I64")):
        sweep("Take", FLOATS + INTS, [Spec(shape, draw=(0, 2))],
              [Spec((3, 4), draw=(0, 9)), Spec(shape, ids, (-12, 12))],
              lambda x, i: [[x.values[k] for k in i.values]], units=0)
        bad = Tensor(ids, (2,)).fill([0, 12])
        y = Tensor("F32", (2,)).fill([7, 7])
        d = create("Take", [y, Tensor("F32", (3, 4)), bad])
        run("Take", d, [y, Tensor("F32", (3, 4)).fill([1.0] * 12), bad], BAD_PARAM)
        expect(y.values(), [7, 7], "Take wrote")
        destroy("Take", d)
    for op, dim, ids in itertools.product(("IndexAdd", "IndexCopy"), (0, 1), ("I32", "I64")):
        source = [4, 5]
        source[dim] = 3
        alphas = (1.0, 0.5) if op == "IndexAdd" else (None,)
        for dtype, alpha in itertools.product(FLOATS + ["I32", "I64"], alphas):
            def rule(x, i, s):
                out = list(x.values)
                for r, c in itertools.product(*map(range, source)):
                    at = [r, c]
                    at[dim] = i[at[dim]] % (4, 5)[dim]
                    k = at[0] * 5 + at[1]
                    v = s[r, c] if alpha is None else s[r, c] * alpha
                    if DTYPES[dtype][2] == "i":
                        v = int(v)
                    out[k] = v if alpha is None else out[k] + v
                return [out]
            tensors = [Spec((4, 5), draw=(0, 9)), Spec((3,), ids, (-4, 4)), Spec(source, draw=(0, 9))]
            for variant, same in itertools.product(range(4), (False, True)):
                x, i, s = (t.tensor(dtype, variant) for t in tensors)
                y = x if same else Spec((4, 5), draw=(0, 9)).tensor(dtype, variant + 1)
                want = rule(*[Values(t.shape, t.values()) for t in (x, i, s)])
                more = [] if alpha is None else [f32(alpha)]
                once(op, [y], [x, i, s], want, 6, [y, x, C.c_int64(dim), i, s, *more], [y, x, i, s])
        y, x, s = (Tensor("F32", (2,)).fill([7, 7]) for _ in range(3))
        bad = Tensor(ids, (2,)).fill([0, 2])
        more = [f32(1)] if op == "IndexAdd" else []
        d = create(op, [y, x, C.c_int64(0), bad, s, *more])
        run(op, d, [y, x.fill([1, 1]), bad, s], BAD_PARAM)
        expect(y.values(), [7, 7], op, "wrote")
        destroy(op, d)
    y, x, i, s = (Tensor("I32", (1,)).fill([v]) for v in (0, 16777217, 0, 1))
    once("IndexAdd", [y], [x, i, s], [[16777218]], 0, [y, x, C.c_int64(0), i, s, f32(1)], [y, x, i, s])


def test_scatter():
    for axis, reduction, ids in itertools.product((0, 1, -1), (0, 1, 2), ("I32", "I64")):
        def rule(x, i, u):
            out = list(x.values)
            for r, c in itertools.product(range(2), range(3)):
                at = [r, c]
                at[axis] = i[r, c] % (4, 5)[axis]
                k = at[0] * 5 + at[1]
                out[k] = (u[r, c], out[k] + u[r, c], out[k] * u[r, c])[reduction]
            return [out]
        sweep("Scatter", FLOATS, [Spec((4, 5))],
              [Spec((4, 5)), Spec((2, 3), ids, (-4, 4)), Spec((2, 3))], rule, [axis, reduction],
              units=6, inplace=[(0, 0)])
    y, x = (Tensor("F32", (2,)).fill([7, 7]) for _ in range(2))
    bad, u = Tensor("I64", (2,)).fill([0, -3]), Tensor("F32", (2,)).fill([1, 1])
    d = create("Scatter", [y, x, bad, u, 0, 0])
    run("Scatter", d, [y, x.fill([1, 1]), bad, u], BAD_PARAM)
    expect(y.values(), [7, 7], "Scatter wrote")
    destroy("Scatter", d)
    create("Scatter", [y, x, bad, u, 0, 3], BAD_PARAM)
    create("Scatter", [y, x, bad, u, 2, 0], BAD_PARAM)


def test_compaction():
    free = C.CDLL(None).free
    free.argtypes = [C.c_void_p]
    for shape, variant in itertools.product(((3, 4), (), (0, 2), (5,)), range(4)):
        x = Spec(shape, "F32").tensor("F32", variant)
        mask = Spec(shape, "BOOL").tensor("BOOL", variant + 1)
        d = create("MaskedSelect", [x, mask])
        data, count = C.c_void_p(), C.c_size_t(99)
        run("MaskedSelect", d, [x, mask, C.byref(data), C.byref(count)])
        want = [v for v, m in zip(x.values(), mask.values()) if m != b"\0"]
        expect(count.value, len(want), "MaskedSelect")
        got = C.string_at(data, 4 * len(want)) if want else b""
        expect([decode("F32", got[4 * i:4 * i + 4]) for i in range(len(want))], want, "MaskedSelect")
        free(data)
        run("MaskedSelect", d, [x, mask, None, C.byref(count)], NULL)
        destroy("MaskedSelect", d)
        x.fill([math.nan if i == 1 else 0.0 if i % 3 == 0 else 1.5 for i in range(math.prod(shape))])
        d = create("Argwhere", [x])
        run("Argwhere", d, [C.byref(data), C.byref(count), x])
        want = [i for i, v in zip(x.indices(), x.values()) if v != 0]
        expect(count.value, len(want), "Argwhere")
        got = (C.c_int64 * (len(want) * len(shape))).from_address(data.value) if want and shape else []
        expect(list(got), [k for i in want for k in i], "Argwhere")
        if data.value:
            free(data)
        destroy("Argwhere", d)


# ---- windows ----

def pooled(x, out, kernel, stride, pad, dilation=None, weight=None):
    """Sums over windows of (n, c, ...): of x, or of x times weight[o, c, ...] over all c."""
    dilation = dilation or [1] * len(kernel)

    def at(n, o, *i):
        total = []
        for k in itertools.product(*map(range, kernel)):
            where = [a * s - p + j * d for a, s, p, j, d in zip(i, stride, pad, k, dilation)]
            if all(0 <= w < e for w, e in zip(where, x.shape[2:])):
                total += [x[(n, o, *where)]] if weight is None else \
                    [x[(n, c, *where)] * weight[(o, c, *k)] for c in range(x.shape[1])]
        return math.fsum(total)
    return made(out, at)


def test_pooling():
    for w, k, s, p in ((7, 3, 2, 0), (7, 3, 1, 1), (4, 4, 1, 0), (5, 1, 3, 0)):
        out = (2, 3, (w + 2 * p - k) // s + 1)
        sweep("AvgPool1d", FLOATS, [Spec(out)], [Spec((2, 3, w))],
              lambda x: [[v / k for v in pooled(x, out, [k], [s], [p])]], [size(k), size(s), size(p)])
    for k, s, p in (((2, 3, 1), None, None), ((2, 2, 2), (1, 2, 1), (1, 0, 1))):
        shape, stride, pad = (1, 2, 4, 5, 3), s or k, p or (0, 0, 0)
        out = (1, 2) + tuple((n + 2 * q - a) // b + 1 for n, q, a, b in zip(shape[2:], pad, k, stride))
        sweep("AvgPool3d", FLOATS, [Spec(out, layout="dense")], [Spec(shape, layout="ahead")],
              lambda x: [[v / math.prod(k) for v in pooled(x, out, k, stride, pad)]],
              [sizes(*k), sizes(*s) if s else None, sizes(*p) if p else None], repeats=False)
    for numbers in ((0, 1, 0), (3, 0, 0), (9, 1, 0)):
        create("AvgPool1d", [Tensor("F32", (1, 1, 5)), Tensor("F32", (1, 1, 7)),
                             *map(size, numbers)], BAD_PARAM)

    def cells(x, out, n, rule):
        def at(*i):
            lead, last = i[:len(i) - n], i[len(i) - n:]
            spans = [range(k * e // m, -(-(k + 1) * e // m)) for k, e, m in
                     zip(last, x.shape[-n:], out[-n:])]
            return rule([x[lead + j] for j in itertools.product(*spans)])
        return [made(out, at)]

    mean = lambda v: math.fsum(v) / len(v)
    for shape, m in (((2, 3, 15), 5), ((4, 2, 7), 3), ((3, 2), 5), ((2, 2, 2, 6), 4)):
        out = shape[:-1] + (m,)
        sweep("AdaptiveAvgPool1d", FLOATS, [Spec(out)], [Spec(shape)], lambda x: cells(x, out, 1, mean))
        sweep("AdaptiveMaxPool1d", FLOATS, [Spec(out)], [Spec(shape)], lambda x: cells(x, out, 1, max),
              [size(m)], units=0)
    out = (1, 2, 2, 3, 4)
    sweep("AdaptiveAvgPool3D", FLOATS, [Spec(out)], [Spec((1, 2, 5, 3, 2))],
          lambda x: cells(x, out, 3, mean), [sizes(2, 3, 4)])
    for mode, shape, to in (("area", (1, 2, 6), (1, 2, 4)), ("area", (1, 2, 6, 5), (1, 2, 12, 3)),
                            ("area", (1, 1, 4, 3, 2), (1, 1, 2, 3, 4))):
        sweep("Interpolate", FLOATS, [Spec(to)], [Spec(shape)],
              lambda x: cells(x, to, len(shape) - 2, mean), [mode.encode(), sizes(1), None, 0])


def test_conv():
    cases = [((2, 3, 7), (4, 3, 3), [0], [1], [1]), ((1, 2, 7), (3, 2, 3), [2], [2], [2]),
             ((2, 2, 5, 6), (3, 2, 2, 3), [1, 0], [2, 1], [1, 2]),
             ((1, 2, 3, 4, 3), (2, 2, 2, 1, 3), [1, 0, 1], [1, 2, 1], [1, 1, 1])]
    for x, w, pads, strides, dilations in cases:
        n = len(pads)
        out = (x[0], w[0]) + tuple((e + 2 * p - d * (k - 1) - 1) // s + 1 for e, p, d, k, s in
                                   zip(x[2:], pads, dilations, w[2:], strides))
        for bias in (None, Spec(w[:1])):
            def rule(a, k, b):
                flat = pooled(a, out, w[2:], strides, pads, dilations, k)
                each = math.prod(out[2:])
                return [[v + (b[i // each % w[0]] if b else 0) for i, v in enumerate(flat)]]
            sweep("Conv", ["F16", "F32", "BF16"], [Spec(out)], [Spec(x), Spec(w), bias], rule,
                  [sizes(*pads), (C.c_ssize_t * n)(*strides), sizes(*dilations), size(n)], units=8)
    y, x, w = (Tensor("F32", s) for s in ((1, 1, 3), (1, 1, 3), (1, 1, 1)))
    for strides in (0, -1):
        create("Conv", [y, x, w, None, None, (C.c_ssize_t * 1)(strides), None, size(1)], SHAPE)


# ---- interpolation ----

def test_interpolation():
    def place(i, n, m, align):
        return (i * (n - 1) / (m - 1) if m > 1 else 0) if align else max(0, (i + 0.5) * n / m - 0.5)

    def linear(x, out, axes, align):
        def at(*i):
            total = []
            for corner in itertools.product((0, 1), repeat=len(axes)):
                where, weight = list(i), 1.0
                for a, c in zip(axes, corner):
                    n = x.shape[a]
                    p = place(i[a], n, out[a], align)
                    low = min(int(p), n - 1)
                    where[a] = min(low + c, n - 1)
                    weight *= (p - int(p)) if c else 1 - (p - int(p))
                total.append(weight * x[tuple(where)])
            return math.fsum(total)
        return [made(out, at)]

    for shape, out in (((2, 3, 4, 5), (2, 3, 7, 3)), ((4, 1), (2, 3)), ((3, 4, 4), (3, 8, 8))):
        axes = [len(shape) - 2, len(shape) - 1]
        for align in (0, 1):
            sweep("UpsampleBilinear", FLOATS, [Spec(out)], [Spec(shape)],
                  lambda x: linear(x, out, axes, align), [align], units=6)
    def nearest(x, shape, out, axes):
        def at(*i):
            where = list(i)
            for a in range(len(shape) - axes, len(shape)):
                where[a] = min(int(i[a] * shape[a] / out[a]), shape[a] - 1)
            return x[tuple(where)]
        return [made(out, at)]

    for shape, out, axes in (((4, 5), (8, 3), 2), ((2, 3, 5), (2, 3, 8), 1), ((1, 2, 3, 4), (1, 2, 7, 4), 2)):
        sweep("UpsampleNearest", FLOATS + INTS, [Spec(out, draw=(0, 2))], [Spec(shape, draw=(0, 99))],
              lambda x: nearest(x, shape, out, axes), units=0)
    for shape, out in (((1, 2, 5), (1, 2, 8)), ((1, 1, 4, 3), (1, 1, 3, 6)), ((1, 1, 2, 3, 2), (1, 1, 4, 2, 3))):
        n = len(shape) - 2
        for align, name in itertools.product((0, 1), (b"linear", b"bilinear", b"trilinear")):
            sweep("Interpolate", FLOATS, [Spec(out)], [Spec(shape)],
                  lambda x: linear(x, out, range(2, 2 + n), align), [name, sizes(1), None, align], units=6)

        sweep("Interpolate", FLOATS, [Spec(out)], [Spec(shape)], lambda x: nearest(x, shape, out, n),
              [b"nearest", sizes(1), None, 0], units=0)
    x, y = Tensor("F32", (1, 1, 4)), Tensor("F32", (1, 1, 8))
    two = (C.c_double * 1)(2.0)
    destroy("Interpolate", create("Interpolate", [y, x, b"linear", None, two, 0]))
    for args in ((b"cubic", sizes(8), None), (None, sizes(8), None), (b"area", None, None),
                 (b"area", sizes(8), two)):
        create("Interpolate", [y, x, *args, 0], BAD_PARAM)


def test_grid():
    for h, w, align in itertools.product((1, 3), (1, 4), (0, 1)):
        def base(i, n):
            return (-1 + 2 * i / (n - 1) if n > 1 else 0) if align else (2 * i + 1) / n - 1
        sweep("AffineGrid", FLOATS, [Spec((2, h, w, 2))], [Spec((2, 2, 3))],
              lambda t: [made((2, h, w, 2), lambda n, i, j, k: t[n, k, 0] * base(j, w)
                              + t[n, k, 1] * base(i, h) + t[n, k, 2])], [C.c_uint8(align)], units=6)


# ---- products ----

def test_products():
    for alpha, beta in ((1, 1), (2, 0.5), (0.5, 0)):
        sweep("Addbmm", FLOATS, [Spec((3, 5))], [Spec((3, 5)), Spec((2, 3, 4)), Spec((2, 4, 5))],
              lambda i, a, b: [made((3, 5), lambda r, c: (beta * i[r, c] if beta else 0) + alpha * math.fsum(
                  a[n, r, k] * b[n, k, c] for n in range(2) for k in range(4)))],
              [f32(alpha), f32(beta)], units=6, inplace=[(0, 0)])
        sweep("Addr", FLOATS, [Spec((3, 5))], [Spec((3, 5)), Spec((3,)), Spec((5,))],
              lambda i, a, b: [made((3, 5), lambda r, c: alpha * a[r] * b[c]
                                    + (beta * i[r, c] if beta else 0))],
              [f32(beta), f32(alpha)], units=6, inplace=[(0, 0)])
    for a, b in (((2, 3), (3,)), ((4, 5), (2, 5)), ((3,), (3,)), ((2, 2, 3), (4, 3))):
        n = len(a) - 1
        sweep("Inner", ["F16", "F32", "BF16"], [Spec(a[:-1] + b[:-1])], [Spec(a), Spec(b)],
              lambda x, y: [made(a[:-1] + b[:-1], lambda *i: math.fsum(
                  x[i[:n] + (k,)] * y[i[n:] + (k,)] for k in range(a[-1])))], units=6)
    for a, b in (((2, 3), (3, 2)), ((4,), (3,)), ((), ()), ((2, 1, 2), (1, 3, 2))):
        out = tuple(x * y for x, y in zip(a, b))
        sweep("Kron", FLOATS, [Spec(out)], [Spec(a), Spec(b)],
              lambda x, y: [made(out, lambda *i: x[tuple(k // e for k, e in zip(i, b))]
                                 * y[tuple(k % e for k, e in zip(i, b))])])

    def power(x, n):
        size_, out = x.shape[0], None
        out = [[float(i == j) for j in range(size_)] for i in range(size_)]
        for _ in range(n):
            out = [[math.fsum(r[k] * x[k, j] for k in range(size_)) for j in range(size_)] for r in out]
        return [sum(out, [])]

    for n in (0, 1, 2, 3, 5, 8):
        square = Spec((3, 3), layout="dense", draw=(-1, 1))
        sweep("MatrixPower", FLOATS, [square], [square], lambda x: power(x, n), [n], units=12,
              inplace=[(0, 0)], repeats=False)
    create("MatrixPower", [Tensor("F32", (2, 2))] * 2 + [-1], BAD_PARAM)


def test_algebra():
    def determinant(m):
        if not m:
            return 1.0
        return math.fsum((-1) ** j * v * determinant([r[:j] + r[j + 1:] for r in m[1:]])
                         for j, v in enumerate(m[0]) if v)

    def logdet(x):
        n = x.shape[0]
        d = determinant([[x[i, j] for j in range(n)] for i in range(n)])
        return [[math.log(d) if d > 0 else math.nan if d < 0 else -math.inf]]

    for n in (1, 2, 4):
        for out in ((), (1,)):
            sweep("Logdet", ["F32", "F64"], [Spec(out)], [Spec((n, n), draw=(-2, 2))], logdet, units=64,
                  repeats=False)
    tiny = lambda n: [1e-7 if i % 4 == 0 else 0.0 for i in range(n)]
    sweep("Logdet", ["F64"], [Spec(())], [Spec((3, 3), draw=tiny)], lambda x: [[3 * math.log(1e-7)]],
          repeats=False)
    sweep("Logdet", ["F32"], [Spec(())], [Spec((2, 2), draw=lambda n: [1, 2, 2, 4])],
          lambda x: [[-math.inf]], repeats=False)
    for n, increasing in itertools.product((0, 1, 4), (0, 1)):
        columns = n or 3
        sweep("Vander", FLOATS, [Spec((3, columns))], [Spec((3,))],
              lambda x: [made((3, columns), lambda i, j: x[i] ** (j if increasing else columns - 1 - j))],
              [n, increasing], units=4)
    for shape, dim, n in itertools.product(((7,), (5, 4), (4, 5, 4)), (0, -1), (1, 2, 3)):
        axis = dim % len(shape)
        out = tuple(e - n if i == axis else e for i, e in enumerate(shape))
        sweep("Diff", FLOATS, [Spec(out)], [Spec(shape)],
              lambda x: [made(out, lambda *i: math.fsum(
                  (-1) ** (n - k) * math.comb(n, k) * x[i[:axis] + (i[axis] + k,) + i[axis + 1:]]
                  for k in range(n + 1)))], [dim, n], units=4)
    create("Diff", [Tensor("F32", (1,)), Tensor("F32", (2,)), 0, 0], BAD_PARAM)
    create("Diff", [Tensor("F32", (0,)), Tensor("F32", (2,)), 0, 2], SHAPE)


# ---- 4-bit weights ----

NUMBERS = [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def unpacked(packed, scales):
    """The numbers of bytes and scales, flat."""
    out = []
    for i, byte in enumerate(packed):
        for code in (byte & 15, byte >> 4):
            out.append((-1 if code & 8 else 1) * NUMBERS[code & 7] * 2.0 ** (scales[i // 16] - 127))
    return out


def test_mxfp4():
    flat = {"layout": "dense"}
    for shape in ((32,), (2, 3, 64)):
        half, scales = shape[:-1] + (shape[-1] // 2,), shape[:-1] + (shape[-1] // 32,)
        sweep("Mxfp4Dequantize", ["F16", "F32", "BF16"], [Spec(shape, **flat)],
              [Spec(half, "U8", (0, 256), **flat), Spec(scales, "U8", (120, 134), **flat)],
              lambda p, s: [unpacked(p.values, s.values)], units=0, repeats=False, variants=1)
    for lead, bias in itertools.product(((2,), (2, 3)), (None, Spec((5,), **flat))):
        def linear(x, p, s, b):
            w = unpacked(p.values, s.values)
            return [made(lead + (5,), lambda *i: 0.5 * math.fsum(
                x[i[:-1] + (k,)] * w[i[-1] * 64 + k] for k in range(64)) + (b[i[-1]] if b else 0))]
        sweep("LinearMxfp4", ["F16", "F32", "BF16"], [Spec(lead + (5,), **flat)],
              [Spec(lead + (64,), **flat), Spec((5, 32), "U8", (0, 256), **flat),
               Spec((5, 2), "U8", (122, 128), **flat), bias], linear, [f32(0.5)], units=6,
              repeats=False, variants=1)


def test_experts():
    t, h, i, e, k = 3, 64, 32, 4, 2
    flat = {"layout": "dense"}
    sigmoid = lambda v: 1 / (1 + math.exp(-v))
    acts = {1: lambda g, u: g * sigmoid(g) * u,
            2: lambda g, u: 4 * math.tanh(g / 4) * sigmoid(g) * 25 * math.tanh(u / 25)}
    for act, rule in acts.items():
        def moe(x, experts, routing, p13, s13, p2, s2):
            w13, w2 = unpacked(p13.values, s13.values), unpacked(p2.values, s2.values)
            out = [0.0] * (t * h)
            for n, r in itertools.product(range(t), range(k)):
                x_e = experts[n, r]
                if not 0 <= x_e < e:
                    continue
                both = [math.fsum(x[n, c] * w13[(x_e * 2 * i + j) * h + c] for c in range(h))
                        for j in range(2 * i)]
                a = [rule(both[j], both[i + j]) for j in range(i)]
                for c in range(h):
                    out[n * h + c] += routing[n, r] * math.fsum(
                        a[j] * w2[(x_e * h + c) * i + j] for j in range(i))
            return [out]
        sweep("FusedMoeMxfp4", ["F16", "F32", "BF16"], [Spec((t, h), **flat)],
              [Spec((t, h), draw=(-0.5, 0.5), **flat), Spec((t, k), "I32", (-1, e + 1), **flat),
               Spec((t, k), "F32", (0, 1), **flat), Spec((e, 2 * i, h // 2), "U8", (0, 256), **flat),
               Spec((e, 2 * i, h // 32), "U8", (118, 122), **flat),
               Spec((e, h, i // 2), "U8", (0, 256), **flat),
               Spec((e, h, i // 32), "U8", (118, 122), **flat)], moe, [act], units=12, repeats=False,
              variants=1)
    create("FusedMoeMxfp4", [Tensor("F32", (1, 32))] * 8 + [0], BAD_PARAM)


TESTS = [f for name, f in list(globals().items()) if name.startswith("test_")]

"""infiniop_reduced.py - reductions, distances and BLAS level 1 against double."""
from infiniop_sweep import *

f64 = C.c_double


def axes_of(*dims):
    return (C.c_size_t * max(len(dims), 1))(*dims)


def reduced(x, dims, keep, rule):
    """rule of the elements that meet in one, row-major over the axes that stay."""
    stay = [i for i in range(len(x.shape)) if i not in dims]

    def at(*where):
        full = [range(n) for n in x.shape]
        for i, k in zip(stay, where):
            full[i] = [k]
        return rule([x[i] for i in itertools.product(*full)])
    return made([x.shape[i] for i in stay], at)


def shape_of(shape, dims, keep):
    return tuple(1 if i in dims else n for i, n in enumerate(shape) if keep or i not in dims)


CASES = [((2, 3, 4), (0,), True), ((2, 3, 4), (0, 2), False), ((4, 5), (0, 1), False),
         ((7,), (0,), True), ((3, 2), (), False), ((3, 0), (1,), False)]


def variance(values, unbiased):
    n = len(values)
    if n - unbiased <= 0:
        return math.nan
    mean = math.fsum(values) / n
    return math.fsum((v - mean) ** 2 for v in values) / (n - unbiased)


def mean(values):
    return math.fsum(values) / len(values) if values else math.nan


def test_axes():
    for shape, dims, keep in CASES:
        out = shape_of(shape, dims, keep)
        numbers = [axes_of(*dims), size(len(dims)), C.c_bool(keep)]
        sweep("Sum", FLOATS, [Spec(out)], [Spec(shape)],
              lambda x: [reduced(x, dims, keep, math.fsum)], numbers, extra=numbers)
        for dtype in ("BOOL", "U8"):
            true = lambda v: v != b"\0" if dtype == "BOOL" else v != 0
            sweep("All", [dtype], [Spec(out, "BOOL")], [Spec(shape, draw=(0, 4))],
                  lambda x: [[bytes([r]) for r in reduced(x, dims, keep, lambda v: all(map(true, v)))]],
                  numbers, extra=numbers)
        for unbiased in (False, True):
            more = [*numbers[:2], C.c_bool(unbiased), numbers[2]]
            var = lambda x: reduced(x, dims, keep, lambda v: variance(v, unbiased))
            sweep("Var", FLOATS, [Spec(out)], [Spec(shape)], lambda x: [var(x)], more, extra=more)
            sweep("VarMean", FLOATS, [Spec(out), Spec(out)], [Spec(shape)],
                  lambda x: [var(x), reduced(x, dims, keep, mean)], more, extra=more)


def norm(values, p):
    values = [abs(v) for v in values]
    if p == 0:
        return float(sum(v != 0 for v in values))
    if p == math.inf:
        return max(values, default=0.0)
    return math.fsum(v ** p for v in values) ** (1 / p)


def test_distances():
    for p in (0, 0.5, 1, 2, 3, math.inf):
        for shape in ((7,), (2, 3), ()):
            for out in ((), (1,)):
                sweep("Dist", FLOATS, [Spec(out)], [Spec(shape), Spec(shape)],
                      lambda a, b: [[norm([x - y for x, y in zip(a.values, b.values)], p)]],
                      [f64(p)])
        for sa, sb, out in (((3, 4), (5, 4), (3, 5)), ((2, 3, 4), (5, 4), (2, 3, 5)),
                            ((1, 3, 4), (2, 5, 4), (2, 3, 5))):
            def cdist(a, b):
                def at(*i):
                    x = (i[0] if len(sa) == 3 and sa[0] > 1 else 0, i[-2])[-len(sa) + 1:]
                    y = (i[0] if len(sb) == 3 and sb[0] > 1 else 0, i[-1])[-len(sb) + 1:]
                    return norm([a[x + (k,)] - b[y + (k,)] for k in range(4)], p)
                return [made(out, at)]
            sweep("Cdist", ["F16", "F32", "BF16"], [Spec(out)], [Spec(sa), Spec(sb)], cdist, [f64(p)])


def test_scan():
    for shape, axis, exclusive, reverse in itertools.product(((5,), (3, 4), (2, 3, 4)), (0, 1, 2),
                                                             (0, 1), (0, 1)):
        if axis >= len(shape):
            continue

        def scan(x):
            def at(*i):
                n, k = x.shape[axis], i[axis]
                js = range(k + exclusive, n) if reverse else range(k + 1 - exclusive)
                seen = [x[i[:axis] + (j,) + i[axis + 1:]] for j in js]
                top = max(seen, default=-math.inf)
                return top if math.isinf(top) else top + math.log(math.fsum(math.exp(v - top) for v in seen))
            return [made(shape, at)]
        low = lambda n: [-math.inf if i == 0 else i % 7 - 3 for i in range(n)]
        for draw in ((-5, 5), low):
            sweep("LogCumSumExp", FLOATS, [Spec(shape)], [Spec(shape, draw=draw)], scan,
                  [axis, exclusive, reverse], units=6, inplace=[] if exclusive else [(0, 0)])


def test_blas():
    n, one = 9, Spec(())
    v = Spec((n,))
    for single in (Spec(()), Spec((1,))):
        sweep("Asum", FLOATS, [single], [v], lambda x: [[math.fsum(map(abs, x.values))]], order=[1, 0])
        sweep("Nrm2", FLOATS, [single], [v], lambda x: [[norm(x.values, 2)]], order=[1, 0])
        dot = lambda a, b: [[math.fsum(x * y for x, y in zip(a.values, b.values))]]
        sweep("BlasDot", FLOATS, [single], [v, v], dot, order=[1, 2, 0])
        ahead = Spec((n,), layout="ahead")
        sweep("Dot", FLOATS, [single], [ahead, ahead], dot, repeats=False)
        for op, best in (("BlasAmax", max), ("BlasAmin", min)):
            def find(x):
                m = [abs(e) for e in x.values]
                if not m or m[0] != m[0]:
                    return [[len(m[:1])]]
                return [[m.index(best(e for e in m if e == e)) + 1]]
            for draw in ((-3, 3), lambda n: [1, math.nan, -4, 4, 0, -0.0, 2, 3, 1],
                         lambda n: [math.nan, 2, -4, 4, 0, -0.0, 2, 3, 1]):
                sweep(op, FLOATS, [Spec(single.shape, "I32")], [Spec((n,), draw=draw)], find, order=[1, 0])
            sweep(op, FLOATS, [Spec(single.shape, "I32")], [Spec((0,))], lambda x: [[0]], order=[1, 0])
    sweep("BlasCopy", FLOATS, [v], [v], lambda x: [x.values], order=[1, 0], units=0)
    sweep("Nrm2", ["F64"], [one], [Spec((n,), draw=lambda n: [3e200, 4e200] + [0.0] * (n - 2))],
          lambda x: [[5e200]], order=[1, 0])
    sweep("Nrm2", ["F64"], [one], [Spec((n,), draw=lambda n: [3e-310, 4e-310] + [0.0] * (n - 2))],
          lambda x: [[5e-310]], order=[1, 0])


def in_place(op, dtype, tensors, outs, rule, units=4, swap=False):
    """Operators that change what they are given."""
    values = [t.values() for t in tensors]
    want = rule(*values)
    once(op, [tensors[i] for i in outs], tensors, want, units, tensors, tensors)


def test_blas_in_place():
    n = 9
    for dtype, variant in itertools.product(FLOATS, range(4)):
        x, y = (Spec((n,)).tensor(dtype, variant + k) for k in range(2))
        a, c, s = (Spec(shape).tensor(dtype, 0) for shape in ((), (1,), ()))
        in_place("Swap", dtype, [x, y], (0, 1), lambda x, y: [y, x], 0)
        in_place("Scal", dtype, [a, x], (1,), lambda a, x: [[a[0] * v for v in x]])
        in_place("Axpy", dtype, [a, x, y], (2,),
                 lambda a, x, y: [[a[0] * v + w for v, w in zip(x, y)]])
        in_place("Rot", dtype, [x, y, c, s], (0, 1), lambda x, y, c, s: [
            [c[0] * v + s[0] * w for v, w in zip(x, y)], [c[0] * w - s[0] * v for v, w in zip(x, y)]])
        for flag in (-2, -1, 0, 1):
            h = Tensor(dtype, (5,)).fill([flag, 0.5, -0.25, 2, 1.5])
            m = {-2: (1, 0, 0, 1), -1: (0.5, 2, -0.25, 1.5), 0: (1, 2, -0.25, 1),
                 1: (0.5, 1, -1, 1.5)}[flag]
            in_place("Rotm", dtype, [x, y, h], (0, 1), lambda x, y, h: [
                [m[0] * v + m[1] * w for v, w in zip(x, y)],
                [m[2] * v + m[3] * w for v, w in zip(x, y)]])
        for vx, vy in ((3, 4), (-4, 3), (0, 2), (2, 0), (0, 0), (-1, -1)):
            ts = [Tensor(dtype, ()).fill([v]) for v in (vx, vy, 9, 9)]

            def givens(x, y, c, s):
                x, y = x[0], y[0]
                if y == 0:
                    return [[x], [0.0], [1.0], [0.0]]
                if x == 0:
                    return [[y], [1.0], [0.0], [1.0]]
                r = math.copysign(math.hypot(x, y), x if abs(x) > abs(y) else y)
                return [[r], [y / r if abs(x) > abs(y) else r / x], [x / r], [y / r]]
            in_place("Rotg", dtype, ts, (0, 1, 2, 3), givens)


def test_rotmg():
    """H (sqrt(d1) x1, sqrt(d2) y1) has no second part, and keeps the weighted square."""
    for d1, d2, x1, y1 in ((1, 1, 3, 4), (2, 0.5, 3, 1), (4e8, 1, 2, 3), (1e-9, 1e-9, 1, 2),
                           (-1, 1, 1, 1), (1, 1, 1, 0), (1, -2, 1, 3)):
        ts = [Tensor("F64", ()).fill([float(v)]) for v in (d1, d2, x1, y1)]
        ts.append(Tensor("F64", (5,)).fill([7.0] * 5))
        d = create("Rotmg", ts)
        run("Rotmg", d, ts)
        destroy("Rotmg", d)
        (e1,), (e2,), (z1,), (same_y,), p = (t.values() for t in ts)
        flag = p[0]
        expect(same_y, y1)
        if d1 < 0 or (d2 < 0 and abs(d2 * y1 * y1) >= d1 * x1 * x1):
            expect((flag, e1, e2, z1, p[1:]), (-1, 0, 0, 0, [0] * 4), "Rotmg of nothing")
            continue
        if y1 == 0:
            expect((flag, e1, e2, z1, p[1:]), (-2, d1, d2, x1, [7] * 4), "Rotmg of none")
            continue
        h = {-1: (p[1], p[3], p[2], p[4]), 0: (1, p[3], p[2], 1), 1: (p[1], 1, -1, p[4])}[flag]
        expect(abs(h[2] * x1 + h[3] * y1) < 1e-9 * (abs(x1) + abs(y1)), True, "Rotmg", d1, d2)
        expect(math.isclose(h[0] * x1 + h[1] * y1, z1, rel_tol=1e-9), True, "Rotmg x1")
        expect(math.isclose(e1 * z1 * z1, d1 * x1 * x1 + d2 * y1 * y1, rel_tol=1e-6), True, "Rotmg d1")
        expect([v == 7 for v in p[1:]], {-1: [False] * 4, 0: [True, False, False, True],
                                        1: [False, True, True, False]}[flag], "entries")


def test_refused_axes():
    for dims in ((9,), (0, 0), (0, 1, 0)):
        create("Sum", [Tensor("F32", (2,)), Tensor("F32", (2, 3)), axes_of(*dims), size(len(dims)),
                       C.c_bool(False)], BAD_PARAM)
    create("Sum", [Tensor("F32", (2,)), Tensor("F32", (2, 3)), None, size(1), C.c_bool(False)], NULL)
    create("Sum", [Tensor("F32", (3,)), Tensor("F32", (2, 3)), axes_of(1), size(1), C.c_bool(False)], SHAPE)
    for p in (-1, math.nan):
        create("Dist", [Tensor("F32", ()), Tensor("F32", (2,)), Tensor("F32", (2,)), f64(p)], BAD_PARAM)


TESTS = [f for name, f in list(globals().items()) if name.startswith("test_")]

"""infiniop_model.py - the operators of a decoder, and those that choose, against double."""
from infiniop_sweep import *

f32 = C.c_float
EPS = f32(1e-5).value


def dotted(n, rule):
    return math.fsum(rule(i) for i in range(n))


def softmax(row):
    top = max(row)
    e = [math.exp(x - top) for x in row]
    return [x / math.fsum(e) for x in e]


def silu(x):
    return x / (1 + math.exp(-x))


def test_gemm():
    def rule(a, b, c, alpha, beta, shape):
        k = a.shape[-1]
        if len(shape) == 2:
            return [made(shape, lambda i, j: alpha * dotted(k, lambda x: a[i, x] * b[x, j])
                         + (beta * c[i, j] if beta else 0))]
        return [made(shape, lambda n, i, j: alpha * dotted(
            k, lambda x: a[(n, i, x) if len(a.shape) == 3 and a.shape[0] > 1 else (0, i, x)[-len(a.shape):]]
            * b[(n, x, j) if len(b.shape) == 3 and b.shape[0] > 1 else (0, x, j)[-len(b.shape):]])
            + (beta * c[n, i, j] if beta else 0))]

    for m, k, n in ((3, 5, 4), (1, 33, 17), (19, 1, 2), (2, 0, 3)):
        for alpha, beta in ((1, 0), (0.5, 0), (-1.5, 0.5)):
            sweep("Gemm", F3, [Spec((m, n))], [Spec((m, k)), Spec((k, n))],
                  lambda a, b: rule(a, b, None, alpha, 0, (m, n)),
                  extra=[f32(alpha), f32(0)]) if beta == 0 else None
    for sa, sb in (((4, 3, 5), (4, 5, 6)), ((3, 5), (4, 5, 6)), ((1, 3, 5), (1, 5, 6))):
        sweep("Gemm", F3, [Spec((4, 3, 6))], [Spec(sa), Spec(sb)],
              lambda a, b: rule(a, b, None, 1, 0, (4, 3, 6)), extra=[f32(1), f32(0)])
    for dtype in F3:                                             # c is read when beta is not 0
        for variant in range(4):
            c, a, b = (Spec(s).tensor(dtype, variant) for s in ((3, 4), (3, 5), (5, 4)))
            va, vb, vc = (Values(t.shape, t.values()) for t in (a, b, c))
            once("Gemm", [c], [a, b], rule(va, vb, vc, -1.5, 0.5, (3, 4)), 4, [c, a, b],
                 [c, a, b, f32(-1.5), f32(0.5)])


def test_norms():
    def normed(row, w, eps):
        r = 1 / math.sqrt(math.fsum(x * x for x in row) / len(row) + eps)
        return [x * r * v for x, v in zip(row, w)]

    def rows(x):
        n = x.shape[-1]
        return [x.values[i:i + n] for i in range(0, len(x.values), n)]

    def rms(x, w):
        return [[y for row in rows(x) for y in normed(row, w.values, EPS)]]

    for shape in ((3, 16), (2, 3, 7)):
        for weight in (None, "F16", "BF16", "F32"):
            data = FLOATS if weight is None else ["F16", "BF16"]
            sweep("RMSNorm", data, [Spec(shape, layout="last")],
                  [Spec(shape, layout="last"), Spec(shape[-1:], weight, layout="last")], rms,
                  [f32(1e-5)], units=3, inplace=[(0, 0)])
        for dtype in FLOATS:
            def add(a, b, w):
                s = Values(a.shape, [rounded(dtype, x + y) for x, y in zip(a.values, b.values)])
                return [rms(s, w)[0], s.values]
            last = Spec(shape, layout="last")
            sweep("AddRMSNorm", [dtype], [last, last], [last, last, Spec(shape[-1:], layout="last")],
                  add, [f32(1e-5)], units=4, inplace=[(0, 0), (1, 1), (0, 1), (1, 0)])

    def layer(x, w, b):
        out, standard, deviation = [], [], []
        for row in rows(x):
            mean = math.fsum(row) / len(row)
            sd = math.sqrt(math.fsum((v - mean) ** 2 for v in row) / len(row) + EPS)
            deviation.append(sd)
            standard += [(v - mean) / sd for v in row]
            out += [(v - mean) / sd * g + (0 if b is None else h)
                    for v, g, h in zip(row, w.values, (b or w).values)]
        return [out, standard, deviation]

    for shape in ((3, 16), (2, 3, 7), (5,)):
        for bias in (Spec(shape[-1:]), None):
            sweep("LayerNorm", F3, [Spec(shape), Spec(shape), Spec(shape[:-1])],
                  [Spec(shape), Spec(shape[-1:]), bias], layer, [f32(1e-5)], units=4)


def test_softmaxes():
    def causal(x):
        s, t = x.shape[-2:]
        out = []
        for r in range(len(x.values) // t):
            seen = t - s + r % s + 1
            out += softmax(x.values[r * t:r * t + seen]) + [0.0] * (t - seen)
        return [out]

    for shape in ((3, 3), (2, 3, 7), (4, 1, 33)):
        sweep("CausalSoftmax", F3, [Spec(shape)], [Spec(shape, draw=(-8, 8))], causal, units=4,
              inplace=[(0, 0)])

    def log_softmax(x, dim):
        def at(*i):
            row = [x[i[:dim] + (k,) + i[dim + 1:]] for k in range(x.shape[dim])]
            return x[i] - max(row) - math.log(math.fsum(math.exp(v - max(row)) for v in row))
        return [made(x.shape, at)]

    for shape, dim in (((5,), 0), ((3, 7), 1), ((3, 7), -2), ((2, 3, 5), 1)):
        sweep("LogSoftmax", FLOATS, [Spec(shape)], [Spec(shape, draw=(-8, 8))],
              lambda x: log_softmax(x, dim % len(shape)), [dim], units=6, inplace=[(0, 0)])


def test_rope():
    for (shape, pos), algo, ids in itertools.product(
            ((((4, 2, 6), (4,))), ((2, 4, 3, 8), (4,)), ((2, 4, 1, 2), (2, 4))), (0, 1),
            ("I64", "I32", "U8")):
        half = shape[-1] // 2
        table = Spec((9, half), draw=(-1, 1), layout="dense")

        def rule(x, p, sin, cos):
            def at(*i):
                row = p[i[:-2] if len(pos) == 2 else i[-3:-2]]
                j = i[-1] % half if algo else i[-1] // 2
                first = i[-1] < half if algo else i[-1] % 2 == 0
                x0 = x[i[:-1] + ((j if algo else 2 * j),)]
                x1 = x[i[:-1] + ((j + half if algo else 2 * j + 1),)]
                s, c = sin[row, j], cos[row, j]
                return x0 * c - x1 * s if first else x0 * s + x1 * c
            return [made(shape, at)]
        sweep("RoPE", FLOATS, [Spec(shape, layout="last")],
              [Spec(shape, layout="last"), Spec(pos, ids, (0, 9)), table, table], rule, [algo],
              units=4, inplace=[(0, 0)], repeats=False)


def test_rows_of_tables():
    for shape, ids in itertools.product(((5,), (2, 3), ()), ("I32", "I64")):
        sweep("Embedding", F3, [Spec(shape + (6,))],
              [Spec(shape, ids, (0, 7)), Spec((7, 6))],
              lambda x, w: [made(shape + (6,), lambda *i: w[x[i[:-1]], i[-1]])], units=0)
    for n in (1, 3, 600):
        ends = sorted(rng.randrange(1, 12) for _ in range(n))
        sweep("SelectLastTokenHidden", F3, [Spec((1, n, 5), layout="dense")],
              [Spec((2, 6, 5), layout="dense"),
               Spec((n + 1,), "I32", lambda count: [0] + ends, layout="dense")],
              lambda h, o: [[h.values[(e - 1) * 5 + j] for e in ends for j in range(5)]],
              units=0, variants=1, repeats=False)


def test_attention():
    for nq, nkv, seq, pos in ((4, 2, 3, 0), (4, 1, 1, 5), (2, 2, 2, 3)):
        hd, rows = 8, 9
        for dtype in F3:
            for variant in range(3):
                q = Spec((nq, seq, hd), layout="last").tensor(dtype, variant)
                k, v = (Spec((nkv, seq, hd), layout="last").tensor(dtype, variant) for _ in "kv")
                caches = [Spec((nkv, rows, hd), layout="last").tensor(dtype, variant) for _ in "kv"]
                out = Spec((seq, nq, hd), layout="dense").tensor(dtype, 0)
                filled = [list(c.values()) for c in caches]
                for c, t in zip(filled, (k, v)):
                    new = Values(t.shape, t.values())
                    for h, s, d in itertools.product(range(nkv), range(seq), range(hd)):
                        c[(h * rows + pos + s) * hd + d] = new[h, s, d]
                keys, values = (Values((nkv, rows, hd), c) for c in filled)
                qs = Values(q.shape, q.values())

                def head(s, h):
                    g = h // (nq // nkv)
                    p = softmax([dotted(hd, lambda d: qs[h, s, d] * keys[g, j, d]) / math.sqrt(hd)
                                 for j in range(pos + s + 1)])
                    return [dotted(len(p), lambda j: p[j] * values[g, j, d]) for d in range(hd)]
                want = [x for s in range(seq) for h in range(nq) for x in head(s, h)]
                ts = [out, q, k, v, *caches]
                once("Attention", [out, *caches], ts, [want, *filled], 4,
                     [*ts, size(pos)], ts)


def test_ffn():
    ntok, d, di = 3, 8, 6

    def rule(flip_up, flip_down):
        def ffn(x, residual, norm, gate_up, down):
            out = []
            for t in range(ntok):
                row = [x[t, i] for i in range(d)]
                r = 1 / math.sqrt(math.fsum(v * v for v in row) / d + EPS)
                row = [v * r * norm[i] for i, v in enumerate(row)]
                g = [dotted(d, lambda i: row[i] * (gate_up[i, j] if flip_up else gate_up[j, i]))
                     for j in range(2 * di)]
                h = [silu(g[j]) * g[di + j] for j in range(di)]
                out += [dotted(di, lambda j: h[j] * (down[j, i] if flip_down else down[i, j]))
                        + (residual[t, i] if residual else 0) for i in range(d)]
            return [out]
        return ffn

    last = Spec((ntok, d), layout="last")
    for up, down, weights in itertools.product((0, 1), (0, 1), (None, "F32")):
        for residual in (last, None):
            sweep("FusedFFN", F3, [last],
                  [last, residual, Spec((d,), weights, (0.5, 1.5), "last"),
                   Spec((d, 2 * di) if up else (2 * di, d), weights, (-1, 1), "last"),
                   Spec((di, d) if down else (d, di), weights, (-1, 1), "last")],
                  rule(up, down), [f32(1e-5)], units=24, repeats=False,
                  inplace=[(0, 1), (0, 0)] if residual else [(0, 0)])


def test_random_sample():
    def draw(x, r, topp, topk, temperature):
        n = len(x)
        order = sorted(range(n), key=lambda i: (-x[i], i))
        if 0 in (r, topp, temperature) or topk == 1:
            return order[0]
        c, total = [], 0.0
        for i in order:
            total += math.exp((x[i] - x[order[0]]) / temperature)
            c.append(total)
        limit = r * min(c[min(topk, n) - 1], topp * c[-1])
        near_one = [abs(v - limit) < 1e-4 * total for v in c]
        return None if any(near_one) else order[next(i for i, v in enumerate(c) if v >= limit)]

    for dtype, result in itertools.product(FLOATS, ("I32", "I64", "U8", "U32")):
        for n, r, topp, topk, t in ((1, 0.5, 1, 5, 1), (97, 0.9, 0.9, 40, 0.8), (97, 0, 1, 9, 1),
                                    (97, 0.5, 1, 1, 1), (97, 0.3, 0.5, 1000, 2), (200, 0.7, 1, 3, 1),
                                    (97, 0.5, 0, 3, 1), (97, 0.5, 1, 3, 0)):
            x = Spec((n,), layout="dense").tensor(dtype, 0)
            y = Tensor(result, ())
            token = draw(x.values(), r, topp, topk, t)
            if token is None:
                continue
            once("RandomSample", [y], [x], [[token]], 0, [y, x],
                 [y, x, f32(r), f32(topp), topk, f32(t)])
    x, y = Tensor("F32", (3,)).fill([1, math.nan, 2]), Tensor("I32", ())
    once("RandomSample", [y], [x], [[1]], 0, [y, x], [y, x, f32(0), f32(1), 5, f32(1)])


def test_order():
    def order(row, largest):
        return sorted(range(len(row)), key=lambda i: ((-row[i] if largest else row[i]), i))

    def topk(x, dim, k, largest):
        shape = list(x.shape)
        shape[dim] = k

        def at(*i):
            row = [x[i[:dim] + (j,) + i[dim + 1:]] for j in range(x.shape[dim])]
            j = order(row, largest)[i[dim]]
            return row[j], j
        both = made(shape, at)
        return [[b[0] for b in both], [b[1] for b in both]]

    for shape, dim, k in (((7,), 0, 3), ((3, 70), 1, 1), ((5, 3), 0, 5), ((2, 6, 3), 1, 2)):
        out = list(shape)
        out[dim] = k
        for largest in (True, False):
            numbers = [size(k), size(dim), C.c_bool(largest), C.c_bool(True)]
            sweep("TopK", FLOATS, [Spec(out), Spec(out, "I32")],
                  [Spec(shape, draw=lambda n: [rng.randrange(-5, 5) for _ in range(n)])],
                  lambda x: topk(x, dim, k, largest), numbers, 0, extra=numbers)
        for keep, index in itertools.product((0, 1), ("I32", "I64")):
            one = [n for i, n in enumerate(shape) if i != dim or keep]
            one = [1 if keep and i == dim else n for i, n in enumerate(one)]

            def kth(x):
                values, indices = topk(x, dim, k, False)
                v, i = Values(out, values), Values(out, indices)
                def at(*where):
                    where = list(where)
                    if keep:
                        where[dim] = k - 1
                    else:
                        where.insert(dim, k - 1)
                    return tuple(where)
                return [made(one, lambda *w: v[at(*w)]), made(one, lambda *w: i[at(*w)])]
            sweep("Kthvalue", FLOATS + ["I32", "I64", "U32", "U64"], [Spec(one), Spec(one, index)],
                  [Spec(shape, draw=lambda n: [rng.randrange(0, 9) for _ in range(n)])], kth,
                  [k, dim - len(shape), keep], 0)

    def routed(x, k, norm):
        values, indices = [], []
        for r in range(x.shape[0]):
            p = softmax([x[r, j] for j in range(x.shape[1])])
            best = order(p, True)[:k]
            total = math.fsum(p[j] for j in best) if norm else 1
            values += [p[j] / total for j in best]
            indices += best
        return [values, indices]

    for k, norm in ((1, 0), (3, 1), (9, 0)):
        sweep("Topksoftmax", F3, [Spec((4, k), "F32", layout="dense"), Spec((4, k), "I32", layout="dense")],
              [Spec((4, 9), layout="last", draw=lambda n: rng.sample([i / 8 for i in range(n)], n))],
              lambda x: routed(x, k, norm), extra=[size(k), norm], units=8, hidden=True,
              repeats=False)

    def route(x, bias, k):
        values, indices = [], []
        for r in range(x.shape[0]):
            s = [1 / (1 + math.exp(-x[r, j])) for j in range(256)]
            c = [v + bias[j] for j, v in enumerate(s)]
            score = [sum(sorted(c[g * 32:g * 32 + 32])[-2:]) for g in range(8)]
            kept = order(score, True)[:4]
            c = [v if j // 32 in kept else 0 for j, v in enumerate(c)]
            best = order(c, True)[:k]
            total = math.fsum(s[j] for j in best) + 1e-9
            values += [2.5 * s[j] / total for j in best]
            indices += best
        return [values, indices]

    sweep("Topkrouter", F3, [Spec((3, 8), "F32", layout="dense"), Spec((3, 8), "I32", layout="dense")],
          [Spec((3, 256), layout="last", draw=lambda n: rng.sample([i / 64 - 6 for i in range(n)], n)),
           Spec((256,), "F32", lambda n: rng.sample([i * 2e-3 + 1 for i in range(n)], n), "dense")],
          lambda x, b: route(x, b, 8), extra=[f32(2.5), size(8)], units=8, hidden=True, repeats=False)

    def histogram(x):
        counts = [0] * 5
        for v in x.values:
            if -1 <= v <= 1.5:
                counts[min(int((v + 1) / 0.5), 4)] += 1
        return [counts]

    special = [math.nan, math.inf, -1, 1.5, -1.0625, 1.75, 0, 0.5]
    sweep("Histc", FLOATS, [Spec((5,), "F32", layout="ahead")],
          [Spec((40,), layout="ahead", draw=lambda n: special + [i / 16 - 1 for i in range(n - 8)])],
          histogram, [C.c_int64(5), C.c_double(-1), C.c_double(1.5)], 0, repeats=False)


TESTS = [f for name, f in list(globals().items()) if name.startswith("test_")]

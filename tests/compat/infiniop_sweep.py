"""infiniop_sweep.py - one operator in all its dtypes and layouts against numbers in double.

A tensor of a case is described by its shape, its dtype (None: the one that is swept), how its
numbers are drawn, and which layouts it may have.
"""
from infiniop_client import *
from infiniop_numbers import FLOATS, INTS, math, rounded

F3 = ["F16", "F32", "BF16"]
UNIT = {"F16": 2.0 ** -10, "BF16": 2.0 ** -7, "F32": 2.0 ** -23, "F64": 2.0 ** -52}
# how much of the largest number is allowed beside each: sums of halves are made in f32
SHARE = {"F16": 0.05, "BF16": 0.05, "F32": 1, "F64": 1}


class Values:
    """Numbers of a tensor by index, row-major."""

    def __init__(self, shape, values):
        self.shape, self.values = tuple(shape), list(values)

    def __getitem__(self, index):
        if not isinstance(index, tuple):
            index = (index,)
        at = 0
        for i, n in zip(index, self.shape):
            assert 0 <= i < n
            at = at * n + i
        return self.values[at]


def made(shape, rule):
    """The numbers rule(i, j, ...) of every index."""
    return [rule(*i) for i in itertools.product(*map(range, shape))]


class Spec:
    def __init__(self, shape, dtype=None, draw=(-2, 2), layout="any"):
        self.shape, self.dtype, self.draw, self.layout = tuple(shape), dtype, draw, layout

    def strides(self, variant):
        """Dense, with gaps, columns first, backwards; or of those what the operator takes."""
        n = len(self.shape)
        if self.layout == "dense" or n == 0:
            return dense(self.shape)
        every = list(layouts(self.shape))
        if self.layout == "any":
            return every[variant % 4]
        last = dense(self.shape)                    # the last axis stays dense
        if variant % 4 == 1:
            last = [2 * s for s in last[:-1]] + [1]
        elif variant % 4 == 2 and n > 2:
            last = [self.shape[-1] * s for s in reversed(dense(tuple(reversed(self.shape[:-1]))))] + [1]
        elif variant % 4 == 3:
            last = [-s for s in last[:-1]] + [1]
        if self.layout == "ahead":                  # and no other goes backwards
            last = list(map(abs, last))
        return last

    def tensor(self, dtype, variant, repeat=False):
        dtype = self.dtype or dtype
        strides = self.strides(variant)
        if repeat and len(self.shape) > 1 and self.layout != "dense":
            strides[0] = 0
        t = Tensor(dtype, self.shape, strides)
        count = math.prod(self.shape)
        if callable(self.draw):
            return t.fill(self.draw(count))
        low, high = self.draw
        kind = DTYPES[dtype][2]
        if kind == "f":
            return t.fill([rounded(dtype, rng.uniform(low, high)) for _ in range(count)])
        if kind == "b":
            return t.fill([bytes([rng.randrange(2)]) for _ in range(count)])
        return t.fill([rng.randrange(int(low), int(high)) for _ in range(count)])


def close(op, y, want, units):
    """Within this many units of rounding of the larger of |want| and the scale of all of them."""
    kind = DTYPES[y.dtype][2]
    finite = [abs(w) for w in want if kind == "f" and math.isfinite(w)]
    scale = max(finite, default=0)
    if scale > 1e-3:
        scale = max(scale, 4)                       # sums may cancel, what is drawn does not
    least = 2.0 ** -24 if y.dtype in ("F16", "BF16") else 0
    got = y.values()
    expect(len(got), len(want), op, "elements")
    for g, w in zip(got, want):
        checks[0] += 1
        if kind != "f":
            good = g == w
        elif w != w or g != g:
            good = w != w and g != g
        elif math.isinf(w) or math.isinf(g):
            good = g == w
        else:
            good = abs(g - w) <= units * UNIT[y.dtype] * (abs(w) + SHARE[y.dtype] * scale) + least
        if not good:
            raise AssertionError(f"{op} {y.dtype} {y.shape} {y.strides}: {g}, not {w}")


def once(op, outs, ins, want, units, make, go):
    """Make, run and destroy; nothing else is written."""
    tensors = [t for t in ins if t is not None]
    keep = [t.buffer.raw for t in tensors if t not in outs]
    noise = [y.noise() for y in outs]
    d = create(op, make)
    run(op, d, go)
    destroy(op, d)
    expect([y.noise() for y in outs] == noise, True, op, "writes outside")
    expect([t.buffer.raw for t in tensors if t not in outs] == keep, True, op, "writes a source")
    for y, w in zip(outs, want):
        close(op, y, w, units)


def sweep(op, dtypes, outs, ins, rule, numbers=(), units=4, inplace=(), order=None, extra=(),
          repeats=True, variants=4, hidden=False):
    """rule(*Values of ins) is a list of lists, one for each output.

    numbers are given to the making, extra to the run; order arranges the tensors; inplace are
    pairs (output, input) that may be one; hidden outputs have no descriptor."""
    def arrange(ys, xs):
        ts = [*ys, *xs]
        return ts if order is None else [ts[i] for i in order]

    def shown(xs):
        return rule(*[None if x is None else Values(x.shape, x.values()) for x in xs])

    for dtype in dtypes:
        for variant in range(variants + repeats):
            xs = [None if s is None else s.tensor(dtype, variant + k, variant == variants)
                  for k, s in enumerate(ins)]
            ys = [s.tensor(dtype, variant + 2 * k) for k, s in enumerate(outs)]
            want = shown(xs)
            ts = arrange(ys, xs)
            make, go = [*(xs if hidden else ts), *numbers], [*ts, *extra]
            once(op, ys, xs, want, units, make, go)
        for k, i in inplace:
            for variant in range(variants):
                xs = [None if s is None else s.tensor(dtype, variant) for s in ins]
                ys = [s.tensor(dtype, variant) for s in outs]
                ys[k] = xs[i]
                want = shown(xs)
                ts = arrange(ys, xs)
                once(op, ys, xs, want, units, [*ts, *numbers], [*ts, *extra])

"""infiniop_wrong.py - one right call of every operator that is a program, and each way to get it
wrong: NULL, dtypes, extents, ranks, strides, overlap, workspaces, indices, counts.

A wrong call has the status of the table and writes nothing.
"""
from infiniop_sweep import *

f32, f64, boolean = C.c_float, C.c_double, C.c_bool


def sizes(*v):
    return (C.c_size_t * len(v))(*v)


class Arg:
    """A tensor of a right call."""

    def __init__(self, *shape, dtype="F32", values=None, written=False):
        self.shape, self.dtype, self.values, self.written = shape, dtype, values, written

    def tensor(self):
        t = Tensor(self.dtype, self.shape)
        if self.values:
            return t.fill(self.values)
        n = math.prod(self.shape)
        one = encode(t.dtype, b"\1" if t.dtype == "BOOL" else 1)
        C.memmove(t.data, one * n, t.width * n)
        return t


def out(*shape, dtype="F32"):
    return Arg(*shape, dtype=dtype, written=True)


class Call:
    """What makes an operator and what runs it: places of tensors of the making, or other things."""

    def __init__(self, *make, run=None, extra=()):
        self.make = list(make)
        self.places = [i for i, a in enumerate(make) if isinstance(a, Arg)]
        self.run = run or [*self.places, *extra]
        self.shown = self.tensors()                 # for calls that read no element

    def tensors(self):
        return [a.tensor() if isinstance(a, Arg) else a for a in self.make]

    def data(self, ts):
        """Arguments of a run: numbers are in ctypes, places are plain."""
        return [ts[a] if isinstance(a, int) else a.tensor() if isinstance(a, Arg) else a
                for a in self.run]


def ids(*values, dtype="I64"):
    return Arg(len(values), dtype=dtype, values=list(values))


AXIS, X, V, ONE = sizes(0), Arg(2, 3), Arg(4), Arg()
U8 = {"dtype": "U8"}
CALLS = {
    "Gemm": Call(out(2, 3), Arg(2, 4), Arg(4, 3), extra=[f32(1), f32(0)]),
    "RMSNorm": Call(out(2, 3), X, Arg(3), f32(1e-5)),
    "AddRMSNorm": Call(out(2, 3), out(2, 3), X, X, Arg(3), f32(1e-5)),
    "RoPE": Call(out(2, 3, 4), Arg(2, 3, 4), ids(0, 4), Arg(5, 2), Arg(5, 2), 1),
    "CausalSoftmax": Call(out(2, 3), X),
    "Embedding": Call(out(2, 3), ids(0, 4), Arg(5, 3)),
    "SelectLastTokenHidden": Call(out(1, 2, 3), Arg(2, 4, 3), ids(0, 1, 8, dtype="I32")),
    "Attention": Call(out(2, 4, 3), Arg(4, 2, 3), Arg(2, 2, 3), Arg(2, 2, 3), out(2, 9, 3),
                      out(2, 9, 3), size(4)),
    "FusedFFN": Call(out(2, 3), X, X, Arg(3), Arg(8, 3), Arg(3, 4), f32(1e-5)),
    "RandomSample": Call(out(dtype="I32"), Arg(5), extra=[f32(0.5), f32(0.9), C.c_int(3), f32(1)]),
    "TopK": Call(out(1, 3), out(1, 3, dtype="I32"), X, size(1), size(0), boolean(1), boolean(1),
                 extra=[size(1), size(0), boolean(1), boolean(1)]),
    "Kthvalue": Call(out(3), out(3, dtype="I64"), X, 1, 0, 0),
    "Topksoftmax": Call(X, run=[out(2, 2), out(2, 2, dtype="I32"), 0, size(2), C.c_int(0)]),
    "Topkrouter": Call(Arg(2, 256), Arg(256), run=[out(2, 8), out(2, 8, dtype="I32"), 0, 1,
                                                   f32(1), size(8)]),
    "Histc": Call(out(5), Arg(7), C.c_int64(5), f64(0), f64(2)),
    "Sum": Call(out(3), X, AXIS, size(1), boolean(0), extra=[AXIS, size(1), boolean(0)]),
    "All": Call(out(3, dtype="BOOL"), Arg(2, 3, dtype="BOOL"), AXIS, size(1), boolean(0),
                extra=[AXIS, size(1), boolean(0)]),
    "Var": Call(out(3), X, AXIS, size(1), boolean(1), boolean(0),
                extra=[AXIS, size(1), boolean(1), boolean(0)]),
    "VarMean": Call(out(3), out(3), X, AXIS, size(1), boolean(1), boolean(0),
                    extra=[AXIS, size(1), boolean(1), boolean(0)]),
    "Dist": Call(out(), X, X, f64(2)),
    "Cdist": Call(out(2, 4), X, Arg(4, 3), f64(2)),
    "LayerNorm": Call(out(2, 3), out(2, 3), out(2), X, Arg(3), Arg(3), f32(1e-5)),
    "LogSoftmax": Call(out(2, 3), X, -1),
    "LogCumSumExp": Call(out(2, 3), X, 1, 0, 0),
    "Dot": Call(out(), V, V),
    "BlasDot": Call(V, V, out()),
    "BlasCopy": Call(V, out(4)),
    "BlasAmax": Call(V, out(dtype="I32")),
    "BlasAmin": Call(V, out(dtype="I32")),
    "Swap": Call(out(4), out(4)),
    "Asum": Call(V, out()),
    "Nrm2": Call(V, out()),
    "Scal": Call(ONE, out(4)),
    "Axpy": Call(ONE, V, out(4)),
    "Rot": Call(out(4), out(4), ONE, ONE),
    "Rotg": Call(out(), out(), out(), out()),
    "Rotm": Call(out(4), out(4), Arg(5)),
    "Rotmg": Call(out(), out(), out(), ONE, out(5)),
    "HuberLoss": Call(out(2, 3), X, X, f32(1), 0),
    "SmoothL1Loss": Call(out(2, 3), X, X, f32(1), 0),
    "HingeEmbeddingLoss": Call(out(2, 3), X, X, f64(1), 0),
    "GaussianNllLoss": Call(out(2, 3), X, X, X, 0, f64(1e-6), 0),
    "BCEWithLogits": Call(out(2, 3), X, X, Arg(3), Arg(3), 0),
    "CrossEntropy": Call(out(2), X, ids(0, 2)),
    "MultiMarginLoss": Call(out(2), X, ids(0, 2), Arg(3), 1, f32(1), 0),
    "TripletMarginLoss": Call(out(2), X, X, X, f32(1), 2, f32(1e-6), 0, 0),
    "TripletMarginWithDistanceLoss": Call(out(2), X, X, X, f32(1), 0, 0),
    "Take": Call(out(2), X, ids(0, 5)),
    "IndexAdd": Call(out(2, 3), X, C.c_int64(1), ids(0, 2), Arg(2, 2), f32(2)),
    "IndexCopy": Call(out(2, 3), X, C.c_int64(1), ids(0, 2), Arg(2, 2)),
    "Scatter": Call(out(2, 3), X, Arg(1, 2, dtype="I64", values=[0, 2]), Arg(1, 2), 1, 0),
    "MaskedSelect": Call(X, Arg(2, 3, dtype="BOOL")),
    "Argwhere": Call(X),
    "AvgPool1d": Call(out(1, 2, 3), Arg(1, 2, 5), size(3), size(1), size(0)),
    "AvgPool3d": Call(out(1, 1, 2, 2, 2), Arg(1, 1, 3, 3, 3), sizes(2, 2, 2), sizes(1, 1, 1), None),
    "AdaptiveAvgPool1d": Call(out(1, 2, 3), Arg(1, 2, 5)),
    "AdaptiveAvgPool3D": Call(out(1, 1, 2, 2, 2), Arg(1, 1, 3, 3, 3), sizes(2, 2, 2)),
    "AdaptiveMaxPool1d": Call(out(1, 2, 3), Arg(1, 2, 5), size(3)),
    "Conv": Call(out(1, 4, 3), Arg(1, 2, 5), Arg(4, 2, 3), Arg(4), None, None, None, size(1)),
    "UpsampleNearest": Call(out(1, 2, 6), Arg(1, 2, 3)),
    "UpsampleBilinear": Call(out(1, 4, 6), Arg(1, 2, 3), 0),
    "Interpolate": Call(out(1, 2, 6), Arg(1, 2, 3), b"linear", None, (f64 * 1)(2.0), 0),
    "AffineGrid": Call(out(1, 2, 3, 2), Arg(1, 2, 3), C.c_uint8(0)),
    "Addbmm": Call(out(2, 3), X, Arg(5, 2, 4), Arg(5, 4, 3), f32(1), f32(1)),
    "Addr": Call(out(2, 3), X, Arg(2), Arg(3), f32(1), f32(1)),
    "Inner": Call(out(2, 4), X, Arg(4, 3)),
    "Kron": Call(out(8, 3), Arg(2, 1), Arg(4, 3)),
    "MatrixPower": Call(out(3, 3), Arg(3, 3), 3),
    "Logdet": Call(out(), Arg(3, 3)),
    "Vander": Call(out(4, 3), V, 3, 0),
    "Diff": Call(out(1, 3), X, 0, 1),
    "Mxfp4Dequantize": Call(out(2, 64), Arg(2, 32, **U8), Arg(2, 2, **U8)),
    "LinearMxfp4": Call(out(2, 5), Arg(2, 64), Arg(5, 32, **U8), Arg(5, 2, **U8), Arg(5), f32(1)),
    "FusedMoeMxfp4": Call(out(3, 64), Arg(3, 64), Arg(3, 2, dtype="I32"), Arg(3, 2),
                          Arg(4, 64, 32, **U8), Arg(4, 64, 2, **U8), Arg(4, 64, 16, **U8),
                          Arg(4, 64, 1, **U8), 1),
}
OPTIONAL = {("FusedFFN", 2), ("LayerNorm", 5), ("Conv", 3), ("BCEWithLogits", 3),
            ("BCEWithLogits", 4), ("MultiMarginLoss", 3), ("LinearMxfp4", 4)}


def replaced(seq, k, value):
    return [*seq[:k], value, *seq[k + 1:]]


def every():
    """Each tensor of each call."""
    for op, call in CALLS.items():
        for k in call.places:
            yield op, call, k, call.make[k]


def test_every_program():
    """The table has a row for each program, and each call is right."""
    root = os.path.join(os.path.dirname(__file__), "../../src/compat/infiniop/iop_programs.def")
    with open(root) as f:
        rows = [line.split("(")[1].split(",")[0] for line in f if "PROGRAM(" in line and line[0].isupper()]
    expect(sorted(CALLS), sorted(rows))
    for op, call in CALLS.items():
        ts = call.tensors()
        d = create(op, ts)
        run(op, d, call.data(ts)) if op not in ("MaskedSelect", "Argwhere") else None
        destroy(op, d)


def test_wrong_nulls():
    for op, call in CALLS.items():
        ts, d = call.tensors(), C.c_void_p()
        make = fn(f"Create{op}Descriptor")
        described = [a.describe() if isinstance(a, Tensor) else a for a in ts]
        expect(make(None, C.byref(d), *described), NULL, op, "handle")
        expect(make(handle, None, *described), NULL, op, "desc_ptr")
        for k in call.places:
            expect(fn("DestroyTensorDescriptor")(described[k]), OK)
        for k in call.places:
            if (op, k) not in OPTIONAL:
                create(op, replaced(ts, k, None), BAD_PARAM if (op, k) == ("AddRMSNorm", 1) else NULL)
        d = create(op, ts)
        expect(fn(f"Destroy{op}Descriptor")(None), NULL, op)
        if op not in BARE:
            expect(fn(f"Get{op}WorkspaceSize")(None, C.byref(C.c_size_t())), NULL, op)
            expect(fn(f"Get{op}WorkspaceSize")(d, None), NULL, op)
        if op in ("MaskedSelect", "Argwhere"):
            given, x = [C.byref(C.c_void_p()), C.byref(C.c_size_t())], [t.data for t in ts]
            data = [*x, *given] if op == "MaskedSelect" else [*given, *x]
        else:
            data = call.data(ts)
        before = [t.buffer.raw for t in data if isinstance(t, Tensor)]
        for k, a in enumerate(data):
            if isinstance(a, (Tensor, C.c_void_p)) or a in data[2:4] and op == "MaskedSelect" \
                    or k < 2 and op == "Argwhere":
                run(op, d, replaced(data, k, None), NULL)
        run(op, None, data, NULL)
        expect([t.buffer.raw for t in data if isinstance(t, Tensor)], before, op, "writes")
        destroy(op, d)


def test_wrong_operator():
    """A descriptor of another operator is neither run nor destroyed."""
    relu = create("Relu", [Tensor("F32", (2,))] * 2)
    for op, call in CALLS.items():
        if op not in ("MaskedSelect", "Argwhere"):
            run(op, relu, call.data(call.tensors()), BAD_PARAM)
        expect(fn(f"Destroy{op}Descriptor")(relu), BAD_PARAM, op)
    destroy("Relu", relu)


# ---- what does not fit ----

# Dtypes that a tensor of a right call may have instead, alone.
HALVES = ["F16", "BF16"]
DTYPES_TOO = {("RoPE", 2): INTS, ("Embedding", 1): ["I32"], ("RandomSample", 0): INTS,
              ("RandomSample", 1): FLOATS, ("Kthvalue", 1): ["I32"], ("Topksoftmax", 0): HALVES,
              ("Topkrouter", 0): HALVES, ("Histc", 1): FLOATS, ("All", 1): ["U8"],
              ("BlasAmax", 0): FLOATS, ("BlasAmin", 0): FLOATS, ("CrossEntropy", 2): ["I32"],
              ("Take", 2): ["I32"], ("IndexAdd", 3): ["I32"], ("IndexCopy", 3): ["I32"],
              ("Scatter", 2): ["I32"], ("Mxfp4Dequantize", 0): HALVES}
# Axes of a tensor that may have another extent, alone; and tensors of any rank.
FREE = {("Embedding", 2): {0}, ("SelectLastTokenHidden", 1): {0, 1}, ("Attention", 4): {1},
        ("Attention", 5): {1}, ("RandomSample", 1): {0}, ("TopK", 2): {0}, ("Kthvalue", 2): {0},
        ("Topksoftmax", 0): {0, 1}, ("Topkrouter", 0): {0, 1}, ("Histc", 1): {0}, ("Sum", 1): {0},
        ("All", 1): {0}, ("Var", 1): {0}, ("VarMean", 2): {0}, ("BlasAmax", 0): {0},
        ("BlasAmin", 0): {0}, ("Asum", 0): {0}, ("Nrm2", 0): {0}, ("Scal", 1): {0},
        ("CrossEntropy", 1): {1}, ("Take", 1): {0, 1}, ("Argwhere", 0): {0, 1},
        ("AdaptiveAvgPool1d", 0): {2}, ("AdaptiveAvgPool1d", 1): {2},
        ("AdaptiveAvgPool3D", 1): {2, 3, 4}, ("AdaptiveMaxPool1d", 1): {2},
        ("UpsampleNearest", 0): {2}, ("UpsampleNearest", 1): {2}, ("UpsampleBilinear", 0): {1, 2},
        ("UpsampleBilinear", 1): {1, 2}, ("AffineGrid", 0): {1, 2}}
ANY_RANK = {("Take", 1), ("Argwhere", 0), ("BCEWithLogits", 3), ("BCEWithLogits", 4)}
ONE_MORE = {"Gemm", "Cdist"}                # a batch of one
EXTENT_STATUS = {"Attention": BAD_PARAM, "Dot": BAD_PARAM}
RANK_STATUS = {"Dot": BAD_PARAM}


def made_with(op, call, k, x, status):
    d = create(op, replaced(call.shown, k, x), status)
    if status == OK:
        destroy(op, d)


def test_wrong_dtypes():
    for op, call, k, a in every():
        for dtype in DTYPES:
            right = dtype == a.dtype or dtype in DTYPES_TOO.get((op, k), [])
            made_with(op, call, k, Tensor(dtype, a.shape), OK if right else DTYPE)


def test_wrong_extents():
    for op, call, k, a in every():
        for i, n in enumerate(a.shape):
            right = i in FREE.get((op, k), [])
            x = Tensor(a.dtype, replaced(a.shape, i, n + 1))
            made_with(op, call, k, x, OK if right else EXTENT_STATUS.get(op, SHAPE))


def test_wrong_ranks():
    for op, call, k, a in every():
        if (op, k) in ANY_RANK:
            continue
        single = a.shape == () and op != "RandomSample"
        for shape in ((1, *a.shape), (1, 1, *a.shape), a.shape[1:]):
            right = shape == a.shape or len(shape) == len(a.shape) + 1 and (single or op in ONE_MORE)
            made_with(op, call, k, Tensor(a.dtype, shape), OK if right else RANK_STATUS.get(op, SHAPE))
    bce = CALLS["BCEWithLogits"]
    for shape in ((), (2,), (5,), (2, 2)):              # neither an element each nor a row
        made_with("BCEWithLogits", bce, 3, Tensor("F32", shape), SHAPE)


# Which of an operator's tensors must be dense, in their last axis or wholly, or go ahead; all others
# may have any strides, but for what is written.
LAST = {"RMSNorm": (0, 1, 2), "AddRMSNorm": range(5), "RoPE": (0, 1), "Attention": range(1, 6),
        "FusedFFN": range(6), "RandomSample": (1,), "Topksoftmax": (0,), "Topkrouter": (0,),
        "Rotm": (2,)}
WHOLE = {"RoPE": (3, 4), "SelectLastTokenHidden": range(3), "Attention": (0,), "MatrixPower": (0, 1),
         "Mxfp4Dequantize": range(3), "LinearMxfp4": range(5), "FusedMoeMxfp4": range(8)}
AHEAD = {"Dot": (1, 2), "Histc": (0, 1), "AvgPool3d": (0, 1)}


def test_wrong_strides():
    for op, call, k, a in every():
        if not a.shape:
            continue
        rows, repeats = dense(a.shape), max(range(len(a.shape)), key=lambda i: a.shape[i])
        last = k in LAST.get(op, ()) or k in WHOLE.get(op, ())
        gaps = [2 * s for s in rows]
        made_with(op, call, k, Tensor(a.dtype, a.shape, gaps), STRIDES if last else OK)
        if len(rows) > 1 and a.shape[0] > 1:
            gaps = [2 * s for s in rows[:-1]] + [1]
            made_with(op, call, k, Tensor(a.dtype, a.shape, gaps), STRIDES if k in WHOLE.get(op, ()) else OK)
        behind = [-s for s in rows]
        made_with(op, call, k, Tensor(a.dtype, a.shape, behind),
                  STRIDES if last or k in AHEAD.get(op, ()) else OK)
        if a.written and a.shape[repeats] > 1:
            made_with(op, call, k, Tensor(a.dtype, a.shape, replaced(rows, repeats, 0)), STRIDES)


def refused_run(op, call, ts, data, about):
    """A run of a right descriptor on wrong data."""
    before = [t.buffer.raw for t in data if isinstance(t, Tensor)]
    d = create(op, ts)
    run(op, d, data, BAD_PARAM)
    destroy(op, d)
    expect([t.buffer.raw for t in data if isinstance(t, Tensor)] == before, True, op, about, "writes")


def test_wrong_overlap():
    """What is written begins one element into another tensor."""
    for op, call, k, a in every():
        for other in call.places:
            ts = call.tensors()
            if a.written and other != k and math.prod(a.shape) > 1 and math.prod(ts[other].shape) > 1:
                place = call.run.index(k)
                data = call.data(ts)
                inside = C.c_void_p(ts[other].data.value + ts[other].width)
                refused_run(op, call, ts, replaced(data, place, inside), f"overlaps {other}")


# Indices that are outside, of what is in place.
OUTSIDE = {("RoPE", 2): (-1, 5, 2 ** 40, -2 ** 63), ("Embedding", 1): (-1, 5, 2 ** 40, -2 ** 63),
           ("SelectLastTokenHidden", 2): (-1, 0, 9, 2 ** 31 - 1, -2 ** 31), ("Take", 2): (-7, 6, 2 ** 62),
           ("IndexAdd", 3): (-4, 3, 2 ** 62), ("IndexCopy", 3): (-4, 3, 2 ** 62),
           ("Scatter", 2): (-4, 3, -2 ** 63)}


def test_wrong_indices():
    """Each of the indices is looked at before anything is written."""
    for (op, k), values in OUTSIDE.items():
        call = CALLS[op]
        right = call.make[k].values
        for value, i in itertools.product(values, range(len(right))):
            if op == "SelectLastTokenHidden" and i == 0:
                continue                                # only where rows end is looked at
            ts = call.tensors()
            ts[k].fill(replaced(right, i, value))
            refused_run(op, call, ts, call.data(ts), f"{value} at {i}")


def test_wrong_workspaces():
    """run() has a byte less, and none; here one at each address, and more than is asked for."""
    for op, call in CALLS.items():
        ts = call.tensors()
        d = create(op, ts)
        n = workspace(op, d)
        space = (C.c_char * (n + 128))()
        if n == 0 or op in BARE:
            destroy(op, d)
            continue
        held = call.data(ts)                            # outputs without descriptors live here alone
        data = [a.data if isinstance(a, Tensor) else a for a in held]
        for shift, more in ((0, 64), (1, 0), (63, 0)):
            at = C.c_void_p(C.addressof(space) + shift)
            expect(fn(op)(d, at, size(n + more), *data, None), OK, op, shift)
        destroy(op, d)


# ---- numbers ----

# (operator, place of the making, wrong numbers, status)
NUMBERS = [
    ("RMSNorm", 3, map(f32, (-1, math.inf, math.nan)), BAD_PARAM),
    ("AddRMSNorm", 5, map(f32, (-1, math.nan)), BAD_PARAM),
    ("FusedFFN", 6, map(f32, (-1, math.nan)), BAD_PARAM),
    ("LayerNorm", 6, map(f32, (-1, math.nan)), BAD_PARAM),
    ("RoPE", 5, (2, -1), NULL), ("Attention", 6, map(size, (8, 2 ** 62, -1)), BAD_PARAM),
    ("TopK", 3, map(size, (0, 2, 2 ** 40)), SHAPE), ("TopK", 4, map(size, (2, -1)), BAD_PARAM),
    ("Kthvalue", 3, (0, 3, -1), BAD_PARAM), ("Kthvalue", 4, (2, -3), BAD_PARAM),
    ("Histc", 2, map(C.c_int64, (0, -1)), BAD_PARAM), ("Histc", 3, map(f64, (2, 3, math.nan)), BAD_PARAM),
    *[(op, k, map(lambda v: sizes(*v), ((2,), (9,), (-1 % 2 ** 64,))), BAD_PARAM)
      for op, k in (("Sum", 2), ("All", 2), ("Var", 2), ("VarMean", 3))],
    *[(op, k, (None,), NULL) for op, k in (("Sum", 2), ("All", 2), ("Var", 2), ("VarMean", 3))],
    ("Dist", 3, map(f64, (-1, math.nan)), BAD_PARAM), ("Cdist", 3, map(f64, (-1, math.nan)), BAD_PARAM),
    ("LogSoftmax", 2, (2, -3), BAD_PARAM), ("LogCumSumExp", 2, (2, -1), BAD_PARAM),
    *[(op, k, (3, -1), BAD_PARAM) for op, k in (
        ("HuberLoss", 4), ("SmoothL1Loss", 4), ("HingeEmbeddingLoss", 4), ("GaussianNllLoss", 6),
        ("BCEWithLogits", 5), ("MultiMarginLoss", 6), ("TripletMarginLoss", 8),
        ("TripletMarginWithDistanceLoss", 6), ("Scatter", 5))],
    ("SmoothL1Loss", 3, map(f32, (-1, math.nan)), BAD_PARAM), ("HuberLoss", 3, map(f32, (0, -1)), BAD_PARAM),
    ("MultiMarginLoss", 4, (0, 3), BAD_PARAM), ("TripletMarginLoss", 5, (0, -1), BAD_PARAM),
    ("IndexAdd", 2, map(C.c_int64, (2, -1)), SHAPE), ("IndexCopy", 2, map(C.c_int64, (2, -1)), SHAPE),
    ("Scatter", 4, (2, -3), BAD_PARAM), ("AvgPool1d", 2, map(size, (0, 6)), BAD_PARAM),
    ("AvgPool1d", 3, map(size, (0,)), BAD_PARAM), ("AvgPool3d", 2, (None, sizes(2, 0, 2), sizes(2, 4, 2)), BAD_PARAM),
    ("AvgPool3d", 3, (sizes(1, 1, 0),), BAD_PARAM), ("AdaptiveAvgPool3D", 2, (None,), NULL),
    ("AdaptiveAvgPool3D", 2, (sizes(2, 2, 3),), SHAPE), ("AdaptiveMaxPool1d", 2, map(size, (2, 4)), SHAPE),
    ("Conv", 5, [(C.c_ssize_t * 1)(v) for v in (0, -1, 2)], SHAPE),
    ("Conv", 6, map(sizes, (0, 2)), SHAPE), ("Conv", 4, map(sizes, (1,)), SHAPE),
    ("Conv", 7, map(size, (0, 2)), SHAPE), ("Interpolate", 2, (None, b"cubic", b""), BAD_PARAM),
    ("Interpolate", 3, (sizes(6),), BAD_PARAM), ("Interpolate", 4, (None,), BAD_PARAM),
    ("Interpolate", 4, ((f64 * 1)(3.0),), SHAPE), ("MatrixPower", 2, (-1,), BAD_PARAM),
    ("Vander", 2, (2, 4, 0), SHAPE), ("Diff", 2, (2, -3), BAD_PARAM), ("Diff", 3, (0, -1), BAD_PARAM),
    ("Diff", 3, (2,), SHAPE), ("FusedMoeMxfp4", 8, (0, 3, -1), BAD_PARAM),
]
# Numbers of a run: (operator, place, wrong numbers)
RUN_NUMBERS = [
    ("TopK", 3, map(size, (2, 0, 3))), ("TopK", 4, map(size, (1,))), ("Topksoftmax", 3, map(size, (4, 2 ** 40))),
    ("Topkrouter", 5, map(size, (257, 2 ** 40))), ("RandomSample", 4, map(C.c_int, (0, -1))),
]


def test_counts():
    """k of TopK is cut to the row; a result must hold each index that may be drawn."""
    values, indices, x = Tensor("F32", (2,)), Tensor("I32", (2,)), Tensor("F32", (2,)).fill([1, 2])
    numbers = [size(9), size(0), boolean(1), boolean(1)]
    once("TopK", [values, indices], [x], [[2, 1], [1, 0]], 0, [values, indices, x, *numbers],
         [values, indices, x, *numbers])
    for dtype, n in (("U8", 256), ("I8", 128), ("I16", 32768)):
        destroy("RandomSample", create("RandomSample", [Tensor(dtype, ()), Tensor("F32", (n,))]))
        create("RandomSample", [Tensor(dtype, ()), Tensor("F32", (n + 1,))], DTYPE)


def test_wrong_numbers():
    for op, k, values, status in NUMBERS:
        for value in values:
            create(op, replaced(CALLS[op].tensors(), k, value), status)
    for op, k, values in RUN_NUMBERS:
        for value in values:
            ts = CALLS[op].tensors()
            refused_run(op, CALLS[op], ts, replaced(CALLS[op].data(ts), k, value), value)
    wide = [Tensor("F32", (2, 255)), Tensor("F32", (256,))]     # a router has 256 experts
    refused_run("Topkrouter", None, wide, [Tensor("F32", (2, 8)), Tensor("I32", (2, 8)), *wide, f32(1),
                                           size(8)], "255 experts")

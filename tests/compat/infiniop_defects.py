"""infiniop_defects.py - defects that InfiniCore's own operators were seen to have, one test each;
others are in test_infiniop_defects.c and test_infiniop_programs.c.  docs/infiniop.md lists them all.

infiniop_defects.py FOLDER --fails runs each in a child process on the libraries in FOLDER,
InfiniCore's own, and says which of them pass there: none does, but for the race in some runs.
"""
import re
import signal

from infiniop_sweep import *
from infiniop_wrong import CALLS, Arg, f32, f64, replaced, sizes


def result(op, make, data, outs):
    """Elements of outs after one run in a workspace that is large enough."""
    d = create(op, make)
    n = workspace(op, d)
    args = [a.data if isinstance(a, Tensor) else a for a in data]
    space = (C.c_char * (n + 64))()
    expect(fn(op)(d, *([] if op in BARE else [space, size(n)]), *args, None), OK, op)
    destroy(op, d)
    return [y.values() for y in outs]


def of(dtype, shape, values, strides=None):
    return Tensor(dtype, shape, strides).fill(values)


def close_to(got, want, share, *about):
    expect(len(got), len(want), *about)
    for g, w in zip(got, want):
        expect(g == w or abs(g - w) <= share * max(1, abs(w)), True, *about, g, w)


# ---- strides that are not looked at ----

def gaps(shape, last):
    """Every other element; of the last axis only where that may be."""
    return [2 * s for s in dense(shape)] if not last else [2 * s for s in dense(shape)[:-1]] + [1]


# Which tensors of CALLS are given strides: by place, (place, dense in the last axis).
STRIDED = {
    "Conv": (0, 1, 2), "LogSoftmax": (0, 1), "Embedding": (0, 1, 2), "Take": (0, 1, 2),
    "IndexAdd": (0, 1, 3, 4), "IndexCopy": (0, 1, 3, 4), "Kthvalue": (0, 1, 2), "RoPE": (2,),
    "AdaptiveAvgPool1d": (0, 1), "AdaptiveAvgPool3D": (0,), "AdaptiveMaxPool1d": (0,),
    "UpsampleNearest": (0, 1), "UpsampleBilinear": (0, 1), "AffineGrid": (0, 1),
    "CrossEntropy": (0, 1, 2), "GaussianNllLoss": (0, 1, 2, 3), "HuberLoss": (0, 1, 2),
    "SmoothL1Loss": (0, 1, 2), "MultiMarginLoss": (0, 1, 2, 3), "TripletMarginLoss": (0, 1, 2, 3),
    "Vander": (0, 1), "VarMean": (1,),
    "BCEWithLogits": (4,), "Topksoftmax": (0,), "Topkrouter": (0,), "Scatter": (0, 1, 2, 3),
    "FusedFFN": (4, 5),
}


def strided(op):
    call, draw = CALLS[op], random.Random(7)

    def once(strides):
        ts = call.tensors()
        for k, t in enumerate(ts):
            if isinstance(t, Tensor):
                values = call.make[k].values or [draw.randrange(1, 9) for _ in t.indices()]
                ts[k] = of(t.dtype, t.shape, values, strides(k, t))
        data = call.data(ts)
        outs = [t for k, t in enumerate(data) if isinstance(t, Tensor) and
                (call.run[k].written if isinstance(call.run[k], Arg) else call.make[call.run[k]].written)]
        draw.seed(7)
        return result(op, ts, data, outs)

    def other(k, t):
        if k not in STRIDED[op]:
            return None
        if op == "FusedFFN":                            # columns first
            return list(reversed(dense(tuple(reversed(t.shape)))))
        return gaps(t.shape, op in ("Topksoftmax", "Topkrouter"))
    draw.seed(7)
    want = once(lambda k, t: None)
    for got, w in zip(once(other), want):
        close_to(got, w, 1e-5, op)


def log_cum_sum_exp_of_a_view():
    """Inner axes of a view of rank 3."""
    values = [i % 5 / 2 for i in range(24)]
    want, = result("LogCumSumExp", [(y := Tensor("F32", (2, 3, 4))), (x := of("F32", (2, 3, 4), values)),
                                    0, 0, 0], [y, x], [y])
    y, x = Tensor("F32", (2, 3, 4)), of("F32", (2, 3, 4), values, [1, 8, 2])
    close_to(result("LogCumSumExp", [y, x, 0, 0, 0], [y, x], [y])[0], want, 1e-5)


# ---- statuses ----

def gemm_strides():
    """Rows, columns and matrices without a dense axis."""
    for sa, strides in (((1, 8), [16, 2]), ((4, 1), [2, 5]), ((4, 4), [8, 2])):
        a = of("F32", sa, [1] * math.prod(sa), strides)
        b = of("F32", (sa[1], 3), [1] * sa[1] * 3)
        c = Tensor("F32", (sa[0], 3))
        expect(result("Gemm", [c, a, b], [c, a, b, f32(1), f32(0)], [c]), [[sa[1]] * (3 * sa[0])])


def bce_null():
    t = Tensor("F32", (2,))
    create("BCEWithLogits", [t, t, None, None, None, 0], NULL)


def reductions():
    t = Tensor("F32", (2,))
    create("HuberLoss", [Tensor("F32", ()), t, t, f32(1), 3], BAD_PARAM)


def pool_of_stride_0():
    create("AvgPool1d", [Tensor("F32", (1, 1, 5)), Tensor("F32", (1, 1, 7)), size(3), size(0), size(0)],
           BAD_PARAM)


def outputs_unchecked():
    """Shapes and dtypes of outputs."""
    create("Addr", [Tensor("F32", (5, 5)), *[Tensor("F32", s) for s in ((2, 3), (2,), (3,))], f32(1), f32(1)],
           SHAPE)
    create("Diff", [Tensor("F64", (2,)), Tensor("F32", (3,)), 0, 1], DTYPE)


def f64_runs():
    """What a descriptor is made for is run: F64 of Sum, Var, Addr and LogCumSumExp."""
    y, x = Tensor("F64", (1,)), of("F64", (1, 3), [1, 2, 2.0 ** -40])
    numbers = [sizes(1), size(1), C.c_bool(0)]
    expect(result("Sum", [y, x, *numbers], [y, x, *numbers], [y]), [[3 + 2.0 ** -40]])
    y, x, v = Tensor("F64", (1, 1)), of("F64", (1, 1), [2.0 ** -40]), of("F64", (1,), [1])
    expect(result("Addr", [y, x, v, v, f32(1), f32(1)], [y, x, v, v], [y]), [[1 + 2.0 ** -40]])


# ---- indices ----

def refused(op, make, data, y, values):
    d = create(op, make)
    expect(fn(op)(d, None, size(0), *[t.data for t in data], None), BAD_PARAM, op)
    destroy(op, d)
    expect(y.values(), values, op, "wrote")


def take_index():
    y, x, i = of("F32", (2,), [7, 7]), of("F32", (3,), [1, 2, 3]), of("I64", (2,), [0, 9])
    refused("Take", [y, x, i], [y, x, i], y, [7, 7])


def scatter_runs():
    y, x = Tensor("F32", (2, 2)), of("F32", (2, 2), [1, 2, 3, 4])
    i, u = of("I64", (1, 2), [1, 0]), of("F32", (1, 2), [8, 9])
    expect(result("Scatter", [y, x, i, u, 0, 0], [y, x, i, u], [y]), [[1, 9, 8, 4]])


def index_add_integers():
    y, x, i, s = (of("I32", (1,), [v]) for v in (16777217, 16777217, 0, 1))
    expect(result("IndexAdd", [y, x, C.c_int64(0), i, s, f32(1)], [y, x, i, s], [y]), [[16777218]])


def index_add_input():
    """The output begins as the input."""
    y, x, s = (of("F32", (2,), [v, v]) for v in (0, 5, 1))
    i = of("I32", (2,), [1, 1])
    expect(result("IndexAdd", [y, x, C.c_int64(0), i, s, f32(1)], [y, x, i, s], [y]), [[5, 7]])


def kthvalue_narrow():
    v, i, x = Tensor("F32", (2,)), Tensor("I32", (2,)), of("F32", (2, 3), [3, 1, 2, 1, 2, 3])
    noise = i.noise()
    expect(result("Kthvalue", [v, i, x, 2, 1, 0], [v, i, x], [v, i]), [[2, 2], [2, 1]])
    expect(i.noise() == noise, True, "writes past the indices")


# ---- numbers ----

def layer_norm_threads():
    """Each row once, with several threads."""
    shape = (32, 5, 128)
    values = [i % 128 % (i // 128 + 2) for i in range(math.prod(shape))]
    x, w = of("F32", shape, values), of("F32", (128,), [1] * 128)
    y, z, sd = (Tensor("F32", s) for s in (shape, shape, shape[:-1]))
    ts = [y, z, sd, x, w, None]
    want = []
    for r in range(160):
        row = values[r * 128:r * 128 + 128]
        mean = math.fsum(row) / 128
        want.append(math.sqrt(math.fsum((v - mean) ** 2 for v in row) / 128 + 1e-5))
    for _ in range(60):
        sd.fill([-9] * 160)
        close_to(result("LayerNorm", [*ts, f32(1e-5)], ts, [sd])[0], want, 1e-4)


def causal_softmax_rounding():
    """F16 is rounded once: hardly a number is not the nearest one."""
    rows, n = 8, 64
    values = [rounded("F16", (i * 7919 % 1009) / 200) for i in range(rows * n)]
    y, x = Tensor("F16", (rows, n)), of("F16", (rows, n), values)
    got, = result("CausalSoftmax", [y, x], [y, x], [y])
    wrong = 0
    for r in range(rows):
        row = values[r * n:r * n + n - rows + r + 1]
        e = [math.exp(v - max(row)) for v in row]
        want = [rounded("F16", v / math.fsum(e)) for v in e]
        wrong += sum(g != w for g, w in zip(got[r * n:], want))
    expect(wrong <= 3, True, wrong, "not the nearest")


def addr_beta_0():
    """What beta 0 stands before is not read."""
    y, x, v = Tensor("F32", (1, 1)), of("F32", (1, 1), [math.nan]), of("F32", (1,), [2])
    expect(result("Addr", [y, x, v, v, f32(0), f32(1)], [y, x, v, v], [y]), [[4]])


def cdist_p_0():
    y, a, b = Tensor("F32", (1, 1)), of("F32", (1, 3), [1, 2, 3]), of("F32", (1, 3), [1, 5, 6])
    expect(result("Cdist", [y, a, b, f64(0)], [y, a, b], [y]), [[2]])


def histc_nan():
    y, x = Tensor("F32", (2,)), of("F32", (3,), [math.nan, 0.5, 1.5])
    expect(result("Histc", [y, x, C.c_int64(2), f64(0), f64(2)], [y, x], [y]), [[1, 1]])


def scan_of_minus_infinity():
    y, x = Tensor("F32", (3,)), of("F32", (3,), [-math.inf, 1, -math.inf])
    expect(result("LogCumSumExp", [y, x, 0, 0, 0], [y, x], [y]), [[-math.inf, 1, 1]])


def matrix_power_in_place():
    x = of("F32", (2, 2), [1, 1, 0, 1])
    expect(result("MatrixPower", [x, x, 3], [x, x], [x]), [[1, 3, 0, 1]])


def logdet_small():
    y, x = Tensor("F32", ()), of("F32", (3, 3), [1e-7 if i % 4 == 0 else 0 for i in range(9)])
    close_to(result("Logdet", [y, x], [y, x], [y])[0], [3 * math.log(1e-7)], 1e-6)


def f64_in_f32():
    """Numbers that f32 does not hold."""
    eps = 2.0 ** -40
    y, x = Tensor("F64", (1, 1, 1)), of("F64", (1, 1, 2), [1, 1 + 2 * eps])
    expect(result("AvgPool1d", [y, x, size(2), size(1), size(0)], [y, x], [y]), [[1 + eps]])
    expect(result("AdaptiveAvgPool1d", [y, x], [y, x], [y]), [[1 + eps]])
    y, x = Tensor("F64", (1, 2)), of("F64", (1,), [1 + eps])
    expect(result("Vander", [y, x, 2, 1], [y, x], [y]), [[1, 1 + eps]])
    y, a, b = Tensor("F64", (1,)), of("F64", (1,), [4 + eps]), of("F64", (1,), [0])
    expect(result("HuberLoss", [y, a, b, f32(1), 0], [y, a, b], [y]), [[3.5 + eps]])


# ---- elements left out ----

def nearest_as_others():
    y, x = Tensor("F32", (1, 1, 8)), of("F32", (1, 1, 5), range(5))
    expect(result("Interpolate", [y, x, b"nearest", sizes(8), None, 0], [y, x], [y]),
           [[0, 0, 1, 1, 2, 3, 3, 4]])


def area_of_one_axis():
    y, x = Tensor("F32", (1, 2, 2)), of("F32", (1, 2, 4), range(8))
    expect(result("Interpolate", [y, x, b"area", sizes(2), None, 0], [y, x], [y]), [[0.5, 2.5, 4.5, 6.5]])


def triplet_of_every_element():
    y = of("F32", (4, 3), [-9] * 12)
    a, p, n = (of("F32", (4, 3), [v] * 12) for v in (0, 1, 3))
    got, = result("TripletMarginWithDistanceLoss", [y, a, p, n, f32(9), 0, 0], [y, a, p, n], [y])
    close_to(got, [math.sqrt(3) - math.sqrt(27) + 9] * 12, 1e-5)


def triplet_strides():
    y, values = Tensor("F32", ()), [[i * k % 7 for i in range(6)] for k in (1, 2, 3)]
    want, got = (result("TripletMarginWithDistanceLoss", [y, *ts, f32(9), 0, 2], [y, *ts], [y])[0]
                 for ts in ([of("F32", (2, 3), v, strides) for v in values] for strides in (None, [1, 2])))
    close_to(got, want, 1e-6)


def triplet_eps():
    """The distance is that of a - b + eps."""
    y, a, p, n = (of("F32", s, [v] * k) for s, v, k in (((1,), 0, 1), ((1, 2), 0, 2), ((1, 2), 3, 2), ((1, 2), 1, 2)))
    got, = result("TripletMarginLoss", [y, a, p, n, f32(1), 2, f32(0.5), 0, 0], [y, a, p, n], [y])
    close_to(got, [math.sqrt(2 * 2.5 ** 2) - math.sqrt(2 * 0.5 ** 2) + 1], 1e-6)


DEFECTS = {f.__name__: f for f in list(globals().values())
           if getattr(f, "__module__", None) == __name__ and f.__code__.co_argcount == 0}
DEFECTS.update({f"strides of {op}": lambda op=op: strided(op) for op in STRIDED})


def test_defects():
    for defect in DEFECTS.values():
        defect()


def test_list_of_defects():
    """Every test of the list exists, and every test of a defect is in the list."""
    here = os.path.dirname(__file__)
    with open(os.path.join(here, "../../docs/infiniop.md")) as f:
        listed = set(re.findall(r"`([a-z_0-9]+)`(?=.*\|$)", f.read().split("## Defects of InfiniCore that are fixed here")[1], re.M))
    known = {name for name in DEFECTS if " " not in name} | {"strided"}
    for file in ("defects", "programs"):
        with open(os.path.join(here, f"test_infiniop_{file}.c")) as f:
            known |= set(re.findall(r"cmocka_unit_test\((test_\w+)\)", f.read()))
    known |= {"test_current_device", "test_no_memory"}          # of test_infinirt.c
    known -= {"test_gemm_cases", "test_threads_and_fork"}       # no defects
    expect(sorted(listed ^ known), [], "docs/infiniop.md")


def fails():
    """How many defects are seen in FOLDER; each in a process of its own."""
    seen = 0
    for name, defect in DEFECTS.items():
        child = os.fork()
        if child == 0:
            os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
            signal.alarm(60)
            try:
                defect()
            except AssertionError as why:
                print(f"{name}: {str(why)[:70]}", flush=True)
                os._exit(1)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            print(f"{name}: signal {os.WTERMSIG(status)}")
        elif status == 0:
            print(f"{name}: PASSES")
        seen += status != 0
    print(f"{seen} of {len(DEFECTS)} seen")


if __name__ == "__main__" and sys.argv[2:] == ["--fails"]:
    fails()

"""infiniop_refused.py - what InfiniOp's libraries show, refuse and keep quiet about: names, NULL in
every place, dtypes, shapes and strides that do not fit, overlap, devices, threads, fork.
"""
import signal
import subprocess
import tempfile
import threading

from infiniop_client import *
from infiniop_numbers import BINARY, UNARY, math

# ---- the table: how each operator is made and run ----

PLAIN = {**{op: 1 for op in UNARY}, **{op: 2 for op in BINARY}, "Equal": 2,
         "BitwiseRightShift": 2, "Ldexp": 2}
NUMBERS = {"HardTanh": (1, [C.c_float(0), C.c_float(1)]),
           "Softplus": (1, [C.c_float(1), C.c_float(20)]), "Clip": (3, []),
           "Addcmul": (3, [C.c_float(1)]), "Lerp": (3, [C.c_float(1)]),
           "FloatPower": (2, [C.c_float(1)]), "MulScalar": (1, []), "Ones": (1, []),
           "Zeros": (1, []), "Rearrange": (1, []), "Flipud": (1, []), "BroadcastTo": (1, []),
           "Pad": (1, [ints(0, 0), size(8), None, C.c_double(0)])}
ALIKE = {**{op: (n, []) for op, n in PLAIN.items()}, **NUMBERS}
OPERATORS = list(ALIKE) + ["PixelShuffle", "Unfold", "BlockDiag"]
def tensors_of(op, shape):
    """Output and inputs of an operator whose tensors are all alike."""
    dtype = "I32" if op == "BitwiseRightShift" else "F32"
    y = Tensor("BOOL" if op == "Equal" else dtype, shape)
    return [y] + [Tensor(dtype, shape).fill([1] * math.prod(shape)) for _ in range(ALIKE[op][0])]


def run_numbers(op):
    return [C.c_double(1)] if op == "MulScalar" else []


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def documented():
    """The functions of each library, from the list in docs."""
    lists, names = {}, None
    with open(os.path.join(os.path.dirname(__file__), "../../docs/infiniop-functions.txt")) as f:
        for line in f:
            if line.startswith("lib"):
                names = lists[line.split(":")[0]] = []
            elif line.strip() and names is not None:
                names.append(line.strip())
    return lists


def test_names():
    lists = documented()
    expect(sorted(lists), ["libinfiniccl.so", "libinfiniop.so", "libinfinirt.so"])
    for file, want in lists.items():
        path = os.path.join(folder, file)
        got = [line.split()[-1] for line in output_of("nm", "-D", "--defined-only", path).splitlines()]
        expect(sorted(got), sorted(want), file)
        dynamic = output_of("readelf", "-d", path)
        expect("SONAME" in dynamic, False, file, "soname")
        if file == "libinfiniop.so":
            expect("[libinfinirt.so]" in dynamic and "[$ORIGIN]" in dynamic, True, "RUNPATH")


def test_count():
    """README's number of operators is that of the rows, and each of them is exported."""
    root = os.path.join(os.path.dirname(__file__), "../..")
    rows = []
    for name in ("iop.def", "iop_programs.def"):
        with open(os.path.join(root, "src/compat/infiniop", name)) as f:
            rows += [line.split("(")[1].split(",")[0] for line in f if line[0].isupper()]
    expect(len(set(rows)), 130)
    with open(os.path.join(root, "README.md")) as f:
        expect("all 130 CPU operators" in f.read(), True, "README")
    for op in rows:
        for name in (f"Create{op}Descriptor", op, f"Destroy{op}Descriptor"):
            expect(bool(fn(name)), True, name)


def test_absent():
    """Operators of other devices answer that the CPU does not have them."""
    for name in ("CreateFlashAttentionDescriptor", "GetSoftmaxWorkspaceSize", "KVCaching",
                 "DestroyMRoPEDescriptor", "DeepseekMoeWithDevicePtrs", "FusedFp8Indexer"):
        expect(fn(name)(handle, None, None), DEVICE, name)
        expect(fn(name)(None, None, None), NULL, name)


# ---- refusals ----

def test_tensor_refusals():
    make, d = fn("CreateTensorDescriptor"), C.c_void_p()
    axes = (C.c_size_t * 2)(2, 3)
    f32 = DTYPES["F32"][0]
    expect(make(None, size(2), axes, None, f32), NULL)
    expect(make(C.byref(d), size(2), None, None, f32), NULL)
    for dtype in (0, 20, 99, -1, 2 ** 31 - 1, -2 ** 31):
        expect(make(C.byref(d), size(2), axes, None, C.c_int(dtype)), DTYPE, dtype)
    for ndim in (65, 2 ** 31, 2 ** 32, 2 ** 62, 2 ** 64 - 1):
        expect(make(C.byref(d), size(ndim), axes, None, f32), BAD_PARAM, "ndim", ndim)
    for shape in ((2 ** 33, 2 ** 33), (2 ** 32, 2 ** 32), (2 ** 62, 1), (2 ** 63, 0),
                  (2 ** 64 - 1, 1)):
        expect(make(C.byref(d), size(2), (C.c_size_t * 2)(*shape), None, f32), SHAPE, shape)
    for strides in ((2 ** 62, 1), (-2 ** 63, 1), (2 ** 61, 1), (2 ** 60, 2 ** 60)):
        expect(make(C.byref(d), size(2), axes, (C.c_ssize_t * 2)(*strides), f32), STRIDES,
               strides)
    expect(d.value, None, "a refused descriptor is given")
    expect(fn("DestroyTensorDescriptor")(None), NULL)
    expect(fn("CreateHandle")(None), NULL)
    expect(fn("DestroyHandle")(None), NULL)


def test_null_everywhere():
    optional = {("Lerp", 3), ("FloatPower", 2)}
    for op, (arity, more) in ALIKE.items():
        ts = tensors_of(op, (2, 2))
        args = [t.describe() for t in ts] + more
        d = C.c_void_p()
        make = fn(f"Create{op}Descriptor")
        expect(make(None, C.byref(d), *args), NULL, op, "handle")
        expect(make(handle, None, *args), NULL, op, "desc_ptr")
        for k in range(len(args)):
            pointer = k <= arity or isinstance(args[k], C.Array)
            if pointer and (op, k) not in optional:
                expect(make(handle, C.byref(d), *args[:k], None, *args[k + 1:]), NULL, op, k)
        expect(d.value, None, op)
        expect(make(handle, C.byref(d), *args), OK, op)
        for t in args[:arity + 1]:
            expect(fn("DestroyTensorDescriptor")(t), OK)
        data = ts + run_numbers(op)
        for k in range(arity + 1):
            ignored = op in ("Ones", "Zeros") and k == 1
            run(op, d, data[:k] + [None] + data[k + 1:], OK if ignored else NULL)
        run(op, None, data, NULL)
        if op != "Rearrange":
            expect(fn(f"Get{op}WorkspaceSize")(None, C.byref(C.c_size_t())), NULL, op)
            expect(fn(f"Get{op}WorkspaceSize")(d, None), NULL, op)
        expect(fn(f"Destroy{op}Descriptor")(None), NULL, op)
        expect(fn("GetDescriptorDeviceType")(d, None), NULL)
        expect(fn("GetDescriptorDeviceId")(None, C.byref(C.c_int())), NULL)
        destroy(op, d)


def test_null_in_arrays():
    x, y = Tensor("F32", (1, 1, 4, 4)), Tensor("F32", (1, 4, 9))
    arrays = [ints(2, 2), ints(1, 1), ints(0, 0), ints(1, 1)]
    for k in range(4):
        create("Unfold", [y, x] + arrays[:k] + [None] + arrays[k + 1:], NULL)
    d = create("Unfold", [y, x] + arrays)
    run("Unfold", d, [None, x], NULL)
    run("Unfold", d, [y, None], NULL)
    destroy("Unfold", d)
    z, m = Tensor("F32", (2, 2)), Tensor("F32", (2, 2)).describe()
    create("BlockDiag", [z, None, size(1)], NULL)
    create("BlockDiag", [z, (C.c_void_p * 1)(None), size(1)], NULL)
    create("BlockDiag", [z, (C.c_void_p * 1)(m.value), size(0)], BAD_PARAM)
    d = create("BlockDiag", [z, (C.c_void_p * 1)(m.value), size(1)])
    expect(fn("DestroyTensorDescriptor")(m), OK)
    run("BlockDiag", d, [z, None], NULL)
    run("BlockDiag", d, [z, (C.c_void_p * 1)(None)], NULL)
    destroy("BlockDiag", d)


def test_fitting():
    """dtypes, shapes and strides that do not fit, for every operator."""
    spreading = ("Lerp", "Ldexp", "BroadcastTo")
    for op, (arity, more) in ALIKE.items():
        if op not in ("Rearrange", "Flipud", "BroadcastTo", "Pad"):
            create(op, [Tensor("C64", (2, 2)) for _ in range(arity + 1)] + more, DTYPE)
        for k in range(arity + 1):
            ts = tensors_of(op, (2, 2))
            for other in ("F64", "I16", "BYTE"):
                ts[k] = Tensor(other, (2, 2))
                if not (op == "FloatPower" and k == 0 and other == "F64"):
                    create(op, ts + more, DTYPE)
            ts = tensors_of(op, (2, 2))
            for shape in ((2, 3), (2, 2, 2), (3, 2), ()):
                ts[k] = Tensor(ts[k].dtype, shape)
                if op == "Pad" and k == 1 and shape == ():
                    create(op, ts + more, BAD_PARAM)        # two widths for no axis
                elif op not in spreading or shape != ((2, 2, 2) if k == 0 else ()):
                    create(op, ts + more, SHAPE)
        if op not in spreading:
            ts = tensors_of(op, (2, 2))
            ts[1] = Tensor(ts[1].dtype, (1, 2))
            create(op, ts + more, SHAPE)
        for shape, strides in (((4, 4), [1, 1]), ((4, 4), [0, 1]), ((1, 4), [4, 0]),
                               ((2, 3), [2, 1])):
            ts = tensors_of(op, shape)
            ts[0] = Tensor(ts[0].dtype, shape, strides)
            create(op, ts + more, STRIDES)


def made_or_not(op, args, status):
    d = create(op, args, status)
    if status == OK:
        destroy(op, d)


def test_numbers_refused():
    x, y = Tensor("F32", (2, 3)), Tensor("F32", (2, 5))
    for pad, n, mode, status in (
            (ints(1, 1), 8, b"constant", OK), (ints(1, 1), 8, b"nonsense", BAD_PARAM),
            (ints(1, 1), 8, b"", BAD_PARAM), (ints(-1, 3), 8, None, BAD_PARAM),
            (ints(1, 1), 7, None, BAD_PARAM), (ints(1, 1, 0), 12, None, BAD_PARAM),
            (ints(1, 1, 0, 0, 0, 0), 24, None, BAD_PARAM), (ints(2, 1), 8, None, SHAPE),
            (ints(2, 0), 8, b"reflect", OK), (None, 8, None, NULL),
            (ints(1, 1), 2 ** 64 - 8, None, BAD_PARAM)):
        made_or_not("Pad", [y, x, pad, size(n), mode, C.c_double(0)], status)
    create("Pad", [Tensor("F32", (2, 9)), x, ints(3, 3), size(8), b"reflect", C.c_double(0)],
           BAD_PARAM)
    for mode in (b"circular", b"replicate"):
        create("Pad", [Tensor("F32", (2, 2)), Tensor("F32", (2, 0)), ints(1, 1), size(8), mode,
                       C.c_double(0)], SHAPE)
    create("Pad", [Tensor("F64", (2, 5)), x, ints(1, 1), size(8), None, C.c_double(0)], DTYPE)
    x, y, big = Tensor("F32", (1, 4, 2, 2)), Tensor("F32", (1, 1, 4, 4)), 2 ** 31 - 1
    for factor, status in ((2, OK), (0, BAD_PARAM), (-2, BAD_PARAM), (1, SHAPE), (big, SHAPE)):
        made_or_not("PixelShuffle", [y, x, factor], status)
    create("PixelShuffle", [Tensor("F32", (4, 4)), x, 2], SHAPE)
    x, y = Tensor("F32", (1, 1, 4, 4)), Tensor("F32", (1, 4, 9))
    for k, s, p, d, status in ((2, 1, 0, 1, OK), (0, 1, 0, 1, BAD_PARAM), (2, 0, 0, 1, BAD_PARAM),
                               (2, 1, -1, 1, BAD_PARAM), (2, 1, 0, 0, BAD_PARAM),
                               (5, 1, 0, 1, BAD_PARAM), (3, 1, 0, 1, SHAPE),
                               (big, 1, 0, big, BAD_PARAM), (big, 1, big, 1, SHAPE)):
        made_or_not("Unfold", [y, x] + [ints(v, v) for v in (k, s, p, d)], status)


def test_other_operator():
    x = Tensor("F32", (2, 2))
    relu, add = create("Relu", [x, x]), create("Add", [x, x, x])
    run("Relu", add, [x, x], BAD_PARAM)
    run("Clip", relu, [x, x, x, x], BAD_PARAM)
    expect(fn("DestroyReluDescriptor")(add), BAD_PARAM)
    expect(fn("GetReluWorkspaceSize")(add, C.byref(C.c_size_t())), BAD_PARAM)
    destroy("Relu", relu)
    destroy("Add", add)


def test_overlap():
    """In-place transposes and shifted operands are refused, and nothing is written."""
    x = Tensor("F32", (4, 4)).fill(range(16))
    transposed = Tensor("F32", (4, 4), [1, 4])
    for op, ts in (("Rearrange", [transposed, x]), ("Add", [transposed, x, x]), ("Flipud", [x, x])):
        before = x.buffer.raw
        d = create(op, ts)
        run(op, d, [x] * len(ts), BAD_PARAM)
        destroy(op, d)
        expect(x.buffer.raw == before, True, op, "writes")
    for op, (arity, more) in ALIKE.items():
        if op in ("Ones", "Zeros"):
            continue
        ts = tensors_of(op, (7,))
        before = ts[1].buffer.raw
        d = create(op, ts + more)
        beside = C.c_void_p(ts[1].data.value + 4)
        run(op, d, [beside] + ts[1:] + run_numbers(op), BAD_PARAM)
        destroy(op, d)
        expect(ts[1].buffer.raw == before, True, op, "writes")


# ---- the process ----

def test_device():
    device, number = C.c_int(9), C.c_int(9)
    for kind, id_, status in ((1, 0, DEVICE), (10, 0, DEVICE), (11, 0, DEVICE), (-1, 0, DEVICE),
                              (0, 1, NOT_FOUND), (0, -1, NOT_FOUND), (0, 0, OK)):
        expect(rt.infinirtSetDevice(kind, id_), status, kind, id_)
        expect(rt.infinirtGetDevice(C.byref(device), C.byref(number)), OK)
        expect((device.value, number.value), (0, 0))
        h = C.c_void_p()
        expect(fn("CreateHandle")(C.byref(h)), OK)
        expect(list((C.c_int * 2).from_address(h.value)), [0, 0])
        expect(fn("DestroyHandle")(h), OK)
    other = (C.c_int * 2)(1, 0)
    x = Tensor("F32", (2,))
    t = x.describe()
    expect(fn("CreateReluDescriptor")(C.byref(other), C.byref(C.c_void_p()), t, t), DEVICE)
    expect(fn("DestroyTensorDescriptor")(t), OK)
    d = create("Relu", [x, x])
    expect(list((C.c_int * 2).from_address(d.value)), [0, 0])
    expect(fn("GetDescriptorDeviceType")(d, C.byref(device)), OK)
    expect(fn("GetDescriptorDeviceId")(d, C.byref(number)), OK)
    destroy("Relu", d)


def printed(work):
    """What work writes to stderr."""
    with tempfile.TemporaryFile() as f:
        keep = os.dup(2)
        os.dup2(f.fileno(), 2)
        try:
            work()
        finally:
            os.dup2(keep, 2)
            os.close(keep)
        f.seek(0)
        return f.read().decode()


def test_quiet():
    def refused():
        create("Add", tensors_of("Add", (2, 2))[:2] + [Tensor("F32", (2, 3))], SHAPE)

    expect(printed(test_fitting), "")
    os.environ["INFINIOP_VERBOSE"] = "1"
    expect(printed(refused), "infiniop: Add: input: axis 1: got extent 3, expected 2\n")
    os.environ["INFINIOP_VERBOSE"] = "0"
    expect(printed(refused), "")
    del os.environ["INFINIOP_VERBOSE"]


def test_many_threads():
    n = 5000
    y = Tensor("F32", (n,))
    d = create("Add", [y, y, y])
    bad = []

    def work(k):
        for i in range(50):
            a, b = (C.c_float * n)(*[k] * n), (C.c_float * n)(*[i] * n)
            c = (C.c_float * n)()
            if fn("Add")(d, None, size(0), c, a, b, None) or set(c) != {k + i}:
                bad.append((k, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    expect(bad, [])
    destroy("Add", d)


def test_fork():
    """A child of a process that ran a large operator runs one too."""
    n = 1 << 22
    d = create("Relu", [Tensor("F32", (n,))] * 2)
    x, y = C.create_string_buffer(4 * n), C.create_string_buffer(4 * n)
    C.memset(x, 0x3f, 4 * n)
    expect(fn("Relu")(d, None, size(0), y, x, None), OK)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        C.memset(y, 0, 4 * n)
        good = fn("Relu")(d, None, size(0), y, x, None) == OK and y.raw == x.raw
        os._exit(0 if good else 1)
    expect(os.waitpid(child, 0)[1], 0, "the child")
    destroy("Relu", d)

"""Exchange with other libraries: buffers, DLPack, __array_interface__, bfloat16."""

import array
import ctypes
import gc
import sys

import numpy as np
import pytest

import tenon as tn
from conftest import EVERY, LAYOUTS, laid_out, numbers, same

torch = None
try:
    import torch
except ImportError:
    pass
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None
needs_torch = pytest.mark.skipif(torch is None, reason="not run: torch")
needs_ml = pytest.mark.skipif(ml_dtypes is None, reason="not run: ml_dtypes")


def test_kinds_of_objects():
    same(tn.asarray(array.array("d", [1, 2])), np.array([1.0, 2.0]))
    same(tn.asarray(b"ab"), np.frombuffer(b"ab", np.uint8))
    assert tn.asarray(b"ab").readonly and not tn.asarray(bytearray(b"ab")).readonly
    same(tn.asarray(memoryview(np.arange(6).reshape(2, 3))[::-1]),
         np.arange(6).reshape(2, 3)[::-1])
    same(tn.asarray(np.float32(2)), np.float32(2))
    same(tn.asarray([[1, 2.5], [True, 3]]), np.array([[1, 2.5], [1, 3]]))
    same(tn.asarray([tn.arange(3), [4, 5, 6]]), np.array([[0, 1, 2], [4, 5, 6]]))
    same(tn.asarray(2**63), np.uint64(2**63))
    assert tn.asarray([]).shape == (0,) and tn.asarray([[], []]).shape == (2, 0)


@pytest.mark.parametrize("bad", ["text", None, object(), {"a": 1}, [1, "a"], [[1], [1, 2]],
                                 [1, [2]], np.array(["a"]), np.array([None]),
                                 np.zeros(2, "M8[s]"), np.zeros(2, [("a", "f4")]),
                                 np.zeros(2, ">f4"), np.zeros(2, "g"), int])
def test_refused(bad):
    with pytest.raises((TypeError, ValueError)) as e:
        tn.asarray(bad)
    assert str(e.value)


def test_byte_order_says_what_to_do():
    with pytest.raises(TypeError, match="newbyteorder"):
        tn.asarray(np.zeros(2, ">f4"))


def test_copy_flag():
    a = np.arange(3)
    assert tn.asarray(a, copy=False)._address == tn.asarray(a)._address
    assert tn.asarray(a, copy=True)._address != tn.asarray(a)._address
    with pytest.raises(ValueError):
        tn.asarray(a, dtype="float32", copy=False)
    with pytest.raises(ValueError):
        tn.asarray([1, 2], copy=False)
    t = tn.arange(3)
    assert tn.asarray(t) is t and tn.asarray(t, copy=True) is not t


class Interface:
    def __init__(self, a, **changes):
        self.keep = a
        self.__array_interface__ = dict(a.__array_interface__, **changes)


def test_array_interface():
    a = np.arange(6.0).reshape(2, 3)[:, ::-1]
    same(tn.asarray(Interface(a)), a)
    for changes in ({"typestr": ">f8"}, {"typestr": "|O8"}, {"shape": (-1,)},
                    {"shape": (3, 2, 9)}, {"strides": (1,)}):
        with pytest.raises((TypeError, ValueError)):
            tn.asarray(Interface(a, **changes))


class Liar:
    """An object whose __dlpack__ misbehaves."""

    def __init__(self, result):
        self.result = result

    def __dlpack__(self, **kwargs):
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    def __dlpack_device__(self):
        return (1, 0)


@pytest.mark.parametrize("result", [None, 3, BufferError("no"), RuntimeError("grad")])
def test_a_failing_dlpack(result):
    with pytest.raises(type(result) if isinstance(result, Exception) else BufferError):
        tn.from_dlpack(Liar(result))
    with pytest.raises(TypeError):
        tn.from_dlpack(3)


def test_a_producer_from_before_version_1():
    class Old:
        def __dlpack__(self):
            return source.__dlpack__()

    source = tn.arange(3)
    assert tn.from_dlpack(Old())._address == source._address
    made = tn.from_dlpack(Old(), copy=True)
    assert made._address != source._address and made.tolist() == [0, 1, 2]


def test_a_capsule_is_used_once():
    capsule = tn.arange(3).__dlpack__(max_version=(1, 0))
    assert tn.from_dlpack(Liar(capsule)).tolist() == [0, 1, 2]
    with pytest.raises(BufferError):
        tn.from_dlpack(Liar(capsule))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", EVERY)
def test_dlpack_with_numpy(dtype, layout):
    a = laid_out(numbers((3, 4), dtype, 1), layout)
    t = tn.asarray(a)
    back = np.from_dlpack(t)
    np.testing.assert_array_equal(back, a)
    assert back.flags.writeable == a.flags.writeable
    if layout != "misaligned":
        same(tn.from_dlpack(a), a)


def test_dlpack_arguments():
    t = tn.arange(4)
    r = tn.asarray(b"abcd")
    with pytest.raises(BufferError):
        r.__dlpack__()
    assert "dltensor_versioned" in repr(r.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(t.__dlpack__(max_version=(0, 8)))
    for bad in ({"stream": 1}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError):
            t.__dlpack__(**bad)
    with pytest.raises(TypeError):
        t.__dlpack__(unknown=1)
    assert t.__dlpack_device__() == (1, 0)
    c = tn.from_dlpack(t, copy=True)
    c[0] = 7
    assert t[0].item() == 0


def test_buffer_flags():
    t = tn.arange(12, dtype="int32").reshape(3, 4)
    m = memoryview(t)
    assert (m.format, m.shape, m.strides, m.readonly) == ("i", (3, 4), (16, 4), False)
    assert bytes(t) == np.arange(12, dtype="int32").tobytes()
    import hashlib
    with pytest.raises(BufferError):
        hashlib.sha1(t.T)
    with pytest.raises(BufferError):
        memoryview(tn.zeros((2,), dtype="bfloat16"))


def test_buffers_by_every_flag():
    try:
        from _testbuffer import ndarray, PyBUF_FULL, PyBUF_FULL_RO, PyBUF_WRITABLE, \
            PyBUF_SIMPLE, PyBUF_ND, PyBUF_STRIDES, PyBUF_C_CONTIGUOUS, PyBUF_F_CONTIGUOUS, \
            PyBUF_ANY_CONTIGUOUS, PyBUF_FORMAT, PyBUF_STRIDED, PyBUF_CONTIG
    except ImportError:
        pytest.skip("not run: _testbuffer")
    t = tn.arange(6, dtype="float64").reshape(2, 3)
    cases = {"c": t, "f": tn.contiguous(t.T).T, "strided": t[:, ::2], "0-d": tn.asarray(1.5),
             "empty": tn.zeros((0, 3))}
    for name, x in cases.items():
        a = np.asarray(x)
        for flags in (PyBUF_FULL, PyBUF_FULL_RO, PyBUF_SIMPLE, PyBUF_ND, PyBUF_STRIDES,
                      PyBUF_C_CONTIGUOUS, PyBUF_F_CONTIGUOUS, PyBUF_ANY_CONTIGUOUS,
                      PyBUF_STRIDED, PyBUF_CONTIG, PyBUF_WRITABLE):
            try:
                want = ndarray(a, getbuf=flags)
            except (BufferError, ValueError):
                want = None
            try:
                got = ndarray(x, getbuf=flags)
            except BufferError:
                got = None
            assert (got is None) == (want is None), (name, flags)
            if want is not None:
                assert got.nbytes == want.nbytes and got.tobytes() == want.tobytes()
                assert got.readonly == want.readonly
    with pytest.raises(BufferError):
        ndarray(tn.asarray(b"ab"), getbuf=PyBUF_FULL)
    assert PyBUF_FORMAT


@needs_ml
@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_bfloat16_enters_and_leaves_numpy(name):
    a = np.array([[1, 2.5], [-3, 0]], dtype=getattr(ml_dtypes, name))
    t = tn.asarray(a)
    assert t.dtype.name == name and t._address == a.__array_interface__["data"][0]
    back = np.asarray(t)
    assert back.dtype == a.dtype and back.__array_interface__["data"] == a.__array_interface__["data"]
    assert np.dtype(t.dtype) == a.dtype
    assert (t + 1).tolist() == (a.astype("f4") + 1).tolist()


def test_bfloat16_without_ml_dtypes(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(TypeError, match="bfloat16 has no NumPy dtype; install ml_dtypes, or "
                                        r"t.astype\(tenon.float32\)"):
        np.asarray(tn.zeros((2,), dtype="bfloat16"))


@needs_torch
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int64", "bool",
                                   "complex64", "uint8"])
def test_torch(dtype):
    x = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype))
    t = tn.asarray(x)
    assert t.dtype.name == dtype and t.shape == (2, 3) and t._address == x.data_ptr()
    back = torch.from_dlpack(t)
    assert back.data_ptr() == x.data_ptr() and back.dtype == x.dtype
    assert torch.equal(back, x)
    y = torch.empty(3, 2, dtype=x.dtype)
    assert tn.rearrange(x, "a b -> b a", out=y) is y
    assert torch.equal(y, x.T)


@needs_torch
def test_torchs_refusal_is_passed_on():
    """Tensors that DLPack's C functions export but __dlpack__ rejects are an error."""
    for x, why in [(torch.ones(2, requires_grad=True), "gradient"),
                   (torch.nn.Parameter(torch.ones(2)), "gradient"),
                   (torch.ones(2, dtype=torch.complex64).conj(), "conjugate"),
                   (torch.ones(2, 2).to_sparse(), "strided"), (torch.ones(2, device="meta"), None)]:
        for take in (tn.asarray, tn.from_dlpack, lambda x: tn.add(x, 1),
                     lambda x: tn.zeros((2,)) + x):
            with pytest.raises(BufferError, match=why):
                take(x)


@needs_torch
def test_torch_tensors_outlive_their_names():
    x = torch.arange(4.0)
    t = tn.asarray(x[1:])
    del x
    gc.collect()
    assert t.tolist() == [1, 2, 3]


def exchange_type(table):
    """A class with DLPack's table of C functions; it has no __dlpack__."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p,
                                                   ctypes.c_void_p]
    capsule = new(ctypes.addressof(table), b"dlpack_exchange_api", None)
    return type("Producer", (), {"__dlpack_c_exchange_api__": capsule, "keeps": table})


class Functions(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("previous", ctypes.c_void_p), ("allocate", ctypes.c_void_p),
                ("export", ctypes.c_void_p), ("others", ctypes.c_void_p * 3)]


@pytest.mark.parametrize("major,fails", [(1, False), (1, True), (2, False), (0, False)])
def test_dlpacks_functions_in_c(major, fails):
    """A hand-written producer: used if its version is 1.x, otherwise ignored."""
    source = tn.arange(3, dtype="float32")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    used = b"used_dltensor_versioned"

    @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
    def export(_, out):
        if fails:
            return -1
        capsule = source.__dlpack__(max_version=(1, 0))
        out[0] = pointer(capsule, b"dltensor_versioned")
        rename(capsule, used)
        return 0

    producer = exchange_type(Functions(major, 3, None, None,
                                       ctypes.cast(export, ctypes.c_void_p)))()
    before = sys.getrefcount(source)
    if major != 1 or fails:
        with pytest.raises(TypeError):
            tn.asarray(producer)
    else:
        t = tn.asarray(producer)
        assert t._address == source._address and tn.from_dlpack(producer).shape == (3,)
        assert tn.add(producer, producer).tolist() == [0, 2, 4]
        assert sys.getrefcount(source) == before + 1
        del t
    assert sys.getrefcount(source) == before


def test_dtypes_and_numpy():
    assert np.zeros(3, tn.float32).dtype == np.float32
    assert np.dtype(tn.f32) == np.float32 and np.dtype("f4") == tn.f32
    assert np.result_type(tn.f32, np.int64) == np.float64
    for spelled in (tn.float32, "float32", "f32", np.float32, np.dtype("float32")):
        assert tn.zeros(2, dtype=spelled).dtype is tn.float32
    assert tn.zeros(2, dtype=bool).dtype is tn.bool and tn.zeros(2, dtype=int).dtype is tn.int64
    for bad in ("f4x", object, 3, np.dtype(">f4"), np.dtype("M8[s]"), str):
        with pytest.raises(TypeError):
            tn.zeros(2, dtype=bad)
    assert repr(tn.f32) == "tenon.float32" and tn.f32.str == "<f4" and tn.f32.kind == "f"
    assert len({tn.f32, tn.float32, tn.f64}) == 2


def test_numpy_protocols():
    t, a = tn.arange(6, dtype="float64").reshape(2, 3), np.arange(6.0).reshape(2, 3)
    same(np.exp(t), tn.exp(t))
    same(a + t, a + a)
    same(np.concatenate([t, t]), np.concatenate([a, a]))
    same(np.transpose(t), a.T)
    same(np.where(t > 2, t, 0), np.where(a > 2, a, 0))
    same(np.pad(t, 1, mode="edge"), np.pad(a, 1, mode="edge"))
    same(np.i0(t), np.i0(a))
    same(np.sinc(t), np.sinc(a))
    out = tn.zeros((2, 3))
    assert np.add(t, a, out=out) is out
    same(out, a + a)
    same(np.add.outer(t[0], t[1]), np.add.outer(a[0], a[1]))
    assert np.shape(t) == (2, 3)


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_ndarrays_as_operands(dtype, layout):
    """The first array of a dtype is read by its buffer, later ones by their header, alike."""
    a = laid_out(numbers((3, 4), dtype, 1), layout)
    out = np.zeros((3, 4), dtype)
    for _ in range(3):
        assert tn.maximum(a, a, out=out) is out if dtype[0] not in "bc" else True
        same(tn.equal(a, a), np.ones((3, 4), bool))
        same(tn.where(a == a, a, a), a)
    if dtype[0] not in "bc":
        np.testing.assert_array_equal(out, a)


def test_ndarrays_that_are_not_plain():
    a = numbers((5,), "float32", 1)
    for _ in range(2):  # before and after the header is known
        with pytest.raises(ValueError, match="read-only"):
            tn.add(a, a, out=np.broadcast_to(a, (5,)))
        with pytest.raises(TypeError, match="byte order"):
            tn.add(a, a.astype(">f4"))
        with pytest.raises(TypeError):
            tn.add(a, np.array([object()] * 5))
        with pytest.raises(TypeError):
            tn.add(a, np.zeros(5, [("x", "f4")]))
        same(tn.add(a.view(np.recarray).view(np.ndarray), a), a + a)
        same(tn.add(np.ma.masked_array(a), a), a + a)
        same(tn.add(a, np.float32(2)), a + np.float32(2))
        assert tn.add(a, a, out=a[::-1].copy()[::-1]).base is not None
    b = np.zeros(2, np.float32)
    tn.add(b, b)
    b.resize(7, refcheck=False)
    same(tn.add(b, b), b + b)
    b.shape = (7, 1)
    same(tn.add(b, b), b + b)
    count = sys.getrefcount(b)
    for _ in range(100):
        tn.add(b, b, out=b)
        with pytest.raises(ValueError):
            tn.add(b, a.reshape(5, 1))
    assert sys.getrefcount(b) == count

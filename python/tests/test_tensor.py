"""The object: properties, numbers, indexing, operators."""

import copy
import gc
import operator
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tenon as tn
from conftest import EVERY, LAYOUTS, REAL, arrays, laid_out, numbers, same


@given(arrays())
def test_facts_are_numpys(a):
    t = tn.asarray(a)
    assert (t.shape, t.ndim, t.size, t.nbytes, t.itemsize) == \
        (a.shape, a.ndim, a.size, a.nbytes, a.itemsize)
    assert t.dtype == a.dtype and t.device == "cpu"
    assert a.size == 0 or all(n < 2 or s == z for n, s, z in zip(a.shape, t.strides, a.strides))
    assert t.readonly == (not a.flags.writeable)
    assert t.is_contiguous() == a.flags.c_contiguous or a.size == 0
    same(t, a)
    same(t.T, a.T)
    if a.ndim >= 2:
        same(t.mT, a.mT)
    if a.size:
        assert t._address == a.__array_interface__["data"][0]


@given(arrays())
def test_tolist_and_back(a):
    t = tn.asarray(a)
    assert repr(t.tolist()) == repr(a.tolist())
    if a.size:
        same(tn.asarray(a.tolist(), dtype=str(a.dtype)), a)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", EVERY)
def test_numpy_shares_memory(dtype, layout):
    a = laid_out(numbers((3, 4), dtype, 1), layout)
    t = tn.asarray(a)
    back = np.asarray(t)
    assert back.__array_interface__["data"][0] == a.__array_interface__["data"][0]
    assert back.strides == a.strides and back.dtype == a.dtype
    assert back.flags.writeable == a.flags.writeable


KEYS = st.one_of(
    st.integers(-6, 6), st.just(Ellipsis), st.none(),
    st.builds(slice, st.none() | st.integers(-7, 7), st.none() | st.integers(-7, 7),
              st.none() | st.integers(-3, 3).filter(bool)))


@given(arrays(), st.lists(KEYS, max_size=6))
def test_basic_indexing(a, keys):
    key = tuple(keys)
    t = tn.asarray(a)
    try:
        want = a[key]
    except IndexError:
        with pytest.raises(IndexError):
            t[key]
        return
    got = t[key]
    same(got, want)
    if want.size and isinstance(want, np.ndarray):
        assert got._address == want.__array_interface__["data"][0]


@given(arrays(dtypes=["int32", "float64"]), st.lists(KEYS, max_size=4), st.data())
def test_setitem(a, keys, data):
    if not a.flags.writeable or 0 in a.strides:
        a = a.copy()
    key = tuple(keys)
    t = tn.asarray(a.copy())
    try:
        part = a[key]
    except IndexError:
        with pytest.raises(IndexError):
            t[key] = 1
        return
    value = data.draw(st.sampled_from([7, "full", "row"]))
    if value == "full":
        value = numbers(np.shape(part), a.dtype, 3)
    elif value == "row":
        value = numbers(np.shape(part)[-1:], a.dtype, 4)
    want = a.copy()
    want[key] = value
    t[key] = value
    same(t, want)


def test_assignment_overlaps():
    t = tn.arange(10)
    t[1:] = t[:-1]
    assert t.tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    t = tn.arange(6)
    t[:] = t[::-1]
    assert t.tolist() == [5, 4, 3, 2, 1, 0]


def test_out_may_overlap():
    a = np.arange(10.0)
    t = tn.arange(10, dtype="float64")
    assert tn.add(t[:-1], t[1:], out=t[1:]).tolist() == (a[:-1] + a[1:]).tolist()


BINARY = [operator.add, operator.sub, operator.mul, operator.eq, operator.ne, operator.lt,
          operator.le, operator.gt, operator.ge]


@given(arrays(dtypes=REAL, shape=(2, 3, 4)), st.sampled_from(BINARY), st.data())
def test_operators_on_any_operands(a, op, data):
    b = laid_out(numbers((3, 4) if data.draw(st.booleans()) else (2, 1, 4), a.dtype, 5),
                 data.draw(st.sampled_from(LAYOUTS)))
    with np.errstate(all="ignore"):
        want = op(a, b)
    same(op(tn.asarray(a), tn.asarray(b)), want)
    same(op(tn.asarray(a), b), want)
    same(op(a, tn.asarray(b)), want)
    same(op(tn.asarray(a), memoryview(b)), want)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8"])
def test_numbers_are_weak(dtype):
    a = numbers((5,), dtype, 2)
    t = tn.asarray(a)
    same(t + 3, a + 3)
    same(3 + t, 3 + a)
    same(t * True, a * True, dtype=False)
    assert (t + 1).dtype == dtype
    if np.dtype(dtype).kind == "f":
        same(t + 2.5, a + a.dtype.type(2.5))
        assert (t + 2.5).dtype == dtype
    else:
        assert (t + 2.5).dtype == ("float32" if np.dtype(dtype).itemsize < 4 else "float64")
    with pytest.raises(OverflowError):
        tn.asarray(numbers((3,), "uint8", 0)) + 300
    assert (tn.asarray([True]) + 1).dtype == tn.int64


def test_in_place_keeps_the_dtype():
    t = tn.ones((3,), dtype="float32")
    view = t[:]
    t += 1
    t *= tn.asarray(2.0)
    assert t.dtype == tn.float32 and view.tolist() == [4, 4, 4]
    i = tn.arange(3)
    with pytest.raises(TypeError):
        i += 1.5
    i //= 2
    i <<= 3
    i |= 1
    assert i.tolist() == [1, 1, 9]
    with pytest.raises(ValueError):
        r = tn.asarray(b"abc")
        r += 1


def test_python_numbers():
    t = tn.asarray(3)
    assert int(t) == 3 and float(t) == 3.0 and complex(t) == 3 and [1, 2, 3, 4][t] == 4
    assert bool(tn.asarray(0.0)) is False and f"{tn.asarray(2.5):.2f}" == "2.50"
    for bad in (lambda: bool(tn.zeros((2,))), lambda: int(tn.zeros((2,))),
                lambda: operator.index(tn.asarray(1.5)), lambda: hash(t),
                lambda: len(t), lambda: iter(t)):
        with pytest.raises((TypeError, ValueError)):
            bad()
    assert [x.item() for x in tn.arange(3)] == [0, 1, 2]
    assert divmod(tn.asarray(7), 2)[1].item() == 1
    assert tn.arange(6).reshape(2, 3).item(1, 2) == 5


def test_the_type_is_final():
    with pytest.raises(TypeError):
        class Sub(tn.Tensor):
            pass
    with pytest.raises(AttributeError):
        tn.zeros(3).shape = (1, 3)


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize("dtype", EVERY + ["bfloat16", "float8_e5m2"])
def test_pickle(dtype, protocol):
    t = tn.astype(tn.arange(6).reshape(2, 3), dtype).T
    back = pickle.loads(pickle.dumps(t, protocol))
    assert back.dtype is t.dtype and back.shape == t.shape and back.tolist() == t.tolist()
    assert not back.readonly
    assert pickle.loads(pickle.dumps(t.dtype)) is t.dtype


def test_pickle_out_of_band():
    t = tn.arange(1000)
    buffers = []
    raw = pickle.dumps(t, 5, buffer_callback=buffers.append)
    assert len(raw) < 300 and len(buffers) == 1
    assert pickle.loads(raw, buffers=buffers).tolist() == t.tolist()
    assert pickle.loads(pickle.dumps(tn.zeros((0, 3)), 5)).shape == (0, 3)


def test_copies():
    t = tn.arange(4)
    for c in (copy.copy(t), copy.deepcopy(t), t.copy()):
        c[0] = 9
        assert t[0].item() == 0


# ---- lifetimes ----

class Owner(bytearray):
    """A buffer that can be weakly referenced."""


@pytest.mark.parametrize("order", range(3))
def test_the_owner_lives_as_long_as_views(order):
    owner = Owner(b"0123456789abcdef")
    seen = weakref.ref(owner)
    t = tn.asarray(owner)
    views = [t[2:5], t.reshape(4, 4).T, memoryview(t), np.asarray(t)[1:]]
    del owner, t
    gc.collect()
    for _ in range(len(views)):
        assert seen() is not None
        views.pop(order % len(views))
    gc.collect()
    assert seen() is None


def test_exports_keep_the_elements():
    t = tn.arange(100, dtype="float64")
    seen = weakref.ref(t)
    kept = [np.asarray(t), np.from_dlpack(t), memoryview(t)]
    del t
    gc.collect()
    assert seen() is not None and all(np.asarray(k).sum() == 4950 for k in kept)
    kept.clear()
    gc.collect()
    assert seen() is None


def test_an_unused_capsule_gives_back():
    t = tn.arange(3)
    seen = weakref.ref(t)
    capsules = [t.__dlpack__(), t.__dlpack__(max_version=(1, 0))]
    del t
    assert seen() is not None
    capsules.clear()
    assert seen() is None


def test_live_exports_at_exit():
    code = ("import numpy as np, tenon as tn\n"
            "t = tn.arange(10)\nkeep = [np.from_dlpack(t), np.asarray(t), memoryview(t), "
            "t.__dlpack__(max_version=(1, 0)), tn.asarray(np.arange(4))]\n"
            "class C:\n    def __del__(self): self.x.tolist()\nc = C(); c.x = t\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


def test_gc_at_any_point():
    old = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(50):
            a = tn.asarray([[1, 2], [3, 4]])
            (a + a.T).tolist()
            tn.rearrange(a, "a b -> (b a)")
    finally:
        gc.set_threshold(*old)


def test_threads():
    a = tn.randn((300, 300), seed=1)
    want = (a * 2 + a).tolist()
    wrong = []

    def work():
        with tn.threads(2):
            for _ in range(20):
                if (a * 2 + a).tolist() != want:
                    wrong.append(1)
    ts = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in ts]
    [t.join() for t in ts]
    assert not wrong


def test_number_of_threads():
    before = tn.get_num_threads()
    with tn.threads(3):
        assert tn.get_num_threads() == 3
        with tn.threads(1):
            assert tn.get_num_threads() == 1
        assert tn.get_num_threads() == 3
    assert tn.get_num_threads() == before
    tn.set_num_threads(2)
    assert tn.get_num_threads() == 2
    tn.set_num_threads(0)
    with pytest.raises(ValueError):
        tn.set_num_threads(-1)

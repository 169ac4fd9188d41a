"""Functions compared with NumPy: manipulation, pad, patterns, reductions, indexing, products."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tenon as tn
from conftest import EVERY, LAYOUTS, REAL, arrays, close, laid_out, numbers, same

UNARY = ["sin", "cos", "tan", "exp", "expm1", "log1p", "sqrt", "tanh", "sinh", "cosh", "arctan"]
NAMES = {"arctan": "atan"}


@given(arrays(dtypes=["float32", "float64", "complex64", "complex128"]), st.sampled_from(UNARY))
def test_functions_of_numbers(a, name):
    with np.errstate(all="ignore"):
        want = getattr(np, name)(a)
    got = getattr(tn, NAMES.get(name, name))(tn.asarray(a))
    np.testing.assert_allclose(np.asarray(got), want, rtol=2e-5, atol=1e-5)


@given(arrays(dtypes=REAL, max_ndim=4), st.data())
def test_reductions(a, data):
    t = tn.asarray(a)
    axis = data.draw(st.none() | st.lists(st.integers(0, a.ndim - 1), unique=True,
                                          max_size=a.ndim).map(tuple)) if a.ndim else None
    keep = data.draw(st.booleans())
    close(tn.sum(t, axis=axis, keepdims=keep), np.sum(a, axis=axis, keepdims=keep,
                                                      dtype=np.float64), 1e-2)
    if a.size:
        close(tn.max(t, axis=axis, keepdims=keep), np.max(a, axis=axis, keepdims=keep))
        close(tn.min(t, axis=axis, keepdims=keep), np.min(a, axis=axis, keepdims=keep))
        close(tn.mean(t, axis=axis), np.mean(a, axis=axis, dtype=np.float64), 1e-2)
    same(tn.any(t, axis=axis), np.any(a, axis=axis))
    same(tn.all(t, axis=axis), np.all(a, axis=axis))
    assert tn.count_nonzero(t).item() == np.count_nonzero(a)


def test_sums_have_numpys_dtypes():
    for dtype in EVERY:
        got = tn.sum(tn.ones((3,), dtype=dtype))
        want = np.sum(np.ones(3, dtype=dtype))
        assert got.dtype == want.dtype, dtype
    assert tn.sum(tn.ones((3,), dtype="int8"), dtype="float32").dtype == tn.float32
    with pytest.raises(ValueError):
        tn.max(tn.zeros((0,)))
    with pytest.raises(tn.AxisError):
        tn.sum(tn.zeros((2,)), axis=3)


@given(arrays(dtypes=EVERY, max_ndim=4), st.data())
def test_manipulation(a, data):
    t = tn.asarray(a)
    same(tn.reshape(t, (-1,)) if a.size else tn.reshape(t, (0,)), a.reshape(-1))
    if a.ndim == 0:
        return
    axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
    same(tn.flip(t, axis=axis), np.flip(a, axis=axis))
    same(tn.roll(t, 2, axis=axis), np.roll(a, 2, axis=axis))
    same(tn.concat([t, t], axis=axis), np.concatenate([a, a], axis=axis))
    same(tn.stack([t, t], axis=axis), np.stack([a, a], axis=axis))
    same(tn.repeat(t, 2, axis=axis), np.repeat(a, 2, axis=axis))
    same(tn.tile(t, (2, 1)), np.tile(a, (2, 1)))
    same(tn.moveaxis(t, axis, 0), np.moveaxis(a, axis, 0))
    same(tn.expand_dims(t, axis=axis), np.expand_dims(a, axis))
    assert [x.shape for x in tn.array_split(t, 3, axis)] == \
        [x.shape for x in np.array_split(a, 3, axis)]
    same(tn.broadcast_to(t, (2,) + a.shape), np.broadcast_to(a, (2,) + a.shape))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
@given(arrays(dtypes=["uint8", "float32", "complex128"], shape=(3, 4)), st.data())
def test_pad(mode, a, data):
    width = data.draw(st.sampled_from([2, (1, 3), ((0, 2), (5, 1)), 7]))
    same(tn.pad(a, width, mode), np.pad(a, width, mode))
    with pytest.raises(ValueError):
        tn.pad(a, -1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("pattern,sizes,want", [
    ("a b c -> c a b", {}, lambda x: x.transpose(2, 0, 1)),
    ("a b c -> (c a) b", {}, lambda x: x.transpose(2, 0, 1).reshape(-1, x.shape[1])),
    ("a (b x) c -> a b c x", {"x": 2}, lambda x: x.reshape(2, 2, 2, 3).transpose(0, 1, 3, 2)),
    ("... c -> c ...", {}, lambda x: x.transpose(2, 0, 1)),
    ("a b c -> a 1 b c 2", {}, lambda x: np.repeat(x[:, None, :, :, None], 2, -1)),
])
def test_patterns(pattern, sizes, want, layout):
    a = laid_out(numbers((2, 4, 3), "float32", 7), layout)
    expected = want(a)
    same(tn.rearrange(a, pattern, **sizes), expected)
    out = np.empty(expected.shape, "float32")
    assert tn.rearrange(a, pattern, out=out, **sizes) is out
    np.testing.assert_array_equal(out, expected)
    with pytest.raises(tn.PatternError):
        tn.rearrange(a, "a b -> (a")


def test_einops_functions():
    a = numbers((2, 4, 6), "float64", 1)
    close(tn.reduce(a, "a (b x) c -> a b c", "max", x=2), a.reshape(2, 2, 2, 6).max(2))
    close(tn.reduce(a, "a b c -> b", reduction="mean"), a.mean((0, 2)))
    close(tn.reduce(a, "a b c -> b", lambda x, axes: tn.sum(x, axis=axes)), a.sum((0, 2)))
    same(tn.repeat(a, "a b c -> a (b n) c", n=2), np.repeat(a, 2, 1))
    packed, shapes = tn.pack([a, a[0, 0]], "* c")
    assert packed.shape == (9, 6) and [tuple(s) for s in shapes] == [(2, 4), ()]
    back = tn.unpack(packed, shapes, "* c")
    same(back[0], a)
    assert tn.parse_shape(a, "a _ c") == {"a": 2, "c": 6}
    close(tn.einsum(a, a, "batch i j, batch k j -> batch i k"), np.einsum("bij,bkj->bik", a, a))


einops = pytest.importorskip("einops", reason="not run: einops")


def test_einops_takes_tensors():
    import tenon.einops
    a = numbers((2, 4, 6), "float32", 1)
    t = tn.asarray(a)
    same(einops.rearrange(t, "a b c -> c (a b)"), einops.rearrange(a, "a b c -> c (a b)"))
    close(einops.reduce(t, "a b c -> a c", "mean"), a.mean(1))
    same(einops.repeat(t, "a b c -> a b c d", d=3), einops.repeat(a, "a b c -> a b c d", d=3))
    assert tenon.einops.TenonBackend.framework_name == "tenon"


@given(arrays(dtypes=["int16", "float64"], shape=(4, 5, 3)), st.data())
def test_advanced_indexing(a, data):
    t = tn.asarray(a)
    i = data.draw(st.sampled_from([np.array([0, 2, -1]), np.array([[1, 0], [3, 3]])]))
    j = data.draw(st.sampled_from([np.array([0, -1, 4]), np.array(2)]))
    keys = [i, (i,), (slice(None), i % 5), (Ellipsis, i % 3), (i, slice(None), i % 3),
            (1, i % 5), (i, None), a > 2, a[:, :, 0] > 0, a[:, 0, 0] >= 0,
            (slice(None), a[0] > 0), (slice(1, 3), [0, 2]), [0, 1]]
    if i.ndim == 1:
        keys += [(i, j), (i, slice(None, None, 2), j % 3)]
    key = data.draw(st.sampled_from(keys))
    want = a[key]
    same(t[key], want)
    w = a.copy()
    c = tn.asarray(w.copy())
    w[key] = 7
    c[key] = 7
    same(c, w)
    value = numbers(want.shape, a.dtype, 9)
    w[key] = value
    c[key] = value
    if not (isinstance(key, tuple) or i is key) or a.dtype == bool:
        same(c, w)


def test_bad_indices():
    t = tn.zeros((3, 4))
    for key in ([5], (0, [9]), np.zeros((2, 4), bool), [1.5], "a", {}, (0, 0, 0), [[0], [0, 1]]):
        with pytest.raises((IndexError, TypeError, ValueError)):
            t[key]
        with pytest.raises((IndexError, TypeError, ValueError)):
            t[key] = 1
    with pytest.raises(IndexError, match="extent 3|in \\[-3, 3\\)"):
        t[[5]]


@given(arrays(dtypes=REAL, max_ndim=3))
def test_order_and_sets(a):
    t = tn.asarray(a)
    if a.ndim:
        for axis in range(a.ndim):
            same(tn.sort(t, axis=axis), np.sort(a, axis=axis))
            same(tn.argsort(t, axis=axis), np.argsort(a, axis=axis, kind="stable"))
        for x, y in zip(tn.nonzero(t), np.nonzero(a)):
            same(x, y)
        if a.size:
            same(tn.argmax(t, axis=0), np.argmax(a, axis=0))
            same(tn.take(t, [0, 0], axis=0), np.take(a, [0, 0], axis=0))
            same(tn.take_along_axis(t, tn.argsort(t, axis=0), axis=0), np.sort(a, axis=0))
    values, inverse = tn.unique_inverse(t)
    want = np.unique_inverse(a)
    same(values, want.values)
    same(inverse, want.inverse_indices.reshape(a.shape))
    flat = np.sort(a.reshape(-1))
    same(tn.searchsorted(flat, a), np.searchsorted(flat, a))


@given(arrays(dtypes=["int32", "float64"], max_ndim=3))
def test_scans(a):
    if a.ndim == 0:
        return
    t = tn.asarray(a)
    close(tn.cumulative_sum(t, axis=0), np.cumulative_sum(a, axis=0))
    close(tn.cumulative_prod(t, axis=-1, include_initial=True),
          np.cumulative_prod(a, axis=-1, include_initial=True))
    same(tn.diff(t, axis=-1), np.diff(a, axis=-1))


def test_rows():
    x = numbers((3, 7), "float32", 1)
    e = np.exp(x - x.max(1, keepdims=True))
    close(tn.softmax(x), e / e.sum(1, keepdims=True))
    close(tn.log_softmax(x, axis=0), x - np.log(np.exp(x).sum(0)), 1e-4)
    w = np.ones(7, "float32")
    close(tn.rms_norm(x, w), x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6), 1e-4)
    close(tn.layer_norm(x), (x - x.mean(1, keepdims=True)) /
          np.sqrt(x.var(1, keepdims=True) + 1e-5), 1e-4)
    close(tn.logsumexp(x, axis=1), np.log(np.exp(x).sum(1)), 1e-4)


def test_scatter():
    x = tn.zeros((4, 3))
    i = tn.asarray([[0, 1, 2], [0, 0, 3]])
    u = tn.ones((2, 3))
    assert tn.scatter(x, i, u, axis=0, reduce="add").tolist() == \
        [[2, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    assert tn.scatter_nd(x, [[1, 2], [3, 0]], [5.0, 6.0])[3, 0].item() == 6
    assert x.tolist() == tn.zeros((4, 3)).tolist()
    assert tn.bincount(tn.asarray([1, 1, 3])).tolist() == [0, 2, 0, 1]
    assert tn.histogram(tn.asarray([0.0, 1.0, 1.0]), bins=2)[0].tolist() == [1, 2]
    assert tn.topk(tn.asarray([3, 1, 2]), 2).values.tolist() == [3, 2]


@given(arrays(dtypes=["float64", "int32", "complex128"], shape=(2, 3, 4)))
def test_products(a):
    t = tn.asarray(a)
    b = numbers((2, 4, 5), a.dtype, 8)
    close(t @ b, a @ b)
    close(tn.matmul(a[0], b[0]), a[0] @ b[0])
    close(tn.tensordot(t, b, axes=([2], [1])), np.tensordot(a, b, axes=([2], [1])))
    close(tn.vecdot(a[0], a[1]), np.vecdot(a[0], a[1]))
    close(tn.einsum("bij,bjk->bik", t, b), a @ b)
    close(tn.outer(a[0, 0], a[0, 1]), np.outer(a[0, 0], a[0, 1]))
    close(tn.trace(t[0]), np.trace(a[0]))
    with pytest.raises(tn.ShapeError):
        t @ np.zeros((9, 9), a.dtype)


@pytest.mark.parametrize("pattern", ["h _w *", "h_ w *", "1h w *", "1 w *", "h h *", "h w", "* *"])
def test_patterns_of_pack_are_einops(pattern):
    x = tn.zeros((2, 3, 4))
    with pytest.raises(tn.PatternError):
        tn.pack([x], pattern)
    with pytest.raises(tn.PatternError):
        tn.unpack(x, [()], pattern=pattern)

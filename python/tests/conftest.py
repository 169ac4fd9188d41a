"""Arrays of every dtype and layout, and the NumPy arrays that they are compared with."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings, strategies as st

import tenon as tn

settings.register_profile("tenon", max_examples=int(os.environ.get("TENON_EXAMPLES", "40")), deadline=None, derandomize=True,
                          suppress_health_check=list(HealthCheck))
settings.load_profile("tenon")

REAL = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
        "float32", "float64"]
EVERY = ["bool"] + REAL + ["complex64", "complex128"]
LAYOUTS = ["dense", "permuted", "gapped", "negative", "broadcast", "misaligned", "readonly"]


def numbers(shape, dtype, seed):
    """Small numbers of a dtype, so that integers do not overflow."""
    rng = np.random.default_rng(seed)
    d = np.dtype(dtype)
    if d.kind == "b":
        return rng.integers(0, 2, shape).astype(d)
    if d.kind == "u":
        return rng.integers(0, 9, shape).astype(d)
    if d.kind == "i":
        return rng.integers(-8, 9, shape).astype(d)
    x = rng.integers(-16, 17, shape) / 4
    if d.kind == "c":
        x = x + 1j * rng.integers(-16, 17, shape) / 4
    return np.asarray(x).astype(d)


def laid_out(a, layout):
    """The same numbers as a, in another memory layout."""
    if a.ndim == 0 and layout not in ("misaligned", "readonly"):
        return a
    if layout == "permuted":
        return np.ascontiguousarray(a.T).T
    if layout == "gapped":
        big = np.zeros(tuple(2 * n for n in a.shape), a.dtype)
        view = big[tuple(slice(None, None, 2) for _ in a.shape)]
        view[...] = a
        return view
    if layout == "negative":
        back = np.ascontiguousarray(a[tuple(slice(None, None, -1) for _ in a.shape)])
        return back[tuple(slice(None, None, -1) for _ in a.shape)]
    if layout == "broadcast" and a.shape[0] > 0:
        return np.broadcast_to(a[:1], a.shape)
    if layout == "misaligned":
        raw = np.zeros(a.nbytes + 1, np.uint8)
        view = np.ndarray(a.shape, a.dtype, raw.data, 1)
        view[...] = a
        return view
    if layout == "readonly":
        a = a.copy()
        a.flags.writeable = False
    return a


@st.composite
def arrays(draw, dtypes=EVERY, shape=None, max_ndim=5):
    """A NumPy array of some dtype, shape and layout."""
    if shape is None:
        shape = tuple(draw(st.lists(st.integers(0, 5), max_size=max_ndim)))
    a = numbers(shape, draw(st.sampled_from(dtypes)), draw(st.integers(0, 99)))
    return laid_out(a, draw(st.sampled_from(LAYOUTS)))


def same(got, want, dtype=True):
    """Equal elements, shape and dtype; got is a Tensor."""
    assert type(got) is tn.Tensor
    want = np.asarray(want)
    assert got.shape == want.shape
    if dtype:
        assert got.dtype == want.dtype
    np.testing.assert_array_equal(np.asarray(got), want)


def close(got, want, rtol=1e-5):
    """The same within a tolerance."""
    assert type(got) is tn.Tensor
    want = np.asarray(want)
    assert got.shape == want.shape
    np.testing.assert_allclose(np.asarray(got), want, rtol=rtol, atol=rtol)


@pytest.fixture
def matrix():
    return tn.reshape(tn.arange(12, dtype="float32"), (3, 4))

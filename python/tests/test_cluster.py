"""test_cluster.py - reductions, products and expressions of Dask arrays on two processes."""
import numpy as np
import pytest

import tenon

distributed = pytest.importorskip("distributed", reason="not run: distributed")
da = pytest.importorskip("dask.array", reason="not run: dask")


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  dashboard_address=None, memory_limit="1GB") as cluster:
        with distributed.Client(cluster) as c:
            yield c


def arrays():
    rng = np.random.default_rng(7)
    x = rng.integers(-9, 9, (60, 50)).astype("f4")
    y = rng.integers(-9, 9, (50, 30)).astype("f4")
    return x, y, da.from_array(x, chunks=(17, 20)), da.from_array(y, chunks=(20, 11))


@pytest.mark.parametrize("op", ["sum", "prod", "max", "min", "any", "all", "mean"])
@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
def test_reduce(client, op, axis):
    import tenon.dask as td
    x, _, d, _ = arrays()
    if op == "prod":
        x, d = np.sign(x), da.sign(d)
    got = td.reduce(d, op, axis).compute()
    np.testing.assert_allclose(got, getattr(np, op)(x, axis=axis), rtol=1e-6)
    assert td.reduce(d, op, axis, keepdims=True).shape == np.sum(x, axis=axis, keepdims=True).shape


def test_reduce_refused(client):
    import tenon.dask as td
    with pytest.raises(tenon.ArgumentError, match="median"):
        td.reduce(arrays()[2], "median")


def test_einsum(client):
    import tenon.dask as td
    x, y, d, e = arrays()
    np.testing.assert_array_equal(td.einsum("ij,jk->ki", d, e).compute(),
                                  np.einsum("ij,jk->ki", x, y))
    np.testing.assert_array_equal(td.einsum("ij->j", d).compute(), x.sum(0))
    np.testing.assert_array_equal(td.einsum("ij->ji", d).compute(), x.T)
    with pytest.raises(tenon.PatternError):
        td.einsum("ij,jk", d, e)


def test_eval(client):
    import tenon.dask as td
    x, _, d, _ = arrays()
    if not hasattr(tenon._core, "_eval"):
        pytest.skip("not run: expressions")
    got = td.eval("a * b + 1", a=d, b=d[0]).compute()
    np.testing.assert_array_equal(got, x * x[0] + 1)

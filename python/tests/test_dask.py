"""Dask: chunks of Tensors, files as arrays, rearrange over blocks, a cluster of two processes."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tenon as tn
from conftest import numbers

da = pytest.importorskip("dask.array", reason="not run: dask")
td = pytest.importorskip("tenon.dask")


@pytest.mark.parametrize("pattern,sizes", [
    ("a b c -> c a b", {}), ("a b c -> c (a b)", {}), ("a (b n) c -> (a b) c n", {"n": 2}),
    ("... c -> c ...", {})])
def test_rearrange(pattern, sizes):
    a = numbers((4, 6, 8), "float32", 1)
    d = da.from_array(a, chunks=(2, 3, 4))
    got = td.rearrange(d, pattern, **sizes)
    want = np.asarray(tn.rearrange(a, pattern, **sizes))
    assert got.shape == want.shape
    np.testing.assert_array_equal(got.compute(scheduler="threads"), want)


def test_rearrange_refused():
    d = da.zeros((4, 6), chunks=2)
    for pattern, sizes in [("a b", {}), ("a -> a", {}), ("a b -> b", {}), ("(a n) b -> a n b", {"n": 3})]:
        with pytest.raises(tn.TenonError):
            td.rearrange(d, pattern, **sizes)


def test_files(tmp_path):
    a = numbers((7, 5, 6), "float64", 2)
    tn.save(tmp_path / "x.npy", a)
    d = td.load(tmp_path / "x.npy", chunks=(3, 5, 2))
    np.testing.assert_array_equal(d.compute(), a)
    td.save(tmp_path / "y.npy", td.rearrange(d, "a b c -> c (a b)"))
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"),
                                  a.transpose(2, 0, 1).reshape(6, -1))
    np.testing.assert_array_equal(td.map(tn.exp, d).compute(), np.asarray(tn.exp(a)))


def test_tensors_as_chunks():
    a = numbers((6, 8), "float64", 3)
    d = da.from_array(a, chunks=(3, 4)).map_blocks(tn.asarray)
    assert "tenon.Tensor" in repr(d)
    for f in (lambda x: x + 1, lambda x: x * x, lambda x: x > 0, lambda x: np.exp(x),
              lambda x: x.T, lambda x: x.rechunk((2, 8)), lambda x: x[::-1, 1:5],
              lambda x: x.sum(axis=0), lambda x: x.mean(), lambda x: x.max(axis=1),
              lambda x: x.astype("float32"), lambda x: x @ x.T, lambda x: x <= x[::-1],
              lambda x: da.concatenate([x, x[:2]]), lambda x: da.stack([x, x], axis=1),
              lambda x: da.where(x > 0, x, -x), lambda x: x.cumsum(axis=1),
              lambda x: da.pad(x, 2, "edge"), lambda x: x[:, ::-2].sum(), lambda x: x.std(),
              lambda x: x.reshape(48), lambda x: da.minimum(x, 0) - 1 / (x + 20)):
        want = f(da.from_array(a, chunks=(3, 4))).compute()
        got = f(d).compute()
        np.testing.assert_allclose(np.asarray(got), want)


@pytest.mark.skipif("TENON_CLUSTER" not in os.environ, reason="not run: a cluster")
def test_a_cluster(tmp_path):
    """TENON_CLUSTER is the size of the file in MB; a worker may have 1 GB."""
    from dask.distributed import Client, LocalCluster
    side = 1024
    shape = (int(os.environ["TENON_CLUSTER"]) * 2**20 // (4 * side * side), side, side)
    with tn.writer(tmp_path / "x.npy", (shape, "float32")) as w:
        for i in range(shape[0]):
            w.put(tn.randn((1, side, side), seed=i, dtype="float32"))
    with LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="1GB",
                      dashboard_address=None) as cluster, Client(cluster) as client:
        started = set(client.scheduler_info()["workers"])
        d = td.load(tmp_path / "x.npy", chunks=(max(1, shape[0] // 8), side, 32))
        td.save(tmp_path / "y.npy", td.rearrange(d, "a b c -> c (a b)"))
        t = client.gather(client.scatter(tn.arange(5)))
        assert t.tolist() == [0, 1, 2, 3, 4]
        assert set(client.scheduler_info()["workers"]) == started  # none was started again
    subprocess.run([sys.executable, "-m", "tenon", "rearrange", "a b c -> c (a b)",
                    tmp_path / "x.npy", "-o", tmp_path / "z.npy"], check=True)
    subprocess.run(["cmp", tmp_path / "y.npy", tmp_path / "z.npy"], check=True)

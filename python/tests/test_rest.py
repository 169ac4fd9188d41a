"""Files, plans, errors, printing, the command, the signatures."""

import inspect
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import tenon as tn
from conftest import EVERY, numbers, same


@pytest.mark.parametrize("dtype", EVERY + ["bfloat16", "float8_e4m3fn"])
def test_files_round_trip(tmp_path, dtype):
    t = tn.astype(tn.arange(24).reshape(2, 3, 4), dtype)
    path = tmp_path / "x.npy"
    tn.save(path, t.T)
    back = tn.load(path)
    assert back.dtype is t.dtype and back.tolist() == t.T.tolist()
    mapped = tn.load(str(path), mmap=True)
    assert mapped.readonly and mapped.tolist() == back.tolist()


def test_a_file_of_several(tmp_path):
    a, b = numbers((4, 6), "float32", 1), numbers((3,), "int64", 2)
    path = tmp_path / "m.safetensors"
    tn.save(path, {"a": a, "b": tn.asarray(b)}, metadata={"made": "here"})
    with tn.open(path) as f:
        assert sorted(f) == ["a", "b"] and len(f) == 2 and "a" in f and "z" not in f
        assert f.metadata == {"made": "here"} and f.format == "safetensors"
        same(f["a"], a)
        same(f["a", 1:3, ::2], a[1:3, ::2])
        same(f.entry("a")[..., -1], a[..., -1])
        assert f.info("a").shape == (4, 6) and f.info("a").dtype is tn.float32
        kept = f.map("b")
        assert dict(f.items()).keys() == {"a", "b"}
        with pytest.raises(KeyError):
            f["z"]
        with pytest.raises(IndexError):
            f["a", [0, 1]]
    same(kept, b)
    with pytest.raises(ValueError, match="closed"):
        f["a"]


def test_writer(tmp_path):
    a = numbers((6, 5), "float32", 3)
    path = tmp_path / "w.npy"
    with tn.writer(path, ((6, 5), "float32")) as w:
        w.put(a[:2])
        w.put(a[2:])
    same(tn.load(path), a)
    with pytest.raises(RuntimeError):
        with tn.writer(tmp_path / "no.npy", ((6, 5), "float32")) as w:
            raise RuntimeError
    assert not (tmp_path / "no.npy").exists()
    with pytest.raises(ValueError):
        with tn.writer(tmp_path / "short.npy", ((6, 5), "float32")) as w:
            w.put(a[:2])
    with pytest.raises(ValueError, match="closed"):
        w.put(a)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError) as e:
        tn.load(tmp_path / "none.npy")
    assert e.value.errno and "none.npy" in str(e.value)
    bad = tmp_path / "bad.npy"
    bad.write_bytes(b"\x93NUMPY\x01\x00garbage")
    with pytest.raises((tn.FormatError, OSError)):
        tn.load(bad)
    with pytest.raises(OSError):
        tn.save("/no/such/folder/x.npy", tn.zeros(3))
    with pytest.raises((ValueError, NotImplementedError)):
        tn.save(tmp_path / "x.unknown", tn.zeros(3))


def test_plans():
    x = tn.asarray(numbers((2, 3, 4), "float32", 1))
    p = tn.plan(tn.add, x, x)
    assert p.run(x, x).tolist() == (x + x).tolist() and p.kind == "add"
    assert p.nbytes_read == 2 * x.nbytes and p.nbytes_written == x.nbytes
    assert "add f32" in p.explain()
    view = tn.explain(tn.rearrange, x, "a b c -> c b a")
    assert view == "a view: no element moves\n"
    p = tn.plan(tn.rearrange, x, "a b c -> (c b) a")
    assert p(x).tolist() == tn.rearrange(x, "a b c -> (c b) a").tolist()
    out = tn.zeros((12, 2), dtype="float32")
    assert p.run(x, out=out) is out and out.tolist() == p(x).tolist()
    assert tn.plan(tn.permute_dims, x, (2, 0, 1))(x).tolist() == x.permute(2, 0, 1).tolist()
    assert tn.plan(tn.pad, x, 1, "edge")(x).tolist() == tn.pad(x, 1, "edge").tolist()
    assert tn.plan(tn.astype, x, "int32")(x).tolist() == x.astype("int32").tolist()
    with pytest.raises(ValueError, match="made for"):
        tn.plan(tn.add, x, x).run(x, x[0])
    with pytest.raises(tn.OverlapError):
        y = tn.zeros((10,))
        tn.plan(tn.add, y[1:], y[1:], out=y[1:]).run(y[1:], y[:-1], out=y[1:])
    with pytest.raises(TypeError):
        tn.plan(print, x)
    p = tn.plan(tn.exp, x)
    got = []
    ts = [threading.Thread(target=lambda: got.append(p(x).tolist())) for _ in range(4)]
    [t.start() for t in ts]
    [t.join() for t in ts]
    assert len(got) == 4 and all(g == got[0] for g in got)


def test_expressions():
    a, b = numbers((3, 4), "float32", 1), numbers((4,), "float32", 2)
    same(tn.eval("a * b + 1", a=a, b=b), a * b + 1)
    same(tn.eval("a * k", a=a, k=2), a * 2)
    f = tn.fuse(lambda x, y: tn.abs(x) * y - 2)
    assert f.text == "((abs(x) * y) - 2)"
    same(f(a, b), np.abs(a) * b - 2)
    assert f.explain(a, b).startswith("eval f32 (3, 4)")
    assert tn.plan(f, a, b)(a, b).tolist() == f(a, b).tolist()
    with pytest.raises(tn.FormatError):
        tn.eval("a +", a=a)
    with pytest.raises(TypeError):
        tn.fuse(lambda x: x + b)
    out = np.empty((3, 4), "float32")
    assert tn.eval("a - b", a=a, b=b, out=out) is out
    np.testing.assert_array_equal(out, a - b)


CLASSES = [
    (tn.ShapeError, ValueError, lambda: tn.zeros((2, 3)) + tn.zeros((4,))),
    (tn.LayoutError, ValueError,
     lambda: tn.add(1, tn.zeros(3), out=tn.broadcast_to(tn.zeros(1), (3,)))),
    (tn.AxisError, IndexError, lambda: tn.flip(tn.zeros(3), axis=2)),
    (tn.ArgumentError, ValueError, lambda: tn.windows(tn.zeros(3), 2, axis=0, step=0)),
    (tn.IndexingError, IndexError, lambda: tn.zeros(3)[5]),
    (tn.DTypeError, TypeError, lambda: tn.sqrt(tn.arange(3))),
    (tn.DTypeError, TypeError, lambda: tn.asarray([1], dtype="uint64") + tn.asarray([1])),
    (tn.SizeError, OverflowError, lambda: tn.empty((2**40, 2**40))),
    (tn.OutOfMemoryError, MemoryError, lambda: tn.empty((2**50,))),
    (tn.PatternError, ValueError, lambda: tn.rearrange(tn.zeros(3), "a ->")),
]


@pytest.mark.parametrize("own,builtin,call", CLASSES)
def test_errors(own, builtin, call):
    with pytest.raises(own) as e:
        call()
    assert isinstance(e.value, builtin) and isinstance(e.value, tn.TenonError)
    assert e.value.status.startswith("TN_E") and str(e.value)


def test_broadcast_failures_name_shapes_and_axis():
    with pytest.raises(tn.ShapeError, match=r"\(2, 3\), \(4,\).*axis -1 has extents 3 and 4"):
        tn.zeros((2, 3)) + tn.zeros((4,))


def test_sentences_name_the_call_in_python():
    for call, name in [(lambda: tn.zeros((2, 3)) @ tn.zeros((2, 3)), "matmul: "),
                       (lambda: tn.eval("a +* 2", a=1), "eval: "),
                       (lambda: tn.zeros(2, dtype="float33"), "dtype: ")]:
        with pytest.raises(tn.TenonError, match="^" + name):
            call()


def test_repr():
    t = tn.asarray([[1, 2, 3], [4, 5, 6]], dtype="float32")
    assert repr(t) == ("tensor([[1., 2., 3.],\n        [4., 5., 6.]], dtype=float32, "
                       "shape=(2, 3))")
    assert str(t) == "[[1. 2. 3.]\n [4. 5. 6.]]"
    assert "strides=(4, 12)" in repr(t.T) and "readonly" in repr(tn.asarray(b"a"))
    assert repr(tn.asarray(1.5)) == "tensor(1.5, dtype=float64, shape=())"
    assert repr(tn.zeros((0, 3))) == "tensor([], dtype=float64, shape=(0, 3))"
    big = tn.broadcast_to(tn.asarray(1), (10**6, 10**6))
    assert "..." in repr(big) and len(repr(big)) < 2000
    with tn.printoptions(precision=3, edge=1, threshold=4):
        assert repr(tn.asarray([1 / 3, 2, 3, 4, 5, 6])).startswith("tensor([0.333, ..., ")
    for v in (0.1, 1e-7, 1e20, float("nan"), float("-inf"), 123456.789):
        assert repr(tn.asarray(v)).startswith("tensor(")
    assert "0.1" in repr(tn.asarray(0.1, dtype="float32"))
    assert "1.+2.j" in repr(tn.asarray(1 + 2j))


def test_html():
    html = tn.randn((40, 50), seed=1)._repr_html_()
    assert "shape (40, 50)" in html and "<svg" in html and len(html) < 50_000
    assert "<table" in tn.zeros((3,))._repr_html_()


def test_every_function_has_a_signature_and_a_text():
    for name in dir(tn):
        f = getattr(tn, name)
        if name.startswith("_") or not callable(f) or inspect.isclass(f):
            continue
        assert f.__doc__, name
        inspect.signature(f)


def test_methods_have_a_signature_and_a_text():
    for kind in (tn.Tensor, tn.Plan, tn.File, tn.Writer, tn.DType):
        for name in dir(kind):
            f = getattr(kind, name)
            if not name.startswith("_"):
                assert f.__doc__, name
                assert not callable(f) or inspect.signature(f), name


def test_the_stub_names_what_is_there():
    import ast
    path = os.path.join(os.path.dirname(tn.__file__), "__init__.pyi")
    said = set()
    for node in ast.parse(open(path).read()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            said.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            said.add(node.target.id)
        elif isinstance(node, ast.Assign):
            said |= {t.id for t in node.targets}
        elif isinstance(node, ast.ImportFrom):
            said |= {a.asname for a in node.names if a.asname}
    there = {n for n in dir(tn) if not n.startswith("_")
             and not inspect.ismodule(getattr(tn, n))}
    assert there - said == set()
    assert {n for n in said - there if not n.startswith("_")} == set()


def test_config(capsys):
    config = tn.config()
    assert config["version"] == tn.__version__ and config["threads"] > 0
    for part in ("sleef", "openmp", "io_uring", "png"):
        assert config[part] in (True, False)
    assert isinstance(config["blas"], str)
    tn.show_config()
    assert set(line.split()[0] for line in capsys.readouterr().out.splitlines()) == set(config)


def test_array_api_names():
    assert tn.__array_api_version__ == "2024.12"
    assert tn.zeros(2).__array_namespace__() is tn
    with pytest.raises(ValueError):
        tn.zeros(2).__array_namespace__(api_version="1999.01")
    info = tn.__array_namespace_info__()
    assert info.devices() == ["cpu"] and info.default_dtypes()["integral"] is tn.int64


def test_the_command():
    done = subprocess.run([sys.executable, "-m", "tenon", "--version"], capture_output=True,
                          text=True)
    assert done.returncode == 0 and tn.__version__ in done.stdout


def test_import_is_light():
    code = ("import sys, tenon\nassert not {'numpy', 'torch', 'einops', 'dask', 'inspect'} & "
            "set(sys.modules), sorted(sys.modules)\n")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_second_interpreter_is_refused():
    try:
        import _xxsubinterpreters as sub
    except ImportError:
        pytest.skip("not run: subinterpreters")
    i = sub.create()
    with pytest.raises(Exception, match="another interpreter|ImportError"):
        sub.run_string(i, "import tenon")
    sub.destroy(i)


def test_jobs_print_what_c_prints(tmp_path):
    jobs = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "jobs", "jobs.py")
    if not os.path.exists(jobs):
        pytest.skip("not run: examples")
    done = subprocess.run([sys.executable, jobs, str(tmp_path / "j.npy")], capture_output=True,
                          text=True, check=True)
    assert done.stdout == ("rearrange: (2, 3, 4, 5) 21358.0\npad: (2, 3, 8, 9) 76849.0\n"
                           "file: (3, 4, 9) 28337.0\n")


TOUR = """\
[[ 0.  1.  2.  3.]
 [ 4.  5.  6.  7.]
 [ 8.  9. 10. 11.]]
(-16, 4) (4, 3)
[[ 0.  2.  4.  6.  8. 10.]
 [ 1.  3.  5.  7.  9. 11.]]
[  6. 6.75  7.5 8.25]
[2. 1. 0. 1. 2. 3. 2. 1.]
[[-1. -1. -1. -1.]
 [-1. -1.  6.  7.]
 [ 8.  9. 10. 11.]]
<tenon.fuse a, b: (relu((a - 4)) * b)>
TN_ESHAPE: add: shapes [(3, 4), (5,)] do not broadcast: axis -1 has extents 4 and 5
tensor([0., 1., 2., 3.], dtype=bfloat16, shape=(4,))
"""


def test_the_tour():
    tour = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "tour.py")
    if not os.path.exists(tour):
        pytest.skip("not run: examples")
    done = subprocess.run([sys.executable, tour], capture_output=True, text=True, check=True)
    assert done.stdout == TOUR

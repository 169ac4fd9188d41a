"""A plugin of pytest (-p einops_suite --pyargs einops.tests): einops' own tests run on tenon.

Its backend takes the place of NumPy's among those that are tested.  With TENON_EINOPS=functions
the functions of tenon take the place of einops' own; they get and give NumPy arrays there.
"""

import os

import einops
import einops.tests
import numpy as np

import tenon as tn
import tenon.einops

calls = {"n": 0}


def _counted(f):
    def method(*args, **kwargs):
        calls["n"] += 1
        return f(*args, **kwargs)
    return method


def _backends(symbolic=False, layers=False):
    backend = tenon.einops.TenonBackend()
    for name in ("reshape", "transpose", "reduce", "tile", "add_axes", "concat", "einsum",
                 "stack_on_zeroth_dimension", "from_numpy"):
        setattr(backend, name, _counted(getattr(backend, name)))
    return [] if symbolic or layers else [backend]


def _swapped(f):
    def function(*args, **kwargs):
        calls["n"] += 1
        try:
            made = f(*args, **kwargs)
        except (ValueError, TypeError) as e:
            raise einops.EinopsError(str(e)) from e
        if isinstance(made, tn.Tensor):
            return np.asarray(made)
        if isinstance(made, (list, tuple)) and made and isinstance(made[0], tn.Tensor):
            return type(made)(np.asarray(x) if isinstance(x, tn.Tensor) else x for x in made)
        return made
    return function


if os.environ.get("TENON_EINOPS") == "functions":
    os.environ["EINOPS_TEST_BACKENDS"] = "numpy"
    for name in ("rearrange", "reduce", "repeat", "einsum", "pack", "unpack", "parse_shape"):
        setattr(einops, name, _swapped(getattr(tn, name)))
else:
    os.environ["EINOPS_TEST_BACKENDS"] = "tenon"
    einops.tests.collect_test_backends = _backends


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"{calls['n']} calls of tenon")

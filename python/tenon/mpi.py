"""Tensors over the ranks of an mpi4py communicator, by libtenon-mpi, without copying a tensor.

    from mpi4py import MPI
    import tenon.mpi as tm
    rows = tm.mesh((4096, 4096), [tm.block(0)], (comm.size,))
    with tm.Plan(comm, rows, rows, axes=(1, 0), dtype="float32") as plan:
        plan.run(out, x)            # this rank's parts: Tensors or NumPy arrays, any strides

Every call that takes a communicator must be made by all of its ranks; it fails on all or on none.
libtenon-mpi must be built for the MPI that mpi4py uses; TENON_MPI_LIBRARY names it if the
system's loader does not find it.
"""

import ctypes as _c
import os as _os

from mpi4py import MPI as _MPI

import tenon as _tn
from . import _errors

__all__ = ["Dist", "MPIError", "Plan", "RanksError", "block", "boxes", "copy", "cyclic", "even",
           "load", "mesh", "save", "whole"]


class RanksError(_errors.TenonError, RuntimeError):
    """The ranks of a communicator disagree on a call."""

    status = "TN_ERANKS"


class MPIError(_errors.TenonError, RuntimeError):
    """An MPI call failed; the communicator is no longer usable."""

    status = "TN_EMPI"


class _Tensor(_c.Structure):
    _fields_ = [("data", _c.c_void_p), ("dtype", _c.c_int), ("ndim", _c.c_int),
                ("device", _c.c_int32), ("flags", _c.c_uint32),
                ("shape", _c.c_int64 * 64), ("stride", _c.c_int64 * 64)]


class _Placement(_c.Structure):
    _fields_ = [("axis", _c.c_int), ("cut", _c.c_int), ("block", _c.c_int64), ("first", _c.c_int)]


class _Options(_c.Structure):
    _fields_ = [("way", _c.c_int), ("flags", _c.c_uint32), ("max_bytes", _c.c_int64),
                ("reserved", _c.c_void_p * 6)]


class _Buffer(_c.Structure):
    _fields_ = [("buf", _c.c_void_p), ("obj", _c.py_object), ("len", _c.c_ssize_t),
                ("itemsize", _c.c_ssize_t), ("readonly", _c.c_int), ("ndim", _c.c_int),
                ("format", _c.c_char_p), ("shape", _c.POINTER(_c.c_ssize_t)),
                ("strides", _c.POINTER(_c.c_ssize_t)), ("suboffsets", _c.c_void_p),
                ("internal", _c.c_void_p)]


def _open_library():
    flavour = "mpich" if "MPICH" in _MPI.get_vendor()[0] else "openmpi"
    names = [_os.environ.get("TENON_MPI_LIBRARY"), f"libtenon-mpi-{flavour}.so"]
    for name in filter(None, names):
        try:
            return _c.CDLL(name)
        except OSError as e:
            problem = e
    raise ImportError(f"libtenon-mpi for {flavour} is not found; build tenon with "
                      f"-DTENON_MPI=ON, or name it by TENON_MPI_LIBRARY ({problem})")


_lib = _open_library()
_lib.tn_error.restype = _lib.tn_status_name.restype = _c.c_char_p
for _f in ("tn_dist_parts", "tn_dist_copies"):
    getattr(_lib, _f).restype = _c.c_int64
_lib.tn_dist_shape.restype = _c.POINTER(_c.c_int64)
_handle = _c.c_void_p if _MPI._sizeof(_MPI.Comm) == 8 else _c.c_int

_classes = {c.status: c for c in (RanksError, MPIError)}
for _k in vars(_errors).values():
    if isinstance(_k, type) and issubclass(_k, _errors.TenonError) and "status" in vars(_k):
        _classes.setdefault(_k.status, _k)  # the first of a status is the general one


def _check(status):
    if status:
        name = _lib.tn_status_name(status).decode()
        raise _classes.get(name, _errors.TenonError)(_lib.tn_error().decode())


def _comm(comm):
    return _handle(_MPI._handleof(comm))


def _dtype(dtype):
    code = _c.c_int()
    name = str(_tn.asarray([0], dtype=dtype).dtype).rpartition(".")[2] \
        if not isinstance(dtype, str) else dtype
    _check(_lib.tn_dtype_parse(_c.byref(code), name.encode()))
    return code.value


def _numbers(values, kind=_c.c_int64):
    values = [int(v) for v in values]
    return (kind * max(len(values), 1))(*values)


class _Parts:
    """Descriptors of this rank's tensors; they keep the memory alive."""

    def __init__(self, parts, writable):
        if parts is None:
            parts = []
        elif not isinstance(parts, (list, tuple)):
            parts = [parts]
        self.held = []
        self.at = (_Tensor * max(len(parts), 1))()
        for t, part in zip(self.at, parts):
            self._describe(t, part, writable)
        self.n = len(parts)

    def _describe(self, t, part, writable):
        x = part if isinstance(part, _tn.Tensor) else _tn.asarray(part, copy=False)
        name = str(x.dtype).rpartition(".")[2]
        plain = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}.get(name)
        view = _tn.view(x, getattr(_tn, plain)) if plain else x
        b = _Buffer()
        flags = 0x18 | 0x4 | (0x1 if writable else 0)  # strides, format, writable
        _c.pythonapi.PyObject_GetBuffer(_c.py_object(view), _c.byref(b), flags)
        t.data, t.dtype, t.ndim = b.buf, _dtype(name), b.ndim
        for i in range(b.ndim):
            t.shape[i], t.stride[i] = b.shape[i], b.strides[i]
        self.held.append((view, b))

    def __del__(self):
        for _, b in self.held:
            _c.pythonapi.PyBuffer_Release(_c.byref(b))


# ---- distributions ----

def block(axis):
    """ceil(n / p) consecutive indices each, as in torch and FFTW."""
    return (axis, 0, 0, 0)


def even(axis):
    """n / p consecutive indices, the first n % p one more, as in PETSc and mpi4py-fft."""
    return (axis, 1, 0, 0)


def cyclic(axis, block, first=0):
    """Blocks of consecutive indices, round-robin from coordinate first, as in ScaLAPACK."""
    return (axis, 2, block, first)


copy = (-1, 0, 0, 0)  # each rank along this axis of the mesh has a copy


class Dist:
    """A distribution: the elements that each rank has."""

    def __init__(self, handle):
        self._d = handle

    def __del__(self):
        if getattr(self, "_d", None):
            _lib.tn_dist_free(self._d)
            self._d = None

    @property
    def ranks(self):
        return _lib.tn_dist_ranks(self._d)

    @property
    def shape(self):
        shape = _lib.tn_dist_shape(self._d)
        return tuple(shape[i] for i in range(_lib.tn_dist_ndim(self._d)))

    def parts(self, rank):
        """The shapes of a rank's parts."""
        out = []
        for i in range(_lib.tn_dist_parts(self._d, rank)):
            n = (_c.c_int64 * 64)()
            _check(_lib.tn_dist_part(self._d, rank, _c.c_int64(i), n))
            out.append(tuple(n[:len(self.shape)]))
        return out

    def __repr__(self):
        text = _c.create_string_buffer(400)
        _check(_lib.tn_dist_print(self._d, text, _c.c_size_t(400)))
        return f"<tenon.mpi.Dist {text.value.decode()}>"


def mesh(shape, placements, mesh, ranks=None):
    """Distribute over a mesh of ranks; placement i says what axis i of the mesh does."""
    d = _c.c_void_p()
    cuts = (_Placement * max(len(placements), 1))(*[_Placement(*p) for p in placements])
    _check(_lib.tn_dist_mesh(_c.byref(d), len(shape), _numbers(shape), len(mesh),
                             _numbers(mesh, _c.c_int), cuts,
                             None if ranks is None else _numbers(ranks, _c.c_int)))
    return Dist(d)


def boxes(shape, nranks, boxes):
    """Distribute as arbitrary boxes, each (owner, start, extents)."""
    d = _c.c_void_p()
    _check(_lib.tn_dist_boxes(_c.byref(d), len(shape), _numbers(shape), nranks,
                              _c.c_int64(len(boxes)), _numbers([b[0] for b in boxes], _c.c_int),
                              _numbers([x for b in boxes for x in b[1]]),
                              _numbers([x for b in boxes for x in b[2]])))
    return Dist(d)


def whole(shape, nranks, rank):
    """The whole tensor on one rank."""
    d = _c.c_void_p()
    _check(_lib.tn_dist_whole(_c.byref(d), len(shape), _numbers(shape), nranks, rank))
    return Dist(d)


# ---- plans ----

class Plan:
    """A plan of dst = src with its axes permuted and its elements converted; run it on any data.

    way is "auto", "p2p", "shared" or "nodes"; with trust, run does not compare the arguments of
    all ranks.  close() (or with) releases the plan, on all ranks.
    """

    def __init__(self, comm, dst, src, axes=None, *, dtype, src_dtype=None, way="auto",
                 trust=False, max_bytes=0):
        options = _Options(("auto", "p2p", "shared", "nodes").index(way), int(trust), max_bytes)
        self._p = _c.c_void_p()
        order = None if axes is None else _numbers(axes, _c.c_int)
        _check(_lib.tn_mpi_plan_move(_c.byref(self._p), _comm(comm), dst._d, _dtype(dtype),
                                     src._d, _dtype(src_dtype or dtype), order,
                                     _c.byref(options)))
        self._parts = None

    def run(self, dst, src):
        """Move this rank's parts: a tensor, a list of them, or None for no part."""
        to, parts = _Parts(dst, True), _Parts(src, False)
        _check(_lib.tn_mpi_run(self._p, to.at if to.n else None, parts.at if parts.n else None))

    def start(self, dst, src):
        to, parts = _Parts(dst, True), _Parts(src, False)
        _check(_lib.tn_mpi_start(self._p, to.at if to.n else None,
                                 parts.at if parts.n else None))
        self._parts = to, parts

    def wait(self):
        try:
            _check(_lib.tn_mpi_wait(self._p))
        finally:
            self._parts = None

    def explain(self):
        text = _c.create_string_buffer(4096)
        _check(_lib.tn_mpi_explain(self._p, text, _c.c_size_t(4096)))
        return text.value.decode()

    def close(self):
        if self._p:
            _lib.tn_mpi_plan_free(self._p)
            self._p = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# ---- files ----

def load(comm, path, dist, parts, *, name=None, axes=None):
    """Read this rank's parts of a tensor in a file; axis i of dst is axis axes[i] of the tensor."""
    to = _Parts(parts, True)
    _check(_lib.tn_mpi_load(_comm(comm), str(path).encode(), name and name.encode(), dist._d,
                            to.at if to.n else None,
                            None if axes is None else _numbers(axes, _c.c_int)))


def save(comm, path, dist, parts, *, name=None):
    """Write one tensor from all ranks; the file is replaced atomically."""
    of = _Parts(parts, False)
    lists = (_c.c_void_p * 1)(_c.addressof(of.at))
    ds = (_c.c_void_p * 1)(dist._d)
    names = None if name is None else (_c.c_char_p * 1)(name.encode())
    _check(_lib.tn_mpi_save(_comm(comm), str(path).encode(), 1, names, ds, lists, None))

"""ranks.py - tenon.mpi on an mpi4py communicator, against NumPy on the whole array."""
import os
import sys
import tempfile

import numpy as np
from mpi4py import MPI

import tenon
import tenon.mpi as tm

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
whole = np.arange(12 * 10, dtype="f4").reshape(12, 10)
each = -(-12 // size)
mine = whole[rank * each:(rank + 1) * each]

rows = tm.mesh((12, 10), [tm.block(0)], (size,))
cyclic = tm.mesh((10, 12), [tm.cyclic(0, 2)], (size,))
assert rows.parts(rank)[0] == mine.shape and rows.shape == (12, 10) and rows.ranks == size

want = np.concatenate([whole.T[k:k + 2] for k in range(2 * rank, 10, 2 * size)] or
                      [np.empty((0, 12), "f4")])
out = np.full(want.shape, -1, "f8")
with tm.Plan(comm, cyclic, rows, (1, 0), dtype="float64", src_dtype="float32") as plan:
    plan.run(out, mine)  # the arrays themselves: nothing is copied
    assert (out == want).all()
    t = tenon.asarray(np.ascontiguousarray(mine))
    out[:] = -1
    plan.start(out, t)
    plan.wait()
    assert (out == want).all()
    assert "over %d ranks" % size in plan.explain()

# bf16, which has no buffer format of its own
b = tenon.astype(tenon.asarray(np.ascontiguousarray(mine)), "bfloat16")
back = tenon.zeros(b.shape, dtype="bfloat16")
with tm.Plan(comm, rows, rows, dtype="bfloat16") as plan:
    plan.run(back, b)
assert (np.asarray(tenon.astype(back, "float32")) == mine).all()

# all ranks fail alike, with the sentence of the one that is wrong
try:
    tm.Plan(comm, rows, rows, (0, 0) if rank == size - 1 else None, dtype="float32")
    raise SystemExit("no error")
except tenon.ArgumentError as e:
    assert str(e).startswith("rank %d: " % (size - 1)), e
if size > 1:
    try:
        tm.Plan(comm, rows, rows, dtype="float32" if rank else "float64", src_dtype="float32")
        raise SystemExit("no error")
    except tm.RanksError as e:
        assert e.status == "TN_ERANKS"

folder = comm.bcast(tempfile.mkdtemp() if rank == 0 else None)
path = os.path.join(folder, "x.npy")
tm.save(comm, path, rows, mine)
part = np.empty(cyclic.parts(rank)[0], "f4")
tm.load(comm, path, cyclic, part, axes=(1, 0))
assert (part == want).all()
if rank == 0:
    assert (np.load(path) == whole).all()
    os.unlink(path)
    os.rmdir(folder)
    print("tenon.mpi over %d ranks: fine" % size)
sys.stdout.flush()

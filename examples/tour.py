"""tour.py - the module in two minutes; python/tests/test_rest.py checks what it prints."""

import tenon as tn

x = tn.arange(12, dtype="f32").reshape(3, 4)
print(x)
print(x[::-1, 1:3].strides, x.T.shape)
print(tn.rearrange(x, "a (b c) -> c (a b)", c=2))
print((x / 4 + 1).sum(axis=0))
print(tn.pad(x[0], 2, "reflect"))
print(tn.eval("where(x > 5, x, -1)", x=x))
print(tn.fuse(lambda a, b: tn.relu(a - 4) * b))
try:
    x + tn.zeros((5,))
except tn.ShapeError as e:
    print(f"{e.status}: {e}")
print(repr(x[0].astype("bf16")))

"""tenon as a backend of einops: after this import einops.rearrange accepts Tensors."""

import tenon as _tenon
from einops._backends import AbstractBackend as _AbstractBackend


class TenonBackend(_AbstractBackend):
    """The framework interface of einops, implemented with tenon."""

    framework_name = "tenon"

    def __init__(self):
        self._tn = _tenon

    def is_appropriate_type(self, tensor):
        return isinstance(tensor, _tenon.Tensor)

    def from_numpy(self, x):
        return _tenon.asarray(x)

    def to_numpy(self, x):
        return x.to_numpy()

    def create_symbol(self, shape):
        raise NotImplementedError("tenon has no symbols")

    def eval_symbol(self, symbol, symbol_value_pairs):
        raise NotImplementedError("tenon has no symbols")

    def arange(self, start, stop):
        return _tenon.arange(start, stop)

    def shape(self, x):
        return x.shape

    def reshape(self, x, shape):
        return _tenon.reshape(x, tuple(shape))

    def transpose(self, x, axes):
        return _tenon.permute_dims(x, tuple(axes))

    def reduce(self, x, operation, axes):
        return getattr(_tenon, operation)(x, axis=tuple(axes))

    def stack_on_zeroth_dimension(self, tensors):
        return _tenon.stack(tensors)

    def add_axis(self, x, new_position):
        return _tenon.unsqueeze(x, new_position)

    def tile(self, x, repeats):
        return _tenon.tile(x, tuple(repeats))

    def concat(self, tensors, axis):
        return _tenon.concat(tensors, axis=axis)

    def add_axes(self, x, n_axes, pos2len):
        repeats = [1] * n_axes
        for position, length in pos2len.items():
            x = self.add_axis(x, position)
            repeats[position] = length
        return _tenon.expand(x, *[r if r != 1 else n for r, n in zip(repeats, x.shape)])

    def is_float_type(self, x):
        return x.dtype.kind == "f"

    def einsum(self, pattern, *x):
        return _tenon.einsum(pattern, *x)

    def layers(self):
        raise NotImplementedError("tenon has no layers")

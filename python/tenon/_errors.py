"""The exceptions of tenon: each is a TenonError and the builtin that a program catches."""


class TenonError(Exception):
    """A call of the library failed; the text is its sentence, status the name of its status."""

    status = "TN_?"


class ShapeError(TenonError, ValueError):
    """Shapes do not fit."""

    status = "TN_ESHAPE"


class LayoutError(TenonError, ValueError):
    """Strides cannot do what is asked: two indices of an output share an element, no such view."""

    status = "TN_ESTRIDE"


class ArgumentError(TenonError, ValueError):
    """An argument is outside its range."""

    status = "TN_EARG"


class AxisError(ArgumentError, IndexError):
    """An axis is not one of the tensor's."""


class IndexingError(TenonError, IndexError):
    """An index is out of range, or there are too many."""

    status = "TN_EARG"


class DTypeError(TenonError, TypeError):
    """A dtype is unknown, not taken by this call, or does not fit the others."""

    status = "TN_EDTYPE"


class OverlapError(TenonError, ValueError):
    """An output shares memory with a source in a way that would lose data."""

    status = "TN_EOVERLAP"


class SizeError(TenonError, OverflowError):
    """A size or an offset does not fit 64 bits."""

    status = "TN_EOVERFLOW"


class OutOfMemoryError(TenonError, MemoryError):
    """The allocator has no memory left."""

    status = "TN_ENOMEM"


class DeviceError(TenonError, ValueError, BufferError):
    """The memory is not the CPU's."""

    status = "TN_EDEVICE"


class FileError(TenonError, OSError):
    """The system refused a read or a write."""

    status = "TN_EIO"


class FormatError(TenonError, ValueError):
    """A file or a text is malformed."""

    status = "TN_EFORMAT"


class PatternError(FormatError):
    """A pattern is malformed; the sentence points at the character."""


class UnsupportedError(TenonError, NotImplementedError):
    """Understood, and not offered."""

    status = "TN_EUNSUPPORTED"

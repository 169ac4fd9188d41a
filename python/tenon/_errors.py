"""The exceptions of tenon: each is a TenonError and also a built-in exception."""


class TenonError(Exception):
    """A call of the library failed; the text is its sentence, .status the name of its status."""

    status = "TN_?"


class ShapeError(TenonError, ValueError):
    """Shapes do not match."""

    status = "TN_ESHAPE"


class LayoutError(TenonError, ValueError):
    """Strides cannot express a view, or two indices of an output share an element."""

    status = "TN_ESTRIDE"


class ArgumentError(TenonError, ValueError):
    """An argument is out of range."""

    status = "TN_EARG"


class AxisError(ArgumentError, IndexError):
    """The tensor has no such axis."""


class IndexingError(TenonError, IndexError):
    """An index is out of range, or there are too many indices."""

    status = "TN_EARG"


class DTypeError(TenonError, TypeError):
    """A dtype is unknown, not supported by the call, or does not match the others."""

    status = "TN_EDTYPE"


class OverlapError(TenonError, ValueError):
    """An output shares memory with a source in a way that would lose data."""

    status = "TN_EOVERLAP"


class SizeError(TenonError, OverflowError):
    """A size or an offset does not fit in 64 bits."""

    status = "TN_EOVERFLOW"


class OutOfMemoryError(TenonError, MemoryError):
    """The allocator is out of memory."""

    status = "TN_ENOMEM"


class DeviceError(TenonError, ValueError, BufferError):
    """The memory is not on the CPU."""

    status = "TN_EDEVICE"


class FileError(TenonError, OSError):
    """The system refused a read or a write."""

    status = "TN_EIO"


class FormatError(TenonError, ValueError):
    """A file or a text is malformed."""

    status = "TN_EFORMAT"


class PatternError(FormatError):
    """A pattern is malformed; the sentence points to the character."""


class UnsupportedError(TenonError, NotImplementedError):
    """Recognised but not supported."""

    status = "TN_EUNSUPPORTED"

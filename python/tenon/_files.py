"""Tensors in files: load, open, save, writer."""

import json as _json
import os as _os
from collections.abc import Mapping as _Mapping

from . import _core
from ._base import as_tensor


class Entry:
    """One tensor of a file, not read yet: entry[3:5] reads these elements, entry[...] all."""

    def __init__(self, file, i):
        self._file, self._i = file, i

    def _info(self):
        return self._file._open().info(self._i)

    name = property(lambda self: self._file._open().name(self._i), doc="The tensor's name.")
    type = property(lambda self: self._info()[0], doc="The type as the file spells it.")
    dtype = property(lambda self: self._info()[1], doc="The dtype; None: it has none here.")
    shape = property(lambda self: self._info()[2], doc="The extents.")
    offset = property(lambda self: self._info()[3], doc="Bytes from the start of the file.")

    def __getitem__(self, key):
        return self._file._open().fetch(self._i, key)

    def read(self):
        """The whole tensor in newly allocated memory."""
        return self._file._open().read(self._i)

    def map(self):
        """The whole tensor as a read-only view of the file."""
        return self._file._open().map(self._i)

    def __repr__(self):
        dtype = self.dtype.name if self.dtype else self.type
        return f"Entry({self.name!r}, {dtype}, {self.shape})"


class File(_Mapping):
    """An open file: a mapping from names to tensors, which are read on access."""

    def __init__(self, path):
        path = _os.fspath(path)
        fd = _os.open(path, _os.O_RDONLY | getattr(_os, "O_CLOEXEC", 0))
        self._f = _core.open_file(fd, _os.fsdecode(path))  # takes the descriptor
        self.path = path
        self._names = {self._f.name(i): i for i in range(self._f.count())}

    def _open(self):
        if self._f is None:
            raise ValueError(f"{self.path}: the file is closed")
        return self._f

    def _at(self, name):
        f = self._open()
        if name not in self._names:
            raise KeyError(name)
        return f, self._names[name]

    format = property(lambda self: self._open().format(), doc="npy, npz, safetensors, gguf or pt.")

    @property
    def metadata(self):
        """The metadata of a .safetensors, as a dict."""
        text = self._open().metadata()
        return _json.loads(text) if text else {}

    def __getitem__(self, key):
        if isinstance(key, tuple) and key and isinstance(key[0], str):
            f, i = self._at(key[0])
            return f.fetch(i, key[1:])
        f, i = self._at(key)
        return f.read(i)

    def entry(self, name):
        """The tensor of this name, not read yet."""
        return Entry(self, self._at(name)[1])

    def map(self, name):
        """The tensor as a read-only view of the file; it keeps the file open."""
        f, i = self._at(name)
        return f.map(i)

    def info(self, name):
        """The entry of this name: dtype, shape, offset, and the type as the file spells it."""
        return self.entry(name)

    def __iter__(self):
        self._open()
        return iter(self._names)

    def __len__(self):
        self._open()
        return len(self._names)

    def __contains__(self, name):
        self._open()
        return name in self._names

    def close(self):
        """Release the file; maps that are still in use keep it open."""
        self._f = None

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __repr__(self):
        state = "closed" if self._f is None else f"{self.format}, {len(self._names)} tensors"
        return f"<tenon.File {self.path!r}: {state}>"


def open(path):
    """Open a .npy, .npz, .safetensors, .gguf or .pt file."""
    return File(path)


def load(path, *, mmap=False):
    """Load a .npy as a Tensor, other files as a File; mmap gives a read-only view of the file."""
    f = File(path)
    if f.format != "npy":
        return f
    return f.map("") if mmap else f[""]


def _metadata(metadata):
    if metadata is None:
        return None
    return _json.dumps({str(k): str(v) for k, v in metadata.items()}).encode()


def _name(name):
    if not isinstance(name, str):
        raise TypeError(f"save: a name is {name!r}, expected a str")
    return name.encode("utf-8", "surrogateescape")


def save(path, data, *, metadata=None):
    """Write a tensor, or a mapping from names to tensors; the suffix selects the format.

    The file is replaced atomically; after a failure the old one is unchanged.
    """
    where = _os.fsencode(path)
    if isinstance(data, _Mapping):
        names = [_name(k) for k in data]
        tensors = [as_tensor(v) for v in data.values()]
        return _core.save_file(where, names, tensors, _metadata(metadata))
    if metadata is not None:
        return _core.save_file(where, [b"tensor"], [as_tensor(data)], _metadata(metadata))
    return _core.save_file(where, None, [as_tensor(data)], None)


class Writer:
    """A file written by put(piece), in order; it appears, complete, on a clean exit."""

    def __init__(self, path, entries, metadata=None, sync=True):
        if isinstance(entries, _Mapping):
            rows = [(_name(n), shape, dtype) for n, (shape, dtype) in entries.items()]
        else:
            rows = [(b"", *entries)]
        self._w = _core.open_writer(_os.fsencode(path), rows, _metadata(metadata), sync)

    def put(self, piece):
        """Append elements in row-major order."""
        self._w.put(piece)

    def commit(self):
        """Finish the file and put it at path."""
        self._w.commit()

    def abort(self):
        """Discard the file."""
        self._w.abort()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.commit()
        else:
            self.abort()


def writer(path, entries, *, metadata=None, sync=True):
    """Begin a file: entries are {name: (shape, dtype)}, or (shape, dtype) for a .npy."""
    return Writer(path, entries, metadata, sync)

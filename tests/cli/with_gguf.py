#!/usr/bin/env python3
"""with_gguf.py TENON DATA - .gguf that the command writes, read by the package gguf.

Leaves with 77 (skipped) when the packages gguf and NumPy are not there."""
import json
import os
import subprocess
import sys
import tempfile

try:
    import gguf
    import numpy as np
except ImportError:
    print("not run: gguf")
    sys.exit(77)

TENON = os.path.abspath(sys.argv[1])
DATA = os.path.abspath(sys.argv[2])
VALUES = {
    "general.architecture": "llama",
    "text": "a\u00e9\n",
    "yes": True,
    "u32": {"u32": 7},
    "i64": {"i64": -5},
    "f32": {"f32": 0.5},
    "words": {"string": ["a", "", "\u00e9"]},
    "numbers": {"i16": [1, -2, 3]},
}


def tenon(*words):
    done = subprocess.run([TENON, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"tenon {words}: {done.stderr}")


def plain(value):
    """What the package should say for a value of the JSON form."""
    return next(iter(value.values())) if isinstance(value, dict) else value


def check(name, got, want):
    if got != want:
        sys.exit(f"{name}: got {got}, expected {want}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    json.dump(VALUES, open("kv.json", "w"))
    arrays = {
        f"t.{d}": np.arange(30).astype(d).reshape(2, 3, 5)
        for d in ("float32", "float16", "float64", "int8", "int16", "int32", "int64")
    }
    np.savez("x.npz", **arrays)
    for align in (None, 64, 4096):
        words = ["--align", str(align)] if align else []
        tenon("convert", "x.npz", "--kv", "kv.json", *words, "-f", "-o", "x.gguf")
        reader = gguf.GGUFReader("x.gguf")
        for key, value in VALUES.items():
            check(key, reader.fields[key].contents(), plain(value))
        check("alignment", reader.alignment, align or 32)
        check("names", [t.name for t in reader.tensors], list(arrays))
        for t in reader.tensors:
            if t.data.dtype != arrays[t.name].dtype or (t.data != arrays[t.name]).any():
                sys.exit(f"{t.name}: other elements")
    writer = gguf.GGUFWriter("theirs.gguf", "llama")
    writer.add_uint32("u", 3)
    writer.add_array("list", ["p", "q"])
    for name, array in arrays.items():
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    tenon("drop", "t.int8", "theirs.gguf", "-o", "ours.gguf")
    mine, theirs = gguf.GGUFReader("ours.gguf"), gguf.GGUFReader("theirs.gguf")
    for key, field in theirs.fields.items():
        if not key.startswith("GGUF."):
            check(key, mine.fields[key].contents(), field.contents())
    tenon("convert", "theirs.gguf", "-o", "same.gguf")
    check("the file", open("same.gguf", "rb").read(), open("theirs.gguf", "rb").read())
print(f"{len(arrays)} dtypes, {len(VALUES)} values, 3 alignments, as gguf reads and writes them")

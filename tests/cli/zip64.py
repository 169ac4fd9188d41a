#!/usr/bin/env python3
"""zip64.py TENON - an .npz beyond 4 GiB, nearly all of it a hole: what lies behind is found.

The archive is put together here, and zipfile says that it is one.  Leaves with 77 (skipped) where
a file cannot have such a hole."""
import os
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

TENON = os.path.abspath(sys.argv[1])
ALL_ONES = 0xFFFFFFFF
LONG = (1 << 32) + 8


def npy(shape):
    text = "{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % shape
    return b"\x93NUMPY\1\0\x76\0" + text.ljust(117).encode() + b"\n"


def put_member(f, name, n, tail, wide):
    """A member of n elements of which only the last ones are not in a hole; its record."""
    at, head, path = f.tell(), npy(n), name + b".npy"
    size = len(head) + n
    crc = zlib.crc32(head + tail) if n == len(tail) else 0
    lengths = struct.pack("<HHQQ", 1, 16, size, size) if wide else b""
    short = ALL_ONES if wide else size
    facts = struct.pack("<HHHHHLLLH", 45, 0, 0, 0, 33, crc, short, short, len(path))
    f.write(b"PK\3\4" + facts + struct.pack("<H", len(lengths)) + path + lengths + head)
    f.seek(n - len(tail), 1)
    f.write(tail)
    longs = [size, size] * wide + [at] * (at >= ALL_ONES)
    extra = struct.pack("<HH%dQ" % len(longs), 1, 8 * len(longs), *longs) if longs else b""
    rest = struct.pack("<HHHHLL", len(extra), 0, 0, 0, 0, min(at, ALL_ONES))
    return b"PK\1\2" + struct.pack("<H", 45) + facts + rest + path + extra


def put_end(f, records):
    at, size, n = f.tell(), sum(map(len, records)), len(records)
    f.write(b"".join(records))
    place = f.tell()
    f.write(b"PK\6\6" + struct.pack("<QHHLLQQQQ", 44, 45, 45, 0, 0, n, n, size, at))
    f.write(b"PK\6\7" + struct.pack("<LQL", 0, place, 1))
    f.write(b"PK\5\6" + struct.pack("<HHHHLLH", 0, 0, n, n, size, ALL_ONES, 0))


def run(*words):
    done = subprocess.run([TENON, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"tenon {words}: {done.stderr}")
    return done.stdout


def expect(got, want, what):
    if got != want:
        sys.exit(f"{what}: {got!r}, not {want!r}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("x.npz", "wb") as f:
        try:
            records = [put_member(f, b"first", 3, b"abc", False)]
            records.append(put_member(f, b"long", LONG, b"tail", True))
            records.append(put_member(f, b"last", 3, b"xyz", False))
            put_end(f, records)
        except OSError:
            print("not run: files of 5 GB")
            sys.exit(77)
    if os.stat("x.npz").st_blocks * 512 > 1 << 20:
        print("not run: sparse files")
        sys.exit(77)
    places = [x.header_offset for x in zipfile.ZipFile("x.npz").infolist()]
    sizes = [x.file_size for x in zipfile.ZipFile("x.npz").infolist()]
    expect((places[2] > 1 << 32, sizes), (True, [131, LONG + 128, 131]), "zipfile")
    rows = [row.split() for row in run("info", "x.npz").splitlines()]
    expect([row[0] for row in rows[2:]], ["first", "long", "last"], "names")
    expect([row[3] for row in rows[2:]], ["3", str(LONG), "3"], "bytes")
    for name, text, want in (
        ("long", "[-5:]", "[  0, 116,  97, 105, 108]"),
        ("long", "[4294967290:4294967296:2]", "[0, 0, 0]"),
        ("last", "[:]", "[120, 121, 122]"),
        ("first", "[:]", "[97, 98, 99]"),
    ):
        run("slice", text, f"x.npz:{name}", "-f", "-o", "y.npy")
        expect(run("show", "y.npy").splitlines()[1], want, name + text)
    expect(run("show", "x.npz:last").splitlines()[1], "[120, 121, 122]", "show")

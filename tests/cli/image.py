#!/usr/bin/env python3
"""image.py TENON DATA - tenon show --image: a PNG of every dtype and layout, read back here.

Leaves with 77 (skipped) when the command was built without libpng, after it has said so."""
import os
import struct
import subprocess
import sys
import tempfile
import zlib

TENON = os.path.abspath(sys.argv[1])
DATA = os.path.abspath(sys.argv[2])


def tenon(*words, code=0):
    done = subprocess.run([TENON, *words], capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"tenon {words}: exit code {done.returncode}: {done.stderr}")
    return done.stderr


def npy(path, descr, shape, raw, fortran=False):
    head = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(shape)}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    open(path, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + raw)


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def read_png(path):
    """(width, height, channels, lines) of 8-bit grey or RGB."""
    raw, at, packed = open(path, "rb").read(), 8, b""
    assert raw[:8] == b"\x89PNG\r\n\x1a\n"
    while at < len(raw):
        n, kind = struct.unpack(">I4s", raw[at : at + 8])
        body = raw[at + 8 : at + 8 + n]
        assert struct.unpack(">I", raw[at + 8 + n : at + 12 + n])[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8
        packed += body if kind == b"IDAT" else b""
        at += 12 + n
    channels = {0: 1, 2: 3}[colour]
    data, lines, before = zlib.decompress(packed), [], bytes(width * channels)
    for y in range(height):
        line = bytearray(data[y * (width * channels + 1) + 1 :][: width * channels])
        how = data[y * (width * channels + 1)]
        for x in range(len(line)):
            a = line[x - channels] if x >= channels else 0
            c = before[x - channels] if x >= channels else 0
            b = before[x]
            line[x] = (line[x] + [0, a, b, (a + b) // 2, paeth(a, b, c)][how]) & 255
        before = bytes(line)
        lines.append(before)
    return width, height, channels, lines


def check(what, got, want):
    if got != want:
        sys.exit(f"{what}: got {got}, expected {want}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    npy("u8.npy", "|u1", (2, 3), bytes([0, 1, 2, 100, 200, 255]))
    said = subprocess.run([TENON, "show", "--image", "u8.png", "u8.npy"], capture_output=True, text=True)
    if said.returncode == 1 and "this build has no libpng" in said.stderr:
        assert not os.path.exists("u8.png")
        print("not run: libpng")
        sys.exit(77)
    check("u8", read_png("u8.png"), (3, 2, 1, [bytes([0, 1, 2]), bytes([100, 200, 255])]))
    npy("f32.npy", "<f4", (2, 2), struct.pack("<4f", -1, 0, 1, 3))
    tenon("show", "--image", "f.png", "f32.npy")
    check("f32", read_png("f.png")[3], [bytes([0, 64]), bytes([128, 255])])
    npy("f.npy", "<f4", (2, 2), struct.pack("<4f", -1, 1, 0, 3), True)
    tenon("show", "--image", "f.png", "f.npy", "-f")
    check("Fortran order", read_png("f.png")[3], [bytes([0, 64]), bytes([128, 255])])
    npy("nan.npy", "<f4", (1, 3), struct.pack("<3f", 0, float("nan"), 1))
    tenon("show", "--image", "n.png", "nan.npy")
    check("NaN is black", read_png("n.png")[3], [bytes([0, 0, 255])])
    tenon("show", "--image", "v.png", "--colour", "viridis", "nan.npy")
    check("colours", read_png("v.png")[3], [bytes([68, 1, 84, 216, 27, 140, 253, 231, 37])])
    npy("same.npy", "<i4", (1, 2), struct.pack("<2i", 7, 7))
    tenon("show", "--image", "s.png", "same.npy")
    check("all equal", read_png("s.png")[3], [bytes([0, 0])])
    rgb = bytes(range(12))
    npy("last.npy", "|u1", (2, 2, 3), rgb)
    tenon("show", "--image", "l.png", "last.npy")
    check("channels last", read_png("l.png"), (2, 2, 3, [rgb[:6], rgb[6:]]))
    first = bytes(rgb[k * 3 + c] for c in range(3) for k in range(4))
    npy("first.npy", "|u1", (3, 2, 2), first)
    tenon("show", "--image", "c.png", "first.npy")
    check("channels first", read_png("c.png"), (2, 2, 3, [rgb[:6], rgb[6:]]))
    for name in ("i8", "i16", "u16", "i64", "u64", "f16", "bf16", "f64", "bool", "f8e4m3"):
        tenon("slice", "[0]", f"{DATA}/c_{name}.npy", "-f", "-o", "x.npy")
        tenon("show", "--image", "x.png", "-f", "x.npy")
        check(name, read_png("x.png")[:3], (5, 3, 1))
    tenon("show", "--image", "q.png", f"{DATA}/quant.gguf:q4_k")
    check("quantised", read_png("q.png")[:2], (512, 3))
    big = bytes(i * 7 % 251 for i in range(1000 * 700))
    npy("big.npy", "|u1", (700, 1000), big)
    tenon("show", "--max-mem", "5M", "--image", "b.png", "big.npy")
    check("large", b"".join(read_png("b.png")[3]), big)
    for words, said in (
        (["c.png", "first.npy"], "c.png already exists; use -f to overwrite"),
        (["no.png", f"{DATA}/line.npy"], "not a picture"),
        (["no.png", f"{DATA}/c_c64.npy"], "not a picture"),
        (["nowhere/no.png", "u8.npy"], "No such file"),
        (["no.png", f"{DATA}/state.pt"], "name one as"),
    ):
        if said not in tenon("show", "--image", *words, code=1):
            sys.exit(f"{words}: not refused as {said}")
    tenon("show", "--image", "no.png", "--colour", "red", "u8.npy", code=2)
    tenon("show", "--image", "no.png", "u8.npy", "f.npy", code=2)
    tenon("show", "--image", "no.jpg", "u8.npy", code=2)
    if os.path.exists("no.png") or any("." + str(os.getpid()) in n for n in os.listdir(".")):
        sys.exit("something is left behind")
print("pictures of 12 dtypes, grey, colours and channels, as the elements say")

#!/usr/bin/env python3
"""memory.py TENON - every command that streams holds at most --max-mem and 32 MiB beside it, on files
that are several times as large."""
import os, struct, subprocess, sys, tempfile

MOST = 16  # MiB of --max-mem
ROWS, COLUMNS = 4096, 4608  # 72 MiB of f32
COMMANDS = [
    "permute 1,0 x.npy", "rearrange 'a b -> b a' x.npy", "flip -a 1 x.npy", "roll 5 -a 1 x.npy",
    "slice '[1:, ::2]' x.npy", "pad --before 1,1 x.npy", "cast f16 x.npy", "op add x.npy 1",
    "concat -a 1 x.npy x.npy", "stack -a 0 x.npy x.npy", "reduce sum -a 0 x.npy",
    "reduce mean -a 1 x.npy", "scan cumsum -a 0 x.npy", "sort -a 1 x.npy", "take -a 0 i.npy x.npy",
    "eval x+1 x=x.npy", "einsum 'ab->b' x.npy", "convert x.npy", "select x x.st.safetensors",
    "rename x=y x.st.safetensors", "merge x.st.safetensors",
]
READERS = ["stats x.npy", "report x.npy -f -o r.html", "diff x.npy y.npy", "show x.npy"]
FOLDERS = ["split --shard-size 30M x.st.safetensors", "reshard rules.txt x.st.safetensors"]


def write_npy(path, descr, shape, data):
    header = str({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (117 - len(header)) + b"\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        for part in data:
            f.write(part)


def peak(tenon, text):
    """KiB of resident memory at most; the command has done its work."""
    words = f"{tenon} {text} --max-mem {MOST}M"
    child = subprocess.Popen(["sh", "-c", f"exec {words}"], stdout=subprocess.DEVNULL,
                             env=dict(os.environ, OMP_NUM_THREADS="2"))
    status, usage = os.wait4(child.pid, 0)[1:]
    if status:
        sys.exit(f"{words}: status {status}")
    return usage.ru_maxrss


def main():
    tenon = os.path.abspath(sys.argv[1])
    worst = (0, "")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        row = struct.pack(f"<{COLUMNS}f", *((i * 40503 % 65521) / 65521 for i in range(COLUMNS)))
        rows = [row[4 * k:] + row[:4 * k] for k in range(64)]
        write_npy("x.npy", "<f4", (ROWS, COLUMNS), (rows[i % 64] for i in range(ROWS)))
        os.link("x.npy", "y.npy")
        write_npy("i.npy", "<i8", (ROWS,), [struct.pack("<q", i * 7 % ROWS) for i in range(ROWS)])
        with open("rules.txt", "w") as f:
            f.write("x : permute 1,0 -> a + b @0 : cast bf16\n")
        peak(tenon, "convert x.npy --no-sync -o x.st.safetensors")
        out = {c: f"{c} --no-sync -f -o out.safetensors" for c in COMMANDS}
        out.update({c: c for c in READERS})
        out.update({c: f"{c} --no-sync -f -o outdir" for c in FOLDERS})
        for command, words in out.items():
            used = peak(tenon, words)
            worst = max(worst, (used, command))
            if used > (MOST + 32) << 10:
                sys.exit(f"{command}: {used >> 10} MiB of memory with --max-mem {MOST}M")
    print(f"at most {worst[0] >> 10} MiB: {worst[1]}")


main()

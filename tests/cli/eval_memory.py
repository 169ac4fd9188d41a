#!/usr/bin/env python3
"""eval_memory.py TENON - reductions of files that are larger than --max-mem: the bytes are those of
every other budget and number of threads, and memory is bounded."""
import array, os, resource, struct, subprocess, sys, tempfile

ROWS, COLUMNS = 640, 12000  # 29 MiB
BOUND = 20 << 10  # KiB of resident memory: 4 MiB of budget, reads, the program and its stacks
TEXTS = {
    "sqrt(mean((x - m)**2)) + max(x)": None,
    "sum(x * m, axis=0) / sqrt(sum(x * x, axis=0) * sum(m * m + 0 * x, axis=-2))": None,
    "max(x + m, axis=-1) - min(x, axis=1) + max(x + m, axis=-1) / 2": None,
    "sum ( x*m , axis = (0, 1) )": [["eval", "x*m"], ["reduce", "sum"]],
    "any(x > 0.999999, axis=1)": [["eval", "x > 0.999999"], ["reduce", "any", "-a", "1"]],
}


def write_npy(path, shape, rows):
    header = str({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    header += b" " * (117 - len(header)) + b"\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        for row in rows:
            f.write(row)


def run(tenon, threads, *words):
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    subprocess.run([tenon, *words, "--no-sync", "-f"], check=True, env=environment)


def check_reads(tenon):
    """Equal reductions are read once, and progress counts what is read."""
    texts = {"sum(x*x) / 2 + sum( x * x )": 1, "sum(x*x) + max(x)": 2}
    for text, passes in texts.items():
        done = subprocess.run([tenon, "eval", text, "x=x.npy", "--max-mem", "3M", "--progress", "-f", "-o", "p.npy"],
                              check=True, capture_output=True, text=True)
        total = f" of {passes * ROWS * COLUMNS * 4 / 1e6:.1f} MB"
        if total not in done.stderr:
            sys.exit(f"{text}: expected progress{total}, got {done.stderr}")


def main():
    tenon = os.path.abspath(sys.argv[1])
    state, values = 1, []
    for _ in range(COLUMNS * 8):
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        values.append((state >> 40) / (1 << 23) - 0.5)
    data = array.array("f", values).tobytes()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_npy("x.npy", (ROWS, COLUMNS), (data[i % 7 * 40000:][:COLUMNS * 4] for i in range(ROWS)))
        write_npy("m.npy", (COLUMNS,), [data[4000:][:COLUMNS * 4]])
        check_reads(tenon)
        for memory, threads in [("1", 1), ("3M", 2), ("4M", 3), ("1G", 1)]:
            for i, text in enumerate(TEXTS):
                names = [n + "=" + n + ".npy" for n in "xm" if n in text.replace("max", "")]
                run(tenon, threads, "eval", text, *names, "--max-mem", memory, "-o",
                    f"{i}.{memory}.npy")
            used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            if memory != "1G" and used > BOUND and "asan" not in tenon:
                sys.exit(f"--max-mem {memory}: {used} KiB of memory, expected at most {BOUND}")
        for i, (text, steps) in enumerate(TEXTS.items()):
            results = {m: open(f"{i}.{m}.npy", "rb").read() for m in ("1", "3M", "4M", "1G")}
            if len(set(results.values())) != 1:
                sys.exit(f"{text}: other bytes for another --max-mem")
            if steps:
                names = [n + "=" + n + ".npy" for n in "xm" if n in text]
                run(tenon, 2, *steps[0], *names, "-o", "value.npy")
                run(tenon, 2, *steps[1], "value.npy", "-o", "steps.npy")
                if open("steps.npy", "rb").read() != results["1"]:
                    sys.exit(f"{text}: other bytes than its steps")


main()

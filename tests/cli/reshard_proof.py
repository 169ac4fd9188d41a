#!/usr/bin/env python3
"""reshard_proof.py TENON DATA - proofs of reshard are checked by a program of its own; there and back
gives the same bytes; a plan with one piece changed does not pass.

The checker is check_proof: it knows nothing of rules, only of nests."""
import itertools
import json
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

TENON = sys.argv[1]
WIDTHS = {"F32": 4, "F64": 8, "BF16": 2, "F16": 2, "U8": 1, "I32": 4}


def save(path, tensors):
    """{name: (shape, numbers)} as f32."""
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        raw = struct.pack("<%df" % len(values), *values)
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def load(path):
    """{name: (dtype, shape, bytes of each element)}"""
    with open(path, "rb") as f:
        raw = f.read()
    n = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + n])
    header.pop("__metadata__", None)
    out = {}
    for name, t in header.items():
        low, high = t["data_offsets"]
        part, w = raw[8 + n + low:8 + n + high], WIDTHS[t["dtype"]]
        out[name] = (t["dtype"], t["shape"], [part[i:i + w] for i in range(0, len(part), w)])
    return out


def count(shape):
    n = 1
    for x in shape:
        n *= x
    return n


def nest(n, at, step):
    for index in itertools.product(*(range(x) for x in n)):
        yield at + sum(i * s for i, s in zip(index, step))


def check_proof(lines, outdir):
    """Every output element from one input element, every input element used once."""
    inputs = lines[0]["inputs"]
    used = {t["id"]: [0] * count(t["shape"]) for t in inputs}
    files, got, bytes_out = {}, {}, 0
    for t in inputs:
        if t["file"] not in files:
            files[t["file"]] = load(t["file"])
    for line in lines[1:-1]:
        size = count(line["shape"])
        made = [None] * size
        for p in line["pieces"]:
            source = inputs[p["in"]]
            elements = files[source["file"]][source["tensor"]][2]
            outs = nest(p["n"], p["out_at"], p["out_step"])
            ins = nest(p["n"], p["in_at"], p["in_step"])
            for o, i in zip(outs, ins):
                if not (0 <= o < size and 0 <= i < len(elements)) or made[o] is not None:
                    return f"{line['tensor']}: element {o} twice or outside"
                made[o] = elements[i]
                if not line["copy"]:
                    used[p["in"]][i] += 1
        if None in made:
            return f"{line['tensor']}: element {made.index(None)} has no source"
        bytes_out += size * WIDTHS[line["dtype"]]
        path = os.path.join(outdir, line["file"])
        if path not in got:
            got[path] = load(path)
        dtype, shape, have = got[path][line["tensor"]]
        if dtype != line["dtype"] or shape != line["shape"]:
            return f"{line['tensor']}: {dtype} {shape} in the file"
        if dtype == "F32" and have != made:
            return f"{line['tensor']}: other bytes in the file"
    for t in inputs:
        if t["use"] == "used" and set(used[t["id"]]) - {1}:
            return f"{t['tensor']}: not every element is used once"
        if t["use"] == "sliced" and (max(used[t["id"]]) > 1 or min(used[t["id"]]) > 0):
            return f"{t['tensor']}: an element is used twice, or all of them are used"
    if lines[-1]["sum"]["bytes_out"] != bytes_out:
        return "the sum is wrong"
    return None


def tenon(*words, fails=False):
    run = subprocess.run([TENON, *words], capture_output=True, text=True)
    if (run.returncode != 0) != fails:
        sys.exit(f"{' '.join(words)}: {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stderr if fails else run.stdout


def rules(text):
    with open("rules.txt", "w") as f:
        f.write(text)
    return "rules.txt"


def reshard(text, *words):
    shutil.rmtree("out", ignore_errors=True)
    tenon("reshard", rules(text), *words, "-o", "out", "--proof", "proof.jsonl")
    with open("proof.jsonl") as f:
        lines = [json.loads(line) for line in f]
    wrong = check_proof(lines, "out")
    if wrong:
        sys.exit(f"{text}\n{words}: {wrong}")
    tenon("reshard", rules(text), *words, "-o", "out", "--verify")
    return lines


def changed_plans_fail(lines):
    """One number of one piece changed: the proof does not hold."""
    for _ in range(20):
        copy = json.loads(json.dumps(lines))
        line = random.choice([x for x in copy[1:-1] if x["pieces"] and not x["copy"]])
        piece = random.choice(line["pieces"])
        what = random.choice(["out_at", "in_at", "n"])
        if what == "n":
            if not piece["n"]:
                continue
            piece["n"][random.randrange(len(piece["n"]))] -= 1
        else:
            piece[what] += 1
        if check_proof(copy, "out") is None:
            sys.exit(f"a changed plan passes: {line['tensor']}: {what}")


def numbers(shape, first):
    return shape, [float(first + i) for i in range(count(shape))]


def there_and_back():
    """4 ranks become 8, and 4 again; fused and gated weights, copies."""
    ranks = []
    for r in range(4):
        ranks.append(f"rank{r}.safetensors")
        save(ranks[-1], {
            "a.qkv": numbers([8 + 4 + 4, 6], 1000 * r), "a.gate_up": numbers([16, 5], 20000 + 1000 * r),
            "a.down": numbers([6, 8], 40000 + 1000 * r), "norm": numbers([6], 7)})
    text = """a.qkv ranks@0/32,16,16 -> = ranks@0/32,16,16
a.gate_up ranks@0/2 -> = ranks@0/2
a.down ranks@1 -> = ranks@1
norm ranks= -> = ranks=
"""
    lines = reshard(text, *ranks, "--in-ranks", "--out-ranks", "8")
    changed_plans_fail(lines)
    shutil.rmtree("eight", ignore_errors=True)
    os.rename("out", "eight")
    eight = sorted(os.path.join("eight", x) for x in os.listdir("eight"))
    reshard(text, *eight, "--in-ranks", "--out-ranks", "4")
    for r, name in enumerate(sorted(os.listdir("out"))):
        tenon("diff", f"rank{r}.safetensors", os.path.join("out", name))
    save("rank3.safetensors", {**{k: (s, [x for x in v]) for k, (s, v) in {
        "a.qkv": numbers([16, 6], 0), "a.gate_up": numbers([16, 5], 0),
        "a.down": numbers([6, 8], 0), "norm": numbers([6], 8)}.items()}})
    why = tenon("reshard", rules(text), *ranks, "--in-ranks", "-o", "no", fails=True)
    if 'copies of tensor "norm" differ' not in why or os.path.exists("no"):
        sys.exit(why)


def killed_runs_go_on():
    """Killed at random moments: OUTDIR is whole or absent, and the same command completes it."""
    save("big.safetensors", {f"w{i}": numbers([64, 1024], i) for i in range(12)})
    words = [TENON, "reshard", rules("** -> = : permute 1,0\n"), "big.safetensors", "-o", "killed",
             "--shard-size", "300k"]
    for _ in range(min(10, int(os.environ.get("KILLS", "10")))):
        shutil.rmtree("killed", ignore_errors=True)
        run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            run.wait(random.random() * 0.15)
        except subprocess.TimeoutExpired:
            run.kill()
        run.wait()
        if not os.path.exists("killed"):
            tenon(*words[1:])
        if os.path.exists("killed.partial"):
            sys.exit("killed.partial is left")
        tenon(*words[1:], "--verify")


def stop_behind_first(*words):
    """A run whose second file is refused: OUTDIR.partial is left with the first one."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
    run = subprocess.run([TENON, *words], capture_output=True, preexec_fn=limit)
    left = sorted(os.listdir(words[-1] + ".partial"))
    if run.returncode != 1 or left != [".plan", "model-00001-of-00002.safetensors"]:
        sys.exit(f"{run.returncode} {left} {run.stderr}")


def stopped_runs():
    """Going on takes files as they are only if their headers are those that were written, and only
    for the inputs that they were made of."""
    def begin(out):
        shutil.rmtree("set", ignore_errors=True)
        os.mkdir("set")
        save("set/a.safetensors", {"a": numbers([8, 16], 0)})
        save("set/b.safetensors", {"b": numbers([64, 64], 5)})
        words = ["reshard", rules("** -> = : permute 1,0\n"), "set", "--shard-size", "4k", "-o", out]
        stop_behind_first(*words)
        return words, f"{out}.partial/model-00001-of-00002.safetensors"

    words, first = begin("go")
    kept = os.stat(first).st_ino
    tenon(*words)
    if os.stat("go/model-00001-of-00002.safetensors").st_ino != kept:
        sys.exit("the complete file was written again")
    tenon(*words, "--verify")
    words, first = begin("go2")
    with open(first, "r+b") as f:  # as long as before
        f.seek(20)
        f.write(b"\0")
    tenon(*words)
    tenon(*words, "--verify")
    words, first = begin("go3")
    save("set/b.safetensors", {"b": numbers([64, 64], 6)})
    why = tenon(*words, fails=True)
    if "is left from another plan" not in why:
        sys.exit(why)
    words, first = begin("go4")
    rules("** -> = : permute 1,0 # the same but for a remark\n")
    tenon(*words, fails=True)
    words, first = begin("set/inside")
    tenon(*words)
    tenon(*words, "--verify")


def many_tensors():
    """A plan of 10,000 tensors, with its proof."""
    save("many.safetensors", {f"l.{i}.{x}": numbers([2, 2], i) for i in range(5000) for x in "ab"})
    tenon("reshard", rules("l.{i}.a + l.{i}.b @0 -> m.{i}\n"), "many.safetensors", "--dry-run")


STEPS = [
    ("permute 1,0", lambda s: [s[1], s[0]] if len(s) == 2 else None),
    ('rearrange "(a b) c -> b (c a)" a=2', lambda s: [s[0] // 2, 2 * s[1]] if len(s) == 2 and s[0] % 2 == 0 else None),
    ('rearrange "a (b c) -> (a c) b" c=3', lambda s: [3 * s[0], s[1] // 3] if len(s) == 2 and s[1] % 3 == 0 else None),
    ('rearrange "-a b -> a b"', lambda s: s if len(s) == 2 else None),
    ('rearrange "a -b -> b a"', lambda s: [s[1], s[0]] if len(s) == 2 else None),
    ('slice "[::-1]"', lambda s: s),
    ("reshape -1,6", lambda s: [count(s) // 6, 6] if count(s) % 6 == 0 else None),
    ("reshape -1", lambda s: [count(s)]),
    ("reshape 2,-1", lambda s: [2, count(s) // 2] if count(s) % 2 == 0 else None),
]


def random_steps(shape, most):
    text = ""
    for _ in range(random.randrange(most + 1)):
        step, after = random.choice(STEPS)
        shape_after = after(shape)
        if shape_after:
            text, shape = text + " : " + step, shape_after
    return text, shape


def random_rules():
    """Joined, changed, cut and changed again: the proof holds."""
    n, rows, columns = random.randrange(1, 4), random.randrange(1, 7), random.choice([2, 3, 6, 12])
    axis = random.randrange(2)
    save("in.safetensors", {f"w{i}": numbers([rows, columns], 1000 * i) for i in range(n)})
    left = " + ".join(f"w{i}" for i in range(n))
    joined = [rows, columns]
    if n > 1:
        left += f" @{axis}"
        joined[axis] *= n
    steps, shape = random_steps(joined, 3)
    cut = [k for k, x in enumerate(shape) if x > 1]
    right = "y"
    if cut and random.random() < 0.7:
        k = random.choice(cut)
        at = random.randrange(1, shape[k])
        right = f"y + z @{k} {at},{shape[k] - at}"
    lines = reshard(f"{left}{steps} -> {right}\n", "in.safetensors")
    changed_plans_fail(lines)


def sliced_inputs():
    """What a slice leaves out is not used, and the proof says so."""
    save("in.safetensors", {"a": numbers([6, 4], 0), "b": numbers([3], 100)})
    lines = reshard('a : slice "[1:5, ::2]" -> =\nb -> =\n', "in.safetensors")
    if [t["use"] for t in lines[0]["inputs"]] != ["sliced", "used"]:
        sys.exit(f"uses: {lines[0]['inputs']}")


def main():
    random.seed(int(os.environ.get("TEST_SEED", "1")))
    work = tempfile.mkdtemp()
    os.chdir(work)
    try:
        there_and_back()
        sliced_inputs()
        killed_runs_go_on()
        stopped_runs()
        many_tensors()
        rounds = int(os.environ.get("TEST_CASES", "25"))
        for _ in range(rounds):
            random_rules()
        print(f"{rounds} random rule sets")
    finally:
        os.chdir("/")
        shutil.rmtree(work)


main()

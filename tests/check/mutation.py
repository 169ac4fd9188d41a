#!/usr/bin/env python3
"""mutation.py [--all] [--count N] [--seed N] [FILE...] - do the tests notice small faults?

Each mutant is one small change of core, view or io: a comparison moved or turned, + for -, && for
||, a constant off by one, a refusal dropped, a loop not left.  It is compiled with the address
and undefined sanitizers, linked with the library behind it, and the tests of its room run until
one fails.  A mutant that the compiler makes the same code of is no mutant.  Those that live are
named, and looked up in mutation_survivors.txt: with a reason they are equivalent and do not
count.  A sample of N is drawn with a seed that is printed; --all takes every mutant.  A room of
which fewer than LEAST are killed is a failure.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "mutation"
KNOWN = ROOT / "tests" / "check" / "mutation_survivors.txt"
LEAST = {"core": 95, "view": 95, "io": 95}  # percent
ROOMS = {  # tests of a room, the quick ones first
    "core": ["core", "view_errors", "core_half"],
    "view": ["view_errors", "view_examples", "slice_text", "view_print", "view_shape",
             "view_reshape", "view_overlap", "view_oracle"],
    "io": ["io_golden", "io_json", "io_corners", "io_memory", "io_fetch", "io_hostile",
           "io_save"],
}
HEADERS = ["src/core/checked.h", "src/view/view.h"]

CHANGES = [  # what stands there, what is put in its place
    (r" < ", [" <= "]), (r" <= ", [" < "]), (r" > ", [" >= "]), (r" >= ", [" > "]),
    (r" == ", [" != "]), (r" != ", [" == "]), (r" && ", [" || "]), (r" \|\| ", [" && "]),
    (r" \+ ", [" - "]), (r" - ", [" + "]), (r" \* ", [" + "]), (r" / ", [" * "]),
    (r" % ", [" / "]), (r" \+= ", [" -= "]), (r" -= ", [" += "]), (r"\+\+", ["--"]),
    (r"--", ["++"]), (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]),
    (r"\bbreak;", [";"]), (r"\bcontinue;", [";"]), (r"\breturn tni_fail\(", ["(void)tni_fail("]),
    (r"\bTRY\(", ["(void)("]), (r"(?<=\()!", [""]), (r"(?<= )!(?=\w)", [""]),
    (r"(?<![\w.])\d+(?![\w.])", [None]),  # a constant: one more
]


def masked(text):
    """The text with everything blanked that is not to be changed."""
    blank = lambda m: re.sub(r"[^\n]", " ", m[0])
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'', blank, text,
                  flags=re.S)
    text = re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)
    text = re.sub(r"^(?:enum|typedef|_Static_assert)\b.*?;", blank, text, flags=re.M | re.S)
    text = re.sub(r"[^\n]*TNI_NEVER[^;]*;", blank, text)
    text = re.sub(r"^ +(?:static |const )*(?:char|u?int\d+_t) [^;={]*", blank, text, flags=re.M)
    text = re.sub(r"\? -?1 : -?1\b", blank, text)  # orders: only the sign matters
    out, at = [], 0
    for m in re.finditer(r"\b(?:tni_fail|tni_no_memory|snprintf|refuse|bad|broken)\(", text):  # sentences
        if m.start() < at:
            continue
        depth, end = 1, m.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        out += [text[at:m.end()], re.sub(r"[^\n]", " ", text[m.end():end])]
        at = end
    return "".join(out) + text[at:]


def mutants(file):
    """(file, where, old, new) of every change."""
    text = (ROOT / file).read_text()
    view = masked(text)
    for pattern, news in CHANGES:
        for m in re.finditer(pattern, view):
            for new in news:
                new = str(int(m[0]) + 1) if new is None else new
                yield file, m.start(), m[0], new


def shown(mutant):
    """The line before and after, without blanks around: what a survivor is known by."""
    file, at, old, new = mutant
    text = (ROOT / file).read_text()
    first, last = text.rfind("\n", 0, at) + 1, text.index("\n", at)
    return (file, text[first:last].strip(),
            (text[first:at] + new + text[at + len(old):last]).strip())


WATCH = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]  # the mutant alone
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="allocator_may_return_null=1:"
                   "max_allocation_size_mb=4096")


def limits(seconds):
    """What a mutant that runs wild may take: so much time of a processor, small files."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Bench:
    """The library and the tests, built once."""

    def __init__(self):
        run = lambda *words: subprocess.run(words, cwd=ROOT, check=True)
        names = sorted({f"test_{t}" for tests in ROOMS.values() for t in tests})
        run("cmake", "-S", ".", "-B", str(BUILD), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
            "-DCMAKE_C_FLAGS=-O1", "-DTENON_TESTS=ON", "-DTENON_OPENMP=OFF",
            "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        run("cmake", "--build", str(BUILD), "--target", *names)
        rows = json.loads((BUILD / "compile_commands.json").read_text())
        self.command = {str(pathlib.Path(r["file"]).relative_to(ROOT)): shlex.split(r["command"])
                        for r in rows if r["file"].startswith(str(ROOT / "src"))
                        or r["file"].startswith(str(ROOT / "tests"))}
        ninja = (BUILD / "build.ninja").read_text()
        m = re.search(r"build tests/test_core:.*?LINK_LIBRARIES = ([^\n]*)", ninja, re.S)
        self.libraries = shlex.split(m[1])
        self.seconds = {}
        for name in names:
            start = time.time()
            subprocess.run([str(BUILD / "tests" / name)], check=True, capture_output=True)
            self.seconds[name] = time.time() - start

    def compile(self, source, out, *more, root=ROOT):
        """Compile a file with the src/ below root, its own if it is of src/, or fail."""
        words = list(self.command[source])
        del words[words.index("-o"):]
        words = [w.replace(str(ROOT / "src"), str(root / "src")) for w in words]
        path = (root if source.startswith("src/") else ROOT) / source
        subprocess.run(words + ["-w", *more, "-o", str(out), "-c", str(path)],
                       check=True, capture_output=True, cwd=BUILD)

    def same_code(self, mutant, tree):
        """Whether the compiler sees no difference."""
        file, codes = mutant[0], []
        for root in (ROOT, tree):
            self.compile(file, tree / "same.o", "-O2", "-g0", "-frandom-seed=0",
                         f"-ffile-prefix-map={root}=.", root=root)
            codes.append((tree / "same.o").read_bytes())
        return codes[0] == codes[1]

    def lives(self, mutant):
        """'killed', 'lives', 'same' or 'stillborn'."""
        file, at, old, new = mutant
        with tempfile.TemporaryDirectory(dir=BUILD) as name:
            tree = pathlib.Path(name)
            shutil.copytree(ROOT / "src", tree / "src")
            text = (ROOT / file).read_text()
            (tree / file).write_text(text[:at] + new + text[at + len(old):])
            room = file.split("/")[1]
            header = file.endswith(".h")
            sources = [file] if not header else [
                s for s in self.command if s.startswith(("src/core/", "src/view/"))]
            objects = []
            try:
                for k, source in enumerate(sources):
                    objects.append(str(tree / f"{k}.o"))
                    self.compile(source, objects[-1], "-O0", *WATCH, root=tree)
            except subprocess.CalledProcessError:
                return "stillborn"
            for test in ROOMS["core"][:2] + ROOMS["view"] if header else ROOMS[room]:
                name = f"test_{test}"
                object_file = BUILD / "tests" / "CMakeFiles" / f"{name}.dir" / f"{name}.c.o"
                if header:  # tests see the header too
                    object_file = tree / "test.o"
                    self.compile(f"tests/{name}.c", object_file, "-O0", root=tree)
                program = tree / "test"
                subprocess.run(["cc", str(object_file), *objects, *self.libraries, *WATCH, "-o",
                                str(program)], check=True, capture_output=True, cwd=BUILD)
                most = int(4 + 10 * self.seconds[name])
                try:
                    run = subprocess.run([str(program)], capture_output=True, cwd=tree,
                                         timeout=60 + 4 * most, env=ENVIRONMENT,
                                         preexec_fn=lambda: limits(most))
                except subprocess.TimeoutExpired:
                    return "killed"
                if run.returncode != 0:
                    return "killed"
            if not header and self.same_code(mutant, tree):
                return "same"
            return "lives"


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--all", action="store_true")
    words.add_argument("--count", type=int, default=300)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("files", nargs="*")
    given = words.parse_args()
    files = given.files or HEADERS + sorted(
        str(p.relative_to(ROOT)) for room in ROOMS for p in (ROOT / "src" / room).glob("*.c"))
    everything = [m for f in files for m in mutants(f)]
    chosen = everything
    if not given.all and len(everything) > given.count:
        chosen = random.Random(given.seed).sample(everything, given.count)
        print(f"seed {given.seed}: {len(chosen)} of {len(everything)} mutants")
    known = {tuple(part.strip() for part in line.split(" | ")[:3])
             for line in (KNOWN.read_text().splitlines() if KNOWN.exists() else [])
             if line and not line.startswith("#")}
    bench = Bench()
    for file in {f.split("/")[1]: f for f in files}.values():  # no change must live
        if bench.lives((file, 0, "", "")) != "same" and not file.endswith(".h"):
            sys.exit(f"{file} is killed as it is")
    count = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, end in zip(chosen, pool.map(bench.lives, chosen)):
            if end == "lives" and tuple(s.replace("|", "¦") for s in shown(mutant)) in known:
                end = "equivalent"
            count[mutant[0].split("/")[1], end] += 1
            if end == "lives":
                print("lives:", " | ".join(s.replace("|", "¦") for s in shown(mutant)),
                      flush=True)
    said, good = [], True
    for room, least in LEAST.items():
        killed, alive = count[room, "killed"], count[room, "lives"]
        if killed + alive:
            share = 100 * killed / (killed + alive)
            good &= share >= least
            said.append(f"{room} {killed} of {killed + alive} = {share:.1f} %, at least {least}")
    print("mutants killed:", "; ".join(said) + f"; seed {given.seed}")
    return not good


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""mutation.py [--all | --listed] [--count N] [--seed N] [FILE...] - do the tests notice small faults?

Each mutant is one small change of core, view or io: a comparison changed or inverted, + for -, && for
||, a constant off by one, a refusal dropped, a loop not left.  It is compiled with the address
and undefined sanitizers, linked with the library behind it, and the tests of its module run until
one fails, those first that kill most of its file's mutants in little time.  A mutant that the
compiler makes the same code of is no mutant.  Those that live are named, and looked up in
mutation_survivors.txt: with a reason they are equivalent and do not count.  Of each module a
sample of N is drawn with a seed that is printed, from those that are not listed; --all takes
every mutant, and a listed one that is killed, or is there no more, is a failure.  So is a module of
which fewer than LEAST are killed.  --listed only looks whether each listed mutant is there.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
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
MODULES = {  # tests of a module, the quick ones first
    "core": ["core", "core_text", "view_errors", "core_half"],
    "view": ["view_errors", "view_call", "view_arguments", "view_examples", "slice_text",
             "view_print", "view_shape", "view_reshape", "view_overlap", "view_oracle"],
    "io": ["io_reference", "io_json", "io_gguf", "io_npy", "io_npz", "io_safetensors", "io_zip",
           "io_open", "io_writer", "io_memory", "io_fetch", "io_quant", "io_pt", "io_pt_archive",
           "io_set", "io_gguf_write", "io_queue", "io_direct",
           "faults_memory", "faults_io", "io_copy", "io_npz_members", "io_damaged", "io_save",
           "io_save_faults"],
}
HEADERS = ["src/core/checked.h", "src/core/core.h", "src/core/half.h", "src/view/view.h"]

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
    text = re.sub(r"\bASSERT\([^;]*;", blank, text)  # what states an invariant changes no result
    text = re.sub(r"^ +(?:static |const )*(?:char|u?int\d+_t) [^;={]*", blank, text, flags=re.M)
    text = re.sub(r"\? -?1 : -?1\b", blank, text)  # orders: only the sign matters
    # the smaller or the larger of two, which of equal ones does not matter
    value = r"((?:->|[^?:;=<>&|,])+?)"
    text = re.sub(rf"((?:[=,?:(]|return|&&|\|\|)\s*){value} [<>] {value}"
                  r"(\s+\?\s+)(\2 : \3|\3 : \2)(?=[;,)])", r"\1\2   \3\4\5", text)
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


Mutant = collections.namedtuple("Mutant", "file at old new name")


def function(text, at):
    """The function that a place is in; - between functions."""
    heads = list(re.finditer(r"^[A-Za-z_][^\n;={]*?\b(\w+)\([^;={}]*\n?\{", text[:at], re.M))
    return "-" if not heads or "\n}" in text[heads[-1].start():at] else heads[-1][1]


def mutants(file):
    """Every change of a file.  A mutant's name is its file, its function, the line before and
    after; those of one function with the same lines are numbered .2, .3, ..."""
    text = (ROOT / file).read_text()
    view, seen = masked(text), collections.Counter()
    for pattern, news in CHANGES:
        for m in re.finditer(pattern, view):
            for new in news:
                new = str(int(m[0]) + 1) if new is None else new
                at, end = m.span()
                if "tni_fail" in new and re.match(r"\s*;\s*\n}", view[end:]):
                    new = "return 0 * tni_fail("  # at the end of a function: no refusal
                first, last = text.rfind("\n", 0, at) + 1, text.index("\n", at)
                lines = [s.strip().replace("|", "¦") for s in (
                    text[first:last], text[first:at] + new + text[end:last])]
                key = (function(text, at), *lines)
                seen[key] += 1
                where = key[0] + (f".{seen[key]}" if seen[key] > 1 else "")
                yield Mutant(file, at, m[0], new, " | ".join([f"{file} {where}", *lines]))


WATCH = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]  # the mutant alone
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="allocator_may_return_null=1:"
                   "max_allocation_size_mb=4096")
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None  # files of the tests go there,
ON_DISK = {"test_io_direct", "test_io_queue"}  # but not of these: memory has no way past a cache


def limits(seconds):
    """What a mutant that runs wild may take: so much time of a processor, files with holes of some GiB."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (10 << 30, 10 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Bench:
    """The library and the tests of some modules, built once."""

    def __init__(self, modules):
        run = lambda *words: subprocess.run(words, cwd=ROOT, check=True, env=ENVIRONMENT,
                                            stdout=subprocess.DEVNULL)
        names = sorted({f"test_{t}" for module in modules for t in MODULES[module]})
        run("cmake", "-S", ".", "-B", str(BUILD), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
            "-DCMAKE_C_FLAGS=-O1", "-DTENON_TESTS=ON", "-DTENON_OPENMP=OFF",
            "-DTENON_ISA_LEVELS=base", "-DTENON_ASSERTS=ON",
            "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        run("cmake", "--build", str(BUILD), "--target", *names)
        rows = json.loads((BUILD / "compile_commands.json").read_text())
        self.command = {str(pathlib.Path(r["file"]).relative_to(ROOT)): shlex.split(r["command"])
                        for r in rows if r["file"].startswith(str(ROOT / "src"))
                        or r["file"].startswith(str(ROOT / "tests"))}
        ninja = (BUILD / "build.ninja").read_text()
        self.own, self.others, self.seconds, self.code = {}, {}, {}, {}
        for name in names:  # the words of its linking: its own object, the others
            rule = re.search(rf"build tests/{name}: \S+ ([^|]*)\|.*?\n\n", ninja, re.S)
            more = re.findall(r"(?:LINK_FLAGS|LINK_LIBRARIES) = ([^\n]*)", rule[0])
            objects = rule[1].split()
            self.own[name] = next(o for o in objects if o.endswith(f"{name}.c.o"))
            self.others[name] = [o for o in objects if o != self.own[name]] + shlex.split(
                " ".join(more))
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run(str(BUILD / "tests" / name))
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.seconds[name] = (after.ru_utime + after.ru_stime - before.ru_utime -
                                  before.ru_stime)
        self.kills = collections.Counter()  # of (file, test)
        gold = ["-fuse-ld=gold"]  # in a third of the time, where it is there
        there = subprocess.run(["cc", *gold, "-Wl,--version"], capture_output=True).returncode == 0
        self.linker = gold if there else []

    def source(self, name):
        """The file of a test, which lies in the folder of its module."""
        return next(p.relative_to(ROOT).as_posix() for p in (ROOT / "tests").glob(f"*/{name}.c"))

    def compile(self, source, out, *more, root=ROOT):
        """Compile a file with the src/ below root, its own if it is of src/, or fail."""
        words = list(self.command[source])
        del words[words.index("-o"):]
        del words[:"ccache" in words[0]]  # no mutant is compiled twice
        words = [w.replace(str(ROOT / "src"), str(root / "src")) for w in words]
        path = (root if source.startswith("src/") else ROOT) / source
        subprocess.run(words + ["-w", *more, "-o", str(out), "-c", str(path)],
                       check=True, capture_output=True, cwd=BUILD)

    def optimised(self, source, tree, root):
        self.compile(source, tree / "same.o", "-O2", "-g0", "-frandom-seed=0",
                     f"-ffile-prefix-map={ROOT}=.", f"-ffile-prefix-map={root}=.", root=root)
        return (tree / "same.o").read_bytes()

    def same_code(self, sources, tree):
        """Whether the compiler sees no difference."""
        for source in sources:
            if source not in self.code:
                self.code[source] = self.optimised(source, tree, ROOT)
            if self.optimised(source, tree, tree) != self.code[source]:
                return False
        return True

    def fails(self, tree, objects, name, header):
        """Whether a test notices the mutant whose objects these are."""
        own = self.own[name]
        if header:  # tests see the header too
            own = str(tree / f"{name}.o")
            if not os.path.exists(own):
                self.compile(self.source(name), own, "-O0", *WATCH, root=tree)
        program = tree / "test"
        link = subprocess.run(["cc", own, *objects, *self.others[name], *WATCH, *self.linker,
                               "-o", str(program)], capture_output=True, cwd=BUILD)
        if link.returncode:
            raise RuntimeError(link.stderr.decode())
        most = int(3 + 8 * self.seconds[name])
        with tempfile.TemporaryDirectory(dir=BUILD if name in ON_DISK else MEMORY,
                                         ignore_cleanup_errors=True) as files:
            try:
                run = subprocess.run([str(program)], capture_output=True, cwd=tree,
                                     timeout=900 + 8 * most, preexec_fn=lambda: limits(most),
                                     env=dict(ENVIRONMENT, TMPDIR=files))
            except subprocess.TimeoutExpired:
                return True
            return run.returncode != 0

    def noticed(self, tree, objects, file, tests):
        """Whether one of the tests fails, those first that kill much in little time."""
        names = [f"test_{t}" for t in tests]
        names.sort(key=lambda t: (0.2 + self.seconds[t]) / (1 + self.kills[file, t]))
        for name in names:
            if self.fails(tree, objects, name, file.endswith(".h")):
                self.kills[file, name] += 1
                return True
        return False

    def lives(self, mutant):
        """'killed', 'lives', 'same' or 'stillborn'."""
        file = mutant.file
        with tempfile.TemporaryDirectory(dir=BUILD) as name:
            tree = pathlib.Path(name)
            shutil.copytree(ROOT / "src", tree / "src", copy_function=os.link)
            text = (ROOT / file).read_text()
            (tree / file).unlink()
            (tree / file).write_text(text[:mutant.at] + mutant.new +
                                     text[mutant.at + len(mutant.old):])
            module, header = file.split("/")[1], file.endswith(".h")
            sources = [file] if not header else [
                s for s in self.command if s.startswith(("src/core/", "src/view/"))]
            tests, objects = MODULES["core"] + MODULES["view"] if header else MODULES[module], []
            try:  # most mutants of a header are noticed where tests use it themselves
                if header and self.noticed(tree, [], file, MODULES[module]):
                    return "killed"
                for k, source in enumerate(sources):
                    objects.append(str(tree / f"{k}.o"))
                    self.compile(source, objects[-1], "-O0", *WATCH, root=tree)
            except subprocess.CalledProcessError:
                return "stillborn"
            if self.noticed(tree, objects, file, tests):
                return "killed"
            users = [self.source(f"test_{t}") for t in MODULES["core"]] if header else []
            return "same" if self.same_code(sources + users, tree) else "lives"


def sample(everything, known, module, seed):
    """The mutants of a module that are not listed, in an order that is the seed's and does not
    depend on what else there is."""
    own = [m for m in everything if m.file.split("/")[1] == module and m.name not in known]
    return sorted(own, key=lambda m: hashlib.sha256(f"{seed} {m.name}".encode()).digest())


def check_tests():
    """Every test of a module is in its list: a new one kills mutants, too."""
    for module, names in MODULES.items():
        there = {p.stem[len("test_"):] for p in (ROOT / "tests" / module).glob("test_*.c")}
        missed = there - set(names) - {"faults_command"}
        if missed:
            sys.exit(f"{module}: not in MODULES: {', '.join(sorted(missed))}")


def main():
    check_tests()
    words = argparse.ArgumentParser()
    words.add_argument("--all", action="store_true")
    words.add_argument("--listed", action="store_true")
    words.add_argument("--count", type=int, default=150)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("files", nargs="*")
    given = words.parse_args()
    files = given.files or HEADERS + sorted(
        str(p.relative_to(ROOT)) for module in MODULES for p in (ROOT / "src" / module).rglob("*.c"))
    everything = [m for f in files for m in mutants(f)]
    known = {line.rsplit(" | ", 1)[0] for line in KNOWN.read_text().splitlines()
             if line and not line.startswith("#")}
    good = True
    for line in sorted(known - {m.name for m in everything}):
        if line.split()[0] in files:
            print("listed, but no mutant:", line)
            good = False
    if given.listed:
        print(f"{len(known)} mutants are listed, {len(everything)} there")
        return not good
    chosen = everything
    if not given.all:
        chosen = [m for module in MODULES for m in sample(everything, known, module, given.seed)
                  [:given.count]]
        print(f"seed {given.seed}: {len(chosen)} of {len(everything)} mutants", flush=True)
    headers = any(f.endswith(".h") for f in files)  # tests of core and view run for them
    bench = Bench({f.split("/")[1] for f in files} | ({"core", "view"} if headers else set()))
    for file in {f.split("/")[1]: f for f in files}.values():  # no change must live
        if bench.lives(Mutant(file, 0, "", "", "")) != "same":
            sys.exit(f"{file} is killed as it is")
    count = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, end in zip(chosen, pool.map(bench.lives, chosen)):
            if mutant.name in known and end == "killed":
                print("listed, but killed:", mutant.name, flush=True)
                good = False
            if end == "lives":
                end = "equivalent" if mutant.name in known else end
                print(f"{end}:", mutant.name, flush=True)
            count[mutant.file.split("/")[1], end] += 1
    said = []
    for module, least in LEAST.items():
        killed, alive = count[module, "killed"], count[module, "lives"]
        if killed + alive:
            share = 100 * killed / (killed + alive)
            good &= share >= least
            said.append(f"{module} {killed} of {killed + alive} = {share:.1f} %")
    print("mutants killed:", "; ".join(said) + f"; at least {least} % each, " +
          ("all" if given.all else f"seed {given.seed}"))
    return not good


if __name__ == "__main__":
    sys.exit(main())

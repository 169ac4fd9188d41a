#!/usr/bin/env python3
"""coverage.py PROFILE PROGRAM... - the share of lines, branches and conditions that tests run.

Reads what llvm-cov knows about the programs and prints one row for each module.  A branch is one
outcome of one condition; inline functions of headers count once for all files that include
them, macros where they stand.  A line with TNI_NEVER, and the statement that follows it, is a
defence that no call reaches: it is left out, and counted.  What an ASSERT states is not computed
in this build: it is left out, too.  With less than LEAST the exit is 1; -v names everything that
is missed.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LLVM = "llvm-cov-19"
LEAST = {  # lines, branches in percent
    "core": (100, 100),
    "view": (100, 100),
    "nest/nest.c": (100, 100),
    "io": (100, 100),
}


def never(path):
    """Lines of defences that no call reaches."""
    lines, found = path.read_text().splitlines(), set()
    for n, line in enumerate(lines, 1):
        if "TNI_NEVER(" in line and not line.startswith("#define"):
            end = n  # to the end of the statement that is guarded
            while not re.search(r"[;}]\s*(/\*.*)?$", lines[end - 1]):
                end += 1
            found |= set(range(n, end + 1))
        elif line.lstrip().startswith("ASSERT("):
            end = n
            while not lines[end - 1].rstrip().endswith(";") and ";" not in lines[end - 1]:
                end += 1
            found |= set(range(n, end + 1))
    return found


def module(file):
    """The row a file belongs to."""
    inside = str(pathlib.Path(file).relative_to(ROOT / "src")) if file.startswith(
        str(ROOT / "src")) else ""
    return next((r for r in LEAST if inside == r or inside.startswith(r + "/")), None)


def branches(function):
    """(file, line, column, text of the condition, yes, no) of each condition of a function."""
    names = function["filenames"]
    parent = {r[6]: r for r in function["regions"] if r[7] == 1}  # expansions of macros
    for b in function["branches"]:
        line, column, file = b[0], b[1], b[6]
        inner = (b[0], b[1], b[2], b[3])
        while file in parent:
            line, column, file = parent[file][0], parent[file][1], parent[file][5]
        yield names[file], line, column, inner, b[4], b[5]


def main():
    words = [w for w in sys.argv[1:] if w != "-v"]
    profile, programs = words[0], words[1:]
    command = [LLVM, "export", "-instr-profile", profile, programs[0]]
    for p in programs[1:]:
        command += ["-object", p]
    command += ["-sources"] + [str(ROOT / "src" / r) for r in LEAST]
    data = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["data"][0]
    lcov = subprocess.run(command + ["-format=lcov"], check=True, capture_output=True, text=True)

    lines, file = {}, None
    for text in lcov.stdout.splitlines():
        if text.startswith("SF:"):
            file = text[3:]
        elif text.startswith("DA:"):
            n, hits = text[3:].split(",")
            lines[file, int(n)] = max(lines.get((file, int(n)), 0), int(hits))
    ways = collections.Counter()
    for function in data["functions"]:
        for name, line, column, inner, yes, no in branches(function):
            ways[name, line, column, inner, True] += yes
            ways[name, line, column, inner, False] += no

    skipped = {f: never(pathlib.Path(f)) for f in {k[0] for k in lines} if module(f)}
    total, hit, marks = collections.Counter(), collections.Counter(), 0
    missed = []
    for kind, counts in (("lines", lines), ("branches", ways)):
        for key, n in counts.items():
            r = module(key[0])
            if not r or key[1] in skipped.get(key[0], ()):
                continue
            total[r, kind] += 1
            hit[r, kind] += n > 0
            if n == 0:
                missed.append((str(pathlib.Path(key[0]).relative_to(ROOT)), key[1], kind,
                               "" if kind == "lines" else f"is never {key[4]}, column {key[3][1]}"))
    for f in skipped:
        marks += sum("TNI_NEVER(" in t and not t.startswith("#define")
                     for t in pathlib.Path(f).read_text().splitlines())
    conditions = collections.Counter()
    for f in data["files"]:
        if module(f["filename"]):
            conditions["all"] += f["summary"]["mcdc"]["count"]
            conditions["hit"] += f["summary"]["mcdc"]["covered"]

    if "-v" in sys.argv:
        for row in sorted(missed):
            print("%s:%d %s %s" % row)
    good = True
    for r, least in LEAST.items():
        share = [100 * hit[r, k] / total[r, k] for k in ("lines", "branches")]
        good &= all(s >= l for s, l in zip(share, least))
        print("%-12s lines %6.2f %%, at least %g; branches %6.2f %%, at least %g (%d of %d)" % (
            r, share[0], least[0], share[1], least[1], hit[r, "branches"], total[r, "branches"]))
    both = [100 * sum(hit[r, k] for r in LEAST) / sum(total[r, k] for r in LEAST)
            for k in ("lines", "branches")]
    print("lines %.2f %%, branches %.2f %%, MC/DC %.1f %% of core, view, nest and io; "
          "%d defences left out" % (*both, 100 * conditions["hit"] / conditions["all"], marks))
    return not good


if __name__ == "__main__":
    sys.exit(main())

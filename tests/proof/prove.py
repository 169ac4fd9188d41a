#!/usr/bin/env python3
"""prove.py - Frama-C proves the contracts of checked.h, shape.c and views.c; faults are noticed.

Every function of the three files has a contract and every goal is proved, for any number of
axes.  faults.txt holds for each function one change that makes its proof fail, within the same
limits in which the proof of the unchanged function succeeds.  Names given as arguments limit
the work to those functions.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ["src/core/checked.h", "src/view/shape.c", "tests/proof/views.c"]
LIMITS = (10, 60)  # seconds of one prover for one goal; the second where the machine is busy
DEFINITION = re.compile(
    r"^ *(?:static )?(?:inline )?(?:bool|void|int|int64_t) (\w+)\(([^;{}]*)\)\s*\{", re.M)


def functions():
    """Name of each function -> (file, start of its contract, end of its body)."""
    found = {}
    for file in FILES:
        text = (ROOT / file).read_text()
        for m in DEFINITION.finditer(text):
            start = max(text.rfind("/*@ requires", 0, m.start()),
                        text.rfind("/@ requires", 0, m.start()))
            end = text.index("}" if text[m.end()] == "}" else "\n}", m.end())
            between = text[start:m.start()]
            if start < 0 or "ensures" not in between or re.search(r"^\}", between, re.M):
                sys.exit(f"{file}: {m[1]} has no contract")
            found[m[1]] = (file, start, end)
    return found


def frama_c(tree, home, seconds, *words):
    """Start the prover in a tree; the lines of its answer come one by one."""
    env = dict(os.environ, HOME=home, PWD=str(tree), FRAMAC_WP_CACHE="none")
    return subprocess.Popen(
        ["frama-c", "-machdep", "gcc_x86_64", "-cpp-extra-args=-Isrc -Iinclude -Isrc/view",
         "tests/proof/views.c", "-wp", "-wp-rte", "-wp-model", "Typed+Ref", "-wp-split",
         "-wp-prover", "z3,cvc4", "-wp-timeout", str(seconds), "-wp-par", "2", *words],
        cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def prove(home, seconds, *words):
    """All goals of a run: (proved, goals)."""
    said = frama_c(ROOT, home, seconds, *words).communicate()[0]
    for line in said.splitlines():
        if re.search(r"\[Failed\]|\[Timeout\]|\[Unknown\]|User Error", line):
            print(line)
    m = re.search(r"Proved goals: +(\d+) / (\d+)", said)
    if not m:
        sys.exit(said)
    return int(m[1]), int(m[2])


def faults():
    """Rows of faults.txt: function, what stands there, what is put in its place."""
    for line in (pathlib.Path(__file__).parent / "faults.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            yield [part.strip() for part in line.split(" | ")]


def caught(home, seconds, where, name, old, new):
    """Whether the proof of a function notices a fault in it."""
    file, start, end = where
    with tempfile.TemporaryDirectory() as tree:
        for part in ("src/core", "src/view", "include", "tests/proof"):
            shutil.copytree(ROOT / part, pathlib.Path(tree) / part)
        text = (ROOT / file).read_text()
        if text[start:end].count(old) != 1:
            sys.exit(f"faults.txt: {name} holds '{old}' {text[start:end].count(old)} times")
        body = text[start:end].replace(old, new)
        (pathlib.Path(tree) / file).write_text(text[:start] + body + text[end:])
        run = frama_c(tree, home, seconds, "-wp-fct", name)
        seen = False
        for line in run.stdout:
            if "User Error" in line:
                sys.exit(f"{name}: {line}")
            if re.search(r"\[(Failed|Timeout|Unknown|Stronger)\] Goal", line):
                seen = True
                break
        run.terminate()
        run.communicate()
        return seen


def main():
    found = functions()
    names = sys.argv[1:] or list(found)
    with tempfile.TemporaryDirectory() as home:
        subprocess.run(["why3", "config", "detect"], env=dict(os.environ, HOME=home),
                       check=True, capture_output=True)
        runs = [["-wp-fct", ",".join(names)]] + ([] if sys.argv[1:] else [["-wp-prop", "@lemma"]])
        for seconds in LIMITS:
            proved, goals = map(sum, zip(*(prove(home, seconds, *words) for words in runs)))
            if proved == goals:
                break
        rows = [row for row in faults() if row[0] in names]
        without = sorted(set(names) - {row[0] for row in rows})
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            seen = list(pool.map(lambda row: caught(home, seconds, found[row[0]], *row), rows))
    for row, good in zip(rows, seen):
        if not good:
            print("not noticed:", " | ".join(row))
    if without:
        print("no fault is known for:", " ".join(without))
    print(f"{proved} of {goals} goals, {sum(seen)} of {len(rows)} seeded faults caught")
    return proved < goals or not all(seen) or bool(without)


if __name__ == "__main__":
    sys.exit(main())

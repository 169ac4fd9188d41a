#!/usr/bin/env python3
"""modules.py - the modules of the library and their dependencies, checked and drawn.

  modules.py                  list what breaks the rules; exit 1 if anything does
  modules.py --objects BUILD  check the symbols of the compiled objects of a build folder too
  modules.py --draw FILE      draw the dependencies into an SVG
  modules.py --drawn FILE     require that FILE is that drawing

Run from the root.  The rules:

- a module includes only the modules listed for it, and only their module header module/module.h
  (and lists of rows, *.def); what it links with (nm of its objects) belongs to those modules too, so that a symbol cannot
  be reached through the header of another; public calls may be listed besides;
- programs outside the library include public headers and each other's, public headers include no
  module;
- files of src/ and include/ have at most 400 lines, those of programs and tests 600, functions of
  the library and its commands 50; no two files of src/ share a name, and every file opens with its
  own name and a sentence;
- lines have at most 96 columns, comments too, except tables (*.def, and between clang-format off
  and on).
"""
import argparse
import json
import os
import re
import subprocess
import sys
from xml.sax.saxutils import escape

# module: (its question, the modules it may use, those whose public calls it may make besides),
# by layer, the top one first
LAYERS = [
    {"stream": ("How is work done on data larger than memory?", "core view nest runtime io plan", "ops"),
     "dist": ("Which rank holds which element?", "core view nest", "ops io"),
     "compat": ("How do others describe a tensor?", "core view", "ops io runtime plan")},
    {"ops": ("What does the user ask for?", "core view nest plan runtime", ""),
     "io": ("How are tensors stored in files?", "core view nest", "ops")},
    {"plan": ("In what order, by which kernel, in how many parts?",
              "core view nest runtime kernels blas", "")},
    {"view": ("Where is element (i, j, k)?", "core", ""),
     "nest": ("Which loops visit every element?", "core", ""),
     "runtime": ("What machine is this?", "core", ""),
     "kernels": ("How is one tile computed?", "core", ""),
     "blas": ("Which BLAS multiplies matrices?", "core runtime kernels", "")},
    {"core": ("Which words do all modules share?", "", "")},
]
MODULES = {module: (question, uses.split(), calls.split()) for layer in LAYERS
           for module, (question, uses, calls) in layer.items()}
OUTSIDE = ["cli", "python", "mpi", "examples", "bench"]
CEILING, CEILING_OUTSIDE = 400, 600
CEILING_FUNCTION = 50
COLUMNS = 96
SOURCE = (".c", ".h", ".inc", ".def", ".cc", ".hpp", ".cpp")


def read_tree():
    """{path: lines} of every source file that the rules speak about."""
    return read_files(["include", "src"] + OUTSIDE)


def read_files(tops):
    tree = {}
    for top in tops:
        for folder, _, names in os.walk(top):
            for name in names:
                if name.endswith(SOURCE):
                    path = os.path.join(folder, name)
                    with open(path, errors="replace") as f:
                        tree[path] = f.read().splitlines()
    return tree


def module_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "src" else parts[0]


def includes(tree, path):
    """(line number, text, path in the tree) of each quoted or public include."""
    for number, line in enumerate(tree[path], 1):
        match = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
        if match:
            text = match.group(1)
            for base in (os.path.dirname(path), "src", "include"):
                target = os.path.normpath(os.path.join(base, text))
                if target in tree:
                    yield number, text, target
                    break


def wrong_include(path, text, target):
    here, there = module_of(path), module_of(target)
    if here == there or there == "include":
        return None
    if here in OUTSIDE and there in OUTSIDE:
        return None
    if here in OUTSIDE:
        return f"{here} includes public headers only, not {text}"
    if here == "include":
        return f"a public header includes no module, not {text}"
    if there not in MODULES.get(here, ("", [], []))[1]:
        return f"module {here} may not use module {there}"
    if target != f"src/{there}/{there}.h" and not target.endswith(".def"):
        return f"module {there} is used through {there}/{there}.h, not {text}"
    return None


def faults_of_form(tree):
    for path in sorted(tree):
        ceiling = CEILING if path.startswith(("src/", "include/")) else CEILING_OUTSIDE
        if len(tree[path]) > ceiling:
            yield f"{path}: {len(tree[path])} lines, the ceiling is {ceiling}"
        name = os.path.basename(path)
        if not tree[path] or not re.match(rf"(/\*|//) {re.escape(name)} - ", tree[path][0]):
            yield f"{path}: does not open with its name"


def faults_of_columns(tree):
    for path in sorted(p for p in tree if not p.endswith(".def")):
        table = False
        for number, line in enumerate(tree[path], 1):
            table = "clang-format off" in line or (table and "clang-format on" not in line)
            if len(line) > COLUMNS and not table:
                yield f"{path}:{number}: {len(line)} columns, the ceiling is {COLUMNS}"


def faults_of_functions(tree):
    for path in sorted(p for p in tree if p.startswith(("src/", "include/", "cli/", "mpi/"))):
        opened = None
        for number, line in enumerate(tree[path], 1):
            if line == "{":
                opened = number
            elif line == "}" and opened:
                length, opened = number - opened - 1, None
                if length > CEILING_FUNCTION:
                    yield f"{path}:{number}: ends a function of {length} lines, the ceiling is {CEILING_FUNCTION}"


def faults(tree):
    yield from faults_of_functions(tree)
    yield from faults_of_form(tree)
    tests = read_files(["tests"])
    yield from faults_of_form(tests)
    yield from faults_of_columns(tree | tests)
    for path in sorted(tree):
        for number, text, target in includes(tree, path):
            wrong = wrong_include(path, text, target)
            if wrong:
                yield f"{path}:{number}: {wrong}"
        if path.startswith("src/") and module_of(path) not in MODULES:
            yield f"{path}: there is no module {module_of(path)}"
    names = {}
    for path in sorted(p for p in tree if p.startswith("src/")):
        first = names.setdefault(os.path.basename(path), path)
        if first != path:
            yield f"{path}: has the name of {first}"


def objects(build):
    """(module, path) of every object file of the library that the build knows."""
    with open(os.path.join(build, "compile_commands.json")) as f:
        for row in json.load(f):
            source = os.path.relpath(row["file"])
            path = os.path.join(build, re.search(r" -o (\S+\.o) ", row["command"])[1])
            if source.startswith("src/") and os.path.exists(path):
                yield module_of(source), path


def symbol_faults(build):
    files = {path: module for module, path in objects(build)}
    owner, used = {}, set()
    if not files:
        yield f"{build}: no objects of the library"
        return
    out = subprocess.run(["nm", "-A", *files], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        path, _, rest = line.partition(":")
        kind, name = rest.split()[-2:]
        if kind == "U":
            used.add((files[path], name))
        elif kind.isupper():
            owner[name] = files[path]
    for module, name in sorted(used):
        there = owner.get(name, module)
        _, uses, calls = MODULES.get(module, ("", [], []))
        if there == module or there in uses:
            continue
        if not (name.startswith("tn_") and there in calls):
            yield f"module {module} uses {name} of module {there}"


def drawing():
    """The layers as SVG, a line from each module to those that it may use; all use core, which
    only the layer above it shows."""
    width, step, box = 1200, 120, (216, 56)
    layers = [{", ".join(OUTSIDE): ("public headers only", [], [])}]
    layers += [{m: MODULES[m] for m in layer} for layer in LAYERS]
    centre, lines, boxes = {}, [], []
    for y, layer in enumerate(layers):
        for x, module in enumerate(layer):
            centre[module] = (width * (2 * x + 1) // (2 * len(layer)), 50 + step * y)
    for module, (x, y) in centre.items():
        for other in MODULES.get(module, ("", [], []))[1]:
            ox, oy = centre[other]
            if other == "core" and oy - y > step:
                continue
            if oy == y:  # neighbours in a layer: side to side
                side = box[0] // 2 if ox > x else -box[0] // 2
                lines.append(f'<path d="M{x + side} {y} L{ox - side} {oy}"/>')
            else:
                lines.append(f'<path d="M{x} {y + box[1] // 2} L{ox} {oy - box[1] // 2}"/>')
    for layer in layers:
        for module, (question, _, _) in layer.items():
            x, y = centre[module]
            wide = max(box[0], 6 * len(question) + 24, 9 * len(module) + 24)
            boxes.append(
                f'<rect x="{x - wide // 2}" y="{y - box[1] // 2}" width="{wide}" '
                f'height="{box[1]}" rx="6"/>\n<text x="{x}" y="{y - 4}" font-weight="bold">'
                f'{escape(module)}</text>\n<text x="{x}" y="{y + 16}" font-size="11">'
                f'{escape(question)}</text>')
    height = 50 + step * (len(layers) - 1) + 50
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
         f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="14">',
         f'<rect width="{width}" height="{height}" fill="#fff"/>',
         '<g stroke="#6a8caf" stroke-width="1.5">'] + lines +
        ['</g>', '<g fill="#f4f7fa" stroke="#345" text-anchor="middle">'] +
        [b.replace("<text", '<text fill="#123" stroke="none"') for b in boxes] +
        ["</g>", "</svg>", ""])


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--objects", metavar="BUILD")
    words.add_argument("--draw", metavar="FILE")
    words.add_argument("--drawn", metavar="FILE")
    given = words.parse_args()
    tree = read_tree()
    found = list(faults(tree))
    if given.objects:
        found += symbol_faults(given.objects)
    if given.draw:
        with open(given.draw, "w") as f:
            f.write(drawing())
    if given.drawn:
        with open(given.drawn) as f:
            if f.read() != drawing():
                found.append(f"{given.drawn}: not what modules.py --draw makes of the rules")
    for fault in found:
        print(fault)
    print(f"{len(tree)} files, {len(found)} faults")
    return 1 if found or not tree else 0


if __name__ == "__main__":
    sys.exit(main())

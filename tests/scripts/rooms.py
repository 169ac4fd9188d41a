#!/usr/bin/env python3
"""rooms.py - who may know whom in the house, checked against every #include.

  rooms.py                 list what breaks the order; exit 1 if anything does
  rooms.py --draw FILE     also draw the order into an SVG
  rooms.py --drawn FILE    also require that FILE is that drawing

Run from the root.  The rules: a room knows only the rooms listed for it and enters them by
room/room.h, or a list of core by its .def; programs outside know public headers only; public headers know no room; files of
src/ and include/ stay within 400 lines, no two files of src/ share a name, and every file opens
with its own.
"""
import os
import re
import sys
from xml.sax.saxutils import escape

# room: (its question, the rooms it may know), by floor, the top one first
FLOORS = [
    {"stream": ("How are results made that do not fit into memory?", "core view nest io runtime")},
    {"io": ("How do tensors live in files?", "core view nest"),
     "ops": ("What does the user mean?", "core view nest plan runtime"),
     "compat": ("How do others describe a tensor?", "core view nest")},
    {"plan": ("By which way, which kernel, in how many parts?", "core view nest runtime kernels")},
    {"nest": ("Which loops visit every element, in what order?", "core view")},
    {"view": ("Where is element (i, j, k)?", "core"),
     "kernels": ("How is one tile computed?", "core"),
     "runtime": ("What machine is this?", "core")},
    {"core": ("Which words do we share?", "")},
]
ROOMS = {room: (question, knows.split()) for floor in FLOORS
         for room, (question, knows) in floor.items()}
OUTSIDE = ["cli", "python", "mpi", "examples", "bench"]
CEILING = 400
SOURCE = (".c", ".h", ".inc", ".def", ".cc")


def read_house():
    """{path: lines} of every source file that the rules speak about."""
    house = {}
    for top in ["include", "src"] + OUTSIDE:
        for folder, _, names in os.walk(top):
            for name in names:
                if name.endswith(SOURCE):
                    path = os.path.join(folder, name)
                    with open(path, errors="replace") as f:
                        house[path] = f.read().splitlines()
    return house


def room_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "src" else parts[0]


def includes(house, path):
    """(line number, text, path in the house) of each quoted or public include."""
    for number, line in enumerate(house[path], 1):
        match = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
        if match:
            text = match.group(1)
            for base in (os.path.dirname(path), "src", "include"):
                target = os.path.normpath(os.path.join(base, text))
                if target in house:
                    yield number, text, target
                    break


def wrong_include(path, text, target):
    here, there = room_of(path), room_of(target)
    if here == there or there == "include":
        return None
    if here in OUTSIDE:
        return f"{here} uses public headers only, not {text}"
    if here == "include":
        return f"a public header knows no room, and not {text}"
    if there not in ROOMS.get(here, ("", []))[1]:
        return f"room {here} may not know room {there}"
    if there == "core" and target.endswith(".def"):
        return None
    if target != f"src/{there}/{there}.h":
        return f"room {there} is entered by {there}/{there}.h, not by {text}"
    return None


def faults(house):
    for path in sorted(house):
        for number, text, target in includes(house, path):
            wrong = wrong_include(path, text, target)
            if wrong:
                yield f"{path}:{number}: {wrong}"
        if path.startswith(("src/", "include/")) and len(house[path]) > CEILING:
            yield f"{path}: {len(house[path])} lines, the ceiling is {CEILING}"
        name = os.path.basename(path)
        if not house[path] or not house[path][0].startswith(f"/* {name} - "):
            yield f"{path}: does not open with its name"
        if path.startswith("src/") and room_of(path) not in ROOMS:
            yield f"{path}: there is no room {room_of(path)}"
    names = {}
    for path in sorted(p for p in house if p.startswith("src/")):
        first = names.setdefault(os.path.basename(path), path)
        if first != path:
            yield f"{path}: has the name of {first}"


def drawing():
    """The order as SVG: rooms on their floors, a line to each room that a room knows."""
    width, step, box = 960, 120, (284, 56)
    floors = [{"cli, python, mpi, examples, bench": ("public headers only", [])}]
    floors += [{r: ROOMS[r] for r in floor} for floor in FLOORS]
    centre, lines, boxes = {}, [], []
    for y, floor in enumerate(floors):
        for x, room in enumerate(floor):
            centre[room] = (width * (2 * x + 1) // (2 * len(floor)), 50 + step * y)
    for room, (x, y) in centre.items():
        for known in ROOMS.get(room, ("", []))[1]:
            kx, ky = centre[known]
            lines.append(f'<path d="M{x} {y + box[1] // 2} L{kx} {ky - box[1] // 2}"/>')
    for floor in floors:
        for room, (question, _) in floor.items():
            x, y = centre[room]
            boxes.append(
                f'<rect x="{x - box[0] // 2}" y="{y - box[1] // 2}" width="{box[0]}" '
                f'height="{box[1]}" rx="6"/>\n<text x="{x}" y="{y - 4}" font-weight="bold">'
                f'{escape(room)}</text>\n<text x="{x}" y="{y + 16}" font-size="11">'
                f'{escape(question)}</text>')
    height = 50 + step * (len(floors) - 1) + 50
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
         f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="14">',
         f'<rect width="{width}" height="{height}" fill="#fff"/>',
         '<g stroke="#6a8caf" stroke-width="1.5">'] + lines +
        ['</g>', '<g fill="#f4f7fa" stroke="#345" text-anchor="middle">'] +
        [b.replace("<text", '<text fill="#123" stroke="none"') for b in boxes] +
        ["</g>", "</svg>", ""])


def main(args):
    house = read_house()
    found = list(faults(house))
    if args[:1] == ["--draw"]:
        with open(args[1], "w") as f:
            f.write(drawing())
    if args[:1] == ["--drawn"]:
        with open(args[1]) as f:
            if f.read() != drawing():
                found.append(f"{args[1]}: not what rooms.py --draw makes of the rules")
    for fault in found:
        print(fault)
    print(f"{len(house)} files, {len(found)} against the order")
    return 1 if found or not house else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

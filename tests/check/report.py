#!/usr/bin/env python3
"""report.py TENON CHROMIUM FOLDER - a page of 10,000 tensors opens in a browser without an error;
search, sort, filters, folding and keys do what they say; screenshots, light and dark, are left in
FOLDER."""
import html
import json
import os
import random
import re
import struct
import subprocess
import sys
from array import array

TENON, CHROMIUM, FOLDER = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
LAYERS, EACH = 1666, 6
rng = random.Random(7)

# The page as a user has it, with a script behind it that uses it and says what it saw.
SCRIPT = """
<script>
const seen = {};
const key = k => document.dispatchEvent(new KeyboardEvent('keydown', { key: k, bubbles: true }));
const names = () => Array.from(document.querySelectorAll('.row'), r => r.firstChild.title);
function type(text) { $('search').value = text; $('search').dispatchEvent(new Event('input')); }
try {
  seen.title = $('title').textContent;
  seen.drawn = document.querySelectorAll('.row').length;
  seen.rows = rows.length;
  seen.folded = Array.from(document.querySelectorAll('.row'), r => r.textContent)
    .filter(t => t.includes('equal shapes')).length;
  seen.trouble = $('trouble').textContent.slice(0, 200);
  type('layers.17. norm'); seen.found = names();
  type(''); key('Escape');
  sort(5); sort(5); seen.largest = rows[0].t.name; sort(5);
  sort(9); sort(9); seen.most_nan = rows[0].t.name; sort(9);
  $('dtype').value = 'f16'; $('dtype').dispatchEvent(new Event('input'));
  seen.halves = chosen().length; $('dtype').value = '';
  $('bad').value = '*'; $('bad').dispatchEvent(new Event('input'));
  seen.bad = rows.length; $('bad').value = ''; refresh();
  $('flat').click(); seen.flat = rows.length;
  $('view').scrollTop = 1e9; draw(); seen.last = names().pop();
  seen.few = document.querySelectorAll('.row').length < 80;
  key('Home'); key('ArrowDown'); key('ArrowDown'); seen.selected = selected;
  seen.pane = $('pane').textContent.includes(rows[2].t.name);
  $('flat').click(); key('Home');
  const before = rows.length; key('Enter'); seen.toggled = rows.length !== before; key('Enter');
  seen.pictures = document.querySelectorAll('svg').length > 0;
  const t0 = performance.now();
  for (let i = 0; i < 50; i++) { $('view').scrollTop = i * 997; draw(); }
  seen.draw_ms = (performance.now() - t0) / 50;
  type('layers.9.'); select(1);
} catch (e) { errors.push(String(e.stack)); }
document.body.setAttribute('data-seen', JSON.stringify({ seen, errors }));
</script>"""
CATCH = """<script>const errors = [];
window.addEventListener('error', e => errors.push(e.message));</script>"""


def half(x):
    return struct.pack("<e", x)


def write_model(path):
    """10,000 tensors: one with NaN, one with the largest number, one of another shape."""
    header, data, at = {"__metadata__": {"format": "pt"}}, [], 0
    noise = array("f", (rng.gauss(0, 1) for _ in range(4096))).tobytes()
    halves = b"".join(half(rng.gauss(0, 1)) for _ in range(512))

    def add(name, dtype, shape, raw):
        nonlocal at
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(raw)]}
        data.append(raw)
        at += len(raw)

    add("embed.weight", "F32", [64, 64], noise)
    for i in range(LAYERS):
        for k in ("q", "k", "v", "norm", "up"):
            raw = noise[: 4 * 256]
            if i == 1234 and k == "v":
                raw = array("f", [float("nan")] * 3).tobytes() + raw[12:]
            if i == 77 and k == "q":
                raw = array("f", [12345.0]).tobytes() + raw[4:]
            shape = [256] if k == "norm" else [8, 32] if (i, k) == (500, "up") else [16, 16]
            add(f"model.layers.{i}.{k}.weight", "F32", shape, raw)
        add(f"model.layers.{i}.half", "F16", [16, 32], halves)
    add("a</script><b>", "F32", [3], noise[:12])
    add("head.weight", "F32", [64, 64], noise)
    add("last", "F32", [2], noise[:8])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(data))
    return 1 + LAYERS * EACH + 3


def chromium(*words):
    return subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         "--window-size=1500,900", "--virtual-time-budget=20000", *words],
        capture_output=True, text=True, timeout=300)


def check(what, got, want):
    if got != want:
        sys.exit(f"{what}: got {got!r}, expected {want!r}")


os.makedirs(FOLDER, exist_ok=True)
os.chdir(FOLDER)
count = write_model("model.safetensors")
subprocess.run([TENON, "report", "-f", "--hash", "model.safetensors", "-o", "report.html"], check=True)
size = os.path.getsize("report.html")
if size > 6 << 20:
    sys.exit(f"the page has {size} bytes")
page = open("report.html", encoding="utf-8").read()
if re.search(r"(src|href)=['\"]?(https?:)?//", page) or "@import" in page:
    sys.exit("the page asks for something from elsewhere")
facts = json.loads(re.search(r"id='data'>(.*?)</script>", page, re.S).group(1))
asked = json.loads(subprocess.run([TENON, "report", "--json", "--hash", "model.safetensors"],
                                  check=True, capture_output=True).stdout)
check("facts of --json", asked, facts)
check("tensors", len(facts["tensors"]), count)
used = page.replace("<title>", CATCH + "<title>", 1).replace("</body>", SCRIPT + "</body>", 1)
open("used.html", "w", encoding="utf-8").write(used)
dom = chromium("--dump-dom", "file://" + os.path.abspath("used.html")).stdout
found = re.search(r'data-seen="(.*?)"[ >]', dom, re.S)
if not found:
    sys.exit("the browser did not run the page")
said = json.loads(html.unescape(found.group(1)))
check("errors", said["errors"], [])
seen = said["seen"]
check("found", seen["found"], ["model.layers.17.norm.weight"])
check("largest", seen["largest"], "model.layers.77.q.weight")
check("most NaN", seen["most_nan"].split(":")[0], "model.layers.1234.v.weight")
check("halves", seen["halves"], LAYERS)
check("list", seen["flat"], count)
check("last row", seen["last"].split(":")[0], "last")
check("selected", seen["selected"], 2)
for what in ("few", "pane", "toggled", "pictures", "folded", "bad"):
    if not seen[what]:
        sys.exit(f"{what}: {seen}")
if "NaN" not in seen["trouble"] or not seen["trouble"].startswith("model.layers.1234.v.weight"):
    sys.exit(f"trouble is not first: {seen['trouble']}")
for name, scheme in (("light", "0"), ("dark", "1")):
    chromium(f"--screenshot={name}.png", f"--blink-settings=preferredColorScheme={1 - int(scheme)}",
             "file://" + os.path.abspath("report.html"))
    if not os.path.getsize(f"{name}.png"):
        sys.exit("no screenshot")
print(f"{count} tensors, a page of {size / (1 << 20):.1f} MiB, {seen['drawn']} rows drawn at first, "
      f"{seen['draw_ms']:.1f} ms for a row of screens; screenshots in {FOLDER}")

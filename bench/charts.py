#!/usr/bin/env python3
"""charts.py [--rearrange FILE] [--peers FILE] [--out FOLDER] - draw benchmark results.

  --rearrange FILE   from tenon_bench_rearrange --all --only f32,f32+16 --json FILE: bench57.svg
  --peers FILE       from peers.py --json FILE: speed.svg

Needs matplotlib, from Debian (python3-matplotlib) or PyPI.
"""
import argparse
import json
import os
import sys

try:
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
except ImportError:
    print("not run: matplotlib")
    sys.exit(0)

matplotlib.rcParams.update({"svg.hashsalt": "tenon", "svg.fonttype": "none",
                            "font.family": "sans-serif", "font.size": 9,
                            "axes.spines.top": False, "axes.spines.right": False})
RANKS = {2: "#4c78a8", 3: "#2a9d8f", 4: "#e9a03b", 5: "#d1603d", 6: "#7a5195"}
PEERS = {"tenon": "#d1603d", "PyTorch": "#4c78a8", "NumPy": "#9fb8d0"}


def save(figure, folder, name):
    path = os.path.join(folder, name)
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)
    print(path)


def permutations(data, folder):
    """One panel per group: the 57 as bars relative to R; unstable cases are outlined."""
    groups = [g for g in data["groups"] if len(g["cases"]) == 57]
    figure, panels = plt.subplots(len(groups), 1, figsize=(13, 3.2 * len(groups)), sharex=True,
                                  squeeze=False)
    for panel, group in zip(panels[:, 0], groups):
        for i, case in enumerate(group["cases"]):
            colour = RANKS[len(case["shape"])]
            stable = case["verdict"]
            panel.bar(i, min(case["ratio"], 1.15), color=colour if stable else "none",
                      edgecolor=colour, linestyle="-" if stable else "--", width=0.75)
        panel.axhline(1, color="#222", linewidth=1.2)
        panel.axhline(group["mean"], color="#333", linewidth=0.8, linestyle=(0, (6, 4)))
        panel.set_title(f'{group["title"]}: mean {group["mean"]:.2f} of R, '
                        f'worst {group["worst"]:.2f}', loc="left", fontweight="bold")
        panel.set_ylim(0, 1.18)
        panel.set_ylabel("share of R")
        panel.margins(x=0.01)
    names = [case["case"] for case in groups[0]["cases"]]
    panels[-1, 0].set_xticks(range(len(names)), names, rotation=90, fontsize=6.5)
    ranks = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in RANKS.values()]
    panels[0, 0].legend(ranks, [f"rank {rank}" for rank in RANKS], ncols=5, frameon=False,
                        loc="lower right", bbox_to_anchor=(1, 1))
    figure.suptitle(f'57 permutations; R is the better of memcpy and a streaming copy '
                    f'({data["cpu"]})', x=0.12, ha="left")
    save(figure, folder, "bench57.svg")


def peers(data, folder):
    """Cases in GB/s, with the libraries side by side."""
    cases = data["cases"]
    figure, panel = plt.subplots(figsize=(9, 0.42 * len(cases) + 1.2))
    height = 0.8 / len(PEERS)
    for k, (name, colour) in enumerate(PEERS.items()):
        rates = [case[name] or 0 for case in cases]
        at = [i + (k - 1) * height for i in range(len(cases))]
        bars = panel.barh(at, rates, height=height, color=colour,
                          label=f'{name} {data["versions"][name].split()[0]}')
        panel.bar_label(bars, [f"{r:.1f}" if r else "-" for r in rates], padding=2, fontsize=7)
    panel.set_yticks(range(len(cases)), [case["case"] for case in cases])
    panel.invert_yaxis()
    panel.set_xlabel("GB/s read and written, longer is faster")
    panel.set_title(data["cpu"], loc="left", fontsize=9)
    panel.legend(frameon=False, loc="center right", bbox_to_anchor=(1, 0.6))
    save(figure, folder, "speed.svg")


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--rearrange")
    words.add_argument("--peers")
    words.add_argument("--out", default="docs")
    given = words.parse_args()
    for path, draw in ((given.rearrange, permutations), (given.peers, peers)):
        if path:
            with open(path) as f:
                draw(json.load(f), given.out)


if __name__ == "__main__":
    main()

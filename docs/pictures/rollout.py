#!/usr/bin/env python3
"""Draws docs/pictures/rollout.svg: when each pod was not ready in two real runs of examples/rollout, with its image pulled
ahead and without.

    ./dev bench rollout --record FILE     runs and records
    docs/pictures/rollout.py FILE
"""
import json
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
width, left, right, row = 860, 130, 30, 20
ready, not_ready, pulled = "#2e7d32", "#e69f00", "#1f6fb2"
titles = {"ahead": "pulled ahead (mode wait)", "without": "not pulled ahead"}


def bar(x, y, length, colour, height=10):
    return f'<rect x="{x:.1f}" y="{y - height / 2:.1f}" width="{length:.1f}" height="{height}" fill="{colour}"/>'


def text(x, y, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{words}</text>'


def draw(runs):
    longest = max(each["end"] for run in runs.values() for each in [*run["pods"].values(), *run["pulls"].values()])
    scale = (width - left - right) / (longest + 1)
    below, made, y = [], [], 0
    for name, run in runs.items():
        made.append(text(left, y + 24, f"{titles[name]}: {run['seconds']:.1f} s in which pods are not ready", ' font-weight="bold"'))
        y += 46
        for pull in sorted(run["pulls"].values(), key=lambda each: each["node"]):
            made.append(text(left - 10, y + 4, f"pull on {pull['node']}", ' text-anchor="end"'))
            made.append(bar(left + pull["begin"] * scale, y, (pull["end"] - pull["begin"]) * scale, pulled, 6))
            y += row
        for pod, each in sorted(run["pods"].items(), key=lambda one: (one[1]["begin"], one[0])):
            made.append(text(left - 10, y + 4, f"{pod} on {each['node']}", ' text-anchor="end"'))
            made.append(bar(left, y, (longest + 1) * scale, ready, 4))
            made.append(bar(left + each["begin"] * scale, y, (each["end"] - each["begin"]) * scale, not_ready))
            y += row
    for second in range(0, int(longest) + 2, 5):
        x = left + second * scale
        below.append(f'<line x1="{x:.1f}" y1="32" x2="{x:.1f}" y2="{y - 8}" stroke="#eceff1"/>')
        made.append(text(x, y + 8, f"{second} s", ' text-anchor="middle" fill="#555555"'))
    y += 32
    for x, colour, words in ((0, pulled, "the image comes"), (170, not_ready, "not ready"), (300, ready, "ready")):
        made += [bar(left + x, y, 14, colour), text(left + x + 20, y + 4, words)]
    height = y + 20
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
                      f'<rect width="{width}" height="{height}" fill="#ffffff"/>', *below, *made, "</svg>\n"])


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    with open(sys.argv[1]) as file:
        runs = json.load(file)
    with open(os.path.join(here, "rollout.svg"), "w") as file:
        file.write(draw(runs))


main()

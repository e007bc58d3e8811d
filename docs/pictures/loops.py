#!/usr/bin/env python3
"""Draws docs/pictures/loops.svg: when each state was called in a real run of either loop, on one time line.

    docs/pictures/loops.py [FETTLE]     build/release/fettle by default

`link` is up 2 s after it was asked for and is asked for every second, `database` takes 5 s and is asked for every
4 s, `cluster` takes 15 s and is asked for every 10 s, and `app` takes 12 s once the database is there.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
fettle = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(top, "build", "release", "fettle")
modules = {"link": (2, 1), "database": (5, 4), "cluster": (15, 10), "app": (12, 3)}  # ready after, asked every

plugin = '''
import json, os, time

__reconcile_wait__ = {{"static": {{"wait_in_seconds": {every}}}}}
begun = {{}}


def present(hub, ctx, name):
    now = time.time()
    ready = now >= begun.setdefault(name, now) + {after}
    with open(os.environ["LOOPS_LOG"], "a") as log:
        log.write(json.dumps([name, now, ready]) + "\\n")
    return {{"name": name, "result": ready, "comment": "ready" if ready else "not ready yet", "changes": {{}},
            "old_state": None, "new_state": {{"ready": True}} if ready else None}}


def is_pending(hub, ret):
    return not ret["result"]
'''


def calls(reconciler):
    """[(name, seconds since the begin, whether it was ready)], and the length of the run."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "states"))
        for name, (after, every) in modules.items():
            with open(os.path.join(folder, "states", name + ".py"), "w") as file:
                file.write(plugin.format(after=after, every=every))
        with open(os.path.join(folder, "main.sls"), "w") as file:
            for name in modules:
                file.write(f"{name}:\n  {name}.present" + (":\n    - require:\n      - database: database\n" if name == "app" else "\n"))
        log = os.path.join(folder, "log")
        environment = {**os.environ, "FETTLE_HOME": os.path.join(folder, "home"), "LOOPS_LOG": log}
        began = time.time()
        subprocess.run([fettle, "state", "main.sls", f"--reconciler={reconciler}", "-q"], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        length = time.time() - began
        with open(log) as file:
            told = [json.loads(line) for line in file]
        first = min(at for _, at, _ in told)
        return [(name, at - first, ready) for name, at, ready in told], length


def draw(runs):
    longest = max(length for _, length in runs.values())
    left, right, row, panel = 110, 30, 26, 60
    width = 860
    scale = (width - left - right) / (int(longest) + 1)
    height = len(runs) * (panel + row * len(modules)) + 50
    made = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="13">',
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    y = 0
    for reconciler, (told, length) in runs.items():
        made.append(f'<text x="{left}" y="{y + 28}" font-weight="bold">--reconciler={reconciler}: {length:.1f} s, {len(told)} calls</text>')
        y += 48
        for name in modules:
            own = [(at, ready) for other, at, ready in told if other == name]
            made.append(f'<text x="{left - 12}" y="{y + 5}" text-anchor="end">{name}</text>')
            made.append(f'<line x1="{left + own[0][0] * scale:.1f}" y1="{y}" x2="{left + own[-1][0] * scale:.1f}" y2="{y}" stroke="#c8ccd0" stroke-width="6"/>')
            for at, ready in own:
                made.append(f'<circle cx="{left + at * scale:.1f}" cy="{y}" r="5" fill="{"#2e7d32" if ready else "#e69f00"}"/>')
            y += row
        y += panel - 48
    for second in range(0, int(longest) + 2, 2):
        x = left + second * scale
        made.append(f'<line x1="{x:.1f}" y1="36" x2="{x:.1f}" y2="{y}" stroke="#eceff1" stroke-width="1"/>')
        made.append(f'<text x="{x:.1f}" y="{y + 16}" text-anchor="middle" fill="#555555">{second} s</text>')
    made.append(f'<circle cx="{left}" cy="{y + 36}" r="5" fill="#e69f00"/><text x="{left + 12}" y="{y + 41}">called, not ready</text>')
    made.append(f'<circle cx="{left + 150}" cy="{y + 36}" r="5" fill="#2e7d32"/><text x="{left + 162}" y="{y + 41}">called, ready</text>')
    made.append("</svg>\n")
    # The lines of the seconds lie below everything else.
    lines = [one for one in made if 'stroke="#eceff1"' in one]
    rest = [one for one in made if 'stroke="#eceff1"' not in one]
    return "\n".join(rest[:2] + lines + rest[2:])


def main():
    runs = {reconciler: calls(reconciler) for reconciler in ("basic", "fettle")}
    with open(os.path.join(top, "docs", "pictures", "loops.svg"), "w") as file:
        file.write(draw(runs))
    for reconciler, (told, length) in runs.items():
        print(f"{reconciler}: {length:.1f} s, {len(told)} calls")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Files of states: whole processes with a real store, the compile alone, and what waits to be called again.

    ./dev bench states            all rows
    ./dev bench states ROW        those whose name contains it
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
release = os.path.join(top, "build", "release")
fettle = os.path.join(release, "fettle")
tries = 7


def flat(count, function="test.nop", more=""):
    return "".join(f"s{i}:\n  {function}{more}\n" for i in range(count))


def chain(count):
    return "".join(f"s{i}:\n  test.nop" + (f":\n    - require:\n      - test: s{i - 1}\n" if i else "\n") for i in range(count))


def lattice(rows, width=10):
    """Each of a row requires all of the row before."""
    text = ""
    for i in range(rows * width):
        text += f"s{i}:\n  test.nop"
        first = i // width * width - width
        text += ":\n    - require:\n" + "".join(f"      - test: s{j}\n" for j in range(first, first + width)) if first >= 0 else "\n"
    return text


def measure(words, folder):
    """The least wall and own time in ms, and the peak in MB."""
    walls, cpus, peak = [], [], 0
    for _ in range(tries):
        began = time.monotonic()
        child = subprocess.Popen([fettle, "state", *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        errors = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        walls.append((time.monotonic() - began) * 1e3)
        cpus.append((usage.ru_utime + usage.ru_stime) * 1e3)
        peak = max(peak, usage.ru_maxrss / 1024)
        if status != 0:
            sys.exit(f"`fettle state {' '.join(words)}` ended with {os.waitstatus_to_exitcode(status)}: {errors.decode()[-500:]}")
    return min(walls), min(cpus), peak


plain = ["--reconciler=none", "--esm-plugin", "null"]
rows = [
    ("empty file, existing store", "\n", [], "10 ms", 10),
    ("5,000 flat test.nop, no loop, no memory", flat(5000), plain, "60 ms", 60),
    ("5,000 test.present with memory, second run", flat(5000, "test.present", ":\n    - new_state: {a: 1}"), [], "150 ms", 150),
    ("chain of 2,000 requires", chain(2000), plain, "150 ms", 150),
    ("chain of 4,000 requires", chain(4000), plain, "linear", None),
    ("lattice of 5,000 requisites", lattice(51), plain, "150 ms", 150),
    ("lattice of 10,000 requisites", lattice(101), plain, "linear", None),
    ("memory, 100,000 states", flat(100_000), plain, "300 MB", None),
]


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    folder = tempfile.mkdtemp(prefix="fettle-bench-")
    os.environ["FETTLE_HOME"] = os.path.join(folder, "home")
    idem = shutil.which("idem")
    try:
        for name, text, words, target, _ in rows:
            if wanted not in name:
                continue
            with open(os.path.join(folder, "main.sls"), "w") as file:
                file.write(text)
            call = [*words, "main.sls"]
            subprocess.run([fettle, "state", *call], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wall, cpu, peak = measure(call, folder)
            print(f"{name}: {wall:.0f} ms, {cpu:.0f} ms of the processor, {peak:.0f} MB (target {target})", flush=True)
            if idem and len(text) < 200_000:
                began = time.monotonic()
                subprocess.run([idem, "state", "main.sls", "--reconciler=none", "--esm-plugin=null"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                print(f"  idem: {(time.monotonic() - began) * 1e3:.0f} ms")
        for program in ("states_bench", "pending_bench"):
            if wanted in program:
                subprocess.run([os.path.join(release, program)], check=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

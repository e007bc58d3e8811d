"""Builds the libraries of Kurtosis for `bench/differ`, and tells what differs from them."""
import collections
import json
import os
import subprocess
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")
MOST_SHOWN = 15


def built():
    """The program of bench/peers, by Go and its module proxy."""
    program = os.path.abspath("build/peers/peers")
    done = subprocess.run(["go", "build", "-o", program, "."], cwd=FOLDER, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("bench/peers cannot be built: " + done.stderr)
    return program


def report(what, seed, rows, same, reason_of):
    """Prints the rows (input, ours, theirs) that differ without a reason, and how many; true when none do."""
    reasons, shown, failing = collections.Counter(), 0, 0
    for number, (asked, ours, theirs) in enumerate(rows):
        failing += "error" in theirs
        if same(ours, theirs):
            continue
        reason = reason_of(asked, ours, theirs)
        if reason:
            reasons[reason] += 1
            continue
        shown += 1
        if shown <= MOST_SHOWN:
            print(f"--- {what} {number} of seed {seed}\n{asked}\nfettle: {json.dumps(ours, ensure_ascii=False)[:600]}\npeer:   {json.dumps(theirs, ensure_ascii=False)[:600]}\n", flush=True)
    print(f"{len(rows)} {what}, {failing} of them end with an error; {shown} differ", flush=True)
    for reason, count in reasons.most_common():
        print(f"  {count} more: {reason}")
    return shown == 0

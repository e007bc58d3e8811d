#!/usr/bin/env python3
"""Runs the sessions of a page and compares what they print with what the page says.

    session.py PAGE [SED]

A block ```sh is run as it stands, all of them in one shell; a block ```text behind it is what it
prints on both streams. In a block ```console, lines that begin with `$ ` are commands and the rest
is their output. A line `…` stands for any lines. Times, durations, uuids, ports and the folder are
whatever they are. SED, an expression of sed, is applied to the page first. Prints what differs and
ends with 1, else prints how many blocks fit.
"""
import os
import re
import subprocess
import sys

MARK = "== end of a block =="
SOME = [
    (re.compile(r"\b[0-9a-f]{32}\b"), "UUID"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"\b\d+(\.\d+)? (ms|s)\b|\b\d+ min \d+ s\b"), "DURATION"),
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r"on …"), "on TIME"),
]


def blocks(text):
    """The pairs of commands and expected output, in the order of the page."""
    found = []
    for kind, body in re.findall(r"^```(sh|text|console)\n(.*?)^```$", text, re.M | re.S):
        if kind == "sh":
            found.append([body, None])
        elif kind == "text" and found and found[-1][1] is None:
            found[-1][1] = body
        elif kind == "console":
            for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
                command, _, output = part.partition("\n")
                found.append([command + "\n", output])
    return [pair for pair in found if pair[1] is not None]


def plain(text, folder):
    text = text.replace(folder, "/home/me")
    for pattern, word in SOME:
        text = pattern.sub(word, text)
    return text.strip()


def fits(expected, printed):
    lines = ["(?:[^\n]*\n)*" if line == "…" else re.escape(line) + "\n"
             for line in expected.split("\n")]
    return re.fullmatch("".join(lines), printed + "\n") is not None


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    if len(sys.argv) > 2:
        text = subprocess.run(["sed", sys.argv[2]], input=text, stdout=subprocess.PIPE, text=True,
                              check=True).stdout
    pairs = blocks(text)
    # The summary of a run goes to the error stream; both are one here, as on a terminal.
    script = "exec 2>&1\n" + "".join(f"{commands}echo '{MARK}'\n" for commands, _ in pairs)
    done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          text=True, check=False)
    printed = done.stdout.split(MARK + "\n")
    wrong = 0
    for (commands, expected), output in zip(pairs, printed + [""] * len(pairs)):
        expected, output = plain(expected, os.getcwd()), plain(output, os.getcwd())
        if not fits(expected, output):
            wrong += 1
            print(f"$ {commands}expected:\n{expected}\nprinted:\n{output}\n")
    if not wrong:
        print(f"{len(pairs)} blocks print what the page says")
    sys.exit(1 if wrong or not pairs else 0)


main()

#!/usr/bin/env python3
"""Runs a command on a terminal of its own, types, and prints what is shown.

    typed.py [--raw|--screen] [--size ROWSxCOLUMNS] STEP... -- COMMAND...

A step `wait:TEXT` waits until TEXT is shown, `type:TEXT` types (\\n, \\x03 and the like are read as Python
does), `resize:ROWSxCOLUMNS` changes the window, `run:COMMAND` runs a command beside it. What is shown is printed
without carriage returns and sequences that colour or move; with `--raw` those are written as `^[`. With `--screen`
only what stands on the screen in the end is printed. The exit code is that of the command.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios

LIMIT = 60  # seconds, for a step


def set_size(descriptor, size):
    rows, columns = map(int, size.split("x"))
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def screen(text):
    """What stands there in the end, of a program that moves up, to the left, and clears what is below."""
    lines, row = [""], 0
    for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\n|[^\x1b\r\n]+", text):
        if part == "\n":
            row += 1
            if row == len(lines):
                lines.append("")
        elif part.startswith("\x1b"):
            if part[-1] == "A":
                row = max(0, row - int(part[2:-1] or 1))
            elif part[-1] == "J":
                del lines[row + 1:]
                lines[row] = ""
        else:
            lines[row] += part
    return "\n".join(lines)


def main():
    words = sys.argv[1:]
    size, form = "24x80", ""
    if words[0] in ("--raw", "--screen"):
        form, words = words[0], words[1:]
    if words[0] == "--size":
        size, words = words[1], words[2:]
    split = words.index("--")
    steps, command = words[:split], words[split + 1:]
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    set_size(terminal, size)
    shown, seen = b"", 0

    def read():
        nonlocal shown
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            return False
        shown += piece
        return bool(piece)

    for step in steps:
        action, _, text = step.partition(":")
        if action == "wait":
            wanted = text.encode()
            while wanted not in shown[seen:]:
                if not select.select([terminal], [], [], LIMIT)[0] or not read():
                    sys.stderr.write("typed.py: %r was not shown, but %r\n" % (text, shown))
                    os.kill(child, signal.SIGKILL)
                    sys.exit(99)
            seen = shown.index(wanted, seen) + len(wanted)
        elif action == "type":
            os.write(terminal, text.encode().decode("unicode_escape").encode("latin-1"))
        elif action == "resize":
            set_size(terminal, text)
            os.kill(child, signal.SIGWINCH)
        elif action == "run":
            subprocess.run(["bash", "-c", text], stdout=subprocess.DEVNULL, check=True)
    while read():
        pass
    text = shown.decode("utf-8", "replace")
    if form == "--screen":
        text = screen(text)
    elif form == "--raw":
        text = text.replace("\r", "").replace("\x1b", "^[")
    else:
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.replace("\r", ""))
    sys.stdout.write(text)
    sys.stdout.flush()
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


main()

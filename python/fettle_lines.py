"""Lines between the host and a process that serves Python: its streams, and what plugins print.

What the lines say, and who waits for answers, is a matter of `fettle_models` and `fettle_plugins`.
"""

import io
import json
import os
import sys


class HostError(RuntimeError):
    """The host could not do what it was asked; in its words."""


class Lines(io.TextIOBase):
    """What plugins print: each line is told as one of the call that printed it."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, log, call):
        self._log, self._call = log, call
        self._begun = {}  # by call
        self.buffer = os.fdopen(os.dup(2), "wb", buffering=0)  # of bytes nobody knows the call

    def writable(self):
        return True

    def fileno(self):
        return 2

    def write(self, text):
        call = self._call()
        *lines, rest = (self._begun.pop(call, "") + text).split("\n")
        if rest:
            self._begun[call] = rest
        for line in lines:
            self._log(line)
        return len(text)

    def end_line(self):
        """When a call ends, what it began to print has ended, too."""
        rest = self._begun.pop(self._call(), "")
        if rest:
            self._log(rest)


def take_streams(log, call=lambda: None):
    """Stdin and stdout as they were, to read and to write.

    From now on, a plugin's `print` disturbs nobody: its lines go to `log`. `call` says who prints.
    """
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout, sys.stderr = Lines(log, call), Lines(log, call)
    return source, sink


def end_lines():
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, Lines):  # a plugin may have put its own there
            stream.end_line()


def encoded(value, default=None):
    """One line of JSON as bytes; half a surrogate, which is no text, becomes a question mark."""
    text = json.dumps(
        value, default=default, allow_nan=False, ensure_ascii=False, separators=(",", ":")
    )
    return text.encode("utf-8", "replace")

"""Lines of JSON between the compile and this process: one request at a time, in both directions."""

import itertools
import json
import os
import threading

import fettle_lines
from fettle_lines import HostError


class Channel:
    """Takes stdin and stdout for itself, so that a plugin's `print` disturbs nobody.

    Only the process that was started may speak: of a plugin that forks, the copy is silent.
    """

    def __init__(self):
        self._process = os.getpid()
        self._input, self._output = fettle_lines.take_streams(self.log)
        self._turn = threading.RLock()
        self._numbers = itertools.count(1)
        self._is_busy = False
        self.about = 0  # the call of the request for which is asked

    def is_ours(self):
        return os.getpid() == self._process

    def _write(self, line):
        self._output.write(fettle_lines.encoded(line) + b"\n")
        self._output.flush()

    def log(self, text):
        data = text.encode("utf-8", "replace")
        with self._turn:  # a thread of a plugin may outlive its call
            if self._is_busy and self.is_ours():
                self._write({"log": data.decode()})
                return
        os.write(2, data + b"\n")

    def ask(self, **line):
        """Asks the compile, which answers before it asks for anything else."""
        with self._turn:
            if not self._is_busy or not self.is_ours():
                raise HostError("nothing can be asked of the model outside of a call")
            number = next(self._numbers)
            self._write({"ask": number, "of": self.about, **line})
            while True:
                answer = json.loads(self._input.readline() or b'{"error": "the compile is gone"}')
                if "error" in answer:
                    raise HostError(answer["error"])
                if answer.get("answer") == number:
                    return answer.get("result")

    def requests(self):
        """The requests, until the lines end."""
        while True:
            text = self._input.readline()
            if not text:
                return
            if text.strip():
                self._is_busy, self.about = True, 0
                try:
                    request = json.loads(text)
                except RecursionError:
                    self.answer({"error": "RecursionError: a value is nested too deeply for Python"})
                    continue
                yield request

    def answer(self, line):
        if not self.is_ours():
            os._exit(0)  # the copy of a plugin that forked
        fettle_lines.end_lines()
        with self._turn:
            self._write(line)
            self._is_busy = False


current = None  # the channel of this process


def ask(**line):
    if current is None:
        raise HostError("there is no compile to ask")
    return current.ask(**line)

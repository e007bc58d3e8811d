"""Lines of JSON between the host and this process.

A thread reads. Calls of the host go to the event loop; answers to what was asked go to who waits
for them: a coroutine, or a plain function, which blocks until the answer is there.
"""

import asyncio
import contextvars
import itertools
import json
import os
import threading

import fettle_lines
from fettle_lines import HostError
from fettle_plugins.data import dumps, namespaced

current_call = contextvars.ContextVar("current_call", default=None)


class Channel:
    """Takes stdin and stdout for itself, so that a plugin's `print` disturbs nobody."""

    def __init__(self):
        self._input, self._output = fettle_lines.take_streams(self.log, current_call.get)
        self._writing = threading.Lock()
        self._numbers = itertools.count(1)
        self._asked = {}
        self.calls = {}  # those under way, by their number
        self.secrets = set()  # texts that nobody may see

    def write(self, **line):
        text = dumps(line) + b"\n"
        with self._writing:
            self._output.write(text)
            self._output.flush()

    def _call(self):
        """The call that a thread of a plugin works for is known when there is only one."""
        call = current_call.get()
        if call is None and len(self.calls) == 1:
            call = next(iter(list(self.calls)), None)
        return call

    def hidden(self, text):
        for secret in sorted(self.secrets, key=len, reverse=True):
            text = text.replace(secret, "********")
        return text

    def log(self, text):
        text = self.hidden(text)
        call = self._call()
        if call is not None:
            self.write(id=call, log=text)
        else:
            os.write(2, (text + "\n").encode(errors="replace"))

    def _ask(self, done, line):
        call = self._call()
        if call is None:
            raise HostError("nothing can be asked of the host outside of a call")
        number = next(self._numbers)
        self._asked[number] = done
        self.write(id=call, ask=number, **line)

    def ask(self, **line):
        """Blocks until the host answered."""
        waiting = threading.Event()
        answers = []

        def done(answer):
            answers.append(answer)
            waiting.set()

        self._ask(done, line)
        waiting.wait()
        return _result(answers[0])

    async def ask_async(self, **line):
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def done(answer):
            loop.call_soon_threadsafe(lambda: future.cancelled() or future.set_result(answer))

        self._ask(done, line)
        return _result(await future)

    def read_all(self, on_line, on_end):
        """Of a thread of its own."""
        for text in self._input:
            if not text.strip():
                continue
            line = json.loads(text)
            if "answer" in line:
                done = self._asked.pop(line["answer"], None)
                if done is not None:
                    done(line)
            else:
                on_line(line)
        for done in list(self._asked.values()):
            done({"error": "the host is gone"})
        on_end()


def _result(answer):
    if "error" in answer:
        raise HostError(answer["error"])
    return namespaced(answer.get("result"))

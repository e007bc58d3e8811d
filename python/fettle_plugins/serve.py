"""Answers the calls of the host until its lines end.

The last argument is JSON: `folders` of plugins, `functions` of the host ({path: whether it is to be
awaited}), `options` (`hub.OPT.idem`). {"describe": true} tells what was loaded,
{"call": "states.cloud.vm.present", …} calls a function. Functions that are coroutines run side by
side; all others run one at a time.
"""

import asyncio
import inspect
import json
import logging
import os
import sys
import threading
import traceback

from fettle_plugins import builtin, describe, loader
from fettle_plugins.channel import Channel, HostError, current_call
from fettle_plugins.data import NamespaceDict, namespaced
from fettle_plugins.hub import Hub
from fettle_plugins.patience import NotReady, Throttled


class HostFunction:
    """A function that the host has: a path that can be called."""

    signature = inspect.Signature()  # what it takes is the host's to check

    def __init__(self, host, path):
        self._host, self._path = host, path

    def __getattr__(self, name):
        found = None if name.startswith("__") else self._host.part(f"{self._path}.{name}")
        if found is None:
            raise AttributeError(f"'{self._path}' has no attribute '{name}'")
        return found

    __getitem__ = __getattr__

    def __call__(self, *args, **kwargs):
        is_async = self._host.functions.get(self._path)
        if is_async is None:
            raise TypeError(f"'{self._path}' is not a function")
        line = {"call": self._path, "arguments": kwargs}
        positional = list(args)
        if positional and isinstance(positional[0], dict) and "acct" in positional[0]:
            kwargs.setdefault("ctx", positional.pop(0))
        line["context"] = kwargs.pop("ctx", None)
        line["positional"] = positional
        return self._host.ask_async(**line) if is_async else self._host.ask(**line)


class Host:
    """What plugins can ask of fettle."""

    def __init__(self, channel, functions):
        self.functions = functions  # path: whether it is to be awaited
        self.ask, self.ask_async = channel.ask, channel.ask_async

    def part(self, path):
        is_there = path in self.functions or any(
            one.startswith(path + ".") for one in self.functions
        )
        return HostFunction(self, path) if is_there else None


class LogHandler(logging.Handler):
    def __init__(self, channel):
        super().__init__()
        self._channel = channel

    def emit(self, record):
        self._channel.log(self.format(record))


class Server:
    def __init__(self, channel, loop, settings):
        self.channel, self.loop = channel, loop
        self.hub = Hub()
        self.hub._host = Host(channel, settings.get("functions", {}))
        builtin.add(self.hub)
        self.hub.pop.Loop = loop
        self.hub.log.setLevel(logging.INFO)
        self.hub.log.addHandler(LogHandler(channel))
        self.hub.OPT.idem.update(namespaced(settings.get("options", {})))
        self.problems = loader.load(self.hub, settings.get("folders", []))
        self.tasks = channel.calls

    def take(self, line):
        """Of the reading thread."""
        self.loop.call_soon_threadsafe(self._begin, line)

    def _begin(self, line):
        if "cancel" in line:
            task = self.tasks.get(line["cancel"])
            if task is not None:
                task.cancel()
            return
        number = line["id"]
        task = self.loop.create_task(self._answer(line))
        self.tasks[number] = task
        task.add_done_callback(lambda _: self.tasks.pop(number, None))

    async def _answer(self, line):
        number = line["id"]
        current_call.set(number)
        try:
            answer = self._describe() if "describe" in line else await self._call(line)
            end_lines()
            self.channel.write(id=number, **answer)
        except asyncio.CancelledError:
            self.channel.write(id=number, error="cancelled")
        except NotReady as error:
            self.channel.write(id=number, not_ready=str(error), watch=error.watch)
        except Throttled as error:
            self.channel.write(id=number, throttled=str(error))
        except HostError as error:
            self.channel.write(id=number, error=str(error), trace=_trace(error))
        except BaseException as error:
            end_lines()
            text = f"{type(error).__name__}: {error}".rstrip(": ")
            self.channel.write(id=number, error=text, trace=_trace(error))
            if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
                raise

    def _describe(self):
        return {
            "serves": "together",
            "modules": describe.modules_of(self.hub),
            "problems": self.problems,
        }

    async def _call(self, line):
        function = self._function(line["call"])
        run = line.get("run")
        if run is not None:
            made = self.hub.idem.RUNS[run["name"]] = namespaced(run)
            builtin.as_in_idem(made["running"])
        arguments = namespaced(line.get("arguments", {}))
        parameters = function.signature.parameters
        takes_rest = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        if line.get("only_known") and not takes_rest:
            arguments = {name: value for name, value in arguments.items() if name in parameters}
        if "ctx" in parameters:
            arguments["ctx"] = _context(line.get("context"))
        answer = function(
            *_positional(function, arguments, line.get("positional", [])), **arguments
        )
        while inspect.isawaitable(answer):
            answer = await answer
        if run is None:
            return {"result": answer}
        return {"result": answer, "running": self.hub.idem.RUNS[run["name"]]["running"]}

    def _function(self, path):
        found = self.hub
        for name in path.split("."):
            found = getattr(found, name)
        if not callable(found) or not hasattr(found, "signature"):
            raise TypeError(f"{path} is not a function")
        return found


def end_lines():
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "end_line"):  # a plugin may have put another one in its place
            stream.end_line()


def _positional(function, arguments, given):
    """Positional arguments begin behind `hub` and `ctx`; parameters without a name are positional."""
    names = [name for name in function.signature.parameters if name != "hub"]
    made = []
    if given and "ctx" in arguments and names and names[0] == "ctx":
        made.append(arguments.pop("ctx"))
    made += namespaced(given)
    for name, one in function.signature.parameters.items():
        if one.kind is one.POSITIONAL_ONLY and name in arguments:
            made.append(arguments.pop(name))
    return made


def _context(given):
    made = namespaced(given or {})
    for name, value in (
        ("test", False),
        ("acct", NamespaceDict()),
        ("old_state", None),
        ("rerun_data", None),
    ):
        made.setdefault(name, value)
    return made


def _trace(error):
    """The frames of plugins, not ours."""
    ours = __file__.rsplit("/", 1)[0]
    frames = traceback.extract_tb(error.__traceback__)
    kept = [frame for frame in frames if not frame.filename.startswith(ours)]
    return "".join(traceback.format_list(kept)).rstrip("\n")


def main():
    channel = Channel()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    settings = json.loads(sys.argv[-1])
    sys.dont_write_bytecode = True  # users' folders are theirs
    server = Server(channel, loop, settings)

    def ended():
        loop.call_soon_threadsafe(loop.stop)

    reader = threading.Thread(target=channel.read_all, args=(server.take, ended), daemon=True)
    reader.start()
    loop.run_forever()
    sys.stderr.flush()
    os._exit(0)  # threads of plugins hold nobody up

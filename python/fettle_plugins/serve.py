"""Answers the calls of the host until its lines end.

The last argument is JSON: `folders` of plugins, `packages` (whether installed ones are loaded, too),
`functions` of the host ({path: whether it is to be awaited}), `options` (`hub.OPT.idem`). {"describe": true} tells what was loaded,
{"call": "states.cloud.vm.present", …} calls a function. Functions that are coroutines run side by
side; all others run one at a time.
"""

import asyncio
import copy
import inspect
import json
import logging
import os
import sys
import threading
import traceback

from fettle_lines import HostError, end_lines
from fettle_plugins import accounts, builtin, describe, loader
from fettle_plugins.arguments import complete_all as complete_dataclasses
from fettle_plugins.channel import Channel, current_call
from fettle_plugins.contracts import ExecReturn
from fettle_plugins.data import NamespaceDict, namespaced
from fettle_plugins.hub import Dynamic, Hub
from fettle_plugins.maps import SafeNamespaceDict
from fettle_plugins.patience import NotReady, Throttled


# Settings in profiles that are in every text.
_WORDS = {"true", "false", "True", "False", "none", "None", "null", "default"}


# What a plugin may look up about the run that its state is in.
_RUN = {"running": {}, "errors": [], "meta": {}, "sensitive": {}, "subs": ["states"]}


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

    async def profiles(self, providers):
        """What the files of credentials have of providers, those of their plugins, and of backends."""
        found = await self.ask_async(profiles=[*providers, accounts.BACKENDS])
        return NamespaceDict(found or {})

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
        self.hub.pop.Loop = self.hub.pop.loop.CURRENT_LOOP = loop
        self.hub.log.setLevel(logging.INFO)
        self.hub.log.addHandler(LogHandler(channel))
        self.hub.OPT.idem.update(namespaced(settings.get("options", {})))
        self.hub.OPT.acct.update(namespaced(settings.get("acct", {})))
        self.hub.idem.RUN_NAME = self.hub.OPT.idem.run_name
        self.later = loader.Later(self.hub) if settings.get("packages") else None
        self.hub._more = self.later
        self.problems = loader.load(self.hub, settings.get("folders", []))
        self.told = set()  # the paths of modules that the host has heard of
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
            answer = self._describe(line) if "describe" in line else await self._call(line)
            end_lines()
            self.channel.write(id=number, **answer, **self._secrets())
        except asyncio.CancelledError:
            self.channel.write(id=number, error="cancelled")
        except NotReady as error:
            text = self.channel.hidden(str(error))
            self.channel.write(id=number, not_ready=text, watch=error.watch)
        except Throttled as error:
            self.channel.write(id=number, throttled=self.channel.hidden(str(error)))
        except HostError as error:
            self._write_error(number, str(error), error)
        except BaseException as error:
            end_lines()
            text = f"{type(error).__name__}: {error}".rstrip(": ")
            self._write_error(number, text, error)
            if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
                raise

    def _write_error(self, number, text, error):
        hidden = self.channel.hidden
        self.channel.write(id=number, error=hidden(text), trace=hidden(_trace(error)))

    def _secrets(self):
        """What plugins of credentials have found out; the host must not show it either."""
        found = self.channel.secrets
        return {"secrets": sorted(found)} if found else {}

    def _describe(self, line):
        """What is loaded and not told yet; with `packages`, the installed ones, too."""
        problems, self.problems = self.problems, []
        if line.get("packages") and self.later is not None:
            if self.hub._more is not None:
                self.later.load()
            problems = problems + self.later.problems
        modules, more = describe.modules_of(self.hub, self.told)
        return {"serves": "together", "modules": modules, "problems": problems + more}

    async def _call(self, line):
        function = self._function(line["call"])
        run = line.get("run")
        name = (line.get("context") or {}).get("run_name")
        if run is None and name is not None:
            self.hub.idem.RUNS.setdefault(name, namespaced({"name": name, **copy.deepcopy(_RUN)}))
        if run is not None:
            made = self.hub.idem.RUNS[run["name"]] = namespaced(run)
            builtin.as_in_idem(made["running"])
        arguments = namespaced(line.get("arguments", {}))
        arguments = function.renamed(arguments) if function.param_aliases else arguments
        parameters = function.signature.parameters
        takes_rest = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        if line.get("only_known") and not takes_rest:
            arguments = {name: value for name, value in arguments.items() if name in parameters}
        state_name = (line.get("context") or {}).pop("state_name", None)
        if state_name is not None and "name" in parameters and not line.get("positional"):
            arguments.setdefault("name", state_name)
        if line["call"].startswith("states."):
            complete_dataclasses(function, arguments)
        if "ctx" in parameters:
            arguments["ctx"] = await self._context(line)
        answer = function(
            *_positional(function, arguments, line.get("positional", [])), **arguments
        )
        while inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, ExecReturn):
            answer = {key: value for key, value in answer.items() if key != "ref"}
        if run is None:
            return {"result": answer}
        return {"result": answer, "running": self.hub.idem.RUNS[run["name"]]["running"]}

    def _function(self, path):
        found = self.hub
        for name in path.split("."):
            found = getattr(found, name)
        if isinstance(found, Dynamic):
            found = found.bound()
        if not callable(found) or not hasattr(found, "signature"):
            raise TypeError(f"{path} is not a function")
        return found

    async def _context(self, line):
        """`ctx`, whose credentials may be what plugins of credentials make of the host's."""
        made = _context(line.get("context"))
        profile, hub = made.pop("acct_profile", None), self.hub
        path = line["call"].rpartition(".")[0]
        declared = describe.providers_of(hub, path, hub._modules.get(path))
        providers = declared or [path.split(".")[1]]
        for provider in providers:
            hasattr(hub.acct, provider)  # a package may make profiles of it
        if profile is None or not accounts.makes_profiles(hub, providers):
            return made
        told = await hub._host.profiles(providers)
        known = set(accounts.scalars(told))
        made["acct"] = SafeNamespaceDict(
            await accounts.profile_of(hub, providers, profile, told, bool(declared)) or {}
        )
        found = set(accounts.scalars(made["acct"])) - known
        self.channel.secrets |= {text for text in found if len(text) >= 4} - _WORDS
        made["acct_details"] = await hub.acct.metadata.init.gather(
            profile=made["acct"], providers=providers
        )
        return made


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
    if isinstance(made.get("acct"), dict):
        made["acct"] = SafeNamespaceDict(made["acct"])
    for name, value in (
        ("test", False),
        ("acct", SafeNamespaceDict()),
        ("acct_details", None),
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

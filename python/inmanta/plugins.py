"""Plugins: functions that models call."""

import dataclasses
import os

from fettle_models import channel, registry
from fettle_models.describe import ModelType
from fettle_models.registry import Plugin
from fettle_models.values import PluginException, allow_reference_values, entity_of
from inmanta import _real
from inmanta.stable_api import stable_api
from inmanta.warnings import PluginDeprecationWarning

__all__ = [
    "CheckedArgs",
    "Context",
    "ModelType",
    "Plugin",
    "PluginDeprecationWarning",
    "PluginException",
    "allow_reference_values",
    "deprecated",
    "plugin",
]


def _not_here(what, why):
    return NotImplementedError(f"{what} is not possible in fettle: {why}")


class _Nothing:
    """A part of Inmanta's compiler that is passed on, but cannot be used."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise _not_here(f"{self._name}.{name}", "the compiler is not Inmanta's")


class _Compiler(_Nothing):
    def __init__(self, server):
        _Nothing.__init__(self, "Context.get_compiler()")
        self._server = server

    def get_plugins(self):
        """Those in Python of all modules of the model."""
        for module in self._server.settings.get("modules", {}):
            self._server.loader.load(module)
        return dict(registry.plugins)


class _Result:
    """What a plugin with `emits_statements` gives instead of a return value."""

    def __init__(self):
        self.hasValue = False
        self._value = None

    def set_value(self, value, location=None, recur=True):
        if self.hasValue and self._value != value:
            raise PluginException(f"value set twice: {self._value!r} and {value!r}")
        self._value, self.hasValue = value, True

    def get_value(self):
        return self._value

    def is_ready(self):
        return self.hasValue


class _Caller:
    @property
    def namespace(self):
        return self

    def get_full_name(self):
        return channel.ask(caller=True)


@dataclasses.dataclass
class CheckedArgs:
    """The arguments of a call."""

    args: list
    kwargs: dict
    unknowns: bool = False


@stable_api
class Context:
    """What a plugin may ask of the compile that calls it."""

    def __init__(self, server, plugin):
        self._server = server
        self.plugin = plugin
        if plugin.emits_statements:
            self.result = _Result()

    def get_type(self, name):
        return entity_of(str(name))

    def get_environment_id(self):
        return self._server.settings.get("environment", "")

    def get_data_dir(self):
        """The folder `data/MODULE` below the project, which is made if it is not there."""
        folder = os.path.join("data", self.plugin.module.replace(".", "::"))
        os.makedirs(folder, exist_ok=True)
        return folder

    def run_sync(self, function, timeout=5):
        import asyncio

        async def limited():
            return await asyncio.wait_for(function(), timeout)

        try:
            return asyncio.run(limited())
        except asyncio.TimeoutError:
            raise ConnectionRefusedError() from None

    def get_client(self):
        raise _not_here("Context.get_client", "there is no server of Inmanta to talk to")

    def get_sync_client(self):
        raise _not_here("Context.get_sync_client", "there is no server of Inmanta to talk to")

    def get_resolver(self):
        raise _not_here("Context.get_resolver", "pass what the plugin needs as an argument")

    def get_queue_scheduler(self):
        raise _not_here("Context.get_queue_scheduler", "the compiler is not Inmanta's")

    def get_compiler(self):
        return _Compiler(self._server)

    @property
    def compiler(self):
        return self.get_compiler()

    @property
    def owner(self):
        """The statement that calls, of which only the namespace is known."""
        return _Caller()

    @property
    def resolver(self):
        """To be passed on to a call of another plugin; it resolves nothing itself."""
        return _Nothing("Context.resolver")

    @property
    def queue(self):
        return _Nothing("Context.queue")

    def emit_expression(self, *ignored):
        raise _not_here(
            "Context.emit_expression",
            "Inmanta 20.1 no longer has it, either; with `emits_statements`, give the value to "
            "`Context.result.set_value`",
        )

    def __getattr__(self, name):
        if name == "result":
            raise _not_here(
                f"Context.{name}", "only `@plugin(emits_statements=True)` gives its value there"
            )
        raise AttributeError(f"'Context' object has no attribute '{name}'")


@stable_api
def plugin(function=None, commands=None, emits_statements=False, allow_unknown=False):
    """`@plugin`, `@plugin("name")` or `@plugin(allow_unknown=True)`."""

    def define(given, name=None):
        given.__plugin__ = registry.Plugin(given, name, commands, emits_statements, allow_unknown)
        return given

    if function is None or isinstance(function, str):
        return lambda given: define(given, function)
    return define(function)


@stable_api
def deprecated(function=None, *, replaced_by=None, **ignored):
    """Above `@plugin`: a call of it is warned about."""

    def mark(given):
        if not hasattr(given, "__plugin__"):
            raise Exception(
                f"Can not deprecate '{given.__name__}': The '@deprecated' decorator should be used "
                "in combination with the '@plugin' decorator and should be placed at the top."
            )
        given.__plugin__.deprecated = True
        given.__plugin__.replaced_by = replaced_by
        return given

    return mark if function is None else mark(function)


class PluginMeta(type):
    """Who looks for plugins here finds those that modules have defined."""

    @classmethod
    def get_functions(cls):
        return dict(registry.plugins)


__getattr__ = _real.names_of(__name__)

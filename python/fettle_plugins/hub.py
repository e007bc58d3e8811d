"""The hub: parts (`hub.exec`), folders in them, modules and their functions, found by name."""

import functools
import importlib
import inspect

from fettle_plugins import contracts


class Part:
    """Everything that has the same beginning: `hub.states`, `hub.states.cloud`."""

    def __init__(self, hub, path):
        self.__dict__.update(_hub=hub, _path=path, _parts={}, _module=None, _extra={})

    def __getattr__(self, name):
        first, _, rest = name.partition(".")
        found = self._find(first)
        return getattr(found, rest) if rest else found

    def _find(self, name):
        for known in (self._extra, self._parts):
            if name in known:
                return known[name]
        if self._module is not None and name in self._module.names:
            return self._module.names[name]
        init = self._parts.get("init")
        if init is not None and init._module is not None and name in init._module.names:
            return init._module.names[name]
        asked = self._hub._host_part(self._path + "." + name)
        if asked is not None:
            return asked
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"'{self._path}' has no attribute '{name}'")

    def __setattr__(self, name, value):
        self._extra[name] = value

    def __getitem__(self, name):
        try:
            return getattr(self, name)
        except AttributeError as error:
            raise KeyError(str(error)) from None

    def __contains__(self, name):
        try:
            getattr(self, name)
        except AttributeError:
            return False
        return True

    def __iter__(self):
        return iter([*self._parts.values(), *self._extra.values()])

    def __repr__(self):
        return f"<{self._path}>"

    def _below(self, names):
        part = self
        for name in names:
            if name not in part._parts:
                part._parts[name] = Part(self._hub, part._path + "." + name)
            part = part._parts[name]
        return part


class Function:
    """A function of a plugin. The hub is given to it, and contracts stand around it."""

    def __init__(self, hub, module, name, function):
        functools.update_wrapper(self, function)
        self.func, self.ref, self.name, self.module = function, module.path, name, module
        self.signature = inspect.signature(function)
        self._hub = hub
        names = list(self.signature.parameters)
        self.takes_hub = bool(names) and names[0] == "hub"

    @property
    def is_async(self):
        return inspect.iscoroutinefunction(self.func)

    def __call__(self, *args, **kwargs):
        if self.takes_hub:
            args = (self._hub, *args)
        around = self.module.around
        if not around:
            return self.func(*args, **kwargs)
        call = contracts.Call(self, args, kwargs)
        return (contracts.run_async if self.is_async else contracts.run)(around, call)

    def __repr__(self):
        return f"<function {self.ref}.{self.name}>"


class Module:
    """A file of plugins: its functions, and whatever else has a name in it."""

    def __init__(self, hub, part, path, source):
        self.hub, self.part, self.path, self.source = hub, part, path, source
        self.contracts = list(getattr(source, "__contracts__", ()))
        self.around = []  # the contracts themselves
        folder, _, file = getattr(source, "__file__", "").rpartition("/")
        self.is_ours = folder == __file__.rpartition("/")[0]
        self.path_names = dict.fromkeys([path.rsplit(".", 1)[-1], file.removesuffix(".py")])
        self.functions, self.names = {}, {}
        aliases = getattr(source, "__func_alias__", {})
        made = aliases(hub) if callable(aliases) else {}
        aliases = {} if callable(aliases) else aliases
        for name, value in vars(source).items():
            if name.startswith("_"):
                if name.startswith("__") and name in _told:
                    self.names[name] = value
                continue
            is_own = inspect.isfunction(value) and value.__module__ == source.__name__
            self._add(aliases.get(name, name), value, is_own)
        for name, value in made.items():
            self._add(name, value, inspect.isfunction(value))

    def _add(self, name, value, is_own):
        if is_own:
            value = self.functions[name] = Function(self.hub, self, name, value)
        self.names[name] = value


_told = {"__reconcile_wait__", "__contracts__", "__virtualname__", "__doc__", "__file__"}


class Lib:
    """`hub.lib.NAME` is the module NAME."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return importlib.import_module(name)

    __getitem__ = __getattr__


class Hub:
    """Everything has its place below it."""

    def __init__(self):
        self._subs = {}
        self._host = None
        self._modules = {}  # by path: `states.cloud.vm`
        self.lib = Lib()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        first, _, rest = name.partition(".")
        if first not in self._subs:
            asked = self._host_part(first)
            if asked is None:
                raise AttributeError(f"'hub' has no attribute '{first}'")
            return getattr(asked, rest) if rest else asked
        return getattr(self._subs[first], rest) if rest else self._subs[first]

    def __getitem__(self, name):
        return getattr(self, name)

    def _sub(self, name):
        if name not in self._subs:
            self._subs[name] = Part(self, name)
        return self._subs[name]

    def _add(self, path, source):
        """A module at a path such as `states.cloud.vm`."""
        names = path.split(".")
        module = Module(self, names[0], path, source)
        self._sub(names[0])._below(names[1:]).__dict__["_module"] = module
        self._modules[path] = module
        return module

    def _host_part(self, path):
        """What only the host has; None: it has nothing of that name either."""
        return None if self._host is None else self._host.part(path)

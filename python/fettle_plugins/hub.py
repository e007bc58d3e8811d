"""The hub: parts (`hub.exec`), folders in them, modules and their functions, found by name."""

import functools
import importlib
import inspect
import re

from fettle_plugins import contracts


class Part:
    """Everything that has the same beginning: `hub.states`, `hub.states.cloud`.

    It is a folder (`_subs`), a module (`_funcs`), or both, as `cloud.py` beside `cloud/` is.
    """

    def __init__(self, hub, path, root):
        self.__dict__.update(
            _hub=hub,
            _path=path,
            _root=root,
            _subname=path.rsplit(".", 1)[-1],
            _parts={},
            _module=None,
            _extra={},
            _names={},  # `__sub_alias__`: the other names of the parts in it
            _dirs=[],
            _options=None,  # how the files of its folders are read
            _resolver=None,  # of `pop.sub.dynamic`
        )

    @property
    def _subs(self):
        return {name: part for name, part in self._parts.items() if part._is_folder()}

    @property
    def _loaded(self):
        return {name: part for name, part in self._parts.items() if part._module is not None}

    @property
    def _funcs(self):
        return {} if self._module is None else dict(self._module.functions)

    @property
    def _vars(self):
        return {} if self._module is None else self._module.variables()

    @property
    def _attrs(self):
        return {**self._vars, **({} if self._module is None else self._module.names)}

    @property
    def __name__(self):
        return self._subname

    def _load_all(self):
        """Everything in it is loaded as soon as it is there."""

    def _is_folder(self):
        return bool(self._parts) or self._resolver is not None or self._module is None

    def __getattr__(self, name):
        first, _, rest = name.partition(".")
        found = self._find(first)
        return getattr(found, rest) if rest else found

    def _known(self, name):
        """What has been put here under this name, or None."""
        for known in (self._extra, self._parts):
            if name in known:
                return known[name]
        if name in self._names:
            return self._parts.get(self._names[name])
        if self._module is not None and name in self._module.names:
            return self._module.names[name]
        return None

    def _find(self, name):
        found = self._known(name)
        if found is not None or self._has_none(name):
            return found
        init = self._parts.get("init")
        if init is not None and (name in init._extra or init._module is not None):
            found = init._known(name)
            if found is not None or init._has_none(name):
                return found
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"'{self._path}' has no attribute '{name}'")
        if self._resolver is not None and not name.startswith("_"):
            return Dynamic(self, (self._subname, name))
        path = self._path + "." + name
        asked = self._hub._host_part(path)
        if asked is None and self._hub._load_more(path):
            return self._find(name)
        if asked is None:
            asked = self._hub._original(path)
        if asked is not None:
            return asked
        raise AttributeError(self._hub._missing(path))

    def _has_none(self, name):
        """Whether None itself is what has this name."""
        return name in self._extra or (self._module is not None and name in self._module.names)

    def __setattr__(self, name, value):
        self._extra[name] = value

    def __delattr__(self, name):
        if name not in self._extra:
            raise AttributeError(f"'{self._path}' has no attribute '{name}'")
        del self._extra[name]

    def __getitem__(self, name):
        try:
            return getattr(self, str(name))
        except AttributeError as error:
            raise Missing(str(error)) from None

    def __contains__(self, name):
        try:
            found = getattr(self, name)
            return bool(found._resolve()) if isinstance(found, Dynamic) else found is not None
        except Exception:
            return False

    def __iter__(self):
        """The modules of a folder; the functions of a module."""
        loaded = self._loaded
        if self._module is not None and not loaded:
            return iter([self._module.functions[name] for name in sorted(self._module.functions)])
        return iter([loaded[name] for name in sorted(loaded)])

    def __dir__(self):
        return sorted({*self._extra, *self._parts, *self._attrs})

    def __repr__(self):
        return f"<{self._path}>"

    def _below(self, names):
        part = self
        for name in names:
            if name not in part._parts:
                part._parts[name] = Part(self._hub, part._path + "." + name, part)
            part = part._parts[name]
        return part


class Missing(AttributeError, KeyError):
    """`hub["exec"]["nothing"]`: users of Idem expect the one error, those of dicts the other."""

    def __str__(self):
        return str(self.args[0])


class Dynamic:
    """A path below `pop.sub.dynamic`: what it means is known when it is called."""

    def __init__(self, part, names):
        self._part, self._names = part, names
        self.__name__ = names[-1]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return Dynamic(self._part, (*self._names, name))

    __getitem__ = __getattr__

    def __contains__(self, name):
        try:
            return bool(Dynamic(self._part, (*self._names, name))._resolve())
        except Exception:
            return False

    def __iter__(self):
        return iter(())

    def _resolve(self):
        resolver, context = self._part._resolver
        return resolver(".".join(self._names), context)

    @property
    def signature(self):
        return self.bound().signature

    def bound(self):
        """The function, with the contracts that stand around everything at its place."""
        path = ".".join((self._part._root._path, *self._names)) if self._part._root else ".".join(
            self._names
        )
        function = self._resolve()
        if function is None:
            raise AttributeError(f"nothing is found for the reference {path}")
        folder, _, name = path.rpartition(".")
        hub = self._part._hub
        if isinstance(function, Function):
            around = [*function.module.around]
            around += [one for one in hub._around_path(folder) if one not in around]
            return BoundFunction(hub, function.func, folder, name, around, function.takes_hub)
        return BoundFunction(hub, function, folder, name, hub._around_path(folder), False)

    def __call__(self, *args, **kwargs):
        return self.bound()(*args, **kwargs)

    def __repr__(self):
        return f"<{'.'.join(self._names)}>"


_ALIAS = re.compile(r"alias=(\w+)")


def aliases_of(parameter):
    """`id_: (str, "alias=id")`: the other names of a parameter."""
    if parameter.annotation is parameter.empty:
        return []
    return _ALIAS.findall(str(parameter.annotation))


class BoundFunction:
    """A function at a path of the hub, with what stands around it."""

    def __init__(self, hub, function, ref, name, around, takes_hub):
        try:
            functools.update_wrapper(self, function)
        except AttributeError:
            pass
        self.func, self.ref, self.name, self.__name__ = function, ref, name, name
        self.hub, self.around, self.takes_hub = hub, around, takes_hub
        self.implicit_hub = takes_hub
        try:
            self.signature = inspect.signature(function)
        except (TypeError, ValueError):  # some functions in C do not tell
            self.signature = inspect.Signature(
                [
                    inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
                    inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
                ]
            )
        self.param_aliases = {}
        for one in self.signature.parameters.values():
            found = aliases_of(one)
            if found:
                self.param_aliases[one.name] = {one.name, *found}

    @property
    def contracts(self):
        return list(self.around)

    @property
    def is_async(self):
        return inspect.iscoroutinefunction(self.func)

    def renamed(self, kwargs):
        """The arguments by the names of the parameters."""
        for name, known in self.param_aliases.items():
            for alias in known:
                if alias in kwargs and name not in kwargs:
                    kwargs[name] = kwargs.pop(alias)
        return kwargs

    def __call__(self, *args, **kwargs):
        if self.takes_hub:
            args = (self.hub, *args)
        if self.param_aliases:
            kwargs = self.renamed(kwargs)
        if not self.around:
            return self.func(*args, **kwargs)
        call = contracts.Call(self, args, kwargs)
        if inspect.isasyncgenfunction(self.func):
            return contracts.run_generator(self.around, call)
        return (contracts.run_async if self.is_async else contracts.run)(self.around, call)

    def __repr__(self):
        return f"<function {self.ref}.{self.name}>"


class Function(BoundFunction):
    """A function of a plugin. The hub is given to it, and contracts stand around it."""

    def __init__(self, hub, module, name, function):
        self.module = module
        super().__init__(hub, function, module.path, name, [], _takes_hub(function))
        self.__dict__.pop("around", None)
        seen = set(self.signature.parameters)
        for parameter, known in self.param_aliases.items():
            for alias in known - {parameter}:
                if alias in seen:
                    raise SyntaxError(f"`{alias}` is the name of several parameters of {self!r}")
                seen.add(alias)

    @property
    def around(self):
        return self.module.around

    @around.setter
    def around(self, value):
        pass  # they are the module's


class Module:
    """A file of plugins: its functions, and whatever else has a name in it."""

    def __init__(self, hub, part, path, source, without=()):
        self.hub, self.part, self.path, self.source = hub, part, path, source
        self.contracts = list(_names_of(getattr(source, "__contracts__", ())))
        self.around = []  # the contracts themselves
        folder, _, file = getattr(source, "__file__", "").rpartition("/")
        self.is_ours = folder == __file__.rpartition("/")[0]
        self.is_users = False  # of a folder that a user names, not of an installed package
        self.path_names = dict.fromkeys([path.rsplit(".", 1)[-1], file.removesuffix(".py")])
        self.functions, self.names = {}, {}
        aliases = getattr(source, "__func_alias__", {})
        aliases = aliases(hub) if callable(aliases) else aliases
        self._add_all(aliases, without)
        for name, value in aliases.items():
            if callable(value):
                self._add(name, value, inspect.isfunction(value))

    def _add_all(self, aliases, without):
        source = self.source
        told = vars(source)
        for name in getattr(source, "__load__", list(told)):
            value = told[name]
            is_function = inspect.isfunction(value)
            if name in _of_python or (name.startswith("__") and is_function):
                continue
            if name.startswith("_") and (is_function or inspect.isclass(value)):
                continue
            if (is_function and "functions" in without) or (
                inspect.isclass(value) and "classes" in without
            ):
                continue
            alias = aliases.get(name, name)
            # One that is imported from elsewhere counts if it is made for a hub.
            is_own = is_function and (value.__module__ == source.__name__ or _takes_hub(value))
            self._add(alias if isinstance(alias, str) else name, value, is_own)

    def _add(self, name, value, is_own):
        if is_own:
            value = self.functions[name] = Function(self.hub, self, name, value)
        self.names[name] = value

    def variables(self):
        return {
            name: value
            for name, value in self.names.items()
            if name not in self.functions and not inspect.isclass(value)
        }


def _takes_hub(function):
    try:
        return next(iter(inspect.signature(function).parameters), None) == "hub"
    except (TypeError, ValueError):
        return False


def _names_of(told):
    return told.split(",") if isinstance(told, str) else told


_of_python = {
    "__builtins__",
    "__cached__",
    "__loader__",
    "__name__",
    "__package__",
    "__spec__",
    "__func_alias__",
    "__load__",
}


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
        self._parts = {}
        self._names = {}
        self._host = None
        self._modules = {}  # by path: `states.cloud.vm`
        self._hooks = {}  # the files of contracts, by path: lists
        self._unknown = {}  # why something is not there, by path
        self._originals = None  # finds what only an installed package of Idem has
        self._more = None  # installed packages that are not loaded yet
        self._folders, self._packages = [], []  # of users, and installed ones
        self._dynes = set()  # the parts that are loaded
        self._defaults = {}  # contracts around everything of a part, by path
        self.lib = Lib()

    _path, _root = "", None

    @property
    def _subs(self):
        return self._parts

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        first, _, rest = name.partition(".")
        found = self._parts.get(self._names.get(first, first))
        if found is None:
            found = self.__dict__.get(first)
        if found is None:
            found = self._host_part(first)
        if found is None and self._load_more(first):
            return getattr(self, name)
        if found is None:
            found = self._original(first)
        if found is None:
            raise AttributeError(self._missing(first))
        return getattr(found, rest) if rest else found

    def __getitem__(self, name):
        return getattr(self, str(name))

    def __contains__(self, name):
        return hasattr(self, name)

    def __iter__(self):
        return iter([self._parts[name] for name in sorted(self._parts)])

    def _sub(self, name):
        if name not in self._parts:
            self._parts[name] = Part(self, name, None)
        return self._parts[name]

    def _part(self, path):
        """The part at a path, made if it is not there."""
        first, *rest = path.split(".")
        return self._sub(first)._below(rest)

    def _add(self, path, source, without=()):
        """A module at a path such as `states.cloud.vm`."""
        module = Module(self, path.split(".")[0], path, source, without)
        self._part(path).__dict__["_module"] = module
        self._modules[path] = module
        return module

    def _remove(self, module):
        """A module that must not be used."""
        self._part(module.path).__dict__["_module"] = None
        self._modules.pop(module.path, None)

    def _host_part(self, path):
        """What only the host has; None: it has nothing of that name either."""
        return None if self._host is None else self._host.part(path)

    def _load_more(self, path):
        """Loads installed packages if they may have something at a path. False: nothing is new."""
        if self._more is None or not self._more.may_have(path):
            return False
        more, self._more = self._more, None
        more.load()
        return True

    def _original(self, path):
        """What only an installed package of Idem's authors has."""
        return None if self._originals is None else self._originals(path)

    def _missing(self, path):
        """What is said about a path at which nothing is."""
        before, _, name = path.rpartition(".")
        text = f"'{before or 'hub'}' has no attribute '{name}'"
        for known in (path, before):
            if known in self._unknown:
                return f"{text}: {self._unknown[known]}"
        return text

    def _is_hosts(self, path):
        return self._host is not None and path in self._host.functions

    def _around_path(self, folder):
        """The contracts around everything at a place."""
        return contracts.around_path(self, folder)

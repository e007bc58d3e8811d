"""The real package `inmanta`, for what ours lacks. It is looked for when something is missing."""

import importlib
import importlib.util
import os
import sys

_OURS = os.path.dirname(os.path.abspath(__file__))


def folder():
    """The folder of the real package, or None."""
    for entry in sys.path:
        found = os.path.join(os.path.abspath(entry or "."), "inmanta")
        if found != _OURS and os.path.isfile(os.path.join(found, "__init__.py")):
            return found
    return None


class extended(list):
    """The places of a package: ours, and at the first look beyond them the real one's."""

    def __init__(self, path, below=""):
        list.__init__(self, path)
        self._below = below
        self._has_looked = False

    def __iter__(self):
        yield from list(list.__iter__(self))
        if not self._has_looked:
            self._has_looked = True
            real = folder()
            found = None if real is None else os.path.join(real, *self._below.split("."))
            if found is not None and os.path.isdir(found):
                self.append(found)
                yield found


def _real_module(name):
    """The real module of a name, beside ours of the same name."""
    real = folder()
    if real is None:
        return None
    alias = "_real_" + name
    if alias in sys.modules:
        return sys.modules[alias]
    parts = name.split(".")[1:]
    for file in (os.path.join(real, *parts, "__init__.py"), os.path.join(real, *parts) + ".py"):
        if parts and os.path.isfile(file):
            spec = importlib.util.spec_from_file_location(alias, file)
            module = importlib.util.module_from_spec(spec)
            sys.modules[alias] = module
            spec.loader.exec_module(module)
            return module
    return None


def _our_module(name):
    """A part of a package of ours, which is found before the real package is looked for."""
    place = os.path.join(_OURS, *name.split(".")[1:])
    if os.path.isfile(place + ".py") or os.path.isfile(os.path.join(place, "__init__.py")):
        return importlib.import_module(name)
    return None


def names_of(module):
    """A module's `__getattr__`: takes what it lacks from the real module of its name."""

    def find(name):
        if not name.startswith("__"):
            ours = _our_module(f"{module}.{name}")
            if ours is not None:
                return ours
            real = _real_module(module)
            if real is not None and hasattr(real, name):
                return getattr(real, name)
        raise AttributeError(f"module '{module}' has no attribute '{name}'")

    return find

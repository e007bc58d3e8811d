"""Modules of our own on the hub."""

import inspect
import types


def add_module(hub, path, file, aliases=None, /, **names):
    """The functions take the hub, as those of plugins do."""
    source = types.ModuleType(f"fettle_loaded.{path}")
    source.__file__ = file
    if aliases:
        source.__func_alias__ = aliases
    for name, value in names.items():
        if inspect.isfunction(value):
            value.__module__ = source.__name__
        setattr(source, name, value)
    return hub._add(path, source)

"""A module of the hub."""

from fettle_plugins.hub import Part


class _Loaded(type):
    def __instancecheck__(cls, other):
        return isinstance(other, Part) and other._module is not None


class LoadedMod(metaclass=_Loaded):
    """`isinstance(part, LoadedMod)`: it is a module, not a folder."""


class LoadError:
    """Nothing on the hub is one: what cannot be loaded is not there."""

"""Warnings of compiles."""

from inmanta import _real


class InmantaWarning(Warning):
    pass


class PluginDeprecationWarning(InmantaWarning):
    pass


__getattr__ = _real.names_of(__name__)

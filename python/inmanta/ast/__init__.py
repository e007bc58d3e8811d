"""Errors that plugins raise and catch."""

from fettle_models.values import (
    CompilerException,
    MultiUnsetException,
    NotFoundException,
    OptionalValueException,
    PluginException,
    RuntimeException,
    UnexpectedReference,
    UnknownException,
    UnsetException,
)
from inmanta import _real

__all__ = [
    "AttributeException",
    "CompilerException",
    "Location",
    "MultiUnsetException",
    "NotFoundException",
    "OptionalValueException",
    "PluginException",
    "Range",
    "RuntimeException",
    "TypeNotFoundException",
    "TypingException",
    "UnexpectedReference",
    "UnknownException",
    "UnsetException",
]

UndefinedReference = UnexpectedReference


class Location:
    def __init__(self, file, lnr):
        self.file, self.lnr = file, lnr

    def __str__(self):
        return f"{self.file}:{self.lnr}"


class Range(Location):
    def __init__(self, file, start_lnr, start_char, end_lnr, end_char):
        Location.__init__(self, file, start_lnr)
        self.start_char, self.end_lnr, self.end_char = start_char, end_lnr, end_char

    def __str__(self):
        return f"{self.file}:{self.lnr}:{self.start_char}"


class TypingException(RuntimeException):
    pass


class TypeNotFoundException(RuntimeException):
    pass


class AttributeException(RuntimeException):
    pass


__path__ = _real.extended(__path__, "ast")
__getattr__ = _real.names_of(__name__)

"""References of a model here, and those of this process in the model.

One of std goes over the channel with its number and its arguments, and is an object of the same
class as in the original. One of a class that a module defines stays here: the model has its name.
The same reference gets the same name when a call is repeated, for the model compares names.
"""

import os
import typing

from fettle_models import describe, modules, values
from inmanta import references

_by_number = {}  # those of std
_by_name = {}
_alike = {}  # the names of those whose attributes look alike


def of_number(number, kind, *arguments):
    known = _by_number.get(number)
    if known is None:
        from fettle_models import exports, std_references

        made_of = getattr(std_references, kind, None)
        if made_of is None or kind == "FactReference":  # its id comes from the exported resource
            known = exports.ModelReference(number, kind, *arguments)
        else:
            known = made_of(*[values.wrapped_argument(one, False) for one in arguments])
        known._number = number
        _by_number[number] = known
    return known


def of_name(name):
    if name not in _by_name:
        raise values.PluginException("the process that had made a reference has ended")
    return _by_name[name]


def told(reference):
    number = getattr(reference, "_number", None)
    if number is not None:
        return {"~r": number}
    made_of = type(reference)
    package, _, module = made_of.__module__.partition(".")
    if package != modules.PACKAGE:
        module = "std"
    return {"~n": [_name_of(reference), f"{module}.{made_of.__name__}", _element_of(made_of)]}


def _name_of(reference):
    look = repr([type(reference), sorted(_attributes_of(reference))])
    for name in _alike.setdefault(look, []):
        if _by_name[name] is reference or _by_name[name] == reference:
            return name
    name = f"{os.getpid()}-{len(_by_name)}"  # another process has other references
    _by_name[name] = reference
    _alike[look].append(name)
    return name


_OWN = ("_model", "_model_type", "_number", "_reference_value", "_reference_value_cached")


def _attributes_of(reference):
    for name, value in vars(reference).items():
        if name not in _OWN:
            is_reference = isinstance(value, references.Reference)
            yield name, _name_of(value) if is_reference else repr(value)


def _element_of(made_of):
    """The type that it stands for, as models spell it."""
    element = made_of.get_reference_type()
    if element is None or isinstance(element, typing.TypeVar):
        return "any"
    return describe.type_text(element, made_of.__name__)

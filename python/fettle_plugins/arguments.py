"""Arguments that are dataclasses: what is left out gets its default, what must be there is missed."""

import copy
import dataclasses
import typing

REQUIRED = "REQUIRED"


def fields_of(annotation):
    """By field: its default, `REQUIRED`, or the same of a dataclass in it; empty: it is no dataclass.

    A list of dataclasses is as good as one of them.
    """
    told = _dataclass_of(annotation)
    if told is None:
        return {}
    found = {}
    for field in dataclasses.fields(told):
        if _dataclass_of(field.type) is not None:
            found[field.name] = fields_of(field.type)
        elif field.default is not dataclasses.MISSING:
            if field.default is not None:
                found[field.name] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            found[field.name] = field.default_factory()
        else:
            found[field.name] = REQUIRED
    return found


def _dataclass_of(annotation):
    for one in (annotation, *typing.get_args(annotation)[:1]):
        if isinstance(one, type) and dataclasses.is_dataclass(one):
            return one
    return None


def complete(fields, value, missing):
    """Puts the defaults into a value, and the names of what is missing into a list."""
    if isinstance(value, list):
        for one in value:
            complete(fields, one, missing)
    elif isinstance(value, dict):
        for name, told in (fields or {}).items():
            if isinstance(told, dict):
                complete(told, value.get(name), missing)
            elif name not in value and told == REQUIRED:
                missing.append(name)
            elif name not in value:
                value[name] = copy.deepcopy(told)  # several may get it


def complete_all(function, arguments):
    """Error: a dataclass among the arguments lacks a field."""
    missing = []
    for name, parameter in function.signature.parameters.items():
        if name in arguments:
            fields = fields_of(parameter.annotation)
            if fields:
                complete(fields, arguments[name], missing)
    if missing:
        path = f"{function.ref}.{function.name}"
        raise ValueError(f"{path} is missing required argument(s): {', '.join(missing)}")

"""Whether a function takes what a contract wants of it (`sig_NAME`)."""

import inspect

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def differences(name, function, wanted):
    """What is wrong about a function, as a list of texts."""
    return [
        f"`{name}`: {text}" for text in [*_kinds(function, wanted), *_parameters(function, wanted)]
    ]


def _is_generator(function):
    return inspect.isasyncgenfunction(function)


def _kinds(function, wanted):
    is_async = inspect.iscoroutinefunction(function) or _is_generator(function)
    if (inspect.iscoroutinefunction(wanted) or _is_generator(wanted)) and not is_async:
        yield "it must be `async`"
    if _is_generator(wanted) and not _is_generator(function):
        yield "it must yield"


def _parameters(function, wanted):
    taken = list(inspect.signature(function).parameters.values())
    asked = inspect.signature(wanted).parameters
    names = [one.name for one in asked.values() if one.kind in _POSITIONAL]
    kinds = {one.kind for one in asked.values()}
    has_rest = inspect.Parameter.VAR_POSITIONAL in kinds
    has_named_rest = inspect.Parameter.VAR_KEYWORD in kinds
    for index, one in enumerate(taken):
        other = asked.get(one.name)
        if other is not None:
            yield from _compared(one, other)
        if one.kind in _POSITIONAL:
            if index < len(names):
                if names[index] != one.name:
                    yield f"its parameter {index + 1} must be `{names[index]}`, not `{one.name}`"
            elif not has_rest and not (has_named_rest and one.default is not one.empty):
                yield f"it must not take `{one.name}`"
        elif one.kind is one.VAR_POSITIONAL and not has_rest:
            yield "it must not take *args"
        elif one.kind is one.KEYWORD_ONLY and other is None and not has_named_rest:
            yield f"it must not take `{one.name}`"
        elif one.kind is one.VAR_KEYWORD and not has_named_rest:
            yield "it must not take **kwargs"


def _compared(one, other):
    if other.kind in (other.VAR_POSITIONAL, other.VAR_KEYWORD):
        return
    if other.annotation is not other.empty and other.annotation != one.annotation:
        yield f"`{one.name}` must be {_told(other.annotation)}"
    if other.default is other.empty and one.default is not one.empty:
        yield f"`{one.name}` must have no default"
    if other.default is not other.empty and one.default is one.empty:
        yield f"`{one.name}` needs a default"


def _told(annotation):
    return getattr(annotation, "__name__", None) or str(annotation)

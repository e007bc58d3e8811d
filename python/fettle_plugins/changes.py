"""What differs between two states, as Idem tells it.

`{"old": …, "new": …}` has both sides as soon as one says something. Dicts are followed; of lists only the
elements that the other one lacks are told, whatever their order. What a function marks as `Computed`, in its
annotations or in those of a dataclass that it takes, makes no difference.
"""

import collections.abc
import dataclasses
import typing


def between(old, new, computed=None):
    """`computed`: a dict by key; a key with nothing behind it is left out, others are followed."""
    return difference(old or {}, new or {}, computed or {})


def difference(old, new, ignored, is_ordered=False, only_common=False):
    if isinstance(old, collections.abc.Mapping) and isinstance(new, collections.abc.Mapping):
        return _of_dicts(old, new, ignored, is_ordered, only_common)
    if isinstance(old, (set, frozenset)) and isinstance(new, (set, frozenset)):
        return _sides(old - new, new - old)
    if _is_list(old) and _is_list(new):
        how = _of_ordered if is_ordered else _of_unordered
        return how(old, new, ignored, is_ordered, only_common)
    is_empty = isinstance(old, _HOLDERS) and isinstance(new, _HOLDERS) and not old and not new
    return {} if is_empty or old == new else {"old": old, "new": new}


def computed_of(signature):
    """What makes no difference of what a function takes, by parameter."""
    found = {name: _computed_in(one.annotation) for name, one in signature.parameters.items()}
    return {name: below for name, below in found.items() if below is not False}


def _is_list(value):
    return isinstance(value, (list, tuple, set, frozenset))


def _sides(old, new):
    return {"old": old, "new": new} if old or new else {}


def _of_dicts(old, new, ignored, is_ordered, only_common):
    was, now = {}, {}
    for key in [*old, *(key for key in new if key not in old)]:
        if key in ignored and not ignored[key]:
            continue
        if key in old and key in new:
            below = ignored.get(key) or {}
            found = difference(old[key], new[key], below, is_ordered, only_common)
            if found:
                was[key], now[key] = found["old"], found["new"]
        elif not only_common:
            (was if key in old else now)[key] = old[key] if key in old else new[key]
    return _sides(was, now)


def _of_unordered(old, new, ignored, *rest):
    was, now = [], list(new)
    for item in old:
        equal = next((one for one in now if not difference(item, one, ignored, *rest)), _NOTHING)
        if equal is _NOTHING:
            was.append(item)
        else:
            now.remove(equal)
    return _sides(was, now)


def _of_ordered(old, new, ignored, *rest):
    was, now = [], []
    for one, other in zip(old, new):
        found = difference(one, other, ignored, *rest)
        if found:
            was.append(found["old"])
            now.append(found["new"])
    shorter = min(len(old), len(new))
    return _sides(was + list(old)[shorter:], now + list(new)[shorter:])


_NOTHING = object()
_HOLDERS = (dict, list, tuple)  # an empty one is as good as another, as in Idem


def _computed_in(annotation):
    """None: all of it is computed; a dict: some of its fields are; False: nothing is."""
    if any(getattr(one, "__name__", "") == "ComputedValue" for one in typing.get_args(annotation)):
        return None
    inner = typing.get_args(annotation)[:1] or (annotation,)
    for one in (annotation, *inner):
        if isinstance(one, type) and dataclasses.is_dataclass(one):
            found = {field.name: _computed_in(field.type) for field in dataclasses.fields(one)}
            return {name: below for name, below in found.items() if below is not False} or False
    return False

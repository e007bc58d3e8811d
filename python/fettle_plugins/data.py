"""Values of plugins and lines of JSON."""

import collections.abc
import copy
import json

from fettle_lines import encoded


class NamespaceDict(dict):
    """A dict whose keys are attributes, too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"'dict' object has no attribute '{name}'") from None

    def __setattr__(self, name, value):
        self[name] = value

    def __delattr__(self, name):
        try:
            del self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __deepcopy__(self, memo):
        """Of the same kind: a copy of credentials prints as little, one of a failed answer is false."""
        made = type(self).__new__(type(self))
        made.update((key, copy.deepcopy(value, memo)) for key, value in self.items())
        return made


def namespaced(value):
    """The value with every dict in it as a NamespaceDict."""
    if isinstance(value, dict):
        return NamespaceDict({key: namespaced(item) for key, item in value.items()})
    if isinstance(value, list):
        return [namespaced(item) for item in value]
    return value


def _plain(value):
    """What json does not know by itself."""
    if isinstance(value, collections.abc.Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, collections.abc.Iterable):
        return list(value)
    return str(value)


def dumps(value):
    """One line of JSON as bytes."""
    return encoded(value, default=_plain)


def is_json(value):
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True

"""Dicts of plugins whose keys are attributes, too."""

import collections.abc

from fettle_plugins.data import NamespaceDict


class SafeNamespaceDict(NamespaceDict):
    """Prints as nothing that anybody could read."""

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(sorted(str(key) for key in self))})"

    __str__ = __repr__


class Fixed(collections.abc.Mapping):
    """Nobody changes it."""

    def __init__(self, given):
        self.__dict__["_given"] = {
            key: Fixed(value) if isinstance(value, dict) else value for key, value in given.items()
        }

    def __getitem__(self, key):
        return self._given[key]

    def __getattr__(self, key):
        try:
            return self.__dict__["_given"][key]
        except KeyError:
            raise AttributeError(key) from None

    def __setattr__(self, key, value):
        raise TypeError(f"`{key}` cannot be set, as nothing of this map can")

    def __iter__(self):
        return iter(self._given)

    def __len__(self):
        return len(self._given)

    def __copy__(self):
        return {
            key: value.__copy__() if isinstance(value, Fixed) else value
            for key, value in self.items()
        }

    def __repr__(self):
        return repr(self._given)


class Growing(NamespaceDict):
    """`map.a.b = 1` makes the dicts in between."""

    def __init__(self, given=None):
        super().__init__()
        for key, value in (given or {}).items():
            self[key] = value

    def __setitem__(self, key, value):
        super().__setitem__(key, Growing(value) if type(value) is dict else value)

    def __getattr__(self, key):
        if key.startswith("__"):
            raise AttributeError(key)
        if key not in self:
            return _Unset(self, key)
        return self[key]


class _Unset:
    """What is not in a map. It becomes a dict as soon as something is set in it."""

    def __init__(self, holder, key):
        self.__dict__.update(_holder=holder, _key=key)

    def __getattr__(self, key):
        if key.startswith("__"):
            raise AttributeError(key)
        return _Unset(self, key)

    def __setattr__(self, key, value):
        self._made()[key] = value

    __setitem__ = __setattr__

    def _made(self):
        holder = self._holder if isinstance(self._holder, Growing) else self._holder._made()
        if self._key not in holder:
            holder[self._key] = {}
        return holder[self._key]

    def __bool__(self):
        return False

    def __iter__(self):
        raise KeyError(self._key)

    def __str__(self):
        raise KeyError(self._key)


def traverse(data, key, default=None, delimiter=":"):
    """`a:b:0` of dicts and lists within one another."""
    for part in str(key).split(delimiter):
        if isinstance(data, collections.abc.Mapping) and part in data:
            data = data[part]
        elif isinstance(data, (list, tuple)) and _is_index(part, len(data)):
            data = data[int(part)]
        else:
            return default
    return data


def _is_index(part, count):
    return part.lstrip("-").isdigit() and -count <= int(part) < count


def update(dest, upd, recursive_update=True, merge_lists=False):
    """Puts what `upd` has into `dest`, dicts within dicts followed."""
    for key, value in upd.items():
        known = dest.get(key)
        if recursive_update and isinstance(known, dict) and isinstance(value, dict):
            update(known, value, recursive_update, merge_lists)
        elif merge_lists and isinstance(known, list) and isinstance(value, list):
            known.extend(item for item in value if item not in known)
        else:
            dest[key] = value
    return dest

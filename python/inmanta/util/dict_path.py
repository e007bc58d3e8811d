"""Paths into nested dicts and lists: `interfaces[name=eth0].addresses`, with `*` as a wild card.

A path has sections: a key of a dict (`InDict`), or the item of a list in a dict whose fields have
the given values (`KeyedList`). Of a special character (`.`, `[`, `]`, `=`, `*` and the backslash)
the one behind a backslash stands for itself; `\\0` is null.

Each section has a wild form, of which the plain one is the case without wild cards. A wild path
finds any number of elements and resolves to plain paths; a plain one can be written to.
"""

from collections.abc import Mapping, MutableMapping

from inmanta import _real

_SPECIAL = "\\.[]=*"
_NULL = "\\0"


class InvalidPathException(Exception):
    pass


class ContainerStructureException(Exception):
    pass


def _escaped(text):
    return "".join("\\" + c if c in _SPECIAL else c for c in str(text))


class NormalValue:
    """A key or a value as it is."""

    def __init__(self, value):
        self.value = value

    def escape(self):
        return _escaped(self.value)

    def matches(self, other):
        return other is not None and str(other) == self.value


class NullValue:
    """The value null."""

    value = None

    def escape(self):
        return _NULL

    def matches(self, other):
        return other is None


class WildCardValue:
    """Any key or value."""

    value = "*"

    def escape(self):
        return "*"

    def matches(self, other):
        return True


def _value_of(given, is_wild):
    """What a program gives: a plain text, the escaped null, or `*`."""
    if isinstance(given, (NormalValue, NullValue, WildCardValue)):
        return given
    if given is None or given == _NULL:
        return NullValue()
    if given == "*":
        if not is_wild:
            raise ValueError("The Wildcard ('*') can not be used in DictPath's")
        return WildCardValue()
    return NormalValue(str(given))


class WildDictPath:
    """A path that may have wild cards."""

    def get_elements(self, container):
        raise NotImplementedError

    def resolve_wild_cards(self, container):
        """The plain paths of all that it finds."""
        raise NotImplementedError

    def get_path_sections(self):
        return [self]

    def to_str(self):
        return str(self)

    def __repr__(self):
        return f"{type(self).__name__}({self!s})"

    def __add__(self, other):
        sections = [*self.get_path_sections(), *other.get_path_sections()]
        is_plain = all(isinstance(one, DictPath) for one in sections)
        return (ComposedPath if is_plain else WildComposedPath)(path=sections)


class DictPath(WildDictPath):
    """A path to one element."""

    def get_element(self, container, construct=False):
        """The element. What is not there is made, or it is a KeyError."""
        if construct:
            return self._constructed(container)
        try:
            found = self.get_elements(container)
        except ContainerStructureException:
            found = []
        if len(found) != 1:
            raise KeyError(f"Found no or multiple items matching {self} in {container}")
        return found[0]

    def set_element(self, container, value, construct=True):
        raise NotImplementedError

    def remove(self, container):
        raise NotImplementedError

    def get_key(self):
        raise NotImplementedError


def _mapping(container):
    if not isinstance(container, Mapping):
        raise ContainerStructureException(f"{container} is not a Mapping")
    return container


def _mutable(container):
    if not isinstance(container, MutableMapping):
        raise ContainerStructureException(f"{container} is not a MutableMapping")
    return container


class WildInDict(WildDictPath):
    _is_wild = True

    def __init__(self, key):
        self.key = _value_of(key, self._is_wild)

    def _keys(self, container):
        if isinstance(self.key, WildCardValue):
            return list(_mapping(container))
        return [self.key.value] if self.key.value in _mapping(container) else []

    def get_elements(self, container):
        return [container[key] for key in self._keys(container)]

    def resolve_wild_cards(self, container):
        return [InDict(NormalValue(str(key))) for key in self._keys(container)]

    def __str__(self):
        return self.key.escape()


class InDict(DictPath, WildInDict):
    """A key of a dict."""

    _is_wild = False

    def _constructed(self, container):
        return _mapping(container).setdefault(self.key.value, {})

    def set_element(self, container, value, construct=True):
        _mutable(container)[self.key.value] = value

    def remove(self, container):
        _mutable(container).pop(self.key.value, None)

    def get_key(self):
        return self.key.value


class WildKeyedList(WildDictPath):
    _is_wild = True

    def __init__(self, relation, key_value_pairs, key_value=None):
        if isinstance(key_value_pairs, str):  # the form of old: relation, key, value
            key_value_pairs = [(key_value_pairs, key_value)]
        self.relation = _value_of(relation, self._is_wild)
        self.key_value_pairs = [
            (_value_of(key, self._is_wild), _value_of(value, self._is_wild))
            for key, value in key_value_pairs
        ]

    def _lists(self, container):
        if isinstance(self.relation, WildCardValue):
            found = list(_mapping(container).values())
        else:
            found = [one for one in [_mapping(container).get(self.relation.value)] if one is not None]
        for one in found:
            if not isinstance(one, (list, set)):
                raise ContainerStructureException(f"{one} is not a List or Set")
        return found

    def _fits(self, item):
        for key, value in self.key_value_pairs:
            if isinstance(key, WildCardValue):
                if not any(value.matches(one) for one in item.values()):
                    return False
            elif key.value not in item or not value.matches(item[key.value]):
                return False
        return True

    def get_elements(self, container):
        return [
            item
            for items in self._lists(container)
            for item in items
            if isinstance(item, Mapping) and self._fits(item)
        ]

    def resolve_wild_cards(self, container):
        wild = (WildCardValue,)
        if isinstance(self.relation, wild) or any(
            isinstance(key, wild) for key, _ in self.key_value_pairs
        ):
            raise NotImplementedError(
                "Can not call resolve_wild_cards on this path because it uses wild cards (`*`) for "
                f"some of its keys: `{self}`."
            )
        return [
            KeyedList(
                self.relation,
                [
                    (key, NullValue() if (one := item[key.value]) is None else NormalValue(str(one)))
                    for key, _ in self.key_value_pairs
                ],
            )
            for item in self.get_elements(container)
        ]

    def __str__(self):
        pairs = "".join(f"[{key.escape()}={value.escape()}]" for key, value in self.key_value_pairs)
        return self.relation.escape() + pairs


class KeyedList(DictPath, WildKeyedList):
    """The item of a list in a dict whose fields have these values."""

    _is_wild = False

    def _place(self, container):
        """The list, which is made if it is not there, and the place of the item or None."""
        items = _mutable(container).setdefault(self.relation.value, [])
        if not isinstance(items, (list, set)):
            raise ContainerStructureException(f"{items} is not a List or Set")
        for place, item in enumerate(items):
            if isinstance(item, Mapping) and self._fits(item):
                return items, place
        return items, None

    def _constructed(self, container):
        items, place = self._place(container)
        if place is not None:
            return items[place]
        made = {key.value: value.value for key, value in self.key_value_pairs}
        items.append(made)
        return made

    def set_element(self, container, value, construct=True):
        items, place = self._place(container)
        if place is None:
            items.append(value)
        else:
            items[place] = value

    def remove(self, container):
        if self.relation.value not in _mutable(container):
            return
        items, place = self._place(container)
        if place is not None:
            del items[place]

    def get_key(self):
        return self.relation.value


class WildNullPath(WildDictPath):
    def get_elements(self, container):
        return [container]

    def resolve_wild_cards(self, container):
        return [NullPath()]

    def get_path_sections(self):
        return []

    def __str__(self):
        return "."


class NullPath(DictPath, WildNullPath):
    """The container itself."""

    def _constructed(self, container):
        return container

    def set_element(self, container, value, construct=True):
        if not isinstance(value, Mapping):
            raise ContainerStructureException(f"Argument value is not a Mapping: {value}")
        container.update(value)

    def remove(self, container):
        raise NotImplementedError("Method remove() is not supported on a NullPath")

    def get_key(self):
        raise NotImplementedError("Method get_key() is not supported on a NullPath")


class WildComposedPath(WildDictPath):
    _is_wild = True

    def __init__(self, path_str=None, path=None):
        if (path_str is None) == (path is None):
            raise ValueError("Either path_str or path should be provided, and not both")
        self._text = path_str
        self.expanded_path = list(path) if path is not None else _parsed(path_str, self._is_wild)

    def get_elements(self, container):
        found = [container]
        for section in self.expanded_path:
            found = [one for inside in found for one in section.get_elements(inside)]
        return found

    def resolve_wild_cards(self, container):
        found = [([], container)]
        for section in self.expanded_path:
            found = [
                ([*before, plain], plain.get_element(inside))
                for before, inside in found
                for plain in section.resolve_wild_cards(inside)
            ]
        return [ComposedPath(path=sections) for sections, _ in found]

    def get_path_sections(self):
        return self.expanded_path

    def __str__(self):
        if self._text is not None:
            return self._text
        return ".".join(str(one) for one in self.expanded_path) or "."


class ComposedPath(DictPath, WildComposedPath):
    """Sections one behind the other."""

    _is_wild = False

    def _parent(self, container, construct):
        for section in self.expanded_path[:-1]:
            container = section.get_element(container, construct)
        return container

    def _constructed(self, container):
        if not self.expanded_path:
            return container
        return self.expanded_path[-1].get_element(self._parent(container, True), True)

    def set_element(self, container, value, construct=True):
        if not self.expanded_path:
            return NullPath().set_element(container, value)
        parent = self._parent(container, construct)
        return self.expanded_path[-1].set_element(parent, value, construct)

    def remove(self, container):
        if not self.expanded_path:
            return NullPath().remove(container)
        try:
            parent = self._parent(container, False)
        except KeyError:
            return None
        return self.expanded_path[-1].remove(parent)

    def get_key(self):
        raise NotImplementedError("Method get_key() not supported on a ComposedPath")


class _Reader:
    """Reads a path from left to right."""

    def __init__(self, text, is_wild):
        self.text, self.is_wild, self.at, self.begin = text, is_wild, 0, 0

    def _peek(self):
        return self.text[self.at : self.at + 1]

    def _wrong(self):
        end = self.text.find(".", self.at)
        segment = self.text[self.begin : end if end > 0 else len(self.text)]
        return InvalidPathException(f"Could not parse path segment {segment}")

    def _word(self, ends):
        """A text up to one of these characters, and whether it is the wild card."""
        made, start = [], self.at
        while self._peek() and self._peek() not in ends:
            if self._peek() == "\\":
                self.at += 1
            elif self._peek() in "[]=":
                raise self._wrong()
            made.append(self._peek())
            self.at += 1
        raw = self.text[start : self.at]
        if raw == _NULL:
            return NullValue()
        if raw == "*":
            if not self.is_wild:
                raise InvalidPathException("The Wildcard ('*') can not be used in DictPath's")
            return WildCardValue()
        return NormalValue("".join(made))

    def _section(self):
        self.begin = self.at
        name = self._word(".[")
        pairs = []
        while self._peek() == "[":
            self.at += 1
            key = self._word("=]")
            if self._peek() != "=":
                raise self._wrong()
            self.at += 1
            value = self._word("]")
            if self._peek() != "]":
                raise self._wrong()
            self.at += 1
            pairs.append((key, value))
        if not pairs:
            return (WildInDict if self.is_wild else InDict)(name)
        if not name.value or isinstance(name, WildCardValue) or self._peek() not in ("", "."):
            raise self._wrong()
        return (WildKeyedList if self.is_wild else KeyedList)(name, pairs)

    def sections(self):
        if not self.text:
            raise InvalidPathException("Could not parse path ")
        made = [self._section()]
        while self._peek() == ".":
            self.at += 1
            made.append(self._section())
        if self.at < len(self.text):
            raise self._wrong()
        return made


def _parsed(text, is_wild):
    try:
        return _Reader(text, is_wild).sections()
    except InvalidPathException as error:
        if "Wildcard" in str(error):
            raise ValueError(str(error)) from None
        raise


def to_path(path):
    """The plain path of a text."""
    if path == ".":
        return NullPath()
    try:
        return ComposedPath(path_str=path)
    except ValueError as error:
        raise InvalidPathException(str(error)) from None


def to_wild_path(path):
    """The path of a text that may have wild cards."""
    return WildNullPath() if path == "." else WildComposedPath(path_str=path)


__getattr__ = _real.names_of(__name__)

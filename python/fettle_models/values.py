"""Values of a model as plugins see them, and back.

Over the channel, a value is its JSON, with marks for what JSON has not:

  {"~i": [number, "std::Host"]}  an instance; a third item has values of attributes
  {"~u": 0}                      unknown
  {"~r": number}                 a reference
  {"~c": ["std::Host", {…}]}     a dataclass that was returned: an instance is made of it
  {"~d": [[key, value], …]}      a dict whose keys are not in order, or begin with `~`

Lists and dicts arrive whole and cannot be changed. An instance arrives as a proxy: an attribute is
asked for when it is read, and kept, because a value of a model is set once. One that has no value
yet ends the call, which is made again when it has.
"""

import dataclasses
import enum
import math
import sys
from collections.abc import Mapping, Sequence

from fettle_models import channel


class CompilerException(Exception):
    """Base of what plugins may catch of the compiler."""

    def __init__(self, msg=""):
        Exception.__init__(self, msg)
        self.msg = msg

    def get_message(self):
        return self.msg

    def __str__(self):
        return str(self.msg)


class RuntimeException(CompilerException):
    def __init__(self, stmt=None, msg=""):
        CompilerException.__init__(self, msg)
        self.stmt = stmt


class PluginException(Exception):
    """What a plugin tells the user in its own words."""

    def __init__(self, message=""):
        Exception.__init__(self, message)
        self.message = str(message)


class UnsetException(RuntimeException):
    """An attribute has no value yet: the call is made again when it has."""

    def __init__(self, msg="", instance=None, attribute=None):
        RuntimeException.__init__(self, None, msg)
        self.instance = instance
        self.attribute = attribute

    def get_result_variable(self):
        return self.instance


class MultiUnsetException(RuntimeException):
    def __init__(self, msg, result_variables=()):
        RuntimeException.__init__(self, None, msg)
        self.result_variables = result_variables


class OptionalValueException(RuntimeException):
    """An option without a value was read."""

    def __init__(self, instance=None, attribute=None, msg=None):
        RuntimeException.__init__(
            self, instance, msg or f"Optional variable accessed that has no value ({attribute})"
        )
        self.instance = instance
        self.attribute = attribute


class NotFoundException(RuntimeException):
    def __init__(self, stmt=None, name="", msg=None):
        RuntimeException.__init__(self, stmt, msg or f"could not find {name}")
        self.name = name


class UnknownException(Exception):
    """Something unknown was read: then the result of the call is unknown, too."""

    def __init__(self, unknown=None):
        Exception.__init__(self, "an unknown value was read")
        self.unknown = unknown


class UnexpectedReference(RuntimeException):
    """A reference was read by a plugin that does not take references."""


class Unknown:
    """A value that becomes known later."""

    def __init__(self, source=None):
        self.source = source

    def __bool__(self):
        raise UnknownException(self)

    def __repr__(self):
        return "<<undefined>>"


class NoneValue:
    """`null` of a model, where it must differ from what is not set."""

    def __eq__(self, other):
        return isinstance(other, NoneValue)

    def __hash__(self):
        return hash(None)

    def __repr__(self):
        return "null"


class Instance:
    """What is known of an instance: its number, its entity, and the values that were read."""

    __slots__ = ("number", "type_name", "values")

    def __init__(self, number, type_name):
        self.number = number
        self.type_name = type_name
        self.values = {}

    def __repr__(self):
        return f"{self.type_name} {self.number}"


instances = {}  # by number
reads = set()  # (number, attribute) that the present call took from what is known


def instance_of(told):
    number, type_name = told[0], told[1]
    known = instances.get(number)
    if known is None:
        known = instances[number] = Instance(number, type_name)
    if len(told) > 2:
        known.values.update(told[2])
    return known


_UNSET = object()


def read_attribute(instance, name):
    """The value of an attribute, as it came over the channel."""
    value = instance.values.get(name, _UNSET)
    if value is not _UNSET:
        reads.add((instance.number, name))
        return value
    entity = _entities.get(instance.type_name)
    if entity is not None and name not in entity.get_all_attribute_names():
        raise AttributeNotFound(None, name)
    told = channel.ask(read=[instance.number, name])
    if "value" in told:
        instance.values[name] = told["value"]
        return told["value"]
    if "unset" in told:
        raise UnsetException(f"the attribute {name} of {instance} has no value yet", None, name)
    if "optional" in told:
        text = told["optional"]
        raise OptionalValueException(None, name, text if isinstance(text, str) else None)
    raise AttributeError(None, name)


class Entity:
    """An entity of the model, as far as plugins look at one."""

    def __init__(self, told):
        self.name = told["name"].rpartition("::")[2]
        self._told = told
        self._attributes = {}

    def get_full_name(self):
        return self._told["name"]

    def get_all_parent_names(self):
        return list(self._told["parents"])

    @property
    def parent_entities(self):
        return [entity_of(name) for name in self._told["extends"]]

    def get_all_parent_entities(self):
        return {entity_of(name) for name in self._told["parents"]}

    def get_all_attribute_names(self):
        return list(self._told["attributes"])

    def get_indices(self):
        return [list(names) for names in self._told["indexes"]]

    def get_attribute(self, name):
        if name not in self._attributes and name in self._told["attributes"]:
            from inmanta.ast import attribute

            told = self._told["attributes"][name]
            made = attribute.RelationAttribute if told["is_relation"] else attribute.Attribute
            self._attributes[name] = made(name, told)
        return self._attributes.get(name)

    @property
    def attributes(self):
        """Those that it defines itself."""
        told = self._told["attributes"]
        names = [name for name in told if told[name]["owner"] == self._told["name"]]
        return {name: self.get_attribute(name) for name in names}

    def get_attributes(self):
        return self.attributes

    def get_all_attributes(self):
        return {name: self.get_attribute(name) for name in self._told["attributes"]}

    def is_subclass(self, other):
        return other.get_full_name() in self._told["parents"]

    def __str__(self):
        return self._told["name"]

    __repr__ = type_string = __str__


_entities = {}


def entity_of(name):
    known = _entities.get(name)
    if known is None:
        known = _entities[name] = Entity(channel.ask(entity=name))
    return known


@dataclasses.dataclass(frozen=True)
class ProxyContext:
    path: str = ""
    validated: bool = True
    allow_reference_values: bool = False

    def nested(self, *, relative_path):
        return dataclasses.replace(self, path=self.path + relative_path)


class DynamicProxy:
    """What plugins get in place of an instance; and the base of lists and dicts that they get."""

    def __init__(self, instance, takes_references=False):
        object.__setattr__(self, "_held", instance)
        object.__setattr__(self, "_takes_references", takes_references)

    def _get_instance(self):
        return self._held if isinstance(self._held, Instance) else _unmarked(self._held)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if not isinstance(self._held, Instance):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return self._wrapped(read_attribute(self._held, name), f".{name}")

    def __getitem__(self, name):
        return self.__getattr__(name)

    def _wrapped(self, value, path):
        """A part of it. Whether it may be a reference is for `_return_value` to say."""
        if isinstance(value, dict) and ("~r" in value or "~n" in value):
            if self._takes_references or make_reference is not None:
                return _reference_of(value)
            return self._return_value(_reference_of(value), relative_path=path)
        return wrapped(value, self._takes_references)

    def _return_value(self, value, *, relative_path=""):
        """Modules put their own function in place of this one while they render a template."""
        if _is_reference(value):
            raise UnexpectedReference(
                None, "Encountered unexpected reference value during plugin execution"
            )
        return value

    def _get_context(self):
        return ProxyContext(repr(self))

    def __setattr__(self, name, value):
        raise Exception("Readonly object")

    __setitem__ = __setattr__

    def __delattr__(self, name):
        raise Exception("Readonly object")

    @classmethod
    def return_value(cls, value, *, context=None):
        if isinstance(value, Unknown):
            raise UnknownException(value)
        return None if isinstance(value, NoneValue) else value

    @classmethod
    def unwrap(cls, item, **ignored):
        return item

    def _type(self):
        return entity_of(self._held.type_name)

    def _allow_references(self):
        return allow_reference_values(self)

    def is_unknown(self):
        return False

    def __hash__(self):
        return hash(self._held.number)

    def __eq__(self, other):
        return isinstance(other, DynamicProxy) and self._held is other._held

    def __lt__(self, other):
        return self._held.number < other._held.number

    def __deepcopy__(self, memo):
        return self

    def __copy__(self):
        return self

    def __repr__(self):
        return f"@{self._held!r}"


class SequenceProxy(DynamicProxy, Sequence):
    """A list. What it holds is wrapped when it is read."""

    def __getitem__(self, key):
        if isinstance(key, str):
            raise RuntimeException(self, f"can not get a attribute {key}, {self._held} is a list")
        if isinstance(key, slice):
            return [self._wrapped(item, "[]") for item in self._held[key]]
        return self._wrapped(self._held[key], f"[{key}]")

    def __len__(self):
        return len(self._held)

    def __iter__(self):
        return (self._wrapped(item, "[]") for item in self._held)

    def __hash__(self):
        return id(self._held)

    def __eq__(self, other):
        if isinstance(other, SequenceProxy):
            return self._held == other._held
        return isinstance(other, list) and list(self) == other

    def __lt__(self, other):
        return list(self) < list(other)

    def __add__(self, other):
        return list(self) + list(other)

    def __radd__(self, other):
        return list(other) + list(self)

    def __repr__(self):
        return f"@{self._held!r}"


class DictProxy(DynamicProxy, Mapping):
    """A dict. What it holds is wrapped when it is read."""

    def __getitem__(self, key):
        if not isinstance(key, str):
            raise RuntimeException(self, f"Expected string key, but got {key}, {self._held} is a dict")
        return self._wrapped(self._held[key], f"[{key!r}]")

    def __len__(self):
        return len(self._held)

    def __iter__(self):
        return iter(self._held)

    def __hash__(self):
        return id(self._held)

    def __eq__(self, other):
        if isinstance(other, DictProxy):
            return self._held == other._held
        return isinstance(other, dict) and dict(self.items()) == other

    def __repr__(self):
        return f"@{self._held!r}"


def allow_reference_values(proxy):
    """The same, but references in it may be read."""
    if not isinstance(proxy, DynamicProxy):
        return proxy
    return type(proxy)(proxy._held, True)


make_reference = None  # of a number, while resources are exported: then any reference may be read


class _ExportContext:
    def __enter__(self):
        global make_reference
        from fettle_models.exports import ModelReference

        make_reference = ModelReference

    def __exit__(self, *_):
        global make_reference
        make_reference = None


exportcontext = _ExportContext()


def _marked(value, takes_references):
    if "~i" in value:
        return DynamicProxy(instance_of(value["~i"]))
    if "~d" in value:
        return DictProxy(dict(value["~d"]), takes_references)
    if "~u" in value:
        raise UnknownException(Unknown())
    if "~r" in value or "~n" in value:
        if takes_references or make_reference is not None:
            return _reference_of(value)
        raise UnexpectedReference(
            None, "Encountered unexpected reference value during plugin execution"
        )
    return DictProxy(value, takes_references)


def _reference_of(value):
    from fettle_models import held_references

    if "~n" in value:
        return held_references.of_name(value["~n"])
    if make_reference is not None:
        return make_reference(*value["~r"])
    return held_references.of_number(*value["~r"])


def wrapped(value, takes_references=False):
    """What a plugin gets for a value that came over the channel."""
    if isinstance(value, dict):
        return _marked(value, takes_references)
    if isinstance(value, list):
        return SequenceProxy(value, takes_references)
    if isinstance(value, str) and value.startswith(_FILE):
        return FileMarker(value[len(_FILE) :])
    return value


_FILE = "imp-module-source:file://"


class FileMarker(str):
    """The text by which `std::file` names a file. Modules know it by the name of its class."""

    def __new__(cls, filename):
        made = str.__new__(cls, _FILE + filename)
        made.filename = filename
        return made


def _unmarked(value):
    """A list or dict as Python has it; what else is in it is wrapped."""
    if isinstance(value, list):
        return [_unmarked(item) for item in value]
    if isinstance(value, dict):
        if "~d" in value:
            return {key: _unmarked(item) for key, item in value["~d"]}
        if any(mark in value for mark in ("~i", "~u", "~r", "~n")):
            return wrapped(value)
        return {key: _unmarked(item) for key, item in value.items()}
    return wrapped(value)


def wrapped_argument(value, takes_unknown):
    """The same for an argument. It may be a reference, or unknown, if its plugin says so."""
    if isinstance(value, dict):
        if "~u" in value and takes_unknown:
            return Unknown()
        if "~r" in value or "~n" in value:
            return _reference_of(value)
    return wrapped(value)


# Of one answer. A part that is shared is written at each place, so a small value may become an
# endless text.
_MOST_PARTS = 4_000_000
_parts = 0


def begin_answer():
    global _parts
    _parts = 0


def count_parts(number):
    global _parts
    _parts += number
    if _parts > _MOST_PARTS:
        raise ValueError(f"a value has more than {_MOST_PARTS} parts")


def checked_text(text):
    """Models have only text that is Unicode; of Python it may also be half a character."""
    if not text.isascii():
        text.encode()
    return text


def entity_name(made):
    """The entity of a dataclass: `net::Host` of `inmanta_plugins.net.Host`."""
    return "::".join([*made.__module__.split(".")[1:], made.__name__])


def _as_entries(made):
    """A dict of what goes over the channel: marked, unless its keys say that it need not be."""
    before = ""
    for key in made:
        if key.startswith("~") or key < before:
            return {"~d": [[key, item] for key, item in made.items()]}
        before = key
    return made


def _told_dict(value):
    made = {}
    count_parts(len(value))
    for key, item in value.items():
        if not isinstance(key, str):
            raise RuntimeException(
                None,
                f"dict keys should be strings, got {key} of type {type(key)} with dict value {item}",
            )
        made[checked_text(str(key))] = told(item)
    return _as_entries(made)


def _told_items(value):
    count_parts(len(value))
    return [told(item) for item in value]


def told(value):
    """A value that a plugin returned, as it goes over the channel."""
    kind = type(value)
    if kind is str:
        return checked_text(value)
    if value is None or kind is bool or kind is int:
        return value
    if isinstance(value, DynamicProxy):
        held = value._held
        if isinstance(held, Instance):
            return {"~i": [held.number, held.type_name]}
        return _as_entries(held) if isinstance(held, dict) else held
    if isinstance(value, enum.Enum):
        return told(value.value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"{value} is not a value of a model")
        return float(value)
    if isinstance(value, bool):
        return bool(value)
    if isinstance(value, str):
        return checked_text(str.__str__(value))
    if isinstance(value, int):
        return int(value)
    if isinstance(value, (list, tuple)):
        return _told_items(value)
    if isinstance(value, Mapping):
        return _told_dict(value)
    if _is_reference(value):
        from fettle_models import held_references

        return held_references.told(value)
    if dataclasses.is_dataclass(value) and kind.__module__.startswith("inmanta_plugins."):
        count_parts(len(dataclasses.fields(value)))
        fields = {one.name: told(getattr(value, one.name)) for one in dataclasses.fields(value)}
        return {"~c": [entity_name(kind), fields]}
    if isinstance(value, Unknown):
        return {"~u": 0}
    if isinstance(value, NoneValue):
        return None
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return _told_items(value)
    raise TypeError(f"{kind.__name__} is not a type of values of a model: {short(value)}")


def _is_reference(value):
    references = sys.modules.get("inmanta.references")
    return references is not None and isinstance(value, references.Reference)


def short(value):
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."

"""References: values that are found only when a resource is deployed; and mutators, which put them
into the resource. Their JSON and their ids are those of Inmanta.
"""

import abc
import builtins
import dataclasses
import hashlib
import json
import re
import typing
import uuid

PrimitiveTypes = typing.Union[str, float, int, bool, None]
RefValue = typing.Any
ReferenceType = str

T = typing.TypeVar("T")

_CYCLE = object()  # a reference that is being serialized
_TYPES = (str, int, float, bool)


class ReferenceCycleException(Exception):
    """A reference refers to itself."""

    def __init__(self, first_ref):
        super().__init__()
        self.references = [first_ref]
        self.complete = False

    def add(self, element):
        if self.complete:
            return
        self.complete = any(element is one for one in self.references)
        self.references.append(element)

    def get_message(self):
        return "Reference cycle detected: " + " -> ".join(repr(one) for one in self.references)

    __str__ = get_message


class MutatorMissingError(TypeError):
    """No mutator of that name is registered."""


class ReferenceMissingError(TypeError):
    """No reference of that name is registered."""


class Argument:
    """An argument of a reference or a mutator, as JSON has it."""

    type = ""
    key = "value"  # of its content

    def __init__(self, name, **content):
        self.name = name
        for key, value in content.items():
            setattr(self, key, value)

    def to_json(self):
        return {"type": self.type, "name": self.name, self.key: getattr(self, self.key)}

    def get_arg_value(self, resource, logger):
        return getattr(self, self.key)


class LiteralArgument(Argument):
    type = "literal"


class JsonArgument(Argument):
    type = "json"


class GetArgument(Argument):
    type = "get"
    key = "dict_path_expression"

    def get_arg_value(self, resource, logger):
        return None


class PythonTypeArgument(Argument):
    type = "python_type"

    def get_arg_value(self, resource, logger):
        return getattr(builtins, self.value)


class ReferenceArgument(Argument):
    type = "reference"
    key = "id"

    def to_json(self):
        return {"type": self.type, "name": self.name, "id": str(self.id)}

    def get_arg_value(self, resource, logger):
        return resource.get_reference_value(self.id, logger)


class ResourceArgument(Argument):
    type = "resource"
    key = "id"

    def get_arg_value(self, resource, logger):
        if resource.id.resource_str() != self.id:
            raise Exception(
                f"This resource refers to another resource {self.id} instead of "
                f"itself {resource.id.resource_str()}, this is not supported"
            )
        return resource


class MutatedJsonArgument(Argument):
    """JSON with None for each reference, and where the references belong."""

    type = "mjson"

    def to_json(self):
        found = {path: one.to_json() for path, one in self.references.items()}
        return {"type": self.type, "name": self.name, "value": self.value, "references": found}

    def get_arg_value(self, resource, logger):
        for path, argument in self.references.items():
            put_at(self.value, path, argument.get_arg_value(resource, logger))
        return self.value


ArgumentTypes = typing.Union[
    LiteralArgument,
    ReferenceArgument,
    GetArgument,
    PythonTypeArgument,
    ResourceArgument,
    JsonArgument,
    MutatedJsonArgument,
]

_ARGUMENTS = {cls.type: cls for cls in Argument.__subclasses__()}


def _argument(given):
    if isinstance(given, Argument):
        return given
    content = {key: value for key, value in given.items() if key not in ("type", "name")}
    if given["type"] == "mjson":
        content["references"] = {
            path: _argument(one) for path, one in content["references"].items()
        }
    return _ARGUMENTS[given["type"]](given["name"], **content)


_STEP = re.compile(r"""\[(\d+)\]|\.?'((?:[^'\\]|\\.)*)'|\.?([^.\['"]+)""")


def _steps(path):
    at, steps = 0, []
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            raise ValueError(f"invalid path {path}")
        at = found.end()
        if found.group(1) is not None:
            steps.append(int(found.group(1)))
        elif found.group(2) is not None:
            steps.append(found.group(2).replace("\\'", "'"))
        elif found.group(3) != "$":
            steps.append(found.group(3))
    return steps


def put_at(where, path, value):
    """Puts a value at a path such as `a.'b'[2]` into a resource, a dict or a list."""
    *steps, last = _steps(path)
    for step in steps:
        where = where[step]
    where[last] = value


def _plain(value):
    if isinstance(value, (Argument, SerializedReferenceLike)):
        return value.to_json()
    if isinstance(value, uuid.UUID):
        return str(value)
    raise TypeError(f"{value!r} has no JSON")


def compute_reference_or_mutator_id(reference_type, args):
    """A UUID of version 3 from the MD5 of the JSON with sorted keys."""
    text = json.dumps({"type": reference_type, "args": args}, default=_plain, sort_keys=True)
    digest = hashlib.md5(text.encode()).digest()
    return uuid.UUID(bytes=hashlib.md5(uuid.NAMESPACE_OID.bytes + digest).digest(), version=3)


class SerializedReferenceLike:
    def __init__(self, type, args, id=None):
        self.type, self.args = type, [_argument(one) for one in args]
        self.id = uuid.UUID(str(id)) if id is not None else None

    @classmethod
    def from_json(cls, given):
        return given if isinstance(given, cls) else cls(**given)

    def get_id(self):
        if self.id is None:
            self.id = compute_reference_or_mutator_id(self.type, self.args)
        return self.id


class ReferenceModel(SerializedReferenceLike):
    def to_json(self):
        return {
            "type": self.type,
            "args": [one.to_json() for one in self.args],
            "id": str(self.get_id()),
        }


class MutatorModel(SerializedReferenceLike):
    def to_json(self):
        return {"type": self.type, "args": [one.to_json() for one in self.args]}


class ReferenceLike:
    """What references and mutators have in common: attributes without a leading `_` are their
    arguments."""

    type = None

    def __init__(self):
        self._model = None
        self._model_type = None

    def resolve_other(self, value, logger):
        return value.get(logger) if isinstance(value, Reference) else value

    @classmethod
    def deserialize(cls, ref, resource, logger):
        return cls(**{one.name: one.get_arg_value(resource, logger) for one in ref.args})

    def serialize_arguments(self):
        arguments = [self._serialized(name, value) for name, value in self.arguments.items()]
        return compute_reference_or_mutator_id(self.type, arguments), arguments

    def _serialized(self, name, value):
        from inmanta import resources

        if value is None or isinstance(value, _TYPES):
            return LiteralArgument(name, value=value)
        if isinstance(value, (dict, list)):
            return self._serialized_json(name, value, resources.ReferenceSubCollector())
        if isinstance(value, Reference):
            return ReferenceArgument(name, id=value.serialize().id)
        if isinstance(value, resources.Resource):
            return ResourceArgument(name, id=value.id.resource_str())
        if isinstance(value, type) and value in _TYPES:
            return PythonTypeArgument(name, value=value.__name__)
        raise TypeError(f"Unable to serialize argument `{name}` of `{self!r}` with value {value}")

    def _serialized_json(self, name, value, collector):
        cleaned = collector.collect_references(value, "$")
        try:
            json.dumps(cleaned, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError(f"The {name} attribute of {self!r} is not json serializable: {value}")
        if not collector.references:
            return JsonArgument(name, value=cleaned)
        found = {
            path: ReferenceArgument(path, id=model.id)
            for path, model in collector.replacements.items()
        }
        return MutatedJsonArgument(name, value=cleaned, references=found)

    @property
    def arguments(self):
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    def __eq__(self, other):
        return type(self) is type(other) and self.arguments == other.arguments

    __hash__ = object.__hash__


class Mutator(ReferenceLike):
    @abc.abstractmethod
    def run(self, logger):
        """Changes the resource."""

    def serialize(self):
        if self._model is None:
            made_id, arguments = self.serialize_arguments()
            self._model = MutatorModel(self.type, arguments, made_id)
        return self._model


class Reference(ReferenceLike, typing.Generic[T]):
    def __init__(self):
        super().__init__()
        self._reference_value = None
        self._reference_value_cached = False

    @classmethod
    def get_reference_type(cls):
        for base in getattr(cls, "__orig_bases__", ()):
            if typing.get_origin(base) is Reference:
                return typing.get_args(base)[0]
        return None

    @classmethod
    def is_dataclass_reference(cls):
        return dataclasses.is_dataclass(cls.get_reference_type())

    @abc.abstractmethod
    def resolve(self, logger):
        """The value."""

    def get(self, logger):
        if not self._reference_value_cached:
            self._reference_value = self.resolve(logger)
            self._reference_value_cached = True
        else:
            logger.debug("Using cached value for reference %(reference)s", reference=repr(self))
        return self._reference_value

    def serialize(self):
        if self._model is _CYCLE:
            raise ReferenceCycleException(self)
        if self._model is None:
            self._model = _CYCLE
            try:
                made_id, arguments = self.serialize_arguments()
                self._model = ReferenceModel(self.type, arguments, made_id)
            except ReferenceCycleException as cycle:
                cycle.add(self)
                raise
            finally:
                if self._model is _CYCLE:
                    self._model = None
        return self._model

    def __bool__(self):
        raise NotImplementedError(f"{self!r} is an inmanta reference, not a boolean.")


class _Register:
    """Registers a class under a name."""

    missing = None  # the error for a name that is not registered

    def __init_subclass__(cls):
        cls._classes = {}

    def __init__(self, name):
        self.name = name

    def __call__(self, registered):
        self._classes[self.name] = registered
        registered.type = self.name
        return registered

    @classmethod
    def get_class(cls, name):
        if name not in cls._classes:
            raise cls.missing(f"There is no {cls.__name__} class registered with name {name}")
        return cls._classes[name]


class reference(_Register):
    """Registers a class of references."""

    missing = ReferenceMissingError

    @classmethod
    def add_reference(cls, name, reference_type):
        cls._classes[name] = reference_type

    @classmethod
    def get_references(cls):
        return iter(cls._classes.items())


class mutator(_Register):
    """Registers a class of mutators."""

    missing = MutatorMissingError

    @classmethod
    def add_mutator(cls, name, mutator_type):
        cls._classes[name] = mutator_type

    @classmethod
    def get_mutators(cls):
        return iter(cls._classes.items())


@reference(name="core::AttributeReference")
class AttributeReference(Reference[T]):
    """An attribute of a dataclass, which may be a reference itself."""

    def __init__(self, reference, attribute_name):
        super().__init__()
        self.attribute_name = attribute_name
        self.reference = reference

    def resolve(self, logger):
        return getattr(self.resolve_other(self.reference, logger), self.attribute_name)


@mutator(name="core::Replace")
class ReplaceValue(Mutator):
    """Puts the value of a reference into a resource."""

    def __init__(self, resource, value, destination):
        super().__init__()
        self.resource = resource
        self.value = value
        self.destination = destination

    def run(self, logger):
        put_at(self.resource, self.destination, self.resolve_other(self.value, logger))


class MaybeReference(typing.Protocol):
    """A value of a model that may stand for a reference."""

    def unwrap_reference(self):
        ...


def maybe_reference(value):
    return hasattr(value, "unwrap_reference")


def unwrap_reference(value):
    if isinstance(value, Reference):
        return value
    return value.unwrap_reference() if maybe_reference(value) else None


def is_reference_of(instance, type_class):
    return isinstance(instance, Reference) and instance.get_reference_type() == type_class

"""Resources of modules: the classes that `@resource` registers, their ids, and how an instance of a
model becomes one of them.
"""

import logging
import re

from fettle_models.values import count_parts
from inmanta import references
from inmanta.ast import (
    CompilerException,
    PluginException,
    RuntimeException,
    UnexpectedReference,
    UnknownException,
    UnsetException,
)
from inmanta.execute import proxy, util

LOGGER = logging.getLogger(__name__)

# `version` is in use no more, but old clients may set it.
RESERVED_FOR_RESOURCE = {
    "id",
    "version",
    "model",
    "requires",
    "unknowns",
    "set_version",
    "clone",
    "is_type",
    "serialize",
}

_ID = (
    r"^(?P<id>(?P<type>(?P<ns>[\w-]+(::[\w-]+)*)::(?P<class>[\w-]+))\[(?P<hostname>[^,]+),"
    r"(?P<attr>[^=]+)=(?P<value>[^\]]+)\])"
)
PARSE_ID_REGEX = re.compile(_ID + r"(,v=(?P<version>[0-9]+))?$")
PARSE_RVID_REGEX = re.compile(_ID + r",v=(?P<version>[0-9]+)$")


class ResourceException(Exception):
    pass


class ResourceNotFoundExcpetion(Exception):  # spelled as modules import it
    """A resource does not exist."""


class IgnoreResourceException(Exception):
    """Raised by a serializer: the resource is not exported."""


class ExternalException(RuntimeException):
    """A serializer failed."""

    def __init__(self, stmt, msg, cause):
        RuntimeException.__init__(self, stmt, msg)
        self.__cause__ = cause


class ExplicitPluginException(ExternalException):
    """A serializer failed, and says why in its own words."""


class HostNotFoundException(Exception):
    """A host cannot be reached."""

    def __init__(self, hostname, user, error):
        super().__init__(f"Failed to access host {hostname} as user {user} over ssh.")
        self.hostname, self.user, self.error = hostname, user, error


class resource:
    """Registers a class for the entity of that name. `agent`: the path from an instance to the name
    of its agent."""

    _resources = {}  # entity: (class, options), in the order of registration

    def __init__(self, name, id_attribute, agent):
        if not isinstance(agent, str):
            raise ResourceException(
                f"The agent parameter has to be a string, got {agent} of type {type(agent)}"
            )
        self._cls_name = name
        self._options = {"agent": agent, "name": id_attribute}

    def __call__(self, cls):
        resource._resources.pop(self._cls_name, None)
        resource._resources[self._cls_name] = (cls, self._options)
        return cls

    @classmethod
    def add_resource(cls, cls_name, resource_type, options):
        cls._resources[cls_name] = (resource_type, options)

    @classmethod
    def validate(cls):
        for registered, _ in list(cls._resources.values()):
            if isinstance(registered, type) and issubclass(registered, cls):
                name = f"{registered.__module__}.{registered.__name__}"
                raise RuntimeException(
                    None,
                    f"Resource {name} is inheriting from the {cls.__module__}.{cls.__name__}"
                    f" decorator. Did you intend to inherit from {Resource.__module__}."
                    f"{Resource.__name__} instead?",
                )
            registered.validate()

    @classmethod
    def get_entity_resources(cls):
        return cls._resources.keys()

    @classmethod
    def get_class(cls, name):
        return cls._resources.get(name, (None, None))

    @classmethod
    def get_resources(cls):
        return ((name, registered) for name, (registered, _) in cls._resources.items())

    @classmethod
    def reset(cls):
        cls._resources = {}


def to_id(entity):
    """The id of the resource that an instance becomes, or None."""
    for name in [str(entity._type())] + list(entity._type().get_all_parent_names()):
        cls, options = resource.get_class(name)
        if cls is not None:
            return str(cls.object_to_id(entity, name, options["name"], options["agent"]))
    return None


def _fields_of(bases):
    for base in bases:
        fields = base.__dict__.get("fields", ())
        if not isinstance(fields, (tuple, list)):
            raise Exception(f"fields attribute of {base} should be a tuple or list")
        yield from fields
        yield from _fields_of(base.__bases__)


class ResourceMeta(type):
    """Gives each class the fields of its bases, and then its own."""

    def __new__(mcs, name, bases, members):
        own = members.get("fields", ())
        if not isinstance(own, (tuple, list)):
            raise Exception(f"fields attribute of {name} should be a tuple or list")
        members["fields"] = tuple(dict.fromkeys([*_fields_of(bases), *own]))
        return super().__new__(mcs, name, bases, members)


class ReferenceSubCollector:
    """Finds the references in a value, and the paths at which they stand."""

    def __init__(self):
        self.references = {}  # by id
        self.replacements = {}  # by path

    def get_references_sorted(self):
        return [self.references[one] for one in sorted(self.references)]

    def collect_reference(self, value):
        """Notes a reference and those that it is made of."""
        if isinstance(value, list):
            for item in value:
                self.collect_reference(item)
        elif isinstance(value, dict):
            for item in value.values():
                self.collect_reference(item)
        elif isinstance(value, references.Reference):
            model = value.serialize()
            self.references[model.id] = model
            for other in getattr(value, "_uses", ()):
                self.references[other.id] = other
            for argument in value.arguments.values():
                self.collect_reference(argument)

    def add_reference(self, path, reference):
        self.collect_reference(reference)
        self.replacements[path] = reference.serialize()

    def collect_references(self, value, path):
        """The value with None for each reference. An unknown or an instance in it has no JSON."""
        if isinstance(value, references.Reference):
            self.add_reference(path, value)
            return None
        if isinstance(value, (list, proxy.SequenceProxy)):
            items = value if isinstance(value, list) else value._allow_references()
            count_parts(len(items))
            return [
                self.collect_references(item, f"{path}[{index}]") for index, item in enumerate(items)
            ]
        if isinstance(value, (dict, proxy.DictProxy)):
            entries = value if isinstance(value, dict) else value._allow_references()
            count_parts(len(entries))
            made = {}
            for key, item in entries.items():
                quoted = key.replace("'", "\\'")
                made[key] = self.collect_references(item, f"{path}.'{quoted}'")
            return made
        if isinstance(value, (proxy.DynamicProxy, util.Unknown)):
            raise TypeError(f"{value!r} in resource is not JSON serializable at path {path}")
        return value


class ReferenceCollector(ReferenceSubCollector):
    """Also makes the mutators that put the values into a resource."""

    def __init__(self, resource):
        super().__init__()
        self.mutators = {}
        self.resource = resource

    def get_mutators_sorted(self):
        return [self.mutators[one] for one in sorted(self.mutators)]

    def add_reference(self, path, reference):
        super().add_reference(path, reference)
        made = references.ReplaceValue(resource=self.resource, value=reference, destination=path)
        model = made.serialize()
        self.mutators[model.get_id()] = model


def _attribute_or(instance, name, otherwise):
    try:
        return getattr(instance, name)
    except Exception:
        return otherwise


class Resource(metaclass=ResourceMeta):
    """A resource: `fields` says what it has. A field is read by the static method `get_FIELD`, else
    by the function in `map`, else it is an attribute of the instance.
    """

    fields = ("send_event", "receive_events", "references", "mutators", "report_only")

    @staticmethod
    def get_send_event(_exporter, obj):
        return _attribute_or(obj, "send_event", False)

    @staticmethod
    def get_receive_events(_exporter, obj):
        return _attribute_or(obj, "receive_events", True)

    @staticmethod
    def get_report_only(_exporter, obj):
        return _attribute_or(obj, "report_only", False)

    @staticmethod
    def get_references(_exporter, instance):
        return []  # set when all fields are read

    @staticmethod
    def get_mutators(_exporter, instance):
        return []

    @classmethod
    def object_to_id(cls, model_object, entity_name, attribute_name, agent_attribute):
        agent = cls._agent_of(model_object, agent_attribute)
        try:
            value = cls.map_field(None, entity_name, attribute_name, model_object)
        except UnexpectedReference:
            raise ResourceException(
                "Encountered reference in resource's id attribute. Id attribute values can not be"
                f" references. Encountered at attribute {attribute_name!r} of resource instance"
                f" {model_object}"
            )
        if isinstance(value, util.Unknown):
            raise UnknownException(value)
        if not isinstance(agent, str):
            raise ResourceException(
                "The agent attribute should lead to a string,"
                f" got {agent} of type {type(agent)}"
            )
        return Id(entity_name, str(agent), attribute_name, str(value))

    @staticmethod
    def _agent_of(model_object, path):
        names = path.split(".")
        found = model_object
        for i, name in enumerate(names):
            try:
                if isinstance(found, list):
                    found = found[0]
                found = getattr(found, name)
            except UnexpectedReference:
                raise ResourceException(
                    "Encountered reference in resource's agent attribute. Agent attribute values"
                    f" can not be references. Encountered at attribute {'.'.join(names[: i + 1])!r}"
                    f" of resource instance {model_object}"
                )
            except (ResourceException, UnsetException, UnknownException):
                raise
            except Exception:
                raise Exception(
                    f"Unable to get the name of agent {model_object} belongs to."
                    f" In path {path}, '{name}' does not exist"
                )
        return found

    @classmethod
    def map_field(cls, exporter, entity_name, field_name, model_object, reference_collector=None):
        try:
            reader = getattr(cls, "get_" + field_name, None)
            if reader is None:
                reader = getattr(cls, "map", {}).get(field_name)
            if reader is not None:
                value = reader(exporter, model_object)
            else:
                value = getattr(model_object, field_name)
            if reference_collector is not None:
                value = reference_collector.collect_references(value, field_name)
            return value
        except IgnoreResourceException:
            raise
        except UnknownException as unknown:
            return unknown.unknown
        except PluginException as error:
            raise ExplicitPluginException(None, _failed(field_name, entity_name), error)
        except CompilerException:
            raise  # an unset value, for one
        except Exception as error:
            raise ExternalException(None, _failed(field_name, entity_name), error)

    @classmethod
    def create_from_model(cls, exporter, entity_name, model_object):
        made_of, options = resource.get_class(entity_name)
        if made_of is None:
            raise TypeError(f"No resource class registered for entity {entity_name}")
        made = made_of(
            made_of.object_to_id(model_object, entity_name, options["name"], options["agent"])
        )
        with proxy.exportcontext:
            collector = ReferenceCollector(made)
            fields = {
                field: made_of.map_field(exporter, entity_name, field, model_object, collector)
                for field in made_of.fields
            }
        fields["references"] = collector.get_references_sorted()
        fields["mutators"] = collector.get_mutators_sorted()
        made.populate(fields)
        made.model = model_object
        return made

    @classmethod
    def deserialize(cls, obj_map):
        """A resource from what `serialize` made of it."""
        made_id = Id.parse_id(obj_map["id"])
        made_of, _ = resource.get_class(made_id.entity_type)
        if made_of is None:
            raise TypeError(f"No resource class registered for entity {made_id.entity_type}")
        fields = {"receive_events": True, "report_only": False, **obj_map}
        fields.pop("version", None)
        if fields.get("mutators") is None or fields.get("references") is None:
            fields["mutators"] = fields["references"] = []
        made = made_of(made_id)
        made.populate(fields)
        return made

    @classmethod
    def validate(cls):
        for field in cls.fields:
            if field.startswith("_"):
                raise ResourceException(
                    f"Resource field names can not start with _, reported in {cls.__name__}"
                )
            if field in RESERVED_FOR_RESOURCE:
                raise ResourceException(
                    f"Resource {field} is a reserved keyword and not a valid field name,"
                    f" reported in {cls.__name__}"
                )

    def __init__(self, _id):
        self.id = _id
        self.requires = set()
        self.resource_requires = set()
        self.unknowns = set()
        for field in self.__class__.fields:
            setattr(self, field, None)
        self._references_model = {}
        self._references = {}
        self._resolved = False

    def get(self, key, default=None):
        return getattr(self, key) if key in self.fields else default

    def __getitem__(self, key):
        if key in self.fields:
            return getattr(self, key)
        raise KeyError()

    def __contains__(self, item):
        return item in self.fields

    def __setitem__(self, key, value):
        if key not in self.fields:
            raise KeyError()
        setattr(self, key, value)

    def __delitem__(self, key):
        raise Exception("Deleting fields is not allowed on a resource")

    def clear(self):
        raise Exception("Deleting fields is not allowed on a resource")

    def items(self):
        for key in self.fields:
            yield key, getattr(self, key)

    def get_reference_value(self, id, logger):
        id = str(id)
        if id not in self._references:
            if id not in self._references_model:
                raise KeyError(f"The reference with id {id} is not defined in resource {self.id}")
            model = self._references_model[id]
            made_of = references.reference.get_class(model.type)
            self._references[id] = made_of.deserialize(model, self, logger)
        return self._references[id].get(logger)

    def resolve_all_references(self, logger):
        """Puts the values of all references into the fields."""
        if self._resolved:
            return
        for one in self.references or ():
            model = references.ReferenceModel.from_json(one)
            self._references_model.setdefault(str(model.id), model)
        for one in self.mutators or ():
            model = references.MutatorModel.from_json(one)
            references.mutator.get_class(model.type).deserialize(model, self, logger).run(logger)
        self._resolved = True

    def populate(self, fields, force_fields=False):
        for field in self.__class__.fields:
            if field not in fields and not force_fields:
                raise Exception(
                    f"Resource with id {fields.get('id', self.id)} does not have field {field}"
                )
            setattr(self, field, fields[field])
        for need in fields.get("requires", ()):
            self.requires.add(Id.parse_id(need))

    def __setattr__(self, name, value):
        if isinstance(value, util.Unknown):
            self.unknowns.add(name)
        self.__dict__[name] = value

    def __str__(self):
        return str(self.id)

    __repr__ = __str__

    def clone(self, **kwargs):
        made = Resource.deserialize(self.serialize())
        for name, value in kwargs.items():
            setattr(made, name, value)
        made._resolved = self._resolved
        made._references = self._references
        made._references_model = self._references_model
        return made

    def serialize(self):
        made = {field: getattr(self, field) for field in self.__class__.fields}
        made["requires"] = [str(need) for need in self.requires]
        made["id"] = self.id.resource_version_str()
        return made

    def is_type(self, type_name):
        return str(self.model._type()) == type_name


def _failed(field, entity):
    return f"Failed to get attribute '{field}' for export on '{entity}'"


class PurgeableResource(Resource):
    fields = ("purged", "purge_on_delete")


class DiscoveryResource(Resource):
    fields = ()


class ManagedResource(Resource):
    fields = ("managed",)

    @staticmethod
    def get_managed(exporter, obj):
        if not obj.managed:
            raise IgnoreResourceException()
        return obj.managed


class Id:
    """`type[agent,attribute=value],v=version`: what identifies a resource."""

    def __init__(self, entity_type, agent_name, attribute, attribute_value, version=0):
        for value, label, forbidden in (
            (agent_name, "agent name", ","),
            (attribute, "attribute name", ",="),
            (attribute_value, "attribute value", "]"),
        ):
            for char in forbidden:
                if char in value:
                    raise ValueError(f"Invalid {label} '{value}': cannot contain '{char}'.")
        self._entity_type = entity_type
        self._agent_name = agent_name
        self._attribute = attribute
        self._attribute_value = attribute_value
        self._version = version

    def get_entity_type(self):
        return self._entity_type

    def get_agent_name(self):
        return self._agent_name

    def get_attribute(self):
        return self._attribute

    def get_attribute_value(self):
        return self._attribute_value

    def get_version(self):
        return self._version

    def set_version(self, version):
        if self._version > 0 and version != self._version:
            raise AttributeError("can't set attribute version")
        self._version = version

    entity_type = property(get_entity_type)
    agent_name = property(get_agent_name)
    attribute = property(get_attribute)
    attribute_value = property(get_attribute_value)
    version = property(get_version, set_version)

    def get_inmanta_module(self):
        return self._entity_type.split("::", 1)[0]

    def to_dict(self):
        return {
            "entity_type": self.entity_type,
            "agent_name": self.agent_name,
            "attribute": self.attribute,
            "attribute_value": self.attribute_value,
            "version": self.version,
        }

    def copy(self, *, version):
        return Id(self.entity_type, self.agent_name, self.attribute, self.attribute_value, version)

    def resource_str(self):
        return f"{self.entity_type}[{self.agent_name},{self.attribute}={self.attribute_value}]"

    def resource_version_str(self):
        return f"{self.resource_str()},v={self.version}"

    def __str__(self):
        return self.resource_version_str() if self._version > 0 else self.resource_str()

    __repr__ = __str__

    def __hash__(self):
        return hash(str(self))

    def __eq__(self, other):
        return str(self) == str(other) and type(self) is type(other)

    def get_instance(self):
        cls, _ = resource.get_class(self.entity_type)
        if cls is None:
            return None
        made = cls(self)
        setattr(made, self.attribute, self.attribute_value)
        return made

    def is_resource_version_id_obj(self):
        return self.version != 0

    @classmethod
    def parse_resource_version_id(cls, resource_id):
        made = cls.parse_id(resource_id)
        if made.version == 0:
            raise ValueError(f"Version is missing from resource id: {resource_id}")
        return made

    @classmethod
    def parse_id(cls, resource_id, version=None):
        found = PARSE_ID_REGEX.search(resource_id)
        if found is None:
            raise ValueError(f"Invalid id for resource {resource_id}")
        if version is None:
            version = int(found.group("version") or 0)
        return Id(
            found.group("type"),
            found.group("hostname"),
            found.group("attr"),
            found.group("value"),
            version,
        )

    @classmethod
    def is_resource_version_id(cls, value):
        return PARSE_RVID_REGEX.search(value) is not None

    @classmethod
    def is_resource_id(cls, value):
        return PARSE_ID_REGEX.search(value) is not None

    @classmethod
    def set_version_in_id(cls, id_str, new_version):
        return cls.parse_id(id_str).copy(version=new_version).resource_version_str()

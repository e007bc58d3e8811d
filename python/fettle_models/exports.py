"""Makes resources of instances, with the classes that modules registered by `@resource`.

A resource is made here as a whole, as its serializers may look anywhere in the model and its
references get their ids from all of their arguments. What it requires, and whether its id is there
already, is for the host to say; managers of dependencies then change what it requires.
"""

import base64
import collections.abc
import dataclasses
import datetime
import enum
import os
import sys
import uuid

from fettle_models import channel, modules, values
from inmanta import references


def describe(server, request):
    """What modules have registered, in the order in which they did."""
    found = sys.modules.get("inmanta.resources")
    if found is None:
        return {"resources": [], "handlers": [], "managers": False}
    handlers = sys.modules.get("inmanta.agent.handler")
    found.resource.validate()
    return {
        "resources": [
            {"entity": name, "file": _file_of(cls)} for name, cls in found.resource.get_resources()
        ],
        "handlers": list(handlers.Commander.get_handlers()) if handlers is not None else [],
        "managers": bool(_exporter(server)._managers or _exporter(server).wanted_functions()),
    }


def _file_of(cls):
    return getattr(sys.modules.get(cls.__module__), "__file__", None) or cls.__module__


def sources(server, request):
    """The texts of all Python of the modules, by their paths below `inmanta_plugins`: a version
    keeps them, so that its handlers are those that it was made with."""
    found = {}
    for name in sorted(sys.modules):
        package, _, module = name.partition(".")
        if package != modules.PACKAGE or not module or "." in module or module == "std":
            continue
        folder = server.finder.folder_of(module)
        for root, below, files in os.walk(folder or ""):
            below[:] = sorted(one for one in below if one != "__pycache__")
            for file in sorted(files):
                if file.endswith(".py"):
                    path = os.path.join(root, file)
                    with open(path, encoding="utf-8") as opened:
                        found[os.path.join(module, os.path.relpath(path, folder))] = opened.read()
    return {"sources": found}


def export(server, request):
    """A resource for each pair of an instance and a type that was registered."""
    exporter = _exporter(server)
    before = set(exporter._file_store)
    made = []
    values.reads.clear()
    for told, entity in request["export"]:
        values.entity_of(told[1])
        made.append(_made(exporter, told, entity))
        if "failed" in made[-1]:
            break
    files = {
        name: base64.b64encode(content).decode()
        for name, content in exporter._file_store.items()
        if name not in before
    }
    return {"made": made, "files": files}


def _made(exporter, told, entity):
    from inmanta import resources

    instance = values.DynamicProxy(values.instance_of(told))
    values.begin_answer()
    try:
        resource = resources.Resource.create_from_model(exporter, entity, instance)
        exporter.add_resource(resource)
        fields = {name: plain(value) for name, value in resource.items()}
        return {
            "id": resource.id.resource_str(),
            "fields": fields,
            "unknowns": sorted(resource.unknowns),
        }
    except resources.IgnoreResourceException:
        return {"ignored": True}
    except values.UnknownException:
        return {"unknown": True}
    except BaseException as error:
        if not channel.current.is_ours():
            os._exit(0)
        return {"failed": text_of(error), "trace": modules.trace_of(_cause(error))}


def serialize(server, request):
    """A reference that is here, with those of which it is made: its resource is not made here."""
    from fettle_models import held_references
    from inmanta import resources

    reference = held_references.of_name(request["serialize"])
    collector = resources.ReferenceSubCollector()
    collector.collect_reference(reference)
    found = [one.to_json() for one in collector.get_references_sorted()]
    return {"made": str(reference.serialize().id), "references": found}


class ModelReference(references.Reference):
    """A reference that the model made: the host has its JSON."""

    def __init__(self, number, kind="", *arguments):
        super().__init__()
        self._number = number
        self._fact = arguments if kind == "FactReference" else None
        self._uses = []

    def _serialize_fact(self):
        """The id of a resource whose class is here is made here."""
        from fettle_models.std_references import FactReference
        from inmanta import resources

        resource, name = [values.wrapped(one) for one in self._fact]
        made_id = resources.to_id(resource)
        return made_id and FactReference("None", made_id, name).serialize()

    def serialize(self):
        if self._model is None and self._fact is not None:
            self._model = self._serialize_fact()
        if self._model is None:
            told = channel.ask(reference=self._number)
            self._uses = [references.ReferenceModel.from_json(one) for one in told["references"]]
            self._model = next(one for one in self._uses if str(one.id) == told["id"])
        return self._model

    def resolve(self, logger):
        raise TypeError("a reference has no value before the resource is deployed")


def _cause(error):
    """Its trace is the one that leads to users' code."""
    return error.__cause__ or error


def text_of(error):
    """A wrapped error, and the one that it wraps."""
    text = modules.text_of(error)
    if isinstance(error, values.CompilerException):
        text = str(error)
        if error.__cause__ is not None:
            text += f": {modules.text_of(error.__cause__)}"
    return text


def plain(value):
    """A value of a field as JSON has it. An unknown one is null: the host is told its name."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, str):
        return values.checked_text(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, values.Unknown):
        return None
    if isinstance(value, collections.abc.Sized):
        values.count_parts(len(value))
    if isinstance(value, collections.abc.Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    if isinstance(value, (uuid.UUID, os.PathLike)):
        return str(value)
    if isinstance(value, collections.abc.Iterable) and not isinstance(value, (bytes, bytearray)):
        return [plain(item) for item in value]
    if hasattr(value, "model_dump"):
        return plain(value.model_dump())
    if dataclasses.is_dataclass(value):
        return plain(dataclasses.asdict(value))
    raise TypeError(f"{value!r} is not JSON serializable")


def manage_dependencies(server, request):
    """Lets the managers change what resources require, and calls the functions of `@export` that
    are asked for. `dependencies`: all resources of the model, with their `needs`; one that was not
    made here also has its fields and its instance."""
    from inmanta import resources

    exporter = _exporter(server)
    known = {one.resource_str(): made for one, made in exporter._resources.items()}
    exporter._resources = {}
    for told in request["dependencies"]:
        made = known.get(told["id"])
        if made is None:
            made = _foreign(resources, told)
        made.requires = {resources.Id.parse_id(need) for need in told["needs"]}
        exporter.add_resource(made)
    for made in exporter._resources.values():
        made.resource_requires = {
            exporter._resources[need] for need in made.requires if need in exporter._resources
        }
    types = Types()
    exporter.call_dependency_managers(types)
    exporter.call_functions(types)
    return {
        "needs": {
            made.id.resource_str(): sorted(need.resource_str() for need in made.requires)
            for made in exporter._resources.values()
        }
    }


def _foreign(resources, told):
    """A resource whose type is not declared in Python."""
    fields = told["fields"]
    made_of = type("ForeignResource", (resources.Resource,), {"fields": tuple(fields)})
    made = made_of(resources.Id.parse_id(told["id"]))
    for name, value in fields.items():
        setattr(made, name, value)
    made.model = values.DynamicProxy(values.instance_of(told["instance"]))
    return made


class ModelType:
    """An entity of the model, with its instances."""

    def __init__(self, entity, instances):
        self._entity, self._instances = entity, instances

    def get_all_instances(self):
        return [values.DynamicProxy(values.instance_of(told)) for told in self._instances]

    def __getattr__(self, name):
        return getattr(self._entity, name)

    def __str__(self):
        return str(self._entity)


class Types(collections.abc.Mapping):
    """The entities of the model by name."""

    def __init__(self):
        self._known = {}
        self._names = None

    def __getitem__(self, name):
        if name not in self._known:
            told = channel.ask(instances=name)
            if told is None:
                raise KeyError(name)
            self._known[name] = ModelType(values.entity_of(name), told)
        return self._known[name]

    def _all(self):
        if self._names is None:
            self._names = channel.ask(entities=True)
        return self._names

    def __iter__(self):
        return iter(self._all())

    def __len__(self):
        return len(self._all())


def _exporter(server):
    """The one of this process."""
    made = getattr(server, "exporter", None)
    if made is None:
        from inmanta.export import Exporter

        made = server.exporter = Exporter(environment=server.settings.get("environment", ""))
    return made

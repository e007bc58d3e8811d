"""What modules use while a model is exported: the exporter that serializers get, managers of
dependencies, and functions of `@export`.
"""

import hashlib
import logging

from inmanta import resources, util
from inmanta.ast import UnknownException
from inmanta.config import Config
from inmanta.resources import Id

LOGGER = logging.getLogger(__name__)

ModelDict = dict
ResourceDict = dict
ProxiedType = dict

unknown_parameters = []

hash_file = util.hash_file


class DependencyCycleException(Exception):
    def __init__(self, start):
        super().__init__()
        self.start, self.cycle, self.running = start, [start], True

    def add_to_cycle(self, node):
        if node == self.start:
            self.running = False
        elif self.running:
            self.cycle.append(node)

    def __str__(self):
        return f"Cycle in dependencies: {self.cycle}"


class Exporter:
    _functions = {}
    _managers = []

    def __init__(self, options=None, environment=""):
        self.options = options
        self.types = self.scopes = None
        self.failed = False
        self._environment = environment
        self._resources = {}
        self._file_store = {}

    @classmethod
    def clear(cls):
        cls._functions, cls._managers = {}, []

    @classmethod
    def add(cls, name, types, function):
        cls._functions[name] = (types, function)

    @classmethod
    def add_dependency_manager(cls, function):
        cls._managers.append(function)

    def add_resource(self, resource):
        self._resources[resource.id] = resource

    def upload_file(self, content):
        """Keeps a content for `get_file` of a handler; its hash."""
        data = content if isinstance(content, bytes) else content.encode("utf-8")
        made = hashlib.sha1(data).hexdigest()
        self._file_store[made] = data
        return made

    def get_environment_id(self):
        return self._environment

    @staticmethod
    def wanted_functions():
        """The names of the functions of `@export` that are to be called."""
        names = Config.get("config", "export", "") or ""
        return [name.strip() for name in names.split(",") if name.strip()]

    def call_functions(self, types):
        """Those with types get their instances, by type."""
        self.types = types
        for name in self.wanted_functions():
            if name not in self._functions:
                raise Exception(f"Export function {name} does not exist.")
            wanted, function = self._functions[name]
            found = {one: types[one].get_all_instances() if one in types else [] for one in wanted}
            if wanted:
                function(self, types=found)
            else:
                function(self)

    def call_dependency_managers(self, types):
        """Lets the managers change `requires`, in which they may leave ids, texts and resources."""
        for manager in self._managers:
            try:
                manager(types, self._resources)
            except UnknownException:
                LOGGER.debug("dependency manager %s met an unknown value", manager)
        for one in self._resources.values():
            one.requires = {_id_of(need) for need in one.requires}


def _id_of(need):
    if isinstance(need, str):
        return Id.parse_id(need)
    if isinstance(need, resources.Resource):
        return need.id
    if isinstance(need, Id):
        return need
    raise Exception(
        f"A dependency manager inserted the object {need!r} of type {type(need)} into a requires"
        " relation. However, only string, Resource or Id are allowable types"
    )


class dependency_manager:
    def __init__(self, function):
        Exporter.add_dependency_manager(function)


class code_manager:
    """Code is stored as it is."""

    def __init__(self, function):
        pass


class export:
    """Registers a function; it is called if `INMANTA_CONFIG_EXPORT` has its name."""

    def __init__(self, name, *args):
        self.name, self.types = name, list(args)

    def __call__(self, function):
        Exporter.add(self.name, self.types, function)
        return function

"""Attributes of entities, as far as modules look at them."""

from fettle_models.values import entity_of
from inmanta import _real


class TypeName:
    """A type of which only the name is known."""

    def __init__(self, name):
        self._name = name

    def type_string(self):
        return self._name

    __str__ = type_string


class Attribute:
    def __init__(self, name, told):
        self.name = name
        self._told = told

    @property
    def entity(self):
        """The one that defines it."""
        return entity_of(self._told["owner"])

    @property
    def type(self):
        return TypeName(self._told["type"])

    def get_type(self):
        return self.type

    def get_name(self):
        return self.name

    def get_entity(self):
        return self.entity

    def is_optional(self):
        return self._told["type"].endswith("?")

    def is_multi(self):
        return self._told["type"].rstrip("?").endswith("[]")

    def __str__(self):
        return f"{self._told['type']} {self.name}"


class RelationAttribute(Attribute):
    """A relation to other instances."""

    @property
    def type(self):
        return entity_of(self._told["type"])

    @property
    def end(self):
        """The other end, or None."""
        if "end" not in self._told:
            return None
        return entity_of(self._told["end_owner"]).get_attribute(self._told["end"])

    def is_optional(self):
        return self._told["is_optional"]

    def is_multi(self):
        return self._told["is_multi"]


__getattr__ = _real.names_of(__name__)

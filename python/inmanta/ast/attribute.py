"""Attributes of entities, as far as modules look at them."""

from inmanta import _real


class Attribute:
    def __init__(self, entity, name, type_name):
        self.entity, self.name, self._type_name = entity, name, type_name

    def get_name(self):
        return self.name

    def __str__(self):
        return f"{self._type_name} {self.name}"


class RelationAttribute(Attribute):
    """A relation to other instances."""


__getattr__ = _real.names_of(__name__)

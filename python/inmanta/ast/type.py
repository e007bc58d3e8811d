"""Types of models, as far as modules name them."""

from inmanta import _real


class Type:
    _name = "any"

    def type_string(self):
        return self._name

    def get_base_type(self):
        return self

    def is_primitive(self):
        return False

    def __str__(self):
        return self._name

    def __eq__(self, other):
        return type(self) is type(other) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))


class Primitive(Type):
    def is_primitive(self):
        return True


class String(Primitive):
    _name = "string"


class Bool(Primitive):
    _name = "bool"


class Number(Primitive):
    _name = "number"


class Float(Primitive):
    _name = "float"


class Integer(Primitive):
    _name = "int"


class List(Type):
    _name = "list"


class Dict(Type):
    _name = "dict"


class _Around(Type):
    """A type that another one is made of."""

    _after = ""

    def __init__(self, element_type):
        self.element_type = element_type

    def type_string(self):
        inner = self.element_type.type_string()
        return inner if inner is None else inner + self._after

    def get_base_type(self):
        return self.element_type.get_base_type()

    def __str__(self):
        return f"{self.element_type}{self._after}"


class TypedList(_Around, List):
    _after = "[]"


class NullableType(_Around):
    _after = "?"


__getattr__ = _real.names_of(__name__)

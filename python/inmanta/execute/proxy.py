"""What plugins get in place of instances, lists and dicts."""

from fettle_models.values import (
    AttributeNotFound,
    DictProxy,
    DynamicProxy,
    MultiUnsetException,
    OptionalValueException,
    ProxyContext,
    SequenceProxy,
    UnknownException,
    UnsetException,
    exportcontext,
)
from inmanta import _real

__all__ = [
    "AttributeNotFound",
    "DictProxy",
    "DynamicProxy",
    "MultiUnsetException",
    "OptionalValueException",
    "ProxyContext",
    "SequenceProxy",
    "UnknownException",
    "UnsetException",
    "exportcontext",
]
__getattr__ = _real.names_of(__name__)

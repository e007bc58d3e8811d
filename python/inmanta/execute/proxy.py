"""What plugins get in place of instances, lists and dicts."""

from fettle_models.values import (
    DictProxy,
    DynamicProxy,
    MultiUnsetException,
    NoneValue,
    OptionalValueException,
    ProxyContext,
    SequenceProxy,
    UnknownException,
    UnsetException,
    exportcontext,
)
from inmanta import _real

__all__ = [
    "DictProxy",
    "DynamicProxy",
    "MultiUnsetException",
    "NoneValue",
    "OptionalValueException",
    "ProxyContext",
    "SequenceProxy",
    "UnknownException",
    "UnsetException",
    "exportcontext",
]
for _one in (DictProxy, DynamicProxy, SequenceProxy):
    _one.__module__ = __name__  # where modules know them
__getattr__ = _real.names_of(__name__)

"""Small functions that modules use."""

import abc
import datetime
import enum
import hashlib
import json
import uuid

from fettle_models.values import DictProxy, SequenceProxy
from inmanta import _real


class JSONSerializable(abc.ABC):
    """What knows what `json.dumps` is to make of it; lists and dicts of models do."""

    @abc.abstractmethod
    def json_serialization_step(self):
        """Something that is nearer to JSON."""


JSONSerializable.register(SequenceProxy)
JSONSerializable.register(DictProxy)


def hash_file(content):
    """The name of a file's content."""
    return hashlib.sha1(content).hexdigest()


def is_sub_dict(subdct, dct):
    return not any(True for key, value in subdct.items() if key not in dct or dct[key] != value)


def get_compiler_version():
    from inmanta import COMPILER_VERSION

    return COMPILER_VERSION


def api_boundary_json_encoder(value):
    """What `json.dumps` gets as `default`."""
    if isinstance(value, SequenceProxy):
        return list(value)
    if isinstance(value, DictProxy):
        return dict(value.items())
    if isinstance(value, JSONSerializable):
        return value.json_serialization_step()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, Exception):
        return str(value)
    raise TypeError(f"{value!r} is not JSON serializable")


internal_json_encoder = custom_json_encoder = api_boundary_json_encoder


def api_json_encode(value, **ignored):
    return json.dumps(value, default=api_boundary_json_encoder)


__path__ = _real.extended(__path__, "util")
__getattr__ = _real.names_of(__name__)

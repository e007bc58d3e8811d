"""Data of a server, of which there is none here: only the types."""

from inmanta import _real, config


def convert_boolean(value):
    return config.is_bool(value)


__path__ = _real.extended(__path__, "data")
__getattr__ = _real.names_of(__name__)

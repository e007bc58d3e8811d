"""Settings. There are no configuration files here: `INMANTA_SECTION_OPTION` of the environment
counts, then what a module has set, then the default."""

import os

from inmanta import _real

_set = {}


def _variable(section, name):
    return f"INMANTA_{section}_{name}".replace("-", "_").upper()


class Config:
    @classmethod
    def get(cls, section=None, name=None, default_value=None):
        if section is None:
            raise NotImplementedError("Config.get without a section: fettle reads no configuration")
        if name is None:
            return {key[1]: value for key, value in _set.items() if key[0] == section}
        value = os.environ.get(_variable(section, name))
        return _set.get((section, name), default_value) if value is None else value

    @classmethod
    def set(cls, section, name, value):
        _set[(section, name)] = value

    @classmethod
    def is_set(cls, section, name):
        return (section, name) in _set or _variable(section, name) in os.environ


class Option:
    def __class_getitem__(cls, of):
        return cls

    def __init__(self, section, name, default=None, documentation="", validator=None, **ignored):
        self.section, self.name = section, name
        self.default, self.documentation = default, documentation
        self.validator = validator or (lambda value: value)

    def get(self):
        default = self.default() if callable(self.default) else self.default
        value = Config.get(self.section, self.name, default)
        return value if value is None else self.validator(value)

    def set(self, value):
        Config.set(self.section, self.name, value)

    def is_set(self):
        return Config.is_set(self.section, self.name)


def is_str(value):
    return str(value)


def is_int(value):
    return int(value)


def is_bool(value):
    if isinstance(value, bool):
        return value
    text = str(value).lower()
    if text in ("1", "yes", "true", "on"):
        return True
    if text in ("0", "no", "false", "off"):
        return False
    raise ValueError(f"Not a boolean: {value}")


def is_list(value):
    return [] if not value else [one.strip() for one in value.split(",")]


def is_str_opt(value):
    return None if value is None else str(value)


__getattr__ = _real.names_of(__name__)

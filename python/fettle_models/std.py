"""What modules import of `inmanta_plugins.std`. The module itself is fettle's own: its plugins are
called by models, not by Python."""

import os

from fettle_models.values import DynamicProxy, Unknown, UnknownException

JinjaDynamicProxy = DynamicProxy


def is_unknown(value):
    return isinstance(value, Unknown)


def getfact(resource, fact_name, *, default_value=None, context=None):
    """There is no server that knows facts."""
    return Unknown() if default_value is None else default_value


def get_env(name, default_value=None):
    value = os.environ.get(name, default_value)
    return Unknown() if value is None else value


def get_env_int(name, default_value=None):
    value = os.environ.get(name)
    if value is not None:
        return int(value)
    return Unknown() if default_value is None else default_value


def unwrap_unknown(value):
    if isinstance(value, Unknown):
        raise UnknownException(value)
    return value


def __getattr__(name):
    if name in ("EnvironmentReference", "IntReference", "FactReference"):
        from fettle_models import std_references

        return getattr(std_references, name)
    raise AttributeError(
        f"fettle's std has no `{name}` for Python: call std::{name} in the model, and pass what it "
        "returns"
    )

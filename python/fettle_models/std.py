"""What modules import of `inmanta_plugins.std`. The module itself is fettle's own: its plugins are
called by models, not by Python."""

import os

from fettle_models.std_jinja import JinjaDynamicProxy  # noqa: F401, modules import it from here
from fettle_models.values import FileMarker, Unknown, UnknownException  # noqa: F401


def is_unknown(value):
    return isinstance(value, Unknown)


def getfact(context, resource, fact_name, default_value=None):
    from fettle_models import facts

    return facts.getfact(context, resource, fact_name, default_value)


def _extend_path(ctx, path):
    """`./file` is one of the module that calls."""
    if not path.startswith("./"):
        return path
    from inmanta.module import Project

    caller = ctx.owner.namespace.get_full_name()
    module = caller.split("::")[0]
    if module not in Project.get().modules:
        raise Exception(
            f"Unable to determine current module for path {path}, called from {caller}"
        )
    return os.path.join(module, path[len("./") :])


def determine_path(ctx, module_dir, path):
    """The place of `module/file`, or of `/file` in the project."""
    from inmanta.module import Project

    path = _extend_path(ctx, path)
    module, _, rest = path.partition("/")
    project = Project.get()
    if module == "":
        return os.path.join(project.project_path, module_dir, rest)
    if module not in project.modules:
        raise Exception(f"Module {module} does not exist for path {path}")
    return os.path.join(project.modules[module]._path, module_dir, rest)


def get_file_content(ctx, module_dir, path):
    place = determine_path(ctx, module_dir, path)
    if not os.path.isfile(place):
        raise Exception(f"{path} isn't a valid file ({place})")
    with open(place) as opened:
        return opened.read()


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

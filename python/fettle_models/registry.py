"""The plugins that modules have defined, by their full names."""

plugins = {}  # "net::sub::name": Plugin


class Plugin:
    """A function that a model may call."""

    def __init__(
        self, function, name=None, commands=None, emits_statements=False, allow_unknown=False
    ):
        self.function = function
        self.short_name = name or function.__name__
        self.commands = commands or []
        self.emits_statements = emits_statements
        self.allow_unknown = allow_unknown
        self.deprecated = False
        self.replaced_by = None
        self.module = module_of(function)
        self.full_name = "::".join([*self.module.split("."), self.short_name])
        self.described = None  # see describe.py
        plugins[self.full_name] = self


def module_of(function):
    """`net.sub` of a function in `inmanta_plugins.net.sub`; files of a project are one module."""
    package, _, module = function.__module__.partition(".")
    if package != "inmanta_plugins":
        raise Exception("All plugin modules should be loaded in the inmanta_plugins package")
    return "__config__" if module.split(".")[0] == "__config__" else module


def plugins_of(module):
    """Those of a module and of its parts."""
    return [
        one
        for name, one in plugins.items()
        if name.split("::", 1)[0] == module
    ]

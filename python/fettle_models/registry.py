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

    @property
    def _context(self):
        """The position of the parameter that gets the context; -1: there is none."""
        from fettle_models import describe

        at = describe.of(self).context
        return -1 if at is None else at

    def get_full_name(self):
        return self.full_name

    def call(self, *args, **named):
        """Modules set another function in its place, which gets the plugin, too."""
        return self.function(*args, **named)

    def run(self, *args, **named):
        other = self.__dict__.get("call")
        return self.function(*args, **named) if other is None else other(self, *args, **named)

    __call__ = run

    def call_in_context(self, processed_args, resolver=None, queue=None, location=None):
        """A call by another plugin, for one: its filters of templates are plugins."""
        return self.run(*processed_args.args, **processed_args.kwargs)


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

"""The project that is compiled."""

import os

from fettle_models import channel, modules
from inmanta import _real


class Module:
    """A module that the model imports: what it is called and where its files are."""

    def __init__(self, name, path):
        self.name, self.path, self._path = name, path, path


class Project:
    """The folder of the project: what modules ask for."""

    _known = None

    def __init__(self, path="."):
        self.path = self._path = os.path.abspath(path)
        self.project_path = self.path

    @classmethod
    def get(cls, main_file="main.cf"):
        if cls._known is None:
            cls._known = cls(".")
        return cls._known

    @property
    def name(self):
        return channel.ask(project="name")

    @property
    def modules(self):
        """Those that the model imports, by name."""
        roots = modules.roots.items()
        return {name: Module(name, path) for name, path in roots}

    @property
    def metadata(self):
        raise NotImplementedError("Project.metadata is not possible in fettle: read project.yml")


__getattr__ = _real.names_of(__name__)

"""Finds the Python of modules.

A module `net` is the package `inmanta_plugins.net`, wherever its files are: in the folder that the
compile found for it (`libs/net/plugins` of the first layout, `inmanta_plugins/net` of the second),
or installed in the environment. All its files are loaded, as in the original, for each may define
plugins and resources.
"""

import importlib
import importlib.machinery
import importlib.util
import os
import re
import sys
import types

from fettle_models import values

PACKAGE = "inmanta_plugins"
roots = {}  # the folders of the modules that the model imports, by name


class Finder:
    """Knows the folders of modules: those that the model has imported, and those beside them."""

    def __init__(self, folders, module_path):
        self._folders = dict(folders)
        self._module_path = list(module_path)
        self._texts = {}  # of the Python below a folder

    def find_spec(self, name, path=None, target=None):
        package, _, module = name.partition(".")
        if package != PACKAGE or not module or "." in module:
            return None
        if module == "std":  # ours, whatever is installed
            ours = os.path.join(os.path.dirname(os.path.abspath(__file__)), "std.py")
            return importlib.util.spec_from_file_location(name, ours)
        folder = self.folder_of(module)
        if folder is None:
            return None
        start = os.path.join(folder, "__init__.py")
        if os.path.isfile(start):
            return importlib.util.spec_from_file_location(
                name, start, submodule_search_locations=[folder]
            )
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [folder]
        return spec

    def users_of(self, module):
        """The other modules of the model whose Python imports this one."""
        mention = re.compile(rf"\b{PACKAGE}(\.| import .*\b){module}\b")
        return [
            name
            for name, folder in self._folders.items()
            if name != module and any(mention.search(text) for text in self._texts_below(folder))
        ]

    def _texts_below(self, folder):
        if folder not in self._texts:
            self._texts[folder] = texts = []
            for root, below, files in os.walk(folder):
                below[:] = [one for one in below if one not in ("__pycache__", "model")]
                for file in files:
                    if file.endswith(".py"):
                        with open(os.path.join(root, file), errors="replace") as opened:
                            texts.append(opened.read())
        return self._texts[folder]

    def folder_of(self, module):
        known = self._folders.get(module)
        if known is not None:
            return known
        for entry in sys.path:
            if os.path.isdir(os.path.join(entry, PACKAGE, module)):
                return os.path.join(entry, PACKAGE, module)
        for root in self._module_path:
            if os.path.isdir(os.path.join(root, module, "plugins")):
                return os.path.join(root, module, "plugins")
            for one in sorted(os.listdir(root)) if os.path.isdir(root) else []:
                below = os.path.join(root, one, PACKAGE, module)
                if os.path.isdir(below):
                    return below
        return None


def install(folders, module_path):
    """Makes `inmanta_plugins` a package whose parts the finder finds."""
    package = types.ModuleType(PACKAGE)
    package.__path__ = []
    package.__spec__ = importlib.machinery.ModuleSpec(PACKAGE, None, is_package=True)
    sys.modules[PACKAGE] = package
    finder = Finder(folders, module_path)
    sys.meta_path.insert(0, finder)
    return finder


def _names_below(folder, package):
    for root, below, files in os.walk(folder):
        below[:] = sorted(
            one for one in below if one.isidentifier() and one != "__pycache__" and one != "model"
        )
        inside = os.path.relpath(root, folder)
        parts = [] if inside == "." else inside.split(os.sep)
        for file in sorted(files):
            name, extension = os.path.splitext(file)
            if extension == ".py" and name.isidentifier() and name != "__init__":
                yield ".".join([package, *parts, name])
            elif file == "__init__.py" and parts:
                yield ".".join([package, *parts])


class Loader:
    """Loads each module once. One that cannot be loaded says why in every call."""

    def __init__(self, finder):
        self._finder = finder
        self._problems = {}  # of each module that was loaded; None: it is fine

    def load(self, module):
        """Why it cannot be used, or None. What a module knows may come from others that import it
        and register themselves: they are loaded with it. What is wrong with them, their own calls
        say."""
        if module not in self._problems:
            self._problems[module] = None  # while it is loaded
            self._problems[module] = self._load(module)
            for other in self._finder.users_of(module):
                self.load(other)
        return self._problems[module]

    def _load(self, module):
        folder = self._finder.folder_of(module)
        if folder is None:
            return {"text": f"the module {module} has no Python"}
        name = f"{PACKAGE}.{module}"
        try:
            importlib.import_module(name)
            for below in _names_below(folder, name):
                importlib.import_module(below)
        except BaseException as error:
            return problem_of(error)
        return None


def problem_of(error):
    made = {"text": text_of(error), "trace": trace_of(error)}
    if isinstance(error, ModuleNotFoundError) and error.name:
        made["missing"] = error.name
    if isinstance(error, SyntaxError):
        made["text"] += f" (for Python {sys.version_info[0]}.{sys.version_info[1]}, which reads it)"
    if isinstance(error, ImportError) and (error.name or "").split(".")[0] == "inmanta":
        made["text"] += (
            "; fettle's package inmanta lacks it, and the real one, from which it would be taken, is "
            "not installed in the environment"
        )
    return made


def text_of(error):
    """What it is and says; an error of the compiler says it alone."""
    try:
        text = str(error)
        if isinstance(error, values.CompilerException):
            return text
    except BaseException as other:
        text = f"<its text raised {type(other).__name__}>"
    return f"{type(error).__name__}: {text}".rstrip(": ")


_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def trace_of(error):
    """The lines of users' code that led to an error, outermost first; at most the last 30."""
    import traceback

    try:
        frames = traceback.extract_tb(error.__traceback__)
    except BaseException:
        return ""
    shown = [
        one
        for one in frames
        if not one.filename.startswith((_OURS, "<frozen"))
        and one.filename != "<string>"
        and not one.filename.endswith("/importlib/__init__.py")
    ]
    return "\n".join(
        f'  File "{one.filename}", line {one.lineno}, in {one.name}\n    {one.line}'
        for one in shown[-30:]
    )

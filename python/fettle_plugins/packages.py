"""Packages with plugins that pip has installed.

The folder of such a package has a file `conf.py` whose `DYNE` says in which of its folders the parts
are: `{"exec": ["exec"], "states": ["states"]}`. Its `CONFIG` has the defaults of `hub.OPT`.

The packages of Idem's own authors (idem, acct, rend, …) are not loaded as those of others: what they
have is here already. Whatever of them is missing is looked for in them, where they are installed.
"""

import importlib.util
import os
import sys

_ORIGINALS = {
    "acct",
    "evbus",
    "idem",
    "pop",
    "pop_config",
    "pop_loop",
    "pop_serial",
    "pop_tree",
    "rend",
}
# What of the originals would work on a run of its own beside the one that is under way.
_NEVER = {"esm", "evbus", "exec", "idem", "pop", "reconcile", "states", "config", "loop", "tree"}


class Package:
    """A folder with a `conf.py`."""

    def __init__(self, folder, told):
        self.folder, self.name = folder, os.path.basename(folder)
        self.config = told.get("CONFIG") if isinstance(told.get("CONFIG"), dict) else {}
        self.dynes = {
            name: [os.path.join(folder, *path.split(".")) for path in paths]
            for name, paths in told["DYNE"].items()
            if isinstance(paths, list)
        }

    @property
    def is_original(self):
        return self.name in _ORIGINALS


def find(places):
    """The packages in these folders, sorted by name, and what is wrong about others."""
    found, problems = {}, []
    for place in places:
        for folder in _folders(place):
            name, file = os.path.basename(folder), os.path.join(folder, "conf.py")
            if name in found or not _has_dyne(file):
                continue
            try:
                found[name] = Package(folder, _told(file))
            except (Exception, SystemExit) as error:
                text = f"{type(error).__name__}: {error}"
                problems.append({"file": file, "text": text})
    return [found[name] for name in sorted(found)], problems


def _folders(place):
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith((".egg-link", ".pth")):
            yield from _linked(entry.path)
        elif entry.is_dir() and not entry.name.startswith((".", "_")):
            yield entry.path


def _linked(file):
    """The packages of a folder that is installed as it is (`pip install -e`)."""
    try:
        with open(file, encoding="utf-8", errors="replace") as lines:
            folders = [line.strip() for line in lines]
    except OSError:
        return
    for folder in folders:
        if os.path.isabs(folder) and os.path.isdir(folder):
            for entry in sorted(os.scandir(folder), key=lambda one: one.name):
                if entry.is_dir() and not entry.name.startswith((".", "_")):
                    yield entry.path


def _has_dyne(file):
    try:
        with open(file, "rb") as text:
            return b"DYNE" in text.read()
    except OSError:
        return False


def _told(file):
    with open(file, encoding="utf-8") as source:
        told = {"__name__": "conf", "__file__": file}
        exec(compile(source.read(), file, "exec"), told)
    if not isinstance(told.get("DYNE"), dict):
        raise TypeError("`DYNE` must be a dict of lists of folders")
    return told


class Originals:
    """Finds what is asked of the hub and only an installed package of Idem's authors has."""

    def __init__(self, hub, packages):
        self._hub, self._packages, self._seen = hub, packages, set()

    def __call__(self, path):
        first, *rest = path.split(".")
        roots = [root for package in self._packages for root in package.dynes.get(first, ())]
        if not roots or first in _NEVER or path in self._hub._unknown:
            return None
        if not rest:
            return self._hub._sub(first)
        folder = rest[:-1]
        if (first, *folder) in self._seen:
            return None
        self._seen.add((first, *folder))
        for root in roots:
            self._load(first, folder, os.path.join(root, *folder))
        return self._hub._part(".".join((first, *folder)))._known(rest[-1])

    def _load(self, part, folder, place):
        from fettle_plugins import loader

        if not os.path.isdir(place):
            return
        for name in sorted(os.listdir(place)):
            path = ".".join((part, *folder, name.removesuffix(".py")))
            if name.startswith(("_", ".")) or name.endswith("contracts"):
                continue
            if os.path.isdir(os.path.join(place, name)):
                self._hub._part(path)
            elif name.endswith(".py") and path not in self._hub._modules:
                loader.load_original(self._hub, path, os.path.join(place, name))


def places():
    """Where Python looks for packages, without the folder of our own."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return [place for place in sys.path if place and os.path.abspath(place) != ours]


def roots_of(names):
    """The folders of packages by their names: `pop.sub.add(pypath=…)`."""
    found = []
    for name in [names] if isinstance(names, str) else names:
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            raise ModuleNotFoundError(f"No package named '{name}'")
        found += list(spec.submodule_search_locations)
    return found

"""Files of plugins as modules of a hub.

DIR/states/cloud/vm.py is `hub.states.cloud.vm`; so are exec, tool, acct and reconcile, where
reconcile/NAME.py has a `loop`, reconcile/pending/NAME.py an `is_pending`, reconcile/wait/NAME.py a
`get`. Files in folders `contracts` stand around them. What cannot be loaded is told and left out.
"""

import asyncio
import concurrent.futures
import importlib.util
import inspect
import os
import sys
import traceback

from fettle_plugins import auto_state, contracts, packages

_BROKEN = (Exception, SystemExit)  # what a file does while it is read is about that file only
PARTS = ("tool", "acct", "exec", "states", "reconcile")
# What plugins import of Idem's own dependencies, for where these are not installed.
FALLBACKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fallbacks")


class Options:
    """How the files of a part are read (`pop.sub.add`)."""

    def __init__(
        self, virtual=True, init=True, without=(), is_strict=False, keeps_ours=False
    ):
        self.virtual, self.init, self.without = virtual, init, without
        self.is_strict, self.keeps_ours = is_strict, keeps_ours


class Later:
    """Installed packages. They are loaded when somebody wants something that is not there yet.

    Most runs need none of them, and to import all takes seconds.
    """

    def __init__(self, hub):
        self._hub, self._found, self.problems = hub, None, []

    def may_have(self, path):
        """Whether one of them may have something at a path.

        Modules may have another name than their file. Providers are folders.
        """
        if self._found is None:
            found, self.problems = packages.find(packages.places())
            self._found = [package for package in found if not package.is_original]
            originals = [package for package in found if package.is_original]
            if originals:
                self._hub._originals = packages.Originals(self._hub, originals)
        part, _, rest = path.partition(".")
        roots = [root for package in self._found for root in package.dynes.get(part, ())]
        if part == "acct" and rest:
            roots = [root for root in roots if os.path.isdir(os.path.join(root, rest.split(".")[0]))]
        return bool(roots)

    def load(self):
        self.may_have("")
        loaded, self._hub._more = [], None
        self._hub._packages = self._found
        for part in PARTS:
            for package in self._found:
                for root in package.dynes.get(part, ()):
                    loaded += _load_root(self._hub, part, root, Options(), self.problems, True)
        _finish(self._hub, loaded, Options(), self.problems)
        self._hub.pop.config.load(["idem", "acct"])


def load(hub, folders, found=()):
    """Loads every plugin of folders and of packages. What went wrong is a list of dicts."""
    problems = []
    if FALLBACKS not in sys.path:
        sys.path.append(FALLBACKS)
    for folder in folders:
        if folder not in sys.path:
            sys.path.append(folder)
    hub._folders = list(folders)
    hub._packages = [package for package in found if not package.is_original]
    originals = [package for package in found if package.is_original]
    if originals:
        hub._originals = packages.Originals(hub, originals)
    loaded = []
    for part in PARTS:
        hub._sub(part)
        hub._dynes.add(part)
        for root, is_package in roots(hub, part):
            loaded += _load_root(hub, part, root, Options(), problems, is_package)
    _finish(hub, loaded, Options(), problems)
    return problems


def roots(hub, part):
    """The folders of a part: those of users come first."""
    made = [(os.path.join(folder, part), False) for folder in hub._folders]
    for package in hub._packages:
        made += [(root, True) for root in package.dynes.get(part, ())]
    return made


def add(hub, path, folders, options):
    """Loads further folders at a path of the hub. Error: one of the files is broken and all are wanted."""
    problems, loaded = [], []
    hub._part(path).__dict__["_options"] = options
    for folder in folders:
        loaded += _load_root(hub, path, folder, options, problems, True)
    _finish(hub, loaded, options, problems)
    for problem in problems:
        if options.is_strict:
            from fettle_plugins.exceptions import PopError

            raise PopError(f"{problem['file']}: {problem['text']}")
        hub.log.warning("%s: %s", problem["file"], problem["text"])


def load_original(hub, path, file):
    """A file of one of Idem's own packages; what it cannot import is not there."""
    problems = []
    try:
        part, _, rest = path.partition(".")
        options = Options(keeps_ours=True)
        module = _load(hub, part, rest, file, options, problems, True)
    except _BROKEN as error:
        hub.log.debug("%s: %s: %s", file, type(error).__name__, error)
        return
    if module is not None:
        _finish(hub, [module], Options(), problems)


def _load_root(hub, part, root, options, problems, is_package):
    hub._part(part)._dirs.append(root)
    loaded, before = [], len(problems)
    for path, file in _files(root, lambda init: _is_there(hub, init, options, problems)):
        try:
            if {"contracts", "recursive_contracts"} & set(path.split(".")):
                add_hooks(hub, f"{part}.{path}", source_of(part, path, file, is_package))
                continue
            module = _load(hub, part, path, file, options, problems, is_package)
        except _BROKEN as error:
            problems.append(problem_of(file, error))
            continue
        if module is not None:
            loaded.append(module)
    for problem in problems[before:] if is_package else ():
        problem["hidden"] = True  # nobody asked for all of a package
    return loaded


def add_hooks(hub, path, source):
    name = getattr(source, "__virtualname__", None)
    if name:
        path = ".".join([*path.split(".")[:-1], name])
    known = hub._hooks.setdefault(path, [])
    known[:] = [one for one in known if one.__file__ != source.__file__]  # it may be read again
    known.append(source)


def _is_there(hub, file, options, problems):
    """`__sub_virtual__` of an `init.py` decides about its whole folder."""
    if not options.virtual or not os.path.isfile(file):
        return True
    with open(file, "rb") as text:
        if b"__sub_virtual__" not in text.read():
            return True
    try:
        source = source_of("init", "", file, True)
        is_there, why = _verdict(hub, source.__sub_virtual__)
    except _BROKEN as error:
        problems.append(problem_of(file, error))
        return False
    if not is_there:
        text = f"its folder is not loaded: {why or 'its __sub_virtual__ says so'}"
        problems.append({"file": file, "text": text})
    return is_there


def _verdict(hub, virtual):
    answer = _waited(hub, virtual(hub))
    is_there, why, *_ = (*answer, "") if isinstance(answer, tuple) else (answer, "")
    if is_there is True:
        return True, ""
    return False, why or ("" if is_there is False else str(is_there))


def _waited(hub, answer):
    """What a file does while it is read may be a coroutine; the loop may run already, or not yet."""
    if not inspect.iscoroutine(answer):
        return answer
    if not hub.pop.Loop.is_running():
        return hub.pop.Loop.run_until_complete(answer)
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, answer).result()


def _finish(hub, loaded, options, problems):
    """Contracts, then what modules do when all of them are there."""
    begun = [module for module in loaded if _surround(hub, module, problems)]
    for module in begun if options.init else ():
        start = getattr(module.source, "__init__", None)
        if getattr(start, "__module__", None) == module.source.__name__:
            try:
                _waited(hub, start(hub))
            except _BROKEN as error:
                problems.append(problem_of(module.source.__file__, error))
    packaged = {module.source.__file__ for module in loaded if not module.is_users}
    for problem in problems:
        if problem["file"] in packaged:
            problem["hidden"] = True


def _surround(hub, module, problems):
    """The contracts of a module, and the states that it is made into. False: it breaks one."""
    file = module.source.__file__
    try:
        module.around, unknown = contracts.around(hub, module)
        contracts.check_signatures(module)
    except _BROKEN as error:
        problems.append(problem_of(file, error))
        hub._remove(module)
        return False
    if unknown:
        problems.append({"file": file, "text": f"unknown contracts: {', '.join(unknown)}"})
    path = "states" + module.path[len("exec") :]
    if module.part == "exec" and "auto_state" in module.contracts and path not in hub._modules:
        try:
            made = auto_state.add(hub, path, module)
            made.around, _ = contracts.around(hub, made)
        except AttributeError as error:
            problems.append(problem_of(file, error))
    return True


def problem_of(file, error):
    text = f"{type(error).__name__}: {error}"
    return {"file": file, "text": text, "trace": traceback.format_exc()}


def _files(root, is_there):
    for folder, below, files in os.walk(root):
        if not is_there(os.path.join(folder, "init.py")):
            below[:] = []
            continue
        below[:] = sorted(name for name in below if not name.startswith((".", "_")))
        for name in sorted(files):
            if name.endswith(".py") and (name == "init.py" or not name.startswith((".", "_"))):
                inside = os.path.relpath(os.path.join(folder, name), root)[: -len(".py")]
                yield inside.replace(os.sep, "."), os.path.join(folder, name)


def source_of(part, path, file, is_package=False):
    name = f"fettle_loaded.{part}.{path}"
    if is_package:  # files of several packages may stand at one path
        name = "fettle_packages." + file[: -len(".py")].strip(os.sep).replace(os.sep, ".")
    spec = importlib.util.spec_from_file_location(name, file)
    source = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = source
    spec.loader.exec_module(source)
    return source


def _load(hub, part, path, file, options, problems, is_package):
    known = hub._modules.get(f"{part}.{path}")
    if is_package and known is not None and known.is_users:
        return None  # a user's file replaces the one of a package
    source = source_of(part, path, file, is_package)
    virtual = getattr(source, "__virtual__", None)
    if options.virtual and callable(virtual):
        is_there, why = _verdict(hub, virtual)
        if not is_there:
            problems.append(
                {"file": file, "text": f"not loaded: {why or 'its __virtual__ says so'}"}
            )
            return None
    name = getattr(source, "__virtualname__", None)
    if name:
        path = ".".join([*path.split(".")[:-1], name])
    known = hub._modules.get(f"{part}.{path}")
    if known is not None and known.is_ours and options.keeps_ours:
        return None
    if known is not None and not known.is_ours:
        other = known.source.__file__
        if not is_package or not known.is_users:
            problems.append({"file": file, "text": f"`{part}.{path}` already exists: {other}"})
        return None
    module = hub._add(f"{part}.{path}", source, options.without)
    module.is_users = not is_package
    names = getattr(source, "__sub_alias__", ())
    if names and path.rpartition(".")[2] == "init":
        _name_folder(hub, f"{part}.{path}".rpartition(".")[0], names)
    return module


def _name_folder(hub, path, names):
    before, _, last = path.rpartition(".")
    holder = hub._part(before) if before else hub
    for name in names:
        holder._names[name] = last

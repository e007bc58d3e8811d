"""Files of plugins as modules of a hub.

DIR/states/cloud/vm.py is `hub.states.cloud.vm`; so are exec, tool and reconcile, where
reconcile/NAME.py has a `loop`, reconcile/pending/NAME.py an `is_pending`, reconcile/wait/NAME.py a
`get`. Files in folders `contracts` stand around them. What cannot be loaded is told and left out.
"""

import importlib.util
import os
import sys
import traceback

from fettle_plugins import auto_state, contracts

_BROKEN = (Exception, SystemExit)  # what a file does while it is read is about that file only
PARTS = ("tool", "exec", "states", "reconcile")
# What plugins import of Idem's own dependencies, for where these are not installed.
FALLBACKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fallbacks")


def load(hub, folders):
    """Loads every plugin. What went wrong is a list of dicts."""
    problems, loaded, hooks = [], [], {}
    if FALLBACKS not in sys.path:
        sys.path.append(FALLBACKS)
    for folder in folders:
        if folder not in sys.path:
            sys.path.append(folder)
        for part in PARTS:
            hub._sub(part)
            for path, file in _files(os.path.join(folder, part)):
                try:
                    if {"contracts", "recursive_contracts"} & set(path.split(".")):
                        hooks.setdefault(f"{part}.{path}", _source(part, path, file))
                        continue
                    module = _load(hub, part, path, file, problems)
                except _BROKEN as error:
                    problems.append(_problem(file, error))
                    continue
                if module is not None:
                    loaded.append(module)
    for module in loaded:
        _surround(hub, module, hooks, problems)
    for module in loaded:
        start = getattr(module.source, "__init__", None)
        if getattr(start, "__module__", None) == module.source.__name__:
            try:
                start(hub)
            except _BROKEN as error:
                problems.append(_problem(module.source.__file__, error))
    return problems


def _surround(hub, module, hooks, problems):
    """The contracts of a module, and the states that it is made into."""
    module.around, unknown = contracts.around(hub, module, hooks)
    if unknown:
        text = f"unknown contracts: {', '.join(unknown)}"
        problems.append({"file": module.source.__file__, "text": text})
    path = "states" + module.path[len("exec") :]
    if module.part == "exec" and "auto_state" in module.contracts and path not in hub._modules:
        try:
            made = auto_state.add(hub, path, module)
            made.around, _ = contracts.around(hub, made, hooks)
        except AttributeError as error:
            problems.append(_problem(module.source.__file__, error))


def _problem(file, error):
    text = f"{type(error).__name__}: {error}"
    return {"file": file, "text": text, "trace": traceback.format_exc()}


def _files(root):
    for folder, below, files in os.walk(root):
        below[:] = sorted(name for name in below if not name.startswith((".", "_")))
        for name in sorted(files):
            if name.endswith(".py") and (name == "init.py" or not name.startswith((".", "_"))):
                inside = os.path.relpath(os.path.join(folder, name), root)[: -len(".py")]
                yield inside.replace(os.sep, "."), os.path.join(folder, name)


def _source(part, path, file):
    spec = importlib.util.spec_from_file_location(f"fettle_loaded.{part}.{path}", file)
    source = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = source
    spec.loader.exec_module(source)
    return source


def _load(hub, part, path, file, problems):
    source = _source(part, path, file)
    virtual = getattr(source, "__virtual__", None)
    if callable(virtual):
        answer = virtual(hub)
        is_there, why = answer if isinstance(answer, tuple) else (answer, "")
        if not is_there:
            problems.append(
                {"file": file, "text": f"not loaded: {why or 'its __virtual__ says so'}"}
            )
            return None
    name = getattr(source, "__virtualname__", None)
    if name:
        path = ".".join([*path.split(".")[:-1], name])
    known = hub._modules.get(f"{part}.{path}")
    if known is not None and not known.is_ours:
        other = known.source.__file__
        problems.append({"file": file, "text": f"`{part}.{path}` already exists: {other}"})
        return None
    return hub._add(f"{part}.{path}", source)

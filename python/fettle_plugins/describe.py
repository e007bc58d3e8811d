"""What the host is told of modules: their functions, and what these take."""

import copy
import inspect

from fettle_plugins import accounts, changes, maps
from fettle_plugins.data import is_json
from fettle_plugins.hub import aliases_of
from fettle_plugins.loader import problem_of

_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "any",
    inspect.Parameter.KEYWORD_ONLY: "named",
    inspect.Parameter.VAR_POSITIONAL: "rest",
    inspect.Parameter.VAR_KEYWORD: "named_rest",
}


def modules_of(hub, told):
    """What is not `told` yet: modules, and what is wrong about those that cannot be described."""
    found, problems = [], []
    for path, module in sorted(hub._modules.items()):
        is_for_host = module.part in ("exec", "states", "reconcile") and module.functions
        is_here = not module.is_ours or (path == "states.auto_state" and _has_auto_states(hub))
        if path in told or not is_for_host or not is_here:
            continue
        told.add(path)
        try:
            found.append(_module(module))
        except Exception as error:
            problem = problem_of(module.source.__file__, error)
            problems.append(problem if module.is_users else {**problem, "hidden": True})
    for path in _dynamic(hub._parts.get("exec")):
        if f"{path}.*" not in told:
            told.add(f"{path}.*")
            account = _account(hub, path, None)
            found.append({"path": path, "dynamic": True, "functions": [], **account})
    return found, problems


def _has_auto_states(hub):
    """Whether `auto_state` has anything to work on."""
    return any(one.part == "exec" and "auto_state" in one.contracts for one in hub._modules.values())


def _dynamic(part):
    """The parts of which only their resolver knows what is below."""
    if part is None:
        return
    if part._resolver is not None:
        yield part._path
    for name in sorted(part._parts):
        yield from _dynamic(part._parts[name])


def _module(module):
    source = module.source
    described = {
        "path": module.path.removesuffix(".init"),
        "file": source.__file__,
        "text": inspect.getdoc(source) or "",
        "functions": [
            _function(name, one)
            for name, one in sorted(module.functions.items())
            if not (module.is_ours and name == "describe")  # each exec module has its own
        ],
    }
    if not module.is_users:
        described["packaged"] = True
    wait = getattr(source, "__reconcile_wait__", None)
    if wait is not None:
        described["wait"] = wait if is_json(wait) else str(wait)
    implied = _implied(module)
    if implied and is_json(implied):
        described["implied"] = implied
    described.update(_account(module.hub, module.path, module))
    for name, key in _SWITCHES.items():
        if getattr(source, name, False):
            described[key] = True
    return described


_SWITCHES = {"SKIP_ESM": "skips_memory", "CAN_LOOK": "can_look", "CAN_REPEAT": "can_repeat"}


def _implied(module):
    """`TREQ` of the module and of the contracts around it."""
    told = getattr(module.source, "TREQ", None)
    found = dict(told) if isinstance(told, dict) else {}
    for contract in module.around:
        more = getattr(getattr(contract, "source", None), "TREQ", None)
        if isinstance(more, dict):
            found = maps.update(copy.deepcopy(found), copy.deepcopy(more), merge_lists=True)
    return found


def _account(hub, path, module):
    providers = providers_of(hub, path, module)
    told = {"acct": providers} if providers else {}
    if accounts.makes_profiles(hub, providers or [path.split(".")[1]]):
        told["gathers"] = True
    return told


def providers_of(hub, path, module):
    """`ACCT` of the module, else of the `init.py` of a folder around it, else of its part of the hub."""
    told = getattr(module.source, "ACCT", None) if module is not None else None
    names = path.split(".")
    while told is None and len(names) > 1:
        names.pop()
        init = hub._modules.get(".".join([*names, "init"]))
        told = getattr(init.source, "ACCT", None) if init else None
    if told is None:
        told = accounts.providers_of(hub, path)
    return [told] if isinstance(told, str) else list(told or [])


def _function(name, function):
    parameters = []
    for one in function.signature.parameters.values():
        if one.name in ("hub", "ctx"):
            continue
        told = {"name": one.name, "kind": _KINDS[one.kind]}
        aliases = aliases_of(one)
        if aliases:
            told["aliases"] = aliases
        if one.default is not one.empty:
            told["default"] = one.default if is_json(one.default) else None
        parameters.append(told)
    described = {
        "name": name,
        "text": inspect.getdoc(function.func) or "",
        "parameters": parameters,
        "async": function.is_async,
    }
    remembers = getattr(function.func, "remembers", None)
    if remembers is not None:
        described["remembers"] = remembers
    identity = getattr(function.func, "identity", None)
    if identity is not None:
        described["identity"] = identity
    computed = changes.computed_of(function.signature)
    return {**described, "computed": computed} if computed else described

"""What the host is told of modules: their functions, and what these take."""

import inspect

from fettle_plugins import changes
from fettle_plugins.data import is_json

_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "any",
    inspect.Parameter.KEYWORD_ONLY: "named",
    inspect.Parameter.VAR_POSITIONAL: "rest",
    inspect.Parameter.VAR_KEYWORD: "named_rest",
}


def modules_of(hub):
    told = []
    for path, module in sorted(hub._modules.items()):
        if (
            module.part in ("exec", "states", "reconcile")
            and module.functions
            and not module.is_ours
        ):
            told.append(_module(module))
    return told


def _module(module):
    source = module.source
    described = {
        "path": module.path.removesuffix(".init"),
        "file": source.__file__,
        "text": inspect.getdoc(source) or "",
        "functions": [_function(name, one) for name, one in sorted(module.functions.items())],
    }
    wait = getattr(source, "__reconcile_wait__", None)
    if wait is not None:
        described["wait"] = wait if is_json(wait) else str(wait)
    implied = getattr(source, "TREQ", None)
    if isinstance(implied, dict) and is_json(implied):
        described["implied"] = implied
    providers = _providers(module)
    if providers:
        described["acct"] = providers
    for name, key in _SWITCHES.items():
        if getattr(source, name, False):
            described[key] = True
    return described


_SWITCHES = {"SKIP_ESM": "skips_memory", "CAN_LOOK": "can_look", "CAN_REPEAT": "can_repeat"}


def _providers(module):
    """`ACCT` of the module, else of the `init.py` of a folder around it."""
    told = getattr(module.source, "ACCT", None)
    names = module.path.split(".")
    while told is None and len(names) > 1:
        names.pop()
        init = module.hub._modules.get(".".join([*names, "init"]))
        told = getattr(init.source, "ACCT", None) if init else None
    return list(told or [])


def _function(name, function):
    parameters = []
    for one in function.signature.parameters.values():
        if one.name in ("hub", "ctx"):
            continue
        told = {"name": one.name, "kind": _KINDS[one.kind]}
        if one.default is not one.empty:
            told["default"] = one.default if is_json(one.default) else None
        parameters.append(told)
    described = {
        "name": name,
        "text": inspect.getdoc(function.func) or "",
        "parameters": parameters,
        "async": function.is_async,
    }
    computed = changes.computed_of(function.signature)
    return {**described, "computed": computed} if computed else described

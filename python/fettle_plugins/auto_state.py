"""`auto_state`: states made from an exec module that can get, list, create, update and delete."""

import copy
import inspect
import types

_own = {"hub", "ctx", "name", "resource_id", "kwargs"}


def add(hub, path, module):
    """Adds `present`, `absent` and `describe` at a path of states."""
    missing = [
        name for name in ("get", "create", "update", "delete") if name not in module.functions
    ]
    if missing:
        raise AttributeError(f"{module.path} uses auto_state but lacks {', '.join(missing)}")
    source = types.ModuleType(f"fettle_loaded.{path}")
    source.__file__ = module.source.__file__
    source.__doc__ = module.source.__doc__
    source.__contracts__ = ["resource"] + [name for name in module.contracts if name == "soft_fail"]
    source.CAN_LOOK = True  # by its `get`
    wait = getattr(module.source, "__reconcile_wait__", None)
    if wait is not None:
        source.__reconcile_wait__ = wait
    for function in (_present(module), _absent(module), _describe(module, path)):
        function.__module__ = source.__name__
        setattr(source, function.__name__, function)
    return hub._add(path, source)


async def _ask(function, **kwargs):
    """Calls a function with those of the arguments that it takes."""
    parameters = function.signature.parameters
    if not any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        kwargs = {name: value for name, value in kwargs.items() if name in parameters}
    answer = function(**kwargs)
    return await answer if inspect.isawaitable(answer) else answer


def _comments(*answers):
    made = []
    for answer in answers:
        comment = (answer or {}).get("comment") or []
        made.extend([comment] if isinstance(comment, str) else comment)
    return made


async def _look(module, ctx, name, resource_id, ret):
    """What is there, and whether looking went well."""
    resource_id = resource_id or (ctx.get("old_state") or {}).get("resource_id")
    answer = await _ask(module.functions["get"], ctx=ctx, name=name, resource_id=resource_id)
    is_good, comments = bool(answer.get("result")), _comments(answer)
    if not is_good and not comments:
        comments = [f"`{module.path}.get` did not succeed and does not say why"]
    ret["comment"] += comments
    return copy.deepcopy(answer.get("ret")), is_good


def _failed(ret, answer):
    ret["result"] = False
    ret["comment"] += _comments(answer)
    ret["rerun_data"] = answer.get("rerun_data") or {"name": ret["name"], "has_error": True}
    return ret


def _new(name):
    return {
        "name": name,
        "result": True,
        "comment": [],
        "old_state": None,
        "new_state": None,
        "changes": None,
    }


def _present(module):
    parameters = [
        one
        for one in module.functions["create"].signature.parameters.values()
        if one.name not in _own and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]

    async def present(hub, ctx, name, resource_id=None, **kwargs):
        ret = _new(name)
        before, is_good = await _look(module, ctx, name, resource_id, ret)
        if not is_good:
            return _failed(ret, {})
        ret["old_state"] = before
        wanted = {key: value for key, value in kwargs.items() if value is not None}
        if before:
            known_id = before.get("resource_id", resource_id)
            if not any(before.get(key) != value for key, value in wanted.items()):
                ret["new_state"] = before
                ret["comment"].append(f"'{name}' is as described")
                return ret
            if ctx.get("test"):
                ret["new_state"] = {**before, **wanted}
                ret["comment"].append(f"Would update '{name}'")
                return ret
            answer = await _ask(
                module.functions["update"], ctx=ctx, name=name, resource_id=known_id, **wanted
            )
        else:
            if ctx.get("test"):
                ret["new_state"] = {"name": name, **wanted}
                ret["comment"].append(f"Would create '{name}'")
                return ret
            answer = await _ask(
                module.functions["create"], ctx=ctx, name=name, resource_id=resource_id, **wanted
            )
            made = answer.get("ret") or {}
            known_id = (
                made.get("resource_id", resource_id) if isinstance(made, dict) else resource_id
            )
        if not answer.get("result"):
            return _failed(ret, answer)
        ret["comment"] += _comments(answer)
        ret["new_state"], is_good = await _look(module, ctx, name, known_id, ret)
        return ret if is_good else _failed(ret, {})

    present.__doc__ = module.functions["create"].__doc__
    first = list(inspect.signature(present).parameters.values())[:4]
    keyword_only = [one.replace(kind=one.KEYWORD_ONLY) for one in parameters]
    present.__signature__ = inspect.Signature([*first, *keyword_only])
    return present


def _absent(module):
    async def absent(hub, ctx, name, resource_id=None):
        ret = _new(name)
        before, is_good = await _look(module, ctx, name, resource_id, ret)
        if not is_good:
            return _failed(ret, {})
        ret["old_state"] = before
        if not before:
            ret["comment"].append(f"'{name}' does not exist")
            return ret
        if ctx.get("test"):
            ret["comment"].append(f"Would delete '{name}'")
            return ret
        known_id = before.get("resource_id", resource_id)
        answer = await _ask(module.functions["delete"], ctx=ctx, name=name, resource_id=known_id)
        if not answer.get("result"):
            return _failed(ret, answer)
        ret["comment"] += _comments(answer)
        return ret

    absent.__doc__ = module.functions["delete"].__doc__
    return absent


def _describe(module, path):
    ref = path[len("states.") :]

    async def describe(hub, ctx):
        if "list" not in module.functions:
            return {}
        answer = await _ask(module.functions["list"], ctx=ctx)
        found = answer.get("ret") or []
        found = found.values() if isinstance(found, dict) else found
        return {
            str(one.get("name") or one.get("resource_id")): {
                f"{ref}.present": [{key: value} for key, value in one.items()]
            }
            for one in found
        }

    return describe

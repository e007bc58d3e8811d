"""`auto_state`: states made from an exec module that can get, list, create, update and delete.

What they do is what Idem's do: a resource is looked for by its id only, which memory has; the update
is called if something that is wanted differs from what was read, with all that is wanted.
"""

import copy
import inspect
import types

from fettle_plugins import contracts
from fettle_plugins.modules import add_module

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
    ref = path[len("states.") :]
    for function in (_present(module, ref), _absent(module, ref), _describe(ref)):
        function.__module__ = source.__name__
        setattr(source, function.__name__, function)
    made = hub._add(path, source)
    made.is_users = module.is_users
    return made


def add_general(hub):
    """`hub.states.auto_state`, which takes the exec module as an argument."""

    async def present(hub, ctx, name, resource_id=None, exec_mod_ref=None, **kwargs):
        """What `exec_mod_ref` names, an exec module with `auto_state`, makes or updates this."""
        _demand(hub, exec_mod_ref)
        return await _make_present(hub, ctx, name, resource_id, exec_mod_ref, kwargs)

    async def absent(hub, ctx, name, resource_id=None, exec_mod_ref=None, **kwargs):
        """What `exec_mod_ref` names, an exec module with `auto_state`, deletes this."""
        _demand(hub, exec_mod_ref)
        return await _make_absent(hub, ctx, name, resource_id, exec_mod_ref, kwargs)

    async def describe(hub, ctx):
        return await _described(hub, ctx, ctx["exec_mod_ref"])

    module = add_module(
        hub, "states.auto_state", __file__, present=present, absent=absent, describe=describe
    )
    module.around = [contracts.Resource(hub)]
    module.source.CAN_LOOK = True
    present.remembers = ["resource_id"]
    present.identity = "resource_id"


def _demand(hub, exec_mod_ref):
    module = hub._modules.get(f"exec.{exec_mod_ref}")
    if module is None or "auto_state" not in module.contracts:
        raise ValueError(
            f"`exec_mod_ref` must name an exec module with `auto_state`, not {exec_mod_ref!r}"
        )


async def ask(hub, name, ctx, exec_mod_ref, resource_id, kwargs):
    """Calls a function of the exec module with those of the arguments that it takes."""
    function = hub.exec[exec_mod_ref][name]
    given = {**kwargs, "resource_id": resource_id}
    parameters = function.signature.parameters
    takes_rest = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    named = ("name", "resource_id")
    given = {
        key: value
        for key, value in given.items()
        if key in parameters or (takes_rest and key not in named)
    }
    answer = await contracts.unwrapped(function(ctx, **given))
    if not isinstance(answer, contracts.ExecReturn):
        raise TypeError(
            f"`exec.{exec_mod_ref}.{name}` must return a dict with `result` (True or False), "
            f"`comment` and `ret`, not {type(answer).__name__}"
        )
    if name == "get" and answer.ret and isinstance(answer.ret, dict):
        answer.ret.setdefault("name", kwargs.get("name"))
        answer.ret.setdefault("resource_id", resource_id)
    return answer


def _add_comment(ret, comment):
    ret["comment"] += list(contracts.lines(comment))


def _new(name):
    return {
        "name": name,
        "result": True,
        "comment": [],
        "old_state": {},
        "new_state": {},
        "rerun_data": None,
    }


async def _make_present(hub, ctx, name, resource_id, ref, kwargs):
    ret, what = _new(name), f"'{ref}:{name}'"
    wanted = {"name": name, "resource_id": resource_id, **kwargs}
    before = None
    if resource_id:
        before = await ask(hub, "get", ctx, ref, resource_id, {"name": name, **kwargs})
    is_new = before is None or not before.result
    if is_new and ctx.get("test"):
        ret["new_state"] = wanted
        ret["comment"].append(f"Would create {what}")
        return ret
    if is_new:
        before = await ask(hub, "create", ctx, ref, resource_id, {"name": name, **kwargs})
        ret["result"] = before.result
        if before.result:
            ret["comment"].append(f"Created {what}")
            resource_id = (before.ret or {}).get("resource_id")
            # An id must not be lost, whatever comes next.
            ret["new_state"] = {"name": name, "resource_id": resource_id}
        else:
            _add_comment(ret, before.comment)
    if not before.result or not before.ret:
        return _without_answer(ret, before, ref, is_new)
    if not is_new:
        ret["comment"].append(f"{what} already exists")
        ret["old_state"] = copy.deepcopy(before.ret)
    if _differs(before.ret, wanted):
        if ctx.get("test"):
            ret["new_state"] = wanted
            ret["comment"].append(f"Would update {what}")
            return ret
        ctx["old_state"] = before.ret
        await _update(hub, ctx, ret, ref, resource_id, {"name": name, **kwargs})
    if not ret["result"]:
        ret["rerun_data"] = {"name": name, "resource_id": resource_id}
    after = await ask(hub, "get", ctx, ref, resource_id, {"name": name, **kwargs})
    ret["new_state"] = after.ret
    return ret


def _without_answer(ret, before, ref, is_new):
    """A new resource is looked at by the next call; one that cannot be read is a failure."""
    _add_comment(ret, before.comment)
    if is_new:
        return ret
    ret["result"] = False
    if not ret["comment"]:
        ret["comment"].append(f"`exec.{ref}.get` found nothing and does not say why")
    return ret


def _differs(before, wanted):
    from dict_tools import differ

    return bool(differ.deep_diff(before, wanted).get("new"))


async def _update(hub, ctx, ret, ref, resource_id, kwargs):
    answer = await ask(hub, "update", ctx, ref, resource_id, kwargs)
    ret["result"] = answer.result
    if answer.result:
        ret["comment"].append(f"Updated '{ref}:{ret['name']}'")
    else:
        _add_comment(ret, answer.comment)


async def _make_absent(hub, ctx, name, resource_id, ref, kwargs):
    ret, what = _new(name), f"'{ref}:{name}'"
    resource_id = resource_id or (ctx.get("old_state") or {}).get("resource_id")
    before = None
    if resource_id:
        before = await ask(hub, "get", ctx, ref, resource_id, {"name": name, **kwargs})
    if before is None or not (before.result and before.ret):
        ret["comment"].append(f"{what} already absent")
        return ret
    if ctx.get("test"):
        ret["comment"].append(f"Would delete {what}")
        return ret
    ret["old_state"] = copy.deepcopy(before.ret)
    ctx["old_state"] = before.ret
    answer = await ask(hub, "delete", ctx, ref, resource_id, {"name": name, **kwargs})
    ret["result"] = answer.result
    if answer.result:
        ret["comment"].append(f"Deleted {what}")
    else:
        ret["rerun_data"] = resource_id
        _add_comment(ret, answer.comment)
    return ret


async def _described(hub, ctx, ref):
    answer = await ask(hub, "list", ctx, ref, None, {"name": None})
    found = answer.ret or []
    found = found.values() if isinstance(found, dict) else found
    if not answer.result:
        return {}
    return {
        str(one.get("resource_id") or one.get("name")): {
            f"{ref}.present": [{key: value} for key, value in one.items()]
        }
        for one in found
    }


def _present(module, ref):
    """Takes what `create` takes: that is what a state is checked against before anything runs."""
    parameters = [
        one
        for one in module.functions["create"].signature.parameters.values()
        if one.name not in _own and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]

    async def present(hub, ctx, name, resource_id=None, **kwargs):
        return await _make_present(hub, ctx, name, resource_id, ref, kwargs)

    present.__doc__ = module.functions["create"].__doc__
    present.remembers = ["resource_id"]
    present.identity = "resource_id"
    first = list(inspect.signature(present).parameters.values())[:4]
    keyword_only = [one.replace(kind=one.KEYWORD_ONLY) for one in parameters]
    rest = [
        one
        for one in module.functions["create"].signature.parameters.values()
        if one.kind is one.VAR_KEYWORD
    ]
    present.__signature__ = inspect.Signature([*first, *keyword_only, *rest])
    return present


def _absent(module, ref):
    async def absent(hub, ctx, name, resource_id=None, **kwargs):
        return await _make_absent(hub, ctx, name, resource_id, ref, kwargs)

    absent.__doc__ = module.functions["delete"].__doc__
    return absent


def _describe(ref):
    async def describe(hub, ctx):
        return await _described(hub, ctx, ref)

    return describe

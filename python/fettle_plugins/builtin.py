"""What every hub has: `hub.idem`, `hub.reconcile`, `hub.tool.idem`, `hub.log`, `hub.OPT`, and more."""

import collections.abc
import datetime
import logging
import random
import types

from fettle_plugins import (
    accounts,
    arguments,
    auto_state,
    changes,
    contracts,
    pop_services,
    renderers,
    tags,
)
from fettle_plugins.data import NamespaceDict, dumps
from fettle_plugins.maps import SafeNamespaceDict
from fettle_plugins.modules import add_module as _add_module

MOST_RERUNS = 600
PATIENCE = 3

_HOSTS = "this is fettle's; "
# Calls of Idem that have no place here, and what there is instead.
NOT_HERE = {
    "idem.managed": _HOSTS + "`fettle exec esm.show` shows what is remembered of states",
    "idem.compiler": _HOSTS + "`fettle state --test` compiles files of states",
    "idem.resolve": _HOSTS + "`fettle state --test` compiles files of states",
    "idem.rules": _HOSTS + "requisites are in docs/states.md",
    "idem.sls_source": _HOSTS + "sources are named on the command line",
    "idem.cli": _HOSTS + "run the program `fettle`",
    "idem.state.validate": "call `fettle validate`",
    "idem.state.create": "call `hub.idem.state.batch`",
    "esm": "the memory of states is fettle's store; `fettle exec esm.show` shows it",
    "source": "folders, archives and json:// are sources of states here",
    "evbus": "events are lines of `fettle events`; `hub.idem.event.put` adds one",
    "evbus.broker": "events are lines of `fettle events`; `hub.idem.event.put` adds one",
    "pop.loop.kill": "the loop is fettle's and ends with it",
}


class Log(logging.Logger):
    def trace(self, message, *args, **kwargs):
        self.log(5, message, *args, **kwargs)


def add(hub):
    hub.log = Log("fettle")
    hub.OPT = NamespaceDict(
        idem=NamespaceDict(run_name="cli", acct_profile="default"),
        acct=NamespaceDict(extras=NamespaceDict(), overrides=NamespaceDict()),
    )
    hub.SUBPARSER = "state"
    hub._unknown.update(NOT_HERE)
    pop_services.add(hub)
    accounts.add(hub)
    renderers.add(hub)
    _add_reconcile(hub)
    _add_idem(hub)
    _add_events(hub)
    _add_tools(hub)
    _add_exec(hub)
    auto_state.add_general(hub)


def _module(hub, path, aliases=None, /, **names):
    _add_module(hub, path, __file__, aliases, **names)


def as_in_idem(running):
    """Results as loops find them in Idem: with the function, and a local time without a zone."""
    for tag, ret in running.items():
        state, _, _, function = tags.parts(tag)
        ret["ref"] = f"states.{state}.{function}"
        if ret.get("start_time"):
            moment = datetime.datetime.fromisoformat(ret["start_time"].replace("Z", "+00:00"))
            ret["start_time"] = str(moment.astimezone().replace(tzinfo=None))


class _Pending:
    """What was said about a result so far, for rules that decide whether it goes on."""

    def __init__(self, hub, ret, state, counts):
        self.ret, self.counts = ret, counts
        self.is_alike = (counts.get("reruns_wo_change_count") or 0) >= PATIENCE
        most = counts.get("max_pending_reruns", MOST_RERUNS)
        self.is_over = (counts.get("reruns_count") or 0) >= most
        self.own = _own_rule(hub, state)

    def asks_again(self):
        return bool(self.ret.get("rerun_data")) and not self.ret.get("recreation_flow", False)

    def of_module(self, state):
        """What the module of the state says; it is asked only while it may say something."""
        if self.is_over or (self.is_alike and not self.ret.get("result")):
            return False
        if "state" in self.own.signature.parameters:
            return self.own(ret=self.ret, state=state, **self.counts)
        return self.own(ret=self.ret)


def _own_rule(hub, state):
    try:
        found = getattr(hub.states[state], "is_pending", None) if state else None
    except (KeyError, AttributeError):
        return None
    return found if hasattr(found, "signature") else None


def _add_reconcile(hub):
    hub._sub("reconcile")

    def seeds(hub, ret, state=None, **pending_kwargs):
        """Done: True, without changes and anything for a next call."""
        known = _Pending(hub, ret, state, pending_kwargs)
        if known.own is not None:
            return known.of_module(state)
        if known.is_alike or known.is_over:
            return False
        return ret.get("result") is not True or bool(ret.get("changes")) or known.asks_again()

    def newest(hub, ret, state=None, **pending_kwargs):
        """Done: True, without anything for a next call; or the same three times."""
        known = _Pending(hub, ret, state, pending_kwargs)
        if known.own is not None:
            return known.of_module(state)
        if known.is_alike or known.is_over:
            return False
        return ret.get("result") is not True or known.asks_again()

    _module(hub, "reconcile.init", DEFAULT_MAX_PENDING_RERUNS=MOST_RERUNS)
    for name, rule in (("default", seeds), ("idem25", newest)):
        _module(hub, f"reconcile.pending.{name}", is_pending=rule, MAX_RERUNS_WO_CHANGE=PATIENCE)

    def static(hub, wait_in_seconds, run_count=0, **kwargs):
        return wait_in_seconds

    def uniform(hub, min_value, max_value, run_count=0, **kwargs):
        if min_value is None or max_value is None or min_value >= max_value:
            raise ValueError("`min_value` must be below `max_value`")
        return random.randint(min_value, max_value)

    def exponential(hub, wait_in_seconds, multiplier, run_count=0, **kwargs):
        if not wait_in_seconds or not multiplier:
            raise ValueError("`wait_in_seconds` and `multiplier` must not be 0")
        return wait_in_seconds * multiplier**run_count

    for name, function in (("static", static), ("random", uniform), ("exponential", exponential)):
        _module(hub, f"reconcile.wait.{name}", get=function)


def _add_idem(hub):
    hub._sub("idem").RUNS = {}
    hub.idem.RUN_NAME = "cli"

    async def start(hub, name, pending_tags=None):
        return await _apply(hub, name, pending_tags)

    async def apply(hub, name, *args, **kwargs):
        return await _apply(hub, name, kwargs.get("pending_tags"))

    async def _apply(hub, name, tags):
        host = hub._host
        if host is None:
            raise RuntimeError("there is no run here; use `hub.idem.state.batch` to apply states")
        answer = await host.ask_async(
            apply={"name": name, "tags": None if tags is None else list(tags)}
        )
        ran = NamespaceDict({tag: answer["running"][tag] for tag in answer["ran"]})
        as_in_idem(ran)
        hub.idem.RUNS.setdefault(name, NamespaceDict())["running"] = ran
        return ran

    _module(hub, "idem.run.init", start=start)
    _add_tags(hub)

    async def batch(hub, states, **parameters):
        from fettle_plugins.program import run_batch

        return await run_batch(states, **parameters)

    async def single(hub, _ref_, _test_=None, *args, **kwargs):
        """One function of a state, outside of any run."""
        path = _ref_ if _ref_.startswith("states.") else f"states.{_ref_}"
        ctx = NamespaceDict(test=bool(_test_), acct=NamespaceDict(), old_state=None)
        return await contracts.unwrapped(hub[path](ctx, *args, **kwargs))

    _module(hub, "idem.state", apply=apply, batch=batch, single=single)
    _add_ex(hub)
    _add_account_contexts(hub)


def _add_tags(hub):
    def get_tag_parts(hub, tag):
        state, name_id, name, fun = tags.parts(tag)
        return {"state": state, "id_": name_id, "name": name, "fun": fun}

    def gen_chunk_func_tag(hub, chunk):
        return tags.memory_tag(chunk) + chunk["fun"]

    def gen_chunk_esm_tag(hub, chunk):
        return tags.memory_tag(chunk)

    def tag_2_state(hub, tag):
        return tags.parts(tag)[0]

    def ishashable(hub, obj):
        try:
            hash(obj)
        except TypeError:
            return False
        return True

    _module(
        hub,
        "idem.tools",
        get_tag_parts=get_tag_parts,
        gen_chunk_func_tag=gen_chunk_func_tag,
        gen_chunk_esm_tag=gen_chunk_esm_tag,
        tag_2_state=tag_2_state,
        ishashable=ishashable,
    )


def _add_ex(hub):
    def resolve(hub, path):
        path = path if path.startswith("exec.") else f"exec.{path}"
        function = hub[path]
        return {"func": function, "params": function.signature.parameters, "path": path}

    async def run(
        hub,
        path,
        args=(),
        kwargs=None,
        *,
        ctx=None,
        acct_file=None,
        acct_key=None,
        acct_blob=None,
        acct_profile=None,
        acct_data=None,
        rerun_data=None,
    ):
        """An exec function, with the credentials of its part."""
        found = resolve(hub, path)
        arguments = list(args or ())
        takes_ctx = "ctx" in found["params"] or hub._is_hosts(found["path"])
        if takes_ctx:
            ctx = NamespaceDict(ctx or {})
            if rerun_data:
                ctx["rerun_data"] = rerun_data
            if not ctx.get("acct"):
                ctx.update(
                    await hub.idem.acct.ctx(
                        found["path"],
                        profile=acct_profile or hub.acct.DEFAULT,
                        acct_file=acct_file,
                        acct_key=acct_key,
                        acct_blob=acct_blob,
                        acct_data=acct_data,
                        hard_fail=True,
                        validate=bool(acct_profile),
                    )
                )
            arguments.insert(0, ctx)
        return await contracts.unwrapped(found["func"](*arguments, **(kwargs or {})))

    async def single(hub, path, *args, **kwargs):
        return await run(hub, path, args, kwargs)

    _module(hub, "idem.ex", resolve=resolve, run=run, single=single)


def _add_account_contexts(hub):
    async def ctx_(
        hub,
        path,
        profile,
        acct_file=None,
        acct_key=None,
        acct_blob=None,
        acct_data=None,
        hard_fail=False,
        validate=False,
    ):
        """The `ctx` of a function: with a profile of the files of credentials, or of what is given."""
        declared = accounts.providers_of(hub, path)
        providers = declared or [path.split(".")[1 if "." in path else 0]]
        told = await data(hub, acct_key, acct_file, acct_blob) if acct_file or acct_blob else {}
        profiles = {**((acct_data or {}).get("profiles") or {}), **(told.get("profiles") or {})}
        if not profiles and hub._host is not None:
            profiles = await hub._host.profiles(providers)
        found = await hub.acct.init.gather(
            providers, profile, profiles=profiles, hard_fail=hard_fail
        )
        if validate:
            accounts.demand(found, providers, profile, profiles, bool(declared))
        return NamespaceDict(
            test=False,
            acct=SafeNamespaceDict(found or {}),
            acct_details=await hub.acct.metadata.init.gather(profile=found, providers=providers),
        )

    async def data(hub, acct_key, acct_file, acct_blob=None):
        if acct_file and acct_key:
            with open(acct_file, "rb") as file:
                acct_blob = file.read()
        if acct_blob and acct_key:
            return await hub.acct.init.unlock_blob(acct_blob, acct_key=acct_key)
        return {"profiles": await hub.acct.init.profiles(acct_file)} if acct_file else {}

    _module(hub, "idem.acct", {"ctx_": "ctx"}, ctx_=ctx_, data=data)


# What Idem itself tells of runs, the host tells, too.
_TOLD_BY_THE_HOST = {
    "idem-chunk",
    "idem-exec",
    "idem-high",
    "idem-low",
    "idem-run",
    "idem-state",
    "idem-status",
}


def _add_events(hub):
    def put_nowait(hub, body, profile="default", tags=None):
        """A line among the events of the state that puts it."""
        if profile not in _TOLD_BY_THE_HOST:
            event = {"event": profile, "tags": tags or {}, "message": body}
            hub.log.info("%s", dumps(event).decode())

    async def put(hub, body, profile="default", tags=None):
        put_nowait(hub, body, profile, tags)

    _module(hub, "idem.event", put=put, put_nowait=put_nowait)

    def queue_nowait(hub, profile, body):
        put_nowait(hub, body.get("message"), profile, body.get("tags"))

    async def queue(hub, profile, body):
        queue_nowait(hub, profile, body)

    aliases = {"queue_nowait": "put_nowait", "queue": "put"}
    _module(hub, "evbus.broker", aliases, queue=queue, queue_nowait=queue_nowait)


def _add_tools(hub):
    def calculate_changes(hub, old_state, new_state, params=None, func_ref=None):
        signature = types.SimpleNamespace(parameters=params or {})
        return changes.between(old_state, new_state, changes.computed_of(signature))

    def get_type_info_for_dataclass(hub, param_type):
        return arguments.fields_of(param_type)

    def validate_param_dataclass(hub, dataclass_info, value, missing_args):
        arguments.complete(dataclass_info, value, missing_args)

    _module(
        hub,
        "tool.idem.arg_utils",
        calculate_changes=calculate_changes,
        get_type_info_for_dataclass=get_type_info_for_dataclass,
        validate_param_dataclass=validate_param_dataclass,
    )

    def append(hub, c1, c2):
        if not isinstance(c1, list):
            raise TypeError("the first comment must be a list")
        if c2:
            is_one = isinstance(c2, (str, bytes)) or not isinstance(c2, collections.abc.Iterable)
            c1.extend([c2] if is_one else c2)

    def flatten(hub, comment):
        return list(contracts.lines(list(comment)))

    def normalize(hub, comment):
        is_one = isinstance(comment, (str, bytes, dict))
        if not is_one and isinstance(comment, collections.abc.Iterable):
            comment = list(comment)
        return list(contracts.lines(comment))

    _module(hub, "tool.idem.comment", append=append, flatten=flatten, normalize=normalize)

    def format_return(hub, ret, ref, kwargs):
        if not isinstance(ret, dict) or "result" not in ret:
            raise TypeError(f"`{ref}` must return a dict with `result`, `comment` and `ret`")
        return contracts.returned(ret, ref)

    async def format_async_return(hub, ret, ref, kwargs):
        return format_return(hub, await contracts.unwrapped(ret), ref, kwargs)

    _module(
        hub, "tool.idem.exec", format_return=format_return, format_async_return=format_async_return
    )


def _add_exec(hub):
    _module(hub, "exec.init", ExecReturn=contracts.ExecReturn)

    def of(name):
        async def call(hub, ctx, exec_mod_ref, resource_id=None, *, name_=name, **kwargs):
            return await auto_state.ask(hub, name_, ctx, exec_mod_ref, resource_id, kwargs)

        call.__name__ = name
        return call

    _module(
        hub,
        "exec.auto",
        **{name: of(name) for name in ("get", "list", "create", "update", "delete")},
    )

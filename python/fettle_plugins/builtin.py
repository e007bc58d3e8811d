"""What every hub has: `hub.idem`, `hub.pop`, `hub.reconcile`, `hub.log`, `hub.OPT`."""

import asyncio
import datetime
import inspect
import logging
import random
import types

from fettle_plugins import changes, tags
from fettle_plugins.data import NamespaceDict

MOST_RERUNS = 600
PATIENCE = 3


class _Sub:
    """`hub.pop.sub`: everything that it could add is found by name anyway."""

    def __init__(self, hub):
        self._hub = hub

    def add(self, *args, dyne_name=None, subname=None, **kwargs):
        for name in (dyne_name, subname):
            if name:
                self._hub._sub(name)

    def load_subdirs(self, *args, **kwargs):
        pass

    dynamic = load_subdirs


class _Config:
    """`hub.pop.config`: there are no command lines of programs to read here."""

    def load(self, *args, **kwargs):
        pass


class Log(logging.Logger):
    def trace(self, message, *args, **kwargs):
        self.log(5, message, *args, **kwargs)


def add(hub):
    hub.log = Log("fettle")
    hub.OPT = NamespaceDict(idem=NamespaceDict(run_name="cli"), acct=NamespaceDict())
    hub.SUBPARSER = "state"
    _add_pop(hub)
    _add_reconcile(hub)
    _add_idem(hub)


def _module(hub, path, **names):
    """A module of our own; the functions take the hub, as those of plugins do."""
    source = types.ModuleType(f"fettle_loaded.{path}")
    source.__file__ = __file__
    for name, value in names.items():
        if inspect.isfunction(value):
            value.__module__ = source.__name__
        setattr(source, name, value)
    hub._add(path, source)


async def _unwrap(hub, answer):
    while inspect.isawaitable(answer):
        answer = await answer
    return answer


def _add_pop(hub):
    pop = hub._sub("pop")
    pop.Loop, pop.sub, pop.config = None, _Sub(hub), _Config()

    def create(hub, loop_plugin=None):
        hub.pop.Loop = asyncio.new_event_loop()

    def get(hub):
        return asyncio.get_running_loop()

    async def sleep(hub, delay, *args):
        await asyncio.sleep(delay)

    _module(hub, "pop.loop", create=create, get=get, sleep=sleep, unwrap=_unwrap)

    def imap(hub, values):
        return NamespaceDict(values)

    _module(hub, "pop.data", imap=imap, NamespaceDict=NamespaceDict)


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
    _module(hub, "reconcile.pending.default", is_pending=seeds)
    _module(hub, "reconcile.pending.idem25", is_pending=newest)

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

    def get_tag_parts(hub, tag):
        state, name_id, name, fun = tags.parts(tag)
        return {"state": state, "id_": name_id, "name": name, "fun": fun}

    def gen_chunk_func_tag(hub, chunk):
        return tags.memory_tag(chunk) + chunk["fun"]

    def gen_chunk_esm_tag(hub, chunk):
        return tags.memory_tag(chunk)

    def tag_2_state(hub, tag):
        return tags.parts(tag)[0]

    _module(
        hub,
        "idem.tools",
        get_tag_parts=get_tag_parts,
        gen_chunk_func_tag=gen_chunk_func_tag,
        gen_chunk_esm_tag=gen_chunk_esm_tag,
        tag_2_state=tag_2_state,
    )

    async def put(hub, *args, **kwargs):
        """Events are the host's."""

    _module(hub, "idem.event", put=put)

    def calculate_changes(hub, old_state, new_state, params=None, func_ref=None):
        signature = types.SimpleNamespace(parameters=params or {})
        return changes.between(old_state, new_state, changes.computed_of(signature))

    _module(hub, "tool.idem.arg_utils", calculate_changes=calculate_changes)

    async def batch(hub, states, **parameters):
        from fettle_plugins.program import run_batch

        return await run_batch(states, **parameters)

    _module(hub, "idem.state", apply=apply, batch=batch)

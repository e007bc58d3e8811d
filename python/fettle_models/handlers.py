"""Calls a handler for one resource: what is there, what differs, and what is done about it."""

import base64
import logging
import os

from fettle_models import channel, modules, values
from fettle_models.exports import plain

_STATE = {}  # the cache of this process, and its agents by name


class Agent:
    """What handlers see of the agent that calls them."""

    uri = "local:"

    def __init__(self, name, environment):
        from inmanta.agent.cache import AgentCache

        self.name, self.environment = name, environment
        self.cache = AgentCache(self)
        self._files = {}

    @property
    def eventloop(self):
        from inmanta.agent import handler

        return handler._Loop.get()

    process = property(lambda self: self)

    def file(self, hash_id):
        if hash_id not in self._files:
            told = channel.ask(file=hash_id)
            self._files[hash_id] = None if told is None else base64.b64decode(told)
        return self._files[hash_id]


def handle(server, request):
    """`handler`: the `fields`, `id` among them, and what to do: `dry`, `purge` when nobody wants it
    any more, and `reload` when something that it requires has changed."""
    told = request["handler"]
    values.begin_answer()
    problem = _load(server)
    from inmanta import const, resources
    from inmanta.agent import handler

    fields = dict(told["fields"])
    made_id = resources.Id.parse_id(fields["id"])
    provider = handler.Commander.get_provider_class(made_id.entity_type, "")
    if provider is None or resources.resource.get_class(made_id.entity_type)[0] is None:
        return _none_registered(made_id.entity_type, provider, problem)
    if told.get("purge"):
        if "purged" not in fields:
            return {"state": "deployed", "changes": {}, "left": True, "reloads": False}
        fields["purged"] = True
    resource = resources.Resource.deserialize(fields)
    ctx = handler.HandlerContext(resource, dry_run=told["dry"], logger=_Log())
    one = provider(_agent(server, made_id.agent_name))
    one.set_cache(one._agent.cache)
    try:
        _resolve(ctx, resource)
        one.execute(ctx, resource, True) if told["dry"] else one.deploy(ctx, resource, {})
        reloads = told["reload"] and one.can_reload() and _is_deployed(const, ctx)
        if reloads:
            one.do_reload(ctx, resource)
        answer = {**_answer(ctx, one), "reloaded": reloads}
        if not told["dry"]:
            answer["facts"] = _facts(one, ctx, resource)
        return answer
    finally:
        one.close()


def _resolve(ctx, resource):
    if resource.references:
        from fettle_models import std_references  # noqa: F401, registers those of std

        resource.resolve_all_references(ctx)


def _is_deployed(const, ctx):
    return ctx.resource_state in (None, const.HandlerResourceState.deployed)


def _load(server):
    """Why a module cannot be loaded, of the first that cannot."""
    if "problem" not in _STATE:
        problems = [server.loader.load(name) for name in server.settings.get("modules", {})]
        _STATE["problem"] = next((one for one in problems if one is not None), None)
    return _STATE["problem"]


def _none_registered(name, provider, problem):
    if problem is not None:
        return {"state": "failed", "why": problem["text"], "trace": problem["trace"]}
    what = "handler" if provider is None else "resource"
    return {"state": "failed", "why": f"no {what} is registered for {name}", "trace": ""}


def _agent(server, name):
    agents = _STATE.setdefault("agents", {})
    if name not in agents:
        agents[name] = Agent(name, server.settings.get("environment", ""))
    return agents[name]


def _facts(one, ctx, resource):
    """What the handler has found out while it acted, and what it answers when it is asked. No server
    asks again from time to time, so each run does. That there is no answer is no failure."""
    if not resource_purged(resource):
        try:
            for name, value in (one.check_facts(ctx, resource) or {}).items():
                ctx.set_fact(name, value)
        except Exception as error:
            channel.current.log(f"warning: no facts: {modules.text_of(error)}")
    return [
        {"id": str(fact["id"]), "value": str(fact["value"]), "expires": bool(fact["expires"])}
        for fact in ctx.facts
    ]


def resource_purged(resource):
    return getattr(resource, "purged", False) is True


def _answer(ctx, one):
    state = ctx.resource_state
    answer = {
        "state": "deployed" if state is None else state.value,
        "changes": {
            name: {"current": _shown(change.current), "desired": _shown(change.desired)}
            for name, change in ctx.changes.items()
        },
        "changed": ctx.changed,
        "reloads": bool(one.can_reload()),
    }
    error = getattr(ctx, "error_seen", None)
    if error is not None:
        answer["why"] = _reason(error)
        answer["trace"] = modules.trace_of(error)
    elif answer["state"] not in ("deployed", "dry", "non_compliant"):
        answer["why"] = ctx.logs[-1].msg if ctx.logs else f"the handler says {answer['state']}"
    return answer


def _reason(error):
    from inmanta.agent.handler import SkipResource

    return str(error) if isinstance(error, SkipResource) else modules.text_of(error)


def _shown(value):
    try:
        return plain(value)
    except (TypeError, ValueError, RecursionError):
        return str(value)


class _Log(logging.Logger):
    """What a handler logs for people is told; the rest is for who looks for a fault."""

    def __init__(self):
        super().__init__("handler", logging.DEBUG if os.environ.get("FETTLE_DEBUG") else logging.INFO)
        self.addHandler(_Told())


class _Told(logging.Handler):
    def emit(self, record):
        text = record.getMessage()
        if record.levelno >= logging.WARNING:
            text = f"{record.levelname.lower()}: {text}"
        channel.current.log(text)

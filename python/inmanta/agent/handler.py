"""Handlers of resources: what looks after the resources of a type, and the context of its calls."""

import abc
import inspect
import json
import logging
import threading
import traceback
import typing
import uuid

from inmanta import const, resources

LOGGER = logging.getLogger(__name__)

T = typing.TypeVar("T")
TResource = typing.TypeVar("TResource", bound=resources.Resource)
TPurgeableResource = typing.TypeVar("TPurgeableResource", bound=resources.PurgeableResource)
TDiscovery = typing.TypeVar("TDiscovery", bound=resources.DiscoveryResource)
TDiscovered = typing.TypeVar("TDiscovered")


class provider:
    """Registers a handler for the resources of a type."""

    def __init__(self, resource_type, name=None):
        self._resource_type = resource_type

    def __call__(self, function):
        Commander.add_provider(self._resource_type, function)
        return function


class SkipResource(Exception):
    """The resource is left for another run."""


class SkipResourceForDependencies(SkipResource):
    """It is left until what it requires is deployed."""


class ResourcePurged(Exception):
    """Raised by `read_resource`: it does not exist."""


class InvalidOperation(Exception):
    pass


class HandlerNotAvailableException(Exception):
    """A handler cannot do its work."""


class NoServer(Exception):
    """A handler asked for a server of Inmanta, and there is none."""

    def __init__(self, what):
        super().__init__(f"`{what}` needs a server of Inmanta, which fettle does not have")


def cache(
    func=None,
    ignore=(),
    timeout=None,
    for_version=None,
    cache_none=True,
    cacheNone=None,
    call_on_delete=None,
    evict_after_creation=0.0,
    evict_after_last_access=0.0,
):
    """Keeps what a method of a handler returned for its arguments."""

    def actual(method):
        names = list(inspect.signature(method).parameters)[1:]

        def wrapper(self, *args, **kwargs):
            kwargs.update(zip(names, args))
            return self.cache.get_or_else(
                key=method.__name__,
                function=lambda **given: method(self, **given),
                for_version=for_version,
                timeout=timeout,
                ignore=frozenset(ignore),
                cache_none=cache_none if cacheNone is None else cacheNone,
                call_on_delete=call_on_delete,
                evict_after_creation=evict_after_creation,
                evict_after_last_access=evict_after_last_access,
                **kwargs,
            )

        wrapper.__name__ = method.__name__
        wrapper.__doc__ = method.__doc__
        return wrapper

    return actual if func is None else actual(func)


class LoggerABC(abc.ABC):
    def critical(self, msg, *args, exc_info=False, **kwargs):
        self._log_msg(logging.CRITICAL, msg, *args, exc_info=exc_info, **kwargs)

    def error(self, msg, *args, exc_info=False, **kwargs):
        self._log_msg(logging.ERROR, msg, *args, exc_info=exc_info, **kwargs)

    def warning(self, msg, *args, exc_info=False, **kwargs):
        self._log_msg(logging.WARNING, msg, *args, exc_info=exc_info, **kwargs)

    def info(self, msg, *args, exc_info=False, **kwargs):
        self._log_msg(logging.INFO, msg, *args, exc_info=exc_info, **kwargs)

    def debug(self, msg, *args, exc_info=False, **kwargs):
        self._log_msg(logging.DEBUG, msg, *args, exc_info=exc_info, **kwargs)

    def exception(self, msg, *args, exc_info=True, **kwargs):
        self.error(msg, *args, exc_info=exc_info, **kwargs)

    @abc.abstractmethod
    def _log_msg(self, level, msg, *args, exc_info=False, **kwargs):
        raise NotImplementedError


class PythonLogger(LoggerABC):
    def __init__(self, logger):
        self.logger = logger

    def _log_msg(self, level, msg, *args, exc_info=False, **kwargs):
        if args:
            raise Exception("Args not supported")
        self.logger.log(level, msg, kwargs if kwargs else None, exc_info=exc_info)


class AttributeStateChange:
    """A field that was or will be changed."""

    def __init__(self, current=None, desired=None):
        self.current, self.desired = current, desired

    def __eq__(self, other):
        return (
            isinstance(other, AttributeStateChange)
            and (self.current, self.desired) == (other.current, other.desired)
        )

    def __repr__(self):
        return f"AttributeStateChange(current={self.current!r}, desired={self.desired!r})"


class LogLine:
    def __init__(self, level, msg, kwargs):
        self.level, self.msg, self.kwargs = level, msg, kwargs

    @property
    def _data(self):
        return {"level": self.level, "msg": self.msg, "kwargs": self.kwargs}


class HandlerContext(LoggerABC):
    """What a handler tells of one call: its state, its changes, its log and facts."""

    def __init__(self, resource, dry_run=False, action_id=None, logger=None):
        self._resource = resource
        self._dry_run = dry_run
        self._action_id = action_id or uuid.uuid4()
        self.logger = logger or LOGGER
        self._cache = {}
        self._change = const.Change.nochange
        self._changes = {}
        self._status = None
        self._resource_state = None
        self._logs = []
        self._facts = []

    def set_fact(self, fact_id, value, expires=True):
        self._facts.append(
            {
                "id": fact_id,
                "source": "fact",
                "value": value,
                "resource_id": self._resource.id.resource_str(),
                "expires": expires,
            }
        )

    @property
    def facts(self):
        return self._facts

    @property
    def action_id(self):
        return self._action_id

    @property
    def status(self):
        return self._status

    @property
    def resource_state(self):
        return self._resource_state

    @property
    def logs(self):
        return self._logs

    def set_status(self, status):
        self._status = status
        try:
            self._resource_state = const.HandlerResourceState(status)
        except ValueError:
            self._resource_state = const.HandlerResourceState.failed
            self.logger.warning(
                "Called set_status with status %s which is not supported on the handler API", status
            )

    def set_resource_state(self, new_state):
        if new_state is const.HandlerResourceState.non_compliant and not self._changes:
            raise InvalidOperation("Unable to set state to non_compliant before changes are set.")
        self._resource_state = new_state
        if new_state is const.HandlerResourceState.skipped_for_dependency:
            self._status = const.ResourceState.skipped
        else:
            self._status = const.ResourceState(new_state)

    def is_dry_run(self):
        return self._dry_run

    def get(self, name):
        return self._cache[name]

    def contains(self, key):
        return key in self._cache

    def set(self, name, value):
        self._cache[name] = value

    def _set_change(self, change):
        if self._change is not const.Change.nochange:
            raise InvalidOperation(
                f"Unable to set {change} operation, {self._change} already set."
            )
        self._change = change

    def set_created(self):
        self._set_change(const.Change.created)

    def set_purged(self):
        self._set_change(const.Change.purged)

    def set_updated(self):
        self._set_change(const.Change.updated)

    @property
    def changed(self):
        return self._change is not const.Change.nochange

    @property
    def change(self):
        return self._change

    @property
    def changes(self):
        return self._changes

    def add_change(self, name, desired, current=None):
        self._changes[name] = AttributeStateChange(current=current, desired=desired)

    def add_changes(self, **kwargs):
        for name, desired in kwargs.items():
            self._changes[name] = AttributeStateChange(desired=desired)

    def fields_updated(self, fields):
        for field in [fields] if isinstance(fields, str) else fields:
            self._changes.setdefault(field, AttributeStateChange())

    def update_changes(self, changes):
        for name, change in changes.items():
            if isinstance(change, dict):
                made = AttributeStateChange(change.get("current"), change.get("desired"))
            elif isinstance(change, tuple) and len(change) == 2:
                made = AttributeStateChange(*change)
            elif isinstance(change, tuple):
                raise InvalidOperation(
                    f"Reported changes for {name} not valid."
                    " Tuple changes should contain 2 element."
                )
            elif isinstance(change, AttributeStateChange) or hasattr(change, "desired"):
                made = change
            else:
                raise InvalidOperation(
                    f"Reported changes for {name} not in a type that is recognized."
                )
            self._changes[name] = made

    def _log_msg(self, level, msg, *args, exc_info=False, **kwargs):
        if args:
            raise Exception("Args not supported")
        if exc_info:
            kwargs["traceback"] = traceback.format_exc()
        self.logger.log(level, "%s", self._keep(level, msg, kwargs))

    def _keep(self, level, msg, kwargs):
        kept = {name: _with_json(value) for name, value in kwargs.items()}
        text = msg % kept if kept else msg
        self._logs.append(LogLine(level, text, kept))
        return text


def _with_json(value):
    """The value, or its text when it has no JSON."""
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError):
        return str(value)


class _Loop:
    """An event loop in a thread of its own, for handlers that await something."""

    _lock = threading.Lock()
    _loop = None

    @classmethod
    def get(cls):
        import asyncio  # only for who awaits something

        with cls._lock:
            if cls._loop is None:
                cls._loop = asyncio.new_event_loop()
                threading.Thread(target=cls._loop.run_forever, daemon=True).start()
            return cls._loop


class HandlerAPI(abc.ABC, typing.Generic[TResource]):
    """What the driver calls."""

    def __init__(self, agent, io=None):
        from inmanta.agent.io import get_io

        self._agent = agent
        self._io = io if io is not None else get_io(None, getattr(agent, "uri", "local:"), 0)
        self.cache = None

    def close(self):
        pass

    @abc.abstractmethod
    def execute(self, ctx, resource, dry_run=False):
        """Makes it as described; tells the context what was or would be changed."""

    @abc.abstractmethod
    def check_facts(self, ctx, resource):
        raise NotImplementedError()

    def deploy(self, ctx, resource, requires):
        """What it requires was deployed before: that is the business of a run."""
        self.execute(ctx, resource)

    def set_cache(self, cache):
        self.cache = cache

    def can_reload(self):
        return False

    def do_reload(self, ctx, resource):
        pass

    def pre(self, ctx, resource):
        pass

    def post(self, ctx, resource):
        pass

    def facts(self, ctx, resource):
        return {}

    @property
    def _ioloop(self):
        return _Loop.get()

    def run_sync(self, func):
        import asyncio

        async def run():
            made = func()
            return await made if inspect.isawaitable(made) else made

        return asyncio.run_coroutine_threadsafe(run(), self._ioloop).result()

    def get_client(self):
        raise NoServer("get_client")

    def get_file(self, hash_id):
        """What a serializer stored with `exporter.upload_file`."""
        return self._agent.file(hash_id)

    def stat_file(self, hash_id):
        return self._agent.file(hash_id) is not None

    def upload_file(self, hash_id, content):
        raise NoServer("upload_file")


class ResourceHandler(HandlerAPI[TResource]):
    def _diff(self, current, desired):
        changes = {}
        for field in type(current).fields:
            now, wanted = getattr(current, field), getattr(desired, field)
            if now != wanted and wanted is not None:
                changes[field] = {"current": now, "desired": wanted}
        return changes

    def check_resource(self, ctx, resource):
        raise NotImplementedError()

    def list_changes(self, ctx, resource):
        return self._diff(self.check_resource(ctx, resource), resource)

    def do_changes(self, ctx, resource, changes):
        raise NotImplementedError()

    def execute(self, ctx, resource, dry_run=False):
        with _Outcome(self, ctx, resource):
            self.pre(ctx, resource)
            changes = self.list_changes(ctx, resource)
            ctx.update_changes(changes)
            if _ends_with_look(ctx, resource, changes, dry_run):
                return
            self.do_changes(ctx, resource, changes)
            ctx.set_resource_state(const.HandlerResourceState.deployed)

    def check_facts(self, ctx, resource):
        try:
            self.pre(ctx, resource)
            return self.facts(ctx, resource)
        finally:
            _after(self, ctx, resource, "getting facts about")


class CRUDHandler(ResourceHandler[TPurgeableResource]):
    def read_resource(self, ctx, resource):
        pass

    def create_resource(self, ctx, resource):
        pass

    def delete_resource(self, ctx, resource):
        pass

    def update_resource(self, ctx, changes, resource):
        pass

    def calculate_diff(self, ctx, current, desired):
        return self._diff(current, desired)

    def execute(self, ctx, resource, dry_run=False):
        with _Outcome(self, ctx, resource):
            self.pre(ctx, resource)
            changes = self._changes_of(ctx, resource)
            for field, change in changes.items():
                ctx.add_change(field, desired=change["desired"], current=change["current"])
            if _ends_with_look(ctx, resource, changes, dry_run):
                return
            self._change(ctx, resource, changes)
            ctx.set_resource_state(const.HandlerResourceState.deployed)

    def _changes_of(self, ctx, desired):
        changes = {}
        current = desired.clone(purged=False)  # many do not say that it exists
        try:
            ctx.debug("Calling read_resource")
            self.read_resource(ctx, current)
            changes = self.calculate_diff(ctx, current, desired)
        except ResourcePurged:
            if not desired.purged:
                changes["purged"] = {"desired": desired.purged, "current": True}
        return changes

    def _change(self, ctx, resource, changes):
        if "purged" in changes:
            if changes["purged"]["desired"]:
                ctx.debug("Calling delete_resource")
                self.delete_resource(ctx, resource)
            else:
                ctx.debug("Calling create_resource")
                self.create_resource(ctx, resource)
        elif not resource.purged and changes:
            ctx.debug("Calling update_resource", changes=changes)
            self.update_resource(ctx, dict(changes), resource)


CRUDHandlerGeneric = CRUDHandler


class DiscoveryHandler(HandlerAPI[TDiscovery], typing.Generic[TDiscovery, TDiscovered]):
    def check_facts(self, ctx, resource):
        return {}

    @abc.abstractmethod
    def discover_resources(self, ctx, discovery_resource):
        raise NotImplementedError()

    def execute(self, ctx, resource, dry_run=False):
        with _Outcome(self, ctx, resource):
            raise NoServer("discovered_resource_create_batch")


def _ends_with_look(ctx, resource, changes, dry_run):
    """Whether nothing is to be done: the resource only reports, or the run is dry."""
    if resource.report_only and changes:
        ctx.set_resource_state(const.HandlerResourceState.non_compliant)
        ctx.info(
            "Resource %(resource_id)s was marked as non-compliant.",
            resource_id=resource.id.resource_str(),
            changes=changes,
        )
    elif resource.report_only:
        ctx.set_resource_state(const.HandlerResourceState.deployed)
    elif dry_run:
        ctx.set_resource_state(const.HandlerResourceState.dry)
    return bool(resource.report_only or dry_run)


class _Outcome:
    """Turns the exception that ends a call into the state of its resource."""

    def __init__(self, handler, ctx, resource):
        self._handler, self._ctx, self._resource = handler, ctx, resource

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, Exception):
            self._take(error)
        _after(self._handler, self._ctx, self._resource, "deployment of")
        return isinstance(error, Exception)

    def _take(self, error):
        """The error is told once, as the result of the call, so it is not logged, too."""
        states = const.HandlerResourceState
        if isinstance(error, SkipResourceForDependencies):
            state, text = states.skipped_for_dependency, f"was skipped: {error}"
        elif isinstance(error, SkipResource):
            state, text = states.skipped, f"was skipped: {error}"
        else:
            state, text = states.failed, f"failed: {type(error).__name__}('{error}')"
        self._ctx.set_resource_state(state)
        self._ctx._keep(logging.ERROR, f"Resource {self._resource.id.resource_str()} {text}", {})
        self._ctx.error_seen = error


def _after(handler, ctx, resource, doing):
    try:
        handler.post(ctx, resource)
    except Exception as error:
        ctx.exception(
            f"An error occurred after {doing} %(resource_id)s (exception: %(exception)s)",
            resource_id=resource.id.resource_str(),
            exception=f"{type(error).__name__}('{error}')",
        )


class Commander:
    """The handlers by the type of their resources."""

    _functions = {}

    @classmethod
    def get_handlers(cls):
        return cls._functions

    @classmethod
    def reset(cls):
        cls._functions = {}

    @classmethod
    def close(cls):
        pass

    @classmethod
    def add_provider(cls, resource, provider):
        cls._functions[resource] = provider

    @classmethod
    def get_provider(cls, agent, resource):
        name = resource.id.get_entity_type()
        if name not in cls._functions:
            raise Exception(f"No resource handler registered for resource of type {name}")
        return cls._functions[name](agent)

    @classmethod
    def get_providers(cls):
        return iter(cls._functions.items())

    @classmethod
    def get_provider_class(cls, resource_type, name):
        return cls._functions.get(resource_type)

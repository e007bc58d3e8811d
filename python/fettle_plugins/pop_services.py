"""`hub.pop`: what plugins do to the hub itself, and to the loop that runs them."""

import asyncio
import concurrent.futures
import contextvars
import functools
import importlib
import os

from fettle_plugins import contracts, loader, maps, packages
from fettle_plugins.hub import Part
from fettle_plugins.modules import add_module


def add(hub):
    hub._sub("pop").Loop = None
    _add_sub(hub)
    _add_loop(hub)
    _add_ref(hub)
    _add_data(hub)
    _add_config(hub)
    _add_contract(hub)


def _paths(value):
    """Names or folders, told as Idem does: one, several with commas, or a list."""
    if value is None:
        return []
    return value.split(",") if isinstance(value, str) else [str(one) for one in value]


def _path_of(root, subname):
    return f"{root._path}.{subname}" if isinstance(root, Part) else subname


def _add_sub(hub):
    def add(
        hub,
        pypath=None,
        subname=None,
        sub=None,
        static=None,
        contracts_pypath=None,
        contracts_static=None,
        default_contracts=None,
        virtual=True,
        dyne_name=None,
        omit_start=("_",),
        omit_end=(),
        omit_func=False,
        omit_class=True,
        omit_vars=False,
        mod_basename="pop.sub",
        stop_on_failures=False,
        init=True,
        load_all=True,
        recursive_contracts_static=None,
        default_recursive_contracts=None,
        python_import=None,
    ):
        """A new part of the hub, or of a part of it."""
        _refuse(omit_start=tuple(omit_start) != ("_",), omit_end=omit_end, omit_vars=omit_vars)
        root = hub if sub is None else sub
        subname = subname or _name_of(pypath, static, dyne_name, python_import)
        if python_import:
            setattr(root, subname, importlib.import_module(python_import))
            return
        path = _path_of(root, subname)
        if dyne_name and path in hub._dynes:
            return
        folders = packages.roots_of(_paths(pypath)) + _paths(static)
        if dyne_name:
            hub._load_more(dyne_name)
            hub._dynes.add(path)
            folders += [folder for folder, _ in loader.roots(hub, dyne_name)]
        _add_contracts(hub, path, "contracts", packages.roots_of(_paths(contracts_pypath)))
        _add_contracts(hub, path, "contracts", _paths(contracts_static))
        _add_contracts(hub, path, "recursive_contracts", _paths(recursive_contracts_static))
        hub._defaults[path] = [*_paths(default_contracts), *_paths(default_recursive_contracts)]
        without = [*(["functions"] if omit_func else []), *(["classes"] if omit_class else [])]
        options = loader.Options(virtual, init, without, stop_on_failures)
        loader.add(hub, path, folders, options)

    def remove(hub, subname):
        part = hub._parts.get(subname)
        if part is None:
            return
        init = part._parts.get("init")
        if init is not None and "shutdown" in init:
            init.shutdown()
        _forget(hub, part)
        # A new part of this name begins anew.
        before = f"{subname}."
        hub._dynes = {path for path in hub._dynes if not f"{path}.".startswith(before)}
        for known in (hub._hooks, hub._defaults):
            for path in [one for one in known if f"{one}.".startswith(before)]:
                del known[path]
        del hub._parts[subname]

    def load_all(hub, subname):
        return subname in hub._parts

    def get_dirs(hub, sub):
        return list(sub._dirs)

    def iter_subs(hub, sub, recurse=False):
        for name in sorted(sub._subs):
            part = sub._subs[name]
            yield part
            if recurse:
                yield from iter_subs(hub, part, recurse)

    def load_subdirs(hub, sub, recurse=False):
        """Folders are loaded with the part that they are in."""
        if not isinstance(sub, Part):
            raise TypeError(f"`hub.pop.sub.load_subdirs` needs a part of the hub, not {sub!r}")

    def reload(hub, subname):
        part = hub._parts.get(subname)
        if part is None:
            return False
        _forget(hub, part)
        folders, part._dirs[:] = list(part._dirs), []
        loader.add(hub, subname, folders, part._options or loader.Options())
        return True

    def extend(
        hub,
        subname,
        pypath=None,
        static=None,
        contracts_pypath=None,
        contracts_static=None,
    ):
        part = hub._parts.get(subname)
        if part is None:
            return False
        _add_contracts(hub, subname, "contracts", packages.roots_of(_paths(contracts_pypath)))
        _add_contracts(hub, subname, "contracts", _paths(contracts_static))
        folders = packages.roots_of(_paths(pypath)) + _paths(static)
        loader.add(hub, subname, folders, part._options or loader.Options())
        return True

    def dynamic(hub, resolver, context=None, **kwargs):
        """Paths below a part that somebody else has functions for."""
        root = kwargs.pop("sub", None) or hub
        subname = kwargs.pop("subname", None)
        if not subname:
            told = [kwargs.get(name) for name in ("pypath", "static", "dyne_name")]
            subname = _name_of(*told, None)
        if subname not in root._parts:
            add(hub, sub=None if root is hub else root, subname=subname, **kwargs)
        root._parts[subname].__dict__["_resolver"] = (resolver, context)

    add_module(
        hub,
        "pop.sub",
        __file__,
        add=add,
        remove=remove,
        load_all=load_all,
        get_dirs=get_dirs,
        iter_subs=iter_subs,
        load_subdirs=load_subdirs,
        reload=reload,
        extend=extend,
        dynamic=dynamic,
    )


def _refuse(**given):
    for name, value in given.items():
        if value:
            raise TypeError(f"`hub.pop.sub.add` does not have `{name}` here")


def _name_of(pypath, static, dyne_name, python_import):
    if python_import:
        return python_import.split(".")[0]
    if pypath:
        return _paths(pypath)[0].split(".")[-1]
    if static:
        return os.path.basename(_paths(static)[0].rstrip(os.sep))
    if not dyne_name:
        raise TypeError("`hub.pop.sub` needs a `subname`, `dyne_name`, `pypath` or `static`")
    return dyne_name


def _add_contracts(hub, path, kind, folders):
    for folder in folders:
        for name in sorted(os.listdir(folder)):
            if name.endswith(".py") and (name == "init.py" or not name.startswith(("_", "."))):
                inside = f"{path}.{kind}.{name[: -len('.py')]}"
                source = loader.source_of(path, inside, os.path.join(folder, name))
                loader.add_hooks(hub, inside, source)


def _forget(hub, part):
    before = part._path + "."
    for path in [one for one in hub._modules if one == part._path or one.startswith(before)]:
        hub._remove(hub._modules[path])
    part._parts.clear()
    part._extra.clear()


def _add_loop(hub):
    def create(hub, loop_plugin=None):
        """Within fettle, the loop is there already."""
        if loop_plugin not in (None, "auto", "init", "selector", "uv"):
            raise ValueError(f"there is no loop `{loop_plugin}` here")
        if hub.pop.loop.CURRENT_LOOP is None:
            hub.pop.loop.CURRENT_LOOP = asyncio.new_event_loop()
            hub.pop.Loop = hub.pop.loop.CURRENT_LOOP

    def get(hub):
        try:
            return asyncio.get_running_loop()
        except RuntimeError:
            return hub.pop.loop.CURRENT_LOOP

    async def sleep(hub, delay, *args, **kwargs):
        return await asyncio.sleep(delay, *args, **kwargs)

    async def unwrap(hub, function_ret):
        return await contracts.unwrapped(function_ret)

    async def wrap(hub, synchronous_function, *args, **kwargs):
        """Calls a plain function in a thread, as a part of the same call."""
        call = functools.partial(finished, synchronous_function, args, kwargs)
        context = contextvars.copy_context()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(hub.pop.loop.EXECUTOR, context.run, call)

    def ensure_future(hub, ref, *args, **kwargs):
        queue = hub.pop.loop.FUT_QUE
        if queue is None:
            raise RuntimeError("`await hub.pop.loop.init_futures()` has to come first")
        future = asyncio.ensure_future(hub[ref](*args, **kwargs))
        future.add_done_callback(queue.put_nowait)
        return future

    def call_soon(hub, ref, *args, **kwargs):
        """Calls a function by its path when the loop has time, and awaits what it answers."""
        loop = hub.pop.loop.get()

        def begin():
            loop.create_task(contracts.unwrapped(hub.pop.loop.wrap(hub[ref], *args, **kwargs)))

        return loop.call_soon(begin)

    async def init_futures(hub):
        if hub.pop.loop.FUT_QUE is None:
            hub.pop.loop.FUT_QUE = asyncio.Queue()

    async def await_futures(hub):
        await hub.pop.loop.init_futures()
        while not hub.pop.loop.FUT_QUE.empty():
            await (await hub.pop.loop.FUT_QUE.get())

    def start(hub, *coros, hold=False, sigint=None, sigterm=None, loop_plugin=None):
        if hub._host is not None:
            raise RuntimeError("`hub.pop.loop.start`: the loop runs already; await the coroutine")
        _refuse(hold=hold, sigint=sigint, sigterm=sigterm)
        hub.pop.loop.create(loop_plugin=loop_plugin)

        async def all_of_them():
            return await asyncio.gather(*coros)

        return hub.pop.Loop.run_until_complete(all_of_them())

    async def as_yielded(hub, gens):
        """What several asynchronous generators yield, as it comes."""
        queue, end = asyncio.Queue(), object()

        async def pump(generator):
            try:
                async for one in generator:
                    await queue.put((one, None))
                await queue.put((end, None))
            except Exception as error:
                await queue.put((end, error))

        tasks = [asyncio.ensure_future(pump(generator)) for generator in gens]
        try:
            left = len(tasks)
            while left:
                one, error = await queue.get()
                if error is not None:
                    raise error
                if one is end:
                    left -= 1
                else:
                    yield one
        finally:
            for task in tasks:
                task.cancel()

    add_module(
        hub,
        "pop.loop",
        __file__,
        create=create,
        get=get,
        sleep=sleep,
        wrap=wrap,
        unwrap=unwrap,
        ensure_future=ensure_future,
        call_soon=call_soon,
        init_futures=init_futures,
        await_futures=await_futures,
        start=start,
        as_yielded=as_yielded,
    )
    loop = hub.pop.loop
    loop.CURRENT_LOOP = loop.FUT_QUE = loop.POLICY = None
    loop.EXECUTOR = concurrent.futures.ThreadPoolExecutor(thread_name_prefix="hub")


def finished(function, args, kwargs):
    """What a function answers; if that is a coroutine, what it ends with."""
    answer = function(*args, **kwargs)
    if not asyncio.iscoroutine(answer):
        return answer
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(contracts.unwrapped(answer))
    finally:
        loop.close()


def _add_ref(hub):
    def path(hub, ref):
        found = [hub]
        for name in ref.split(".") if isinstance(ref, str) else ref:
            found.append(getattr(found[-1], name))
        return found

    def last(hub, ref):
        return path(hub, ref)[-1]

    def create(hub, ref, obj):
        before, _, name = ref.rpartition(".")
        setattr(last(hub, before) if before else hub, name, obj)

    add_module(hub, "pop.ref", __file__, path=path, last=last, create=create)


def _add_data(hub):
    def imap(hub, init, **c_kwargs):
        return maps.Fixed({**init, **c_kwargs})

    def null_map(hub):
        return maps.Fixed({})

    def map_(hub, dict_=None):
        return maps.Growing(dict_)

    add_module(
        hub,
        "pop.data",
        __file__,
        {"map_": "map"},
        imap=imap,
        null_map=null_map,
        map_=map_,
        NamespaceDict=maps.NamespaceDict,
    )
    hub._unknown["pop.data.omap"] = "maps that only their owner may change are not here"

    def traverse(hub, data, key, default=None, delimiter=":"):
        return maps.traverse(data, key, default, delimiter)

    def update(hub, dest, upd, recursive_update=True, merge_lists=True):
        return maps.update(dest, upd, recursive_update, merge_lists)

    add_module(hub, "pop.dicts", __file__, traverse=traverse, update=update)


def _add_config(hub):
    def load(hub, sources, cli=None, dyne_name=None, loader="yaml", parse_cli=True, logs=True):
        """The defaults of packages as `hub.OPT`. Options of the command line are the host's."""
        for source in _paths(sources):
            options = dict(hub.OPT.get(source) or {})
            for name, told in _configuration(hub, source).items():
                if name not in options:
                    options[name] = _option(told)
            hub.OPT[source] = maps.NamespaceDict(options)

    add_module(hub, "pop.config", __file__, load=load)

    def get(hub):
        return {
            name: {"paths": [root for root, _ in loader.roots(hub, name)]}
            for name in {name for package in hub._packages for name in package.dynes}
        }

    add_module(hub, "pop.dyne", __file__, get=get)


def _configuration(hub, source):
    """The options of a source: those of its package, and those that others add to it."""
    found = {}
    for package in hub._packages:
        for name, told in package.config.items():
            if isinstance(told, dict) and told.get("dyne", package.name) == source:
                found[name] = told
    return found


def _option(told):
    """The environment decides over the default."""
    name = told.get("os")
    value = os.environ.get(name.upper()) if isinstance(name, str) else None
    return told.get("default") if value is None else value


def _add_contract(hub):
    def process_pre_result(hub, pre_ret, pre, cn):
        if hub.pop.contract.RAISE_ON_PRE_CONTRACT_FAILURE:
            contracts.check(cn, pre_ret)

    add_module(hub, "pop.contract", __file__, process_pre_result=process_pre_result)
    hub.pop.contract.RAISE_ON_PRE_CONTRACT_FAILURE = True

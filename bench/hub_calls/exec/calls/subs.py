"""Parts of the hub."""
import os

PLACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "more")


async def added(hub, ctx):
    hub.pop.sub.add(static=PLACE, subname="calls_more")
    hub.pop.sub.load_subdirs(hub.calls_more, recurse=True)
    part = hub.calls_more
    found = [part.one.word(), part.below.two.word(), sorted(part._loaded), sorted(part._subs), "one" in part, "three" in part]
    found.append([module.__name__ for module in part])
    found.append([function.__name__ for function in part.one])
    found.append([sub._subname for sub in hub.pop.sub.iter_subs(part)])
    return {"result": True, "ret": found}


async def classes(hub, ctx):
    found = []
    for name, options in (("calls_plain", {}), ("calls_full", {"omit_class": False}), ("calls_bare", {"omit_func": True})):
        hub.pop.sub.add(static=PLACE, subname=name, **options)
        found.append([hasattr(hub[name].one, "Word"), hasattr(hub[name].one, "word")])
    return {"result": True, "ret": found}


async def imported(hub, ctx):
    hub.pop.sub.add(python_import="base64", subname="calls_base64")
    return {"result": True, "ret": hub.calls_base64.b64encode(b"a").decode()}


async def dynamic(hub, ctx):
    hub.pop.sub.dynamic(sub=hub.exec.calls, subname="client", resolver=hub.tool.calls.resolve.path, context=5)
    found = await hub.exec.calls.client.disk.list(ctx, 1, size=2)
    return {"result": True, "ret": [found.result, found.ret, found.ref, "nothing" in hub.exec.calls.client]}


async def missing(hub, ctx):
    said = []
    for path in ("exec.nothing.at", "tool.calls.nothing", "nothing"):
        try:
            hub.pop.ref.last(path)
            said.append("found")
        except AttributeError:
            said.append("AttributeError")
    return {"result": True, "ret": said}


async def references(hub, ctx):
    hub.pop.ref.create("exec.calls.subs.NEW", 5)
    found = [hub.exec.calls.subs.NEW, len(hub.pop.ref.path("exec.calls"))]
    return {"result": True, "ret": [*found, hub["tool.calls.words"].WORDS, hub.OPT.get("none", 3)]}


async def maps(hub, ctx):
    fixed, grows = hub.pop.data.imap({"a": {"b": 1}}), hub.pop.data.map()
    grows.a.b = 2
    try:
        fixed.a = 1
        said = "set"
    except TypeError:
        said = "TypeError"
    return {"result": True, "ret": [fixed.a.b, fixed["a"]["b"], grows["a"]["b"], said, "a" in grows, bool(grows.nothing)]}

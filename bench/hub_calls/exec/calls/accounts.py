"""Credentials, and files through renderers."""
import tempfile


async def gathered(hub, ctx):
    profiles = {
        "calls": {"default": {"key": "k"}},
        "calls.login": {"x": {"key": "l"}},
        "acct-backends": {"calls_vault": {"any": {"word": "w"}}},
    }
    found = await hub.acct.init.gather(["calls"], "default", profiles=profiles)
    kept = await hub.acct.init.gather(["calls"], "kept", profiles=profiles)
    single = await hub.acct.init.single(profile_name="none", subs=["calls"], sub_profiles=None, profiles=profiles)
    known = sorted(name for name in profiles["calls"])
    return {"result": True, "ret": [dict(found), dict(kept), dict(single), known, hub.acct.DEFAULT, hub.acct.UNLOCKED]}


async def unlocked(hub, ctx):
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        file.write("default: kept\ncalls:\n  kept:\n    key: k\n")
        file.flush()
        before = [dict(hub.acct.PROFILES), hub.acct.UNLOCKED, hub.acct.DEFAULT]
        await hub.acct.init.unlock(file.name, None)
    profiles = {name: dict(one) for name, one in hub.acct.PROFILES.items()}
    return {"result": True, "ret": [before, profiles, hub.acct.UNLOCKED, hub.acct.DEFAULT]}


async def sealed(hub, ctx):
    found = []
    for plugin in ("fernet", "aesgcm256"):
        key = await hub.crypto.init.generate_key(plugin)
        data = await hub.crypto.init.encrypt(plugin, {"a": {"b": [1, "ä"]}}, key)
        found.append(dict(await hub.crypto.init.decrypt(plugin, data, key)))
    return {"result": True, "ret": found}


async def rendered(hub, ctx):
    block = {"fn": "x", "ln": 1, "keys": {}, "bytes": b"{% set a = 3 %}a: {{ a }}\nb: __PYTHON_NONE__\n"}
    found = await hub.rend.init.parse_bytes(block, pipe="jinja|yaml|replacements")
    return {"result": True, "ret": [found, hub.output.json.display({"a": [1]}), hub.output.raw.display([1])]}


async def commented(hub, ctx):
    append = ["a"]
    hub.tool.idem.comment.append(append, ("b", "c"))
    hub.tool.idem.comment.append(append, "d")
    normal = [hub.tool.idem.comment.normalize(one) for one in (None, "a", ("a", ["b", None, []]), {"a": 1}, 5)]
    return {"result": True, "ret": [append, normal, hub.tool.idem.comment.flatten([["a"], "b", [["c"]]])]}


async def called(hub, ctx):
    found = await hub.idem.ex.run("calls.around.aliased", [], {"type": "large"}, ctx={"acct": {"x": 1}})
    return {"result": True, "ret": [found.ret, found.ref, found.comment, bool(found)]}


async def many(hub, ctx):
    async def numbers():
        return [one async for one in hub.tool.calls.words.count(3)]

    return {"result": True, "ret": await numbers()}

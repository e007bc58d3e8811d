"""The loop."""
import asyncio
import threading


def plain(hub, x):
    return [x, threading.current_thread() is threading.main_thread()]


async def soon(hub, x):
    return x


async def wrapped(hub, ctx):
    loop = hub.pop.loop
    found = [await loop.wrap(hub.tool.calls.words.plain, 1), await loop.wrap(len, [1, 2])]
    found += [await loop.unwrap(hub.tool.calls.words.soon(2)), await loop.unwrap(3)]
    return {"result": True, "ret": found}


async def futures(hub, ctx):
    await hub.pop.loop.init_futures()
    future = hub.pop.loop.ensure_future("tool.calls.words.soon", 4)
    await future
    await hub.pop.loop.await_futures()
    return {"result": True, "ret": [future.result(), hub.pop.loop.CURRENT_LOOP is asyncio.get_running_loop()]}


async def yielded(hub, ctx):
    async def many(numbers):
        for number in numbers:
            yield number

    found = [one async for one in hub.pop.loop.as_yielded([many([1, 2]), many([3])])]
    return {"result": True, "ret": sorted(found)}

import threading

WORDS = ["a", "b"]


def plain(hub, x):
    return [x, threading.current_thread() is threading.main_thread()]


async def soon(hub, x):
    return x


async def count(hub, end):
    for number in range(end):
        yield number

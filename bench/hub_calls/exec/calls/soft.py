__contracts__ = ["soft_fail"]


async def fails(hub, ctx):
    raise OSError("no route")


def fails_at_once(hub, ctx):
    return 1 / 0

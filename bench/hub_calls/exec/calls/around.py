"""Contracts: the log that they write is what counts."""
__contracts__ = ["named", "last"]


async def logged(hub, ctx, log: list):
    return {"result": True, "ret": [*log, "function"]}


def plain(hub, ctx, log: list):
    return {"result": True, "ret": [*log, "function"]}


def instead(hub, ctx, log: list):
    return {"result": True, "ret": "never"}


def aliased(hub, ctx, type_: (str, "alias=type") = "small"):
    return {"result": True, "ret": type_}

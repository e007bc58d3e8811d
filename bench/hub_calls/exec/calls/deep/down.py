def plain(hub, ctx, log: list):
    return {"result": True, "ret": [*log, "function"]}

"""A resource in memory, of which `auto_state` makes a state."""
__contracts__ = ["auto_state", "soft_fail"]
__func_alias__ = {"list_": "list"}
DISKS = {}


async def get(hub, ctx, resource_id: str, **kwargs):
    if resource_id == "broken":
        raise OSError("no route")
    found = DISKS.get(resource_id)
    return {"result": found is not None, "ret": dict(found) if found else None, "comment": "looked"}


async def list_(hub, ctx, **kwargs):
    return {"result": True, "ret": list(DISKS.values())}


async def create(hub, ctx, resource_id: str = None, *, name: str, size: int = 1, fails: bool = False, **kwargs):
    if fails:
        return {"result": False, "ret": None, "comment": ["not today", ["or ever"]]}
    DISKS["d-" + name] = {"name": name, "size": size, "resource_id": "d-" + name}
    return {"result": True, "ret": dict(DISKS["d-" + name]), "comment": "made"}


async def update(hub, ctx, resource_id: str, *, size: int = None, **kwargs):
    if size > 100:
        return {"result": False, "ret": None, "comment": "too large"}
    DISKS[resource_id]["size"] = size
    return {"result": True, "ret": ctx.old_state, "comment": "resized"}


async def delete(hub, ctx, resource_id: str, **kwargs):
    if DISKS[resource_id]["size"] == 13:
        return {"result": False, "ret": None, "comment": "it is in use"}
    del DISKS[resource_id]
    return {"result": True, "ret": None}

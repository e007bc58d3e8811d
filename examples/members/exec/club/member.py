"""Members of a club."""

__contracts__ = ["auto_state", "soft_fail"]
__func_alias__ = {"list_": "list"}


def get(hub, ctx, resource_id: str, **kwargs):
    found = hub.tool.club.members(ctx).get(resource_id)
    return {"result": found is not None, "ret": found, "comment": "" if found else "not a member"}


def list_(hub, ctx, **kwargs):
    return {"result": True, "ret": list(hub.tool.club.members(ctx).values())}


def create(hub, ctx, name: str, *, email: str, level: str = "silver", **kwargs):
    """Welcomes somebody.

    Args:
        email(str): where to write to.
        level(str, Optional): silver or gold.
    """
    members = hub.tool.club.members(ctx)
    number = f"m-{len(members) + 1}"
    members[number] = {"name": name, "resource_id": number, "email": email, "level": level}
    hub.tool.club.keep(ctx, members)
    return {"result": True, "ret": members[number]}


def update(hub, ctx, resource_id: str, **kwargs):
    members = hub.tool.club.members(ctx)
    members[resource_id].update({key: kwargs[key] for key in ("email", "level") if key in kwargs})
    hub.tool.club.keep(ctx, members)
    return {"result": True, "ret": members[resource_id]}


def delete(hub, ctx, resource_id: str, **kwargs):
    members = hub.tool.club.members(ctx)
    del members[resource_id]
    hub.tool.club.keep(ctx, members)
    return {"result": True, "ret": None}

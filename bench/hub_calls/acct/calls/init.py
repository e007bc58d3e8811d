async def gather(hub, profiles):
    known = profiles.get("calls", {})
    return {name: {"token": "of " + one["key"]} for name, one in known.items() if "key" in one}

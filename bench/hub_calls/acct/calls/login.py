def gather(hub, profiles):
    return {f"by_{name}": {"token": one["key"]} for name, one in profiles.get("calls.login", {}).items()}

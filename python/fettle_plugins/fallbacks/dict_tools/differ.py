from fettle_plugins.data import differences


def deep_diff(old, new, ignore=None):
    """`{"old": …, "new": …}` of what differs; keys of `ignore` are left out at every depth."""
    return differences(_without(old, ignore), _without(new, ignore))


recursive_diff = deep_diff


def _without(value, ignore):
    if not ignore or not isinstance(value, dict):
        return value
    return {key: _without(item, ignore) for key, item in value.items() if key not in ignore}

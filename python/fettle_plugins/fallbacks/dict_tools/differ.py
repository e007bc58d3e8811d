def deep_diff(old, new, ignore=None):
    """`{"old": …, "new": …}` of what differs; a side that has nothing is left out, and so are keys of `ignore`."""
    was, now = _sides(old or {}, new or {}, ignore or [])
    return {**({"old": was} if was else {}), **({"new": now} if now else {})}


def _sides(old, new, ignore):
    was, now = {}, {}
    has_dicts = False
    for key in [*old, *(key for key in new if key not in old)]:
        before, after = old.get(key), new.get(key)
        is_in_both = key in old and key in new
        if is_in_both and before == after:
            continue
        if is_in_both and isinstance(before, list) and isinstance(after, list):
            was[key], now[key] = _without_common(before, after)
        elif key not in ignore:
            if isinstance(before, dict) and isinstance(after, dict):
                has_dicts = True
                before, after = _sides(before, after, ignore)
            if key in old:
                was[key] = before
            if key in new:
                now[key] = after
    # As the original has it: what is equal by now is looked for only where there are dicts.
    equal = [key for key in was if has_dicts and key in now and was[key] == now[key]]
    for key in equal:
        del was[key], now[key]
    return was, now


def _without_common(old, new):
    was, now = [], list(new)
    for item in old:
        if item in now:
            now.remove(item)
        else:
            was.append(item)
    return was, now

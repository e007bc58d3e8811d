def update(dest, upd, recursive_update=True, merge_lists=False):
    """Puts what `upd` has into `dest`, dicts within dicts followed."""
    for key, value in upd.items():
        known = dest.get(key)
        if recursive_update and isinstance(known, dict) and isinstance(value, dict):
            update(known, value, recursive_update, merge_lists)
        elif merge_lists and isinstance(known, list) and isinstance(value, list):
            known.extend(item for item in value if item not in known)
        else:
            dest[key] = value
    return dest

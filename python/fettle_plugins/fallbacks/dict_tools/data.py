from fettle_plugins import changes
from fettle_plugins.data import NamespaceDict
from fettle_plugins.maps import SafeNamespaceDict


def recursive_diff(
    old,
    new,
    ignore_keys=None,
    ignore_keys_dict=None,
    ignore_order=False,
    ignore_missing_keys=False,
):
    """`{"old": …, "new": …}` of what differs, or an empty dict."""
    ignored = ignore_keys_dict or dict.fromkeys(ignore_keys or [])
    return changes.difference(old, new, ignored, not ignore_order, ignore_missing_keys)


__all__ = ["NamespaceDict", "SafeNamespaceDict", "recursive_diff"]

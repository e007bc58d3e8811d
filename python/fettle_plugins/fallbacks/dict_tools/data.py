from fettle_plugins.data import NamespaceDict


class SafeNamespaceDict(NamespaceDict):
    """Prints as nothing that anybody could read."""

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(sorted(str(key) for key in self))})"


__all__ = ["NamespaceDict", "SafeNamespaceDict"]

"""Clients that say that there is no server."""

from inmanta import _real


class Client:
    def __init__(self, name="", *ignored, **also_ignored):
        self._name = name

    def __getattr__(self, method):
        if method.startswith("__"):
            raise AttributeError(method)
        raise NotImplementedError(
            f"the call `{method}` is not possible in fettle: there is no server of Inmanta"
        )


class SyncClient(Client):
    pass


__getattr__ = _real.names_of(__name__)

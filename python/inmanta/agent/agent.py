"""The agent of a handler, as annotations name it."""

from inmanta import _real


class AgentInstance:
    """What a handler gets as its agent has these attributes, whatever its class."""


__getattr__ = _real.names_of(__name__)

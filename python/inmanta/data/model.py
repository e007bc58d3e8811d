"""Types of data."""

from inmanta import _real

ResourceIdStr = str
ResourceVersionIdStr = str
ResourceType = str
AgentName = str
SimpleTypes = object
JsonType = dict

__getattr__ = _real.names_of(__name__)

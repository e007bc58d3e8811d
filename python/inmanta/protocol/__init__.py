"""The client of a server, of which there is none here."""

from inmanta import _real
from inmanta.protocol.common import Result
from inmanta.protocol.endpoints import Client, SyncClient

__all__ = ["Client", "Result", "SyncClient"]
__path__ = _real.extended(__path__, "protocol")
__getattr__ = _real.names_of(__name__)

"""What deploys resources."""

from inmanta import _real

__path__ = _real.extended(__path__, "agent")
__getattr__ = _real.names_of(__name__)

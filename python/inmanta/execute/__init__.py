"""Values while a model is compiled."""

from inmanta import _real

__path__ = _real.extended(__path__, "execute")
__getattr__ = _real.names_of(__name__)

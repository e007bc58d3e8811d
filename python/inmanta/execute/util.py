"""Values that are no values."""

from fettle_models.values import NoneValue, Unknown
from inmanta import _real

__all__ = ["NoneValue", "Unknown"]
__getattr__ = _real.names_of(__name__)

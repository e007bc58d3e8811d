"""Entities, as plugins look at them."""

from fettle_models.values import Entity
from inmanta import _real

__all__ = ["Entity"]
__getattr__ = _real.names_of(__name__)

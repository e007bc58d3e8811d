"""The end of a compile."""

import atexit

from inmanta import _real


def finalizer(function):
    """Runs it when the compile has ended."""
    atexit.register(function)
    return function


__path__ = _real.extended(__path__, "compiler")
__getattr__ = _real.names_of(__name__)

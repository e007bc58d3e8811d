"""The end of a compile."""

import atexit
import signal
import sys

from inmanta import _real


def finalizer(function):
    """Runs it when the compile has ended: then this process is told to end."""
    signal.signal(signal.SIGTERM, lambda *ignored: sys.exit(0))
    atexit.register(function)
    return function


__path__ = _real.extended(__path__, "compiler")
__getattr__ = _real.names_of(__name__)

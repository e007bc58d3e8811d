"""What modules of Inmanta import, for compiles by fettle.

Names that this package lacks are taken from the real one, if it is installed.
"""

from inmanta import _real

COMPILER_VERSION = __version__ = "20.1.0"
RUNNING_TESTS = False

__path__ = _real.extended(__path__)
__getattr__ = _real.names_of(__name__)

"""Settings of agents, as far as handlers ask for them."""

import os

from inmanta import _real
from inmanta.config import Option, is_str


def _state_folder():
    return os.path.join(os.path.expanduser("~"), ".local", "share", "fettle", "python")


state_dir = Option("config", "state-dir", _state_folder, "Where handlers keep files", is_str)

__getattr__ = _real.names_of(__name__)

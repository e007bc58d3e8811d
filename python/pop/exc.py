"""Exceptions of plugins and their contracts."""

from fettle_plugins.exceptions import *  # noqa: F401, F403

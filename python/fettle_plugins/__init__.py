"""Serves plugins of Idem to fettle, over lines of JSON. docs/state-modules.md is the manual.

hub.py        the hub: parts, modules and functions that find one another by name
loader.py     files of plugins as modules
contracts.py  `resource`, `soft_fail`; auto_state.py: `auto_state`
builtin.py    what every hub has: `hub.idem`, `hub.pop`, `hub.reconcile`
describe.py   what the host is told of functions
channel.py    lines in, lines out; what is asked of the host
serve.py      answers the host's calls
program.py    a program's own hub, and batch
"""

from fettle_plugins.patience import NotReady, Throttled

__all__ = ["NotReady", "Throttled"]

"""The hub of a program that is not started by fettle:

    hub = pop.hub.Hub()
    hub.pop.sub.add(dyne_name="idem")
    hub.pop.Loop.run_until_complete(hub.idem.state.batch(states=…, name="web"))
"""

from fettle_plugins.hub import Dynamic as ReverseSub
from fettle_plugins.hub import Part as Sub
from fettle_plugins.program import ProgramHub as Hub

__all__ = ["Hub", "ReverseSub", "Sub"]

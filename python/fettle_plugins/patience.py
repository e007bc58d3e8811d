"""How a state says that it has to be called again although nothing went wrong."""


class NotReady(Exception):
    """What it waits for is not there yet.

    `watch` may name paths and numbers of processes: when one of them changes, the state is called
    at once instead of after its wait.
    """

    def __init__(self, reason="", watch=()):
        super().__init__(reason)
        self.watch = [one if isinstance(one, int) else str(one) for one in watch]


class Throttled(Exception):
    """Somebody asks for patience."""

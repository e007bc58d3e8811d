"""How a state says that it has to be called again although nothing went wrong."""


class NotReady(Exception):
    """What it waits for is not there yet."""


class Throttled(Exception):
    """Somebody asks for patience."""

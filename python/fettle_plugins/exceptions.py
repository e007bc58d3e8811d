"""The exceptions that plugins know from `pop.exc`."""


class PopBaseException(Exception):
    """Of everything below."""


class PopError(PopBaseException):
    """Something is wrong."""


class PopLoadError(PopBaseException):
    """A file cannot be loaded."""


class PopLookupError(PopBaseException):
    """Something is not found."""


class ContractModuleException(PopBaseException):
    """A module lacks a function that its contract wants."""


class ContractFuncException(PopBaseException):
    """What a contract wants as a function is none."""


class ContractSigException(PopBaseException):
    """A function does not take what its contract wants."""


class ProcessNotStarted(PopBaseException):
    """A process did not start."""


class BindError(PopBaseException):
    """The arguments of a call are not those that its function takes."""


class PreContractFailed(PopBaseException):
    """A contract refuses a call."""

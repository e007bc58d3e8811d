"""The functions of the hub, and a call of one as contracts see it."""

import inspect

from fettle_plugins.contracts import Call as ContractedContext
from fettle_plugins.hub import BoundFunction
from fettle_plugins.hub import BoundFunction as Wrapper
from fettle_plugins.pop_services import finished

__all__ = ["Contracted", "ContractedContext", "Partial", "Wrapper", "create_contracted"]


class _Kind(type):
    """`isinstance(function, ContractedAsync)`: functions of the hub differ by what they are made of."""

    def __instancecheck__(cls, other):
        return isinstance(other, BoundFunction) and cls._is(other)


class Contracted(BoundFunction, metaclass=_Kind):
    """A function at a place of the hub."""

    def __init__(self, hub, contracts, func, ref, name, implicit_hub=True, param_aliases=None):
        super().__init__(hub, func, ref, name, list(contracts or []), implicit_hub)
        self.param_aliases.update(param_aliases or {})

    @staticmethod
    def _is(other):
        return True


class ContractedAsync(Contracted):
    """One that is a coroutine."""

    @staticmethod
    def _is(other):
        return other.is_async


class ContractedAsyncGen(Contracted):
    """One that is an asynchronous generator."""

    @staticmethod
    def _is(other):
        return inspect.isasyncgenfunction(other.func)


def create_contracted(hub, contracts, func, ref, name, implicit_hub=True):
    return Contracted(hub, contracts, func, ref, name, implicit_hub)


class Partial:
    """A function and its arguments, to be called by another thread."""

    def __init__(self, synchronous_function, *args, **kwargs):
        self.func, self.args, self.kwargs = synchronous_function, args, kwargs

    def __call__(self):
        return finished(self.func, self.args, self.kwargs)

"""The end of a compile."""

from inmanta import _real


class Finalizers:
    """The functions that are called when the compile has ended, before anything is exported."""

    _functions = []

    @classmethod
    def add_function(cls, function):
        cls._functions.append(function)

    @classmethod
    def call_finalizers(cls, should_log=False):
        """What was wrong with them. Each is called, whatever the others do."""
        wrong = []
        for function in list(cls._functions):
            try:
                function()
            except Exception as error:
                wrong.append(f"Finalizer failed: {error}")
        return wrong

    @classmethod
    def reset_finalizers(cls):
        cls._functions = []


def finalizer(function):
    Finalizers.add_function(function)
    return function


__path__ = _real.extended(__path__, "compiler")
__getattr__ = _real.names_of(__name__)

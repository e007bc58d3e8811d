"""Marks of parameters. They say what a value is, and change nothing about it."""

import typing


class ComputedValue:
    """A value that nobody sets: it makes no difference between two states."""


class SensitiveValue:
    """A value that nobody is shown."""


class _Marked:
    def __init__(self, mark):
        self._mark = mark

    def __getitem__(self, marked):
        return typing.Union[marked, self._mark]


Computed, Sensitive = _Marked(ComputedValue), _Marked(SensitiveValue)


def is_computed(marked):
    return ComputedValue in typing.get_args(marked)


def is_sensitive(marked):
    return SensitiveValue in typing.get_args(marked)

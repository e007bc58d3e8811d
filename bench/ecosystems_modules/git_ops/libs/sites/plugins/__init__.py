"""Sites, each of which is a file."""

import typing
from collections.abc import Sequence

import pydantic
from inmanta_plugins.git_ops import slice, store


class Rack(slice.EmbeddedSliceObjectABC):
    keys: typing.ClassVar[Sequence[str]] = ["number"]

    number: int
    note: str | None = None


class Site(slice.SliceObjectABC):
    keys: typing.ClassVar[Sequence[str]] = ["name"]

    name: str
    tags: Sequence[str] = pydantic.Field(default_factory=list)
    racks: Sequence[Rack] = pydantic.Field(default_factory=list)


STORE = store.SliceStore(name="sites", folder="inmanta:///files/sites/", schema=Site)

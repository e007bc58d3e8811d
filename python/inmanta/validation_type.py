"""Types of values for pydantic."""

import dataclasses
import re
import typing

from inmanta import _real


@dataclasses.dataclass(unsafe_hash=True)
class Regex:
    """In `Annotated[str, Regex(...)]`: a text that the pattern matches from its start."""

    pattern: str

    def __get_pydantic_core_schema__(self, source_type, handler):
        from pydantic_core import PydanticCustomError, core_schema

        compiled = re.compile(self.pattern)

        def checked(value):
            if not compiled.match(value):
                raise PydanticCustomError(
                    "string_pattern_mismatch",
                    "String should match pattern '{pattern}'",
                    {"pattern": self.pattern},
                )
            return value

        return core_schema.no_info_after_validator_function(checked, handler(source_type))

    def __get_pydantic_json_schema__(self, schema, handler):
        return {**handler(schema), "pattern": self.pattern}


def regex_string(regex):
    return typing.Annotated[str, Regex(regex)]


__getattr__ = _real.names_of(__name__)

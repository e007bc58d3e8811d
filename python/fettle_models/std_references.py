"""The references of std, as plugins and handlers have them."""

import os

from inmanta.references import Reference, reference


@reference("std::Environment")
class EnvironmentReference(Reference[str]):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def resolve(self, logger):
        name = self.resolve_other(self.name, logger)
        value = os.environ.get(name)
        if value is None:
            raise LookupError(f"Environment variable {name} is not set")
        return value


@reference("std::IntReference")
class IntReference(Reference[int]):
    def __init__(self, value):
        super().__init__()
        self.value = value

    def resolve(self, logger):
        return int(self.resolve_other(self.value, logger))


@reference("std::FactReference")
class FactReference(Reference[str]):
    def __init__(self, environment, resource_id, fact_name, mocked_facts=None):
        super().__init__()
        self.environment, self.resource_id = environment, resource_id
        self.fact_name, self.mocked_facts = fact_name, mocked_facts

    def resolve(self, logger):
        raise LookupError(
            f"there is no server that knows the fact {self.fact_name} of {self.resource_id}"
        )

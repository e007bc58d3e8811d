"""`std::getfact` when there are facts: the id of a resource is what its class in Python says."""

from fettle_models import channel, registry, values

_KNOWN = {}  # the facts of a resource, by its id


def getfact(context, resource: "any", fact_name: "string", default_value: "any" = None) -> "any":
    fact = known(context, resource, fact_name)
    if fact is None:
        return values.Unknown(source=resource) if default_value is None else default_value
    return fact


def known(context, resource, name):
    """The value of a fact, or None."""
    from inmanta import resources

    server = context._server
    for module in server.settings.get("modules", {}):
        server.loader.load(module)
    resource_id = resources.to_id(resource)
    if resource_id is None and not _is_resource(resource):
        raise Exception("Facts can only be retreived from resources.")
    if resource_id not in _KNOWN:
        _KNOWN[resource_id] = channel.ask(facts=resource_id) or {}
    return _KNOWN[resource_id].get(name)


def _is_resource(value):
    kind = getattr(value, "_type", None)
    return kind is not None and "std::Resource" in [
        str(kind()),
        *kind().get_all_parent_names(),
    ]


def register():
    """As if a module had defined it."""
    from inmanta.plugins import Context

    getfact.__module__ = "inmanta_plugins.std"
    getfact.__annotations__["context"] = Context
    registry.Plugin(getfact)

"""Names that modules use. Values are those of Inmanta, because modules compare and store them."""

import enum

from inmanta import _real

PLUGINS_PACKAGE = "inmanta_plugins"
ENVIRON_FORCE_TTY = "FORCE_TTY"
NAME_RESOURCE_ACTION_LOGGER = "resource_action_logger"
AGENT_DEFAULT_ENV = "agent"


def _texts(name, members):
    """An enumeration of texts, each of which is the name of its member, too."""
    return enum.Enum(name, [(one, one) for one in members.split()], type=str, module=__name__)


ResourceState = _texts(
    "ResourceState",
    "unavailable skipped dry deployed failed deploying available cancelled undefined "
    "skipped_for_undefined non_compliant",
)
HandlerResourceState = _texts(
    "HandlerResourceState",
    "unavailable skipped skipped_for_dependency dry deployed failed non_compliant",
)
Change = _texts("Change", "nochange created purged updated")
ResourceAction = _texts("ResourceAction", "store push pull deploy dryrun getfact other")
ParameterSource = _texts("ParameterSource", "fact plugin user form report")
LogLevel = _texts("LogLevel", "CRITICAL ERROR WARNING INFO DEBUG TRACE")
ClientType = _texts("ClientType", "api compiler agent")

__getattr__ = _real.names_of(__name__)

"""Names that modules use. Values are those of Inmanta, because modules compare and store them."""

import enum

from inmanta import _real

PLUGINS_PACKAGE = "inmanta_plugins"
ENVIRON_FORCE_TTY = "FORCE_TTY"
NAME_RESOURCE_ACTION_LOGGER = "resource_action_logger"
AGENT_DEFAULT_ENV = "agent"


class ResourceState(str, enum.Enum):
    unavailable = "unavailable"
    skipped = "skipped"
    dry = "dry"
    deployed = "deployed"
    failed = "failed"
    deploying = "deploying"
    available = "available"
    cancelled = "cancelled"
    undefined = "undefined"
    skipped_for_undefined = "skipped_for_undefined"
    non_compliant = "non_compliant"


class HandlerResourceState(str, enum.Enum):
    unavailable = "unavailable"
    skipped = "skipped"
    skipped_for_dependency = "skipped_for_dependency"
    dry = "dry"
    deployed = "deployed"
    failed = "failed"
    non_compliant = "non_compliant"


class Change(str, enum.Enum):
    nochange = "nochange"
    created = "created"
    purged = "purged"
    updated = "updated"


class ResourceAction(str, enum.Enum):
    store = "store"
    push = "push"
    pull = "pull"
    deploy = "deploy"
    dryrun = "dryrun"
    getfact = "getfact"
    other = "other"


class ParameterSource(str, enum.Enum):
    fact = "fact"
    plugin = "plugin"
    user = "user"
    form = "form"
    report = "report"


class LogLevel(str, enum.Enum):
    CRITICAL = "CRITICAL"
    ERROR = "ERROR"
    WARNING = "WARNING"
    INFO = "INFO"
    DEBUG = "DEBUG"
    TRACE = "TRACE"


class ClientType(str, enum.Enum):
    api = "api"
    compiler = "compiler"
    agent = "agent"


__getattr__ = _real.names_of(__name__)

#include "model/std/source.h"

#include <array>

namespace fettle::model {
namespace {

constexpr std::string_view std_text = R"cf(
typedef date as string matching std::validate_type("datetime.date", self)
typedef time as string matching std::validate_type("datetime.time", self)
typedef datetime as string matching std::validate_type("datetime.datetime", self)
typedef uuid as string matching std::validate_type("uuid.UUID", self)

typedef email_str as string matching std::validate_type("pydantic.EmailStr", self)
typedef name_email as string matching std::validate_type("pydantic.NameEmail", self)
typedef any_url as string matching std::validate_type("pydantic.AnyUrl", self)
typedef any_http_url as string matching std::validate_type("pydantic.AnyHttpUrl", self)
typedef http_url as string matching std::validate_type("pydantic.HttpUrl", self)

typedef ipv4_address as string matching std::validate_type("ipaddress.IPv4Address", self)
typedef ipv4_interface as string matching std::validate_type("ipaddress.IPv4Interface", self)
typedef ipv4_network as string matching std::validate_type("ipaddress.IPv4Network", self)
typedef ipv6_address as string matching std::validate_type("ipaddress.IPv6Address", self)
typedef ipv6_interface as string matching std::validate_type("ipaddress.IPv6Interface", self)
typedef ipv6_network as string matching std::validate_type("ipaddress.IPv6Network", self)
typedef ipv_any_address as string matching std::validate_type("pydantic.IPvAnyAddress", self)
typedef ipv_any_interface as string matching std::validate_type("pydantic.IPvAnyInterface", self)
typedef ipv_any_network as string matching std::validate_type("pydantic.IPvAnyNetwork", self)

typedef positive_int as int matching std::validate_type("pydantic.PositiveInt", self)
typedef negative_int as int matching std::validate_type("pydantic.NegativeInt", self)
typedef positive_float as float matching std::validate_type("pydantic.PositiveFloat", self)
typedef negative_float as float matching std::validate_type("pydantic.NegativeFloat", self)

typedef alfanum as string matching std::validate_type("pydantic.constr", self, {"regex": r"^[a-zA-Z0-9]*$", "strict": true})
typedef ascii_word as string matching std::validate_type("pydantic.constr", self, {"regex": r"^[!-~]*$", "strict": true})
typedef printable_ascii as string matching std::validate_type("pydantic.constr", self, {"regex": r"^[ -~]*$", "strict": true})
typedef base64 as string matching std::is_base64_encoded(self)
typedef non_empty_string as string matching /^(.*\S.*)$/
typedef port as int matching self >= 0 and self < 65536
typedef hoststring as string matching /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/
typedef config_agent as string matching self != "internal"

entity Entity:
end
Entity.requires [0:] -- Entity.provides [0:]
implementation none for Entity:
end

entity Resource:
    bool send_event = true
    bool receive_events = true
    bool report_only = false
end
entity PurgeableResource extends Resource:
    bool purged = false
    bool purge_on_delete = false
end
entity ManagedResource extends Resource:
    bool managed = true
end
entity DiscoveryResource extends Resource:
end
entity Dataclass:
end

entity ResourceSet:
    non_empty_string name
end
ResourceSet.resources [0:] -- Resource
index ResourceSet(name)
implement ResourceSet using none

entity AgentConfig extends PurgeableResource:
    bool autostart = false
    config_agent agentname
    string agent = "internal"
    string uri = "local:"
end
index AgentConfig(agentname)
implement AgentConfig using none

entity ManagedDevice:
    hoststring name
end
entity OS:
    string name
    float version = 0.0
    string? python_cmd = "python"
end
OS.member [0:] -- OS.family [0:1]
implement OS using none

entity Host extends ManagedDevice:
    ipv_any_address? ip = null
    bool remote_agent = false
    string remote_user = "root"
    port remote_port = 22
end
index Host(name)
entity HostConfig:
end
entity HostGroup:
    string name
end
Host.os [1] -- OS
Host.host_config [1] -- HostConfig.host [1]
Host.host_groups [0:] -- HostGroup.hosts [0:]
implementation hostDefaults for Host:
    self.host_config = HostConfig(host=self)
end
implementation agentConfig for HostConfig:
    AgentConfig(
        autostart=true,
        agentname=self.host.name,
        uri="ssh://{{ self.host.remote_user }}@{{ self.host.ip }}:{{ self.host.remote_port }}?python={{ self.host.os.python_cmd }}"
    )
end
implement Host using hostDefaults
implement HostConfig using none
implement HostConfig using agentConfig when host.ip != null and host.remote_agent
implement HostGroup using none

unix = OS(name="unix")
windows = OS(name="windows")
linux = OS(name="linux", family=unix)
solaris = OS(name="solaris", family=unix)
freebsd = OS(name="freebsd", family=unix)
openbsd = OS(name="openbsd", family=unix)
macos = OS(name="macos", family=unix)

entity MutableString:
    string? value
end
entity MutableInt:
    int? value
end
entity MutableFloat:
    float? value
end
entity MutableBool:
    bool? value
end
implement MutableString using none
implement MutableInt using none
implement MutableFloat using none
implement MutableBool using none
)cf";

constexpr std::string_view testing_text = R"cf(
entity NullResource extends std::ManagedResource, std::PurgeableResource:
    string name = "null"
    string agentname = "internal"
    string value = ""
    int int_value = 0
    bool send_event = true
    bool fail = false
end
index NullResource(agentname, name)
implement NullResource using std::none
)cf";

constexpr std::array sources{StdSource{"std", std_text}, StdSource{"std::testing", testing_text}};

}  // namespace

std::span<const StdSource> std_sources() { return sources; }

}  // namespace fettle::model

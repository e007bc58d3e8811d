#include "model/std/source.h"

namespace fettle::model {
namespace {

constexpr std::string_view source = R"std(
typedef non_empty_string as string matching /.*\S.*$/
typedef positive_int as int matching self > 0
typedef negative_int as int matching self < 0
typedef positive_float as float matching self > 0
typedef negative_float as float matching self < 0
typedef alfanum as string matching /^[a-zA-Z0-9]+$/
typedef ascii_word as string matching /^[!-~]*$/
typedef printable_ascii as string matching /^[ -~]*$/
typedef port as int matching self >= 0 and self <= 65535
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
entity ManagedDevice:
    string name
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
    string agentname
    bool autostart = false
    string agent = "internal"
    string uri = "local:"
end
index AgentConfig(agentname)
implement AgentConfig using none
entity OS:
    string name
    float version = 0.0
    string? family = null
end
entity Host extends ManagedDevice:
    string? ip = null
    string remote_agent = ""
    string remote_user = "root"
    int remote_port = 22
end
Host.os [1] -- OS
index Host(name)
implement OS using none
implement Host using none
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
)std";

}  // namespace

std::string_view std_source() { return source; }

}  // namespace fettle::model

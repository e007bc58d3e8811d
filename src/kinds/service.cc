/// A container that keeps running and is found by its name.
///
/// attributes
///   "image"         reference
///   "image_id"      hole on the image's id, so that a moved tag is a change
///   "ports"         {id: {"number", "transport": "TCP" | "UDP" | "SCTP", "application", "wait":
///                   duration or null for none, "url", "awaited": true for a UDP port whose
///                   `wait` was asked for}}
///   "public_ports"  {id: the same}: the number is the port of this machine
///   "files"         {path: [{"artifact": name, "digest": hole}, …] |
///                   {"directory": name, "volume": hole}}
///   "entrypoint"    [text]; empty: the image's
///   "cmd"           [text]; empty: the image's
///   "env"           {name: text}
///   "address_placeholder"  replaced by the service's own address in entrypoint, cmd and env
///   "cpu_min", "cpu_max"   millicores; 0: none
///   "memory_min", "memory_max"  MB; 0: none
///   "labels", "user": {"uid", "gid"}, "tini", "tty", "devices", "capabilities", "privileged",
///   "host_pid", "publish_udp", "bind_mounts": {path: path}, "gpu", "restart": "no" | "always"
///   "node_selectors", "tolerations"  kept for engines that know nodes
///   "purged": it is to be away; there only when it is true
/// outputs  {"uuid": 32 hex, "ip_address", "hostname", "ports": {id: {"number", "transport",
///          "public": port of this machine or null}}, "container": id, "started": how often it was
///          started, "ended": it ended by itself with exit code 0 when it was made or started}.
///          uuid, address and public ports are kept over restarts and replacement.
/// seen     {"status": "running" | "exited" | "created" | …, or "unattached": it does not run and
///          its network is gone, "exit_code", "container",
///          "digest": hex digest of the attributes it was made with,
///          "cut_off": true if it runs and somebody disconnected it from its network}

#include "base/text.h"
#include "kinds/kinds.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class ServiceKind : public Kind {
 public:
  Name name() const override { return "service"; }
  Sort sort() const override { return Sort::observable; }

  Result<Value> normalise(const Value& attributes) const override {
    static const Value none = Value::dict({}), nothing = Value::list({});
    static const Schema schema{{"image", Field::text, {}},
                               {"image_id", Field::text, ""},
                               {"ports", Field::dict, none},
                               {"public_ports", Field::dict, none},
                               {"files", Field::dict, none},
                               {"entrypoint", Field::list, nothing},
                               {"cmd", Field::list, nothing},
                               {"env", Field::dict, none},
                               {"address_placeholder", Field::text, "KURTOSIS_IP_ADDR_PLACEHOLDER"},
                               {"cpu_min", Field::integer, 0},
                               {"cpu_max", Field::integer, 0},
                               {"memory_min", Field::integer, 0},
                               {"memory_max", Field::integer, 0},
                               {"labels", Field::dict, none},
                               {"user", Field::dict, none},
                               {"tini", Field::boolean, true},
                               {"tty", Field::boolean, false},
                               {"devices", Field::list, nothing},
                               {"capabilities", Field::list, nothing},
                               {"privileged", Field::boolean, false},
                               {"host_pid", Field::boolean, false},
                               {"publish_udp", Field::boolean, false},
                               {"bind_mounts", Field::dict, none},
                               {"gpu", Field::dict, none},
                               {"restart", Field::text, "no"},
                               {"node_selectors", Field::dict, none},
                               {"tolerations", Field::list, nothing},
                               {"purged", Field::boolean, false}};
    const Value normal = TRY(schema.normalise(attributes));
    std::vector<Entry> entries;
    for (const Entry& entry : normal.entries())
      if (entry.key != "purged" || entry.value.boolean())
        entries.push_back(entry);
    return Value::dict(std::move(entries));
  }

  std::vector<std::string> holds(const Value& attributes) const override {
    std::vector<std::string> ports;
    if (const Value& pinned = attributes.at("public_ports"); pinned.is_dict())
      for (const Entry& port : pinned.entries())
        if (const int64_t number = port.value.integer_at("number"); number > 0)
          ports.push_back(cat(number, "/", port.value.text_at("transport", "TCP")));
    return ports;
  }

  Comparison compare(const Record& known, const Observation& seen,
                     Presence expected) const override {
    if (known.applied && known.applied->attributes.bool_at("purged"))
      expected = Presence::absent;
    if (!seen.state)
      return expected == Presence::absent ? Comparison{}
                                          : Comparison{Verb::create, {}, "its container is gone"};
    if (expected == Presence::absent)
      return {Verb::remove, {}, "its container exists again after it was removed"};
    const Value& state = *seen.state;
    if (state.text_at("container") != known.remote_id)
      return {Verb::replace, {}, "its container was replaced outside fettle"};
    const std::string_view status = state.text_at("status");
    if (status == "unattached" && fettle::runs(expected))
      return {Verb::replace, {}, "its network is gone"};
    const bool runs = status == "running";
    if (runs && state.bool_at("cut_off") && fettle::runs(expected))
      return {Verb::replace, {}, "it is cut off from its network"};
    if (expected == Presence::stopped)
      return runs ? Comparison{Verb::stop, {}, "it is running, although it was stopped"}
                  : Comparison{};
    const bool is_server = expected == Presence::serving;
    if (runs ||
        (status == "exited" && is_done(known, state.integer_at("exit_code", -1), is_server)))
      return {};
    if (known.by_hand == ByHand::stopped)
      return {Verb::start, {}, "it was stopped"};
    if (status == "exited")
      return {
          Verb::start, {}, cat("it stopped with exit code ", state.integer_at("exit_code", -1))};
    return {Verb::start, {}, cat("it is ", status)};
  }

 private:
  /// A container that ended with code 0 did what it was asked, when it ended by itself. An engine
  /// does not tell who ended it, and a server ends with 0 when it is told to stop: so it counts
  /// when we saw it end, and when nobody expects it to answer.
  static bool is_done(const Record& known, int64_t exit_code, bool is_server) {
    if (exit_code != 0 || known.by_hand == ByHand::stopped || !known.applied)
      return false;
    const Value& ports = known.applied->attributes.at("ports");
    return known.outputs.bool_at("ended") ||
           (!is_server && !(ports.is_dict() && !ports.entries().empty()));
  }
};

}  // namespace

std::string_view service_name(const Key& key) {
  const std::string_view name = key.name;
  return name.substr(0, name.find('~'));
}

const Kind& service_kind() {
  static const ServiceKind kind;
  return kind;
}

}  // namespace fettle

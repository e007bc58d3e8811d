#include "drivers/engine/service_body.h"

#include <array>
#include <cstdio>

#include "base/text.h"
#include "drivers/engine/subnets.h"
#include "value/starlark_text.h"

namespace fettle {
namespace {

constexpr int64_t megabyte = 1'000'000;
constexpr int64_t nano_cpus_per_millicore = 1'000'000;

std::vector<Entry> entries_of(const Value& dict) {
  const auto entries = dict.is_dict() ? dict.entries() : std::span<const Entry>();
  return {entries.begin(), entries.end()};
}

/// The list of texts, with the placeholder replaced.
Value texts(const Value& list, std::string_view placeholder, std::string_view address) {
  std::vector<Value> replaced;
  for (const Value& item : items_of(list))
    replaced.emplace_back(placeholder.empty()
                              ? starlark_text(item)
                              : replace_all(starlark_text(item), placeholder, address));
  return Value::list(std::move(replaced));
}

Value environment(const Value& env, std::string_view placeholder, std::string_view address) {
  std::vector<Value> lines;
  for (const Entry& entry : entries_of(env))
    lines.emplace_back(cat(entry.key, "=", starlark_text(entry.value)));
  return texts(Value::list(std::move(lines)), placeholder, address);
}

/// Files artifacts become anonymous volumes, into which tars are put before the start. They hide
/// what the image has at that path, and a replaced container takes its files with it.
Value mounts(const Value& attributes) {
  std::vector<Value> list;
  for (const Mount& mount : mounts_in(attributes.at("files")))
    list.push_back(Value::dict({{"Type", "volume"},
                                {"Target", mount.path},
                                {"VolumeOptions", Value::dict({{"NoCopy", true}})}}));
  for (const Entry& entry : entries_of(attributes.at("files")))
    if (entry.value.is_dict())
      list.push_back(Value::dict(
          {{"Type", "volume"}, {"Source", entry.value.at("volume")}, {"Target", entry.key}}));
  for (const Entry& entry : entries_of(attributes.at("bind_mounts")))
    list.push_back(Value::dict({{"Type", "bind"}, {"Source", entry.value}, {"Target", entry.key}}));
  return Value::list(std::move(list));
}

Value devices(const Value& list) {
  std::vector<Value> found;
  for (const Value& item : items_of(list)) {
    const Name text = item.text();
    const auto parts = split(text, ':');
    found.push_back(Value::dict({{"PathOnHost", parts[0]},
                                 {"PathInContainer", parts.size() > 1 ? parts[1] : parts[0]},
                                 {"CgroupPermissions", parts.size() > 2 ? parts[2] : "rwm"}}));
  }
  return Value::list(std::move(found));
}

/// The driver as given, or by the sort of engine.
std::string_view gpu_driver(const Value& driver) {
  const std::string_view given = driver.is_dict()   ? driver.text_at("docker")
                                 : driver.is_text() ? driver.text().view()
                                                    : std::string_view();
  return given.empty() ? "nvidia" : given;
}

void add_gpu(const Value& gpu, std::vector<Entry>& host) {
  if (!gpu.is_dict() || gpu.entries().empty())
    return;
  const Value& ids = gpu.at("device_ids");
  const bool by_id = ids.is_list() && !ids.items().empty();
  const Value capability = Value::list({Value::list({Value("gpu")})});
  // Without a device, only shared memory and limits matter, and no driver for GPUs is needed.
  if (by_id || gpu.integer_at("count") != 0)
    host.push_back(
        {"DeviceRequests", Value::list({Value::dict({{"Driver", gpu_driver(gpu.at("driver"))},
                                                     {"Count", by_id ? 0 : gpu.integer_at("count")},
                                                     {"DeviceIDs", by_id ? ids : Value::list({})},
                                                     {"Capabilities", capability}})})});
  if (const int64_t size = gpu.integer_at("shm_size"); size > 0)
    host.push_back({"ShmSize", size * megabyte});
  std::vector<Value> limits;
  for (const Entry& entry : entries_of(gpu.at("ulimits")))
    limits.push_back(
        Value::dict({{"Name", entry.key}, {"Soft", entry.value}, {"Hard", entry.value}}));
  if (!limits.empty())
    host.push_back({"Ulimits", Value::list(std::move(limits))});
}

std::string port_key(const Port& port) { return cat(port.number, "/", lower_case(port.transport)); }

void add_ports(const Value& attributes, const Placement& placement, std::vector<Entry>& body,
               std::vector<Entry>& host) {
  std::vector<Entry> exposed, bindings;
  for (const Port& port : ports_in(attributes.at("ports"))) {
    exposed.push_back({port_key(port), Value::dict({})});
    const auto found = placement.public_ports.find(port.id);
    if (found != placement.public_ports.end())
      bindings.push_back(
          {port_key(port),
           Value::list({Value::dict(
               {{"HostIp", "127.0.0.1"}, {"HostPort", std::to_string(found->second)}})})});
  }
  if (!exposed.empty())
    body.push_back({"ExposedPorts", Value::dict(std::move(exposed))});
  if (!bindings.empty())
    host.push_back({"PortBindings", Value::dict(std::move(bindings))});
}

/// A hardware address that follows from the address, as Docker chooses it. When a container takes
/// over the address of another one, neighbours that remember the old hardware address would have to
/// wait until they forget it.
std::string mac_of(const std::string& address) {
  const uint32_t number = parse_address(address).value_or(0);
  std::array<char, 18> text{};
  std::snprintf(text.data(), text.size(), "02:42:%02x:%02x:%02x:%02x", number >> 24,
                number >> 16 & 0xFF, number >> 8 & 0xFF, number & 0xFF);
  return text.data();
}

void add_network(const Placement& placement, std::vector<Entry>& body, std::vector<Entry>& host) {
  host.push_back({"NetworkMode", placement.network.empty() ? "none" : placement.network});
  if (placement.network.empty())
    return;
  std::vector<Entry> endpoint;
  if (!placement.address.empty()) {
    endpoint.push_back({"IPAMConfig", Value::dict({{"IPv4Address", placement.address}})});
    endpoint.push_back({"MacAddress", mac_of(placement.address)});
  }
  if (!placement.alias.empty())
    endpoint.push_back({"Aliases", Value::list({Value(placement.alias)})});
  body.push_back(
      {"NetworkingConfig",
       Value::dict({{"EndpointsConfig",
                     Value::dict({{placement.network, Value::dict(std::move(endpoint))}})}})});
}

Value labels_of(const Value& own, const Placement& placement) {
  std::vector<Entry> entries = entries_of(own);
  for (const auto& [key, value] : placement.labels)
    entries.push_back({key, value});
  return Value::dict(std::move(entries));
}

/// Adds what services and tasks have in common.
void add_common(const Value& attributes, std::vector<Entry>& body, std::vector<Entry>& host) {
  body.push_back({"Image", attributes.at("image")});
  host.push_back({"Init", attributes.bool_at("tini", true)});
  if (const Value all = mounts(attributes); !all.items().empty())
    host.push_back({"Mounts", all});
  if (attributes.bool_at("privileged"))
    host.push_back({"Privileged", true});
  if (attributes.bool_at("host_pid"))
    host.push_back({"PidMode", "host"});
}

Result<Value> finish(const Value& attributes, std::vector<Entry> body, std::vector<Entry> host) {
  for (const Mount& mount : mounts_in(attributes.at("files")))
    if (!mount.path.starts_with('/') || mount.path == "/")
      return user_error(cat("files cannot be mounted at `", mount.path,
                            "`: an absolute path below `/` is needed"));
  body.push_back({"HostConfig", Value::dict(std::move(host))});
  return Value::dict(std::move(body));
}

}  // namespace

std::vector<Port> ports_in(const Value& ports) {
  std::vector<Port> found;
  for (const Entry& entry : entries_of(ports)) {
    Port port{.id = entry.key.str(), .wait = {}};
    port.number = static_cast<int>(entry.value.integer_at("number"));
    port.transport = entry.value.text_at("transport", "TCP");
    const bool awaited = port.transport == "TCP" || entry.value.bool_at("awaited");
    if (entry.value.at("wait").is_text() && awaited)
      port.wait = entry.value.text_at("wait");
    found.push_back(std::move(port));
  }
  return found;
}

std::vector<Mount> mounts_in(const Value& files) {
  std::vector<Mount> found;
  for (const Entry& entry : entries_of(files)) {
    if (!entry.value.is_list())
      continue;
    Mount mount{.path = entry.key.str(), .digests = {}};
    for (const Value& item : entry.value.items())
      mount.digests.emplace_back(item.text_at("digest"));
    found.push_back(std::move(mount));
  }
  return found;
}

bool is_published(const Value& attributes, const Port& port) {
  if (attributes.at("public_ports").find(port.id) != nullptr || port.transport == "TCP")
    return true;
  return port.transport == "UDP" && attributes.bool_at("publish_udp");
}

Value port_outputs(const Value& attributes, const Placement& placement) {
  std::vector<Entry> entries;
  for (const Port& port : ports_in(attributes.at("ports"))) {
    const auto found = placement.public_ports.find(port.id);
    const Value number = found == placement.public_ports.end() ? Value() : Value(found->second);
    entries.push_back({port.id, Value::dict({{"number", port.number},
                                             {"transport", port.transport},
                                             {"public", number}})});
  }
  return Value::dict(std::move(entries));
}

Result<Value> service_body(const Value& attributes, const Placement& placement) {
  std::vector<Entry> body, host;
  const std::string_view placeholder = attributes.text_at("address_placeholder");
  const auto filled = [&](const char* field) {
    return texts(attributes.at(field), placeholder, placement.address);
  };
  add_common(attributes, body, host);
  if (const Value list = filled("entrypoint"); !list.items().empty())
    body.push_back({"Entrypoint", list});
  if (const Value list = filled("cmd"); !list.items().empty())
    body.push_back({"Cmd", list});
  body.push_back({"Env", environment(attributes.at("env"), placeholder, placement.address)});
  body.push_back({"Hostname", placement.alias});
  body.push_back({"Labels", labels_of(attributes.at("labels"), placement)});
  if (const Value& user = attributes.at("user"); user.is_dict() && !user.entries().empty())
    body.push_back({"User", user.find("gid") == nullptr || user.at("gid").is_null()
                                ? to_text(user.at("uid"))
                                : cat(to_text(user.at("uid")), ":", to_text(user.at("gid")))});
  if (attributes.bool_at("tty")) {
    body.push_back({"Tty", true});
    body.push_back({"OpenStdin", true});
  }
  if (const int64_t cpu = attributes.integer_at("cpu_max"); cpu > 0)
    host.push_back({"NanoCpus", cpu * nano_cpus_per_millicore});
  if (const int64_t memory = attributes.integer_at("memory_max"); memory > 0)
    host.push_back({"Memory", memory * megabyte});
  if (const Value& list = attributes.at("capabilities"); !items_of(list).empty())
    host.push_back({"CapAdd", list});
  if (const Value list = devices(attributes.at("devices")); !list.items().empty())
    host.push_back({"Devices", list});
  if (attributes.text_at("restart") == "always")
    host.push_back({"RestartPolicy", Value::dict({{"Name", "always"}})});
  add_gpu(attributes.at("gpu"), host);
  add_ports(attributes, placement, body, host);
  add_network(placement, body, host);
  return finish(attributes, std::move(body), std::move(host));
}

Result<Value> task_body(const Value& attributes, const Placement& placement) {
  std::vector<Entry> body, host;
  add_common(attributes, body, host);
  body.push_back({"Entrypoint", texts(attributes.at("command"), {}, {})});
  body.push_back({"Cmd", Value::list({})});
  body.push_back({"Env", environment(attributes.at("env"), {}, {})});
  body.push_back({"Labels", labels_of({}, placement)});
  add_network(placement, body, host);
  return finish(attributes, std::move(body), std::move(host));
}

}  // namespace fettle

#include "drivers/engine/service_body.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.h"
#include "drivers/engine/subnets.h"
#include "value/starlark_text.h"

namespace fettle {
namespace {

constexpr int64_t megabyte = 1'000'000;
constexpr int64_t nano_cpus_per_millicore = 1'000'000;

/// A list of texts with the placeholder replaced.
Value texts(std::span<const Value> list, std::string_view placeholder, std::string_view address) {
  std::vector<Value> replaced;
  for (const Value& item : list)
    replaced.emplace_back(placeholder.empty()
                              ? starlark_text(item)
                              : replace_all(starlark_text(item), placeholder, address));
  return Value::list(std::move(replaced));
}

Value environment(const Dict& env, std::string_view placeholder, std::string_view address) {
  std::vector<Value> lines;
  for (const Entry& entry : env.entries())
    lines.emplace_back(cat(entry.key, "=", starlark_text(entry.value)));
  return texts(lines, placeholder, address);
}

/// Files artifacts become anonymous volumes into which tars are put before the start: what the
/// image has at that path is hidden, and a replaced container takes its files with it.
Value mounts(const Dict& files, const Dict& moved_files, const Dict& bind_mounts,
             const List& in_memory) {
  std::vector<Value> list;
  for (const Mount& mount : mounts_in(files, moved_files))
    if (mount.moved.empty())
      list.push_back(Value::dict({{"Type", "volume"},
                                  {"Target", mount.path},
                                  {"VolumeOptions", Value::dict({{"NoCopy", true}})}}));
  for (const Entry& entry : files.entries())
    if (entry.value.is_dict())
      list.push_back(Value::dict({{"Type", "volume"},
                                  {"Source", read<DirectoryMount>(entry.value).volume.value()},
                                  {"Target", entry.key}}));
  for (const Entry& entry : bind_mounts.entries())
    list.push_back(Value::dict({{"Type", "bind"}, {"Source", entry.value}, {"Target", entry.key}}));
  for (const Value& path : in_memory.items())
    list.push_back(Value::dict({{"Type", "tmpfs"}, {"Target", path}}));
  return Value::list(std::move(list));
}

Value devices(const List& list) {
  std::vector<Value> found;
  for (const Value& item : list.items()) {
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

void add_gpu(const Gpu& gpu, std::vector<Entry>& host) {
  const bool by_id = !gpu.device_ids.empty();
  const Value capability = Value::list({Value::list({Value("gpu")})});
  // Without a device it is about shared memory and limits only, and no driver for GPUs is needed.
  if (by_id || gpu.count != 0)
    host.push_back(
        {"DeviceRequests",
         Value::list({Value::dict({{"Driver", gpu_driver(gpu.driver)},
                                   {"Count", by_id ? 0 : gpu.count},
                                   {"DeviceIDs", by_id ? gpu.device_ids.value() : Value::list({})},
                                   {"Capabilities", capability}})})});
  if (gpu.shm_size > 0)
    host.push_back({"ShmSize", gpu.shm_size * megabyte});
  std::vector<Value> limits;
  for (const Entry& entry : gpu.ulimits.entries())
    limits.push_back(
        Value::dict({{"Name", entry.key}, {"Soft", entry.value}, {"Hard", entry.value}}));
  if (!limits.empty())
    host.push_back({"Ulimits", Value::list(std::move(limits))});
}

std::string port_key(const ServicePort& port) {
  return cat(port.number, "/", lower_case(port.transport));
}

void add_ports(const Service& service, const Placement& placement, std::vector<Entry>& body,
               std::vector<Entry>& host) {
  std::vector<Entry> exposed, bindings;
  for (const ServicePort& port : ports_of(service)) {
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

void add_network(const Placement& placement, const List& aliases, std::vector<Entry>& body,
                 std::vector<Entry>& host) {
  host.push_back({"NetworkMode", placement.network.empty() ? "none" : placement.network});
  if (placement.network.empty())
    return;
  std::vector<Entry> endpoint;
  if (!placement.address.empty()) {
    endpoint.push_back({"IPAMConfig", Value::dict({{"IPv4Address", placement.address}})});
    endpoint.push_back({"MacAddress", mac_of(placement.address)});
  }
  if (!placement.alias.empty()) {
    std::vector<Value> names{Value(placement.alias)};
    names.insert(names.end(), aliases.items().begin(), aliases.items().end());
    endpoint.push_back({"Aliases", Value::list(std::move(names))});
  }
  body.push_back(
      {"NetworkingConfig",
       Value::dict({{"EndpointsConfig",
                     Value::dict({{placement.network, Value::dict(std::move(endpoint))}})}})});
}

Value labels_of(const Dict& own, const Placement& placement) {
  std::vector<Entry> entries(own.entries().begin(), own.entries().end());
  for (const auto& [key, value] : placement.labels)
    entries.push_back({key, value});
  return Value::dict(std::move(entries));
}

/// What services and tasks have in common.
template <typename Container>
void add_common(const Container& container, bool has_init, const Dict& moved_files,
                const List& in_memory, std::vector<Entry>& body, std::vector<Entry>& host) {
  body.push_back({"Image", container.image.value()});
  host.push_back({"Init", has_init});
  if (const Value all = mounts(container.files, moved_files, container.bind_mounts, in_memory);
      !all.items().empty())
    host.push_back({"Mounts", all});
  if (container.privileged.get())
    host.push_back({"Privileged", true});
  if (container.host_pid.get())
    host.push_back({"PidMode", "host"});
}

Result<Value> finish(const Dict& files, std::vector<Entry> body, std::vector<Entry> host) {
  for (const Mount& mount : mounts_in(files))
    if (!mount.path.starts_with('/') || mount.path == "/")
      return user_error(cat("files cannot be mounted at `", mount.path,
                            "`: an absolute path below `/` is needed"));
  body.push_back({"HostConfig", Value::dict(std::move(host))});
  return Value::dict(std::move(body));
}

}  // namespace

std::vector<ServicePort> ports_of(const Service& service) {
  std::vector<ServicePort> found;
  for (const Entry& entry : service.ports.entries()) {
    const Port port = read<Port>(entry.value);
    ServicePort& one = found.emplace_back();
    one.id = entry.key.str();
    one.number = static_cast<int>(port.number.get());
    one.transport = port.transport;
    if (port.wait.is_text() && (one.transport == "TCP" || port.is_awaited))
      one.wait = port.wait.get().str();
  }
  return found;
}

std::vector<Mount> mounts_in(const Dict& files, const Dict& moved_files) {
  const auto is_below = [](std::string_view path, std::string_view folder) {
    return path.starts_with(cat(folder, "/"));
  };
  const auto is_moved_from = [&](const Entry& entry) {
    return std::ranges::any_of(moved_files.entries(), [&](const Entry& moved) {
      return entry.value.is_list() && is_below(moved.key, entry.key);
    });
  };
  const auto folder_of = [&](std::string_view to) {
    std::string found = "/";
    for (const Entry& entry : files.entries())
      if (is_below(to, entry.key) && entry.key.size() > found.size() && !is_moved_from(entry))
        found = entry.key.str();
    return found;
  };
  std::vector<Mount> found;
  for (const Entry& entry : files.entries()) {
    if (!entry.value.is_list())
      continue;
    Mount mount{.path = entry.key.str(), .digests = {}};
    for (const Value& item : entry.value.items())
      mount.digests.push_back(read<ArtifactMount>(item).digest.get().str());
    for (const Entry& moved : moved_files.entries())
      if (is_below(moved.key, mount.path)) {
        const std::string to = to_text(moved.value), folder = folder_of(to);
        mount.moved.push_back(
            {moved.key.str().substr(mount.path.size() + 1), folder,
             to.substr(std::min(to.size(), folder == "/" ? 1 : folder.size() + 1))});
      }
    found.push_back(std::move(mount));
  }
  return found;
}

bool is_published(const Service& service, const ServicePort& port) {
  if (service.public_ports.find(port.id) != nullptr || port.transport == "TCP")
    return true;
  return port.transport == "UDP" && service.publish_udp.get();
}

Dict port_outputs(const Service& service, const Placement& placement) {
  std::vector<Entry> entries;
  for (const ServicePort& port : ports_of(service)) {
    const auto found = placement.public_ports.find(port.id);
    PortOutputs outputs{port.number, port.transport, std::nullopt};
    if (found != placement.public_ports.end())
      outputs.public_port = found->second;
    entries.push_back({port.id, write(outputs)});
  }
  return Value::dict(std::move(entries));
}

Result<Value> service_body(const Service& service, const Placement& placement) {
  std::vector<Entry> body, host;
  const std::string_view placeholder = service.address_placeholder.view();
  const auto filled = [&](const List& list) {
    return texts(list.items(), placeholder, placement.address);
  };
  add_common(service, service.tini.get(), service.moved_files, service.tmpfs, body, host);
  if (const Value list = filled(service.entrypoint); !list.items().empty())
    body.push_back({"Entrypoint", list});
  if (const Value list = filled(service.cmd); !list.items().empty())
    body.push_back({"Cmd", list});
  body.push_back({"Env", environment(service.env, placeholder, placement.address)});
  body.push_back({"Hostname", placement.alias});
  body.push_back({"Labels", labels_of(service.labels, placement)});
  if (!service.user.empty()) {
    const ContainerUser user = read<ContainerUser>(service.user.value());
    body.push_back({"User", user.gid.is_null() ? to_text(user.uid)
                                               : cat(to_text(user.uid), ":", to_text(user.gid))});
  }
  if (service.tty.get()) {
    body.push_back({"Tty", true});
    body.push_back({"OpenStdin", true});
  }
  if (const int64_t cpu = service.cpu_max.get(); cpu > 0)
    host.push_back({"NanoCpus", cpu * nano_cpus_per_millicore});
  if (const int64_t memory = service.memory_max.get(); memory > 0)
    host.push_back({"Memory", memory * megabyte});
  if (!service.capabilities.empty())
    host.push_back({"CapAdd", service.capabilities.value()});
  if (const Value list = devices(service.devices); !list.items().empty())
    host.push_back({"Devices", list});
  if (service.restart.view() == "always")
    host.push_back({"RestartPolicy", Value::dict({{"Name", "always"}})});
  add_gpu(read<Gpu>(service.gpu.value()), host);
  add_ports(service, placement, body, host);
  if (!service.working_dir.empty())
    body.push_back({"WorkingDir", service.working_dir.value()});
  std::vector<Value> hosts;
  for (const Entry& entry : service.extra_hosts.entries())
    hosts.emplace_back(cat(entry.key, ":", to_text(entry.value)));
  if (!hosts.empty())
    host.push_back({"ExtraHosts", Value::list(std::move(hosts))});
  add_network(placement, service.aliases, body, host);
  return finish(service.files, std::move(body), std::move(host));
}

Result<Value> task_body(const ContainerTask& task, const Placement& placement) {
  std::vector<Entry> body, host;
  add_common(task, true, {}, {}, body, host);
  body.push_back({"Entrypoint", texts(task.command.items(), {}, {})});
  body.push_back({"Cmd", Value::list({})});
  body.push_back({"Env", environment(task.env, {}, {})});
  body.push_back({"Labels", labels_of({}, placement)});
  add_network(placement, {}, body, host);
  return finish(task.files, std::move(body), std::move(host));
}

}  // namespace fettle

#include "packages/service_config.h"

#include <algorithm>

#include "base/text.h"
#include "kinds/artifact.h"
#include "kinds/directory.h"
#include "kinds/kinds.h"
#include "kinds/service.h"
#include "packages/instructions/image.h"
#include "packages/names.h"
#include "packages/types.h"

namespace fettle {
namespace {

using starlark::NamedValue;

/// The one path of this machine that Kurtosis lets a container have.
constexpr std::string_view engine_socket = "/var/run/docker.sock";

std::optional<starlark::Value> set_field(starlark::Value record, std::string_view name) {
  const auto value = starlark::field_of(record, name);
  return value && !value->is_unset() && starlark::type_of(*value) != starlark::Type::none
             ? value
             : std::nullopt;
}

std::string text_field(starlark::Value record, std::string_view name,
                       std::string_view otherwise = {}) {
  const auto value = set_field(record, name);
  return std::string(value ? starlark::text_of(*value) : otherwise);
}

Value integer_field(starlark::Value record, std::string_view name, std::string_view older = {}) {
  auto value = set_field(record, name);
  if (!value && !older.empty())
    value = set_field(record, older);
  return value ? Value(starlark::integer_of(*value).value_or(0)) : Value();
}

Value bool_field(starlark::Value record, std::string_view name) {
  const auto value = set_field(record, name);
  return value ? Value(starlark::truth_of(*value)) : Value();
}

Result<Value> plain_field(starlark::Thread& thread, starlark::Value record, std::string_view name) {
  const auto value = set_field(record, name);
  return value ? TRY(starlark::to_value(thread, *value)) : Value();
}

Result<Value> holed_field(const Draft& draft, starlark::Thread& thread, starlark::Value record,
                          std::string_view name) {
  const auto value = set_field(record, name);
  return value ? TRY(plain_with_holes(draft, thread, *value)) : Value();
}

/// Texts of a dict whose values a script may give as numbers or booleans by mistake stay errors of
/// the type: Kurtosis wants texts.
Result<Value> text_dict(const Draft& draft, starlark::Thread& thread, starlark::Value record,
                        std::string_view name, bool holes) {
  const auto value = set_field(record, name);
  if (!value)
    return Value();
  const Value plain = TRY(starlark::to_value(thread, *value));
  for (const Entry& entry : plain.entries())
    if (!entry.value.is_text())
      return user_error(cat("`", name, "` must map strings to strings, `", entry.key, "` is ",
                            to_string(entry.value.type())));
  return holes ? draft.references.with_holes(plain) : plain;
}

Result<Value> text_list(const Draft& draft, starlark::Thread& thread, starlark::Value record,
                        std::string_view name, bool holes) {
  const auto value = set_field(record, name);
  if (!value)
    return Value();
  const Value plain = TRY(starlark::to_value(thread, *value));
  for (const Value& item : plain.items())
    if (!item.is_text())
      return user_error(
          cat("`", name, "` must be a list of strings, found ", to_string(item.type())));
  return holes ? draft.references.with_holes(plain) : plain;
}

Value port_attributes(starlark::Value port) {
  Value wait = "2m";
  const auto given = starlark::field_of(port, "wait");
  const bool is_given = given && !given->is_unset();
  if (is_given)
    wait = starlark::type_of(*given) == starlark::Type::none ? Value()
                                                             : Value(starlark::text_of(*given));
  const std::string application = text_field(port, "application_protocol");
  const std::string url = text_field(port, "url");
  const std::string transport = text_field(port, "transport_protocol", "TCP");
  Port made;
  made.number = integer_field(port, "number");
  made.transport = transport;
  made.wait = wait;
  if (!application.empty())
    made.application = application;
  if (!url.empty())
    made.url = url;
  // Kurtosis takes every UDP port for open, so only who asks for it waits for one.
  made.is_awaited = transport == "UDP" && is_given && !wait.is_null();
  return write(made);
}

Value ports_attributes(starlark::Value config, std::string_view field) {
  std::vector<Entry> ports;
  if (const auto given = set_field(config, field))
    for (const auto& [id, port] : starlark::entries_of(*given))
      ports.push_back({starlark::text_of(id), port_attributes(port)});
  return Value::dict(std::move(ports));
}

Value user_attributes(starlark::Value config) {
  const auto user = set_field(config, "user");
  if (!user)
    return Value();
  const auto id = [&](std::string_view field) {
    const auto given = set_field(*user, field);
    return given && starlark::type_of(*given) == starlark::Type::text
               ? Value(starlark::text_of(*given))
               : integer_field(*user, field);
  };
  std::vector<Entry> entries{{"uid", id("uid")}};
  if (const Value gid = id("gid"); !gid.is_null())
    entries.push_back({"gid", gid});
  return Value::dict(std::move(entries));
}

/// Devices that give no more than a container has.
constexpr std::array<std::string_view, 4> harmless_devices{"/dev/fuse", "/dev/kvm", "/dev/net/tun",
                                                           "/dev/null"};
/// Capabilities that reach no further than the container's own network, processes and files.
constexpr std::array<std::string_view, 21> harmless_capabilities{
    "AUDIT_WRITE",   "CHOWN",    "DAC_OVERRIDE", "FOWNER", "FSETID",    "IPC_LOCK",
    "IPC_OWNER",     "KILL",     "LEASE",        "MKNOD",  "NET_ADMIN", "NET_BIND_SERVICE",
    "NET_BROADCAST", "NET_RAW",  "SETFCAP",      "SETGID", "SETPCAP",   "SETUID",
    "SYS_CHROOT",    "SYS_NICE", "SYS_PTRACE"};

std::optional<std::string> first_beyond(const List& list, bool (*is_harmless)(std::string_view)) {
  for (const Value& item : list.items())
    if (const std::string text = to_text(item); !is_harmless(text))
      return printable(text);
  return std::nullopt;
}

/// What of the machine a container would have beside what every one has; empty: nothing.
std::string wish_beyond(const MachineReach& reach) {
  if (reach.is_privileged || !reach.bind_mounts.empty())
    return "to be privileged or to mount paths of this machine";
  if (reach.sees_processes)
    return "to see the processes of this machine";
  if (const auto found = first_beyond(reach.devices, is_harmless_device))
    return cat("the device `", *found, "` of this machine");
  if (const auto found = first_beyond(reach.capabilities, is_harmless_capability))
    return cat("the capability `", *found, "`");
  return {};
}

}  // namespace

bool is_harmless_capability(std::string_view name) {
  const std::string upper = upper_case(name);
  const std::string_view plain =
      upper.starts_with("CAP_") ? std::string_view(upper).substr(4) : std::string_view(upper);
  return std::ranges::find(harmless_capabilities, plain) != harmless_capabilities.end();
}

bool is_harmless_device(std::string_view device) {
  return std::ranges::find(harmless_devices, device.substr(0, device.find(':'))) !=
         harmless_devices.end();
}

Result<Value> plain_with_holes(const Draft& draft, starlark::Thread& thread,
                               starlark::Value value) {
  return draft.references.with_holes(TRY(starlark::to_value(thread, value)));
}

namespace {

/// The path without parts that have no meaning.
std::string plain_path(std::string_view path) {
  std::string plain;
  for (const std::string_view step : split(path, '/'))
    if (!step.empty() && step != ".")
      plain += cat("/", step);
  return plain;
}

/// A port of this machine is pinned for a port of the service, by its id.
void check_public_ports(Draft& draft, const std::string& name, const Service& service) {
  for (const Entry& entry : service.public_ports.entries())
    if (service.ports.find(entry.key) == nullptr)
      draft.warning(cat("the service `", name, "` has no port `", entry.key,
                        "`, so its public port is ignored"));
}

}  // namespace

Result<Value> file_attributes(Draft& draft, starlark::Value files) {
  std::vector<Entry> mounts;
  std::set<std::string> places;
  for (const auto& [path, content] : starlark::entries_of(files)) {
    const std::string place(starlark::text_of(path));
    if (!place.starts_with('/'))
      draft.finding(cat("files are mounted at absolute paths, `", place, "` is not one"));
    if (plain_path(place).empty())
      draft.finding("files cannot be mounted at the root of a container");
    if (!places.insert(plain_path(place)).second)
      draft.finding(cat("files are mounted twice at `", place, "`"));
    std::vector<Value> sources;
    const auto artifact = [&](std::string_view name) {
      sources.push_back(write(mounted_artifact(draft.need_artifact(name))));
    };
    if (starlark::type_of(content) == starlark::Type::text) {
      artifact(starlark::text_of(content));
    } else if (const auto names = set_field(content, "artifact_names")) {
      for (size_t i = 0; i < starlark::length_of(*names); ++i)
        artifact(starlark::text_of(starlark::item_of(*names, i)));
    } else {
      const std::string key = text_field(content, "persistent_key");
      // Older packages of Kurtosis have such keys, and Docker and Podman take them.
      if (!check_portable_key(key))
        draft.warning(cat("the persistent key `", key, "` would be invalid in Kubernetes"));
      const Value size = integer_field(content, "size");
      draft.add_once("directory", key,
                     write(Directory{.size = size.is_null() ? Value(1024) : size}));
      mounts.push_back({place, write(mounted_directory(key))});
      continue;
    }
    mounts.push_back({place, Value::list(std::move(sources))});
  }
  return Value::dict(std::move(mounts));
}

Result<Service> wanted_service(InstructionCall& call, const std::string& name,
                               starlark::Value config) {
  Draft& draft = call.draft;
  starlark::Thread& thread = call.thread;
  Service service;
  const auto put = [](auto& member, Value value) {
    if (!value.is_null())
      member = std::move(value);
  };
  const WantedImage image = TRY(wanted_image(call, *starlark::field_of(config, "image")));
  service.image = image.reference;
  service.image_id = image.id;
  service.ports = ports_attributes(config, "ports");
  service.public_ports = ports_attributes(config, "public_ports");
  if (const auto files = set_field(config, "files"))
    service.files = TRY(file_attributes(draft, *files));
  put(service.entrypoint, TRY(text_list(draft, thread, config, "entrypoint", true)));
  put(service.cmd, TRY(text_list(draft, thread, config, "cmd", true)));
  put(service.env, TRY(text_dict(draft, thread, config, "env_vars", true)));
  if (const std::string placeholder = text_field(config, "private_ip_address_placeholder");
      !placeholder.empty())
    service.address_placeholder = placeholder;
  put(service.cpu_max, integer_field(config, "max_cpu", "cpu_allocation"));
  put(service.cpu_min, integer_field(config, "min_cpu"));
  put(service.memory_max, integer_field(config, "max_memory", "memory_allocation"));
  put(service.memory_min, integer_field(config, "min_memory"));
  put(service.labels, TRY(text_dict(draft, thread, config, "labels", false)));
  put(service.user, user_attributes(config));
  put(service.tini, bool_field(config, "tini_enabled"));
  put(service.tty, bool_field(config, "tty_enabled"));
  put(service.devices, TRY(plain_field(thread, config, "devices")));
  put(service.publish_udp, bool_field(config, "publish_udp"));
  put(service.capabilities, TRY(plain_field(thread, config, "capabilities")));
  put(service.gpu, TRY(plain_field(thread, config, "gpu")));
  put(service.privileged, bool_field(config, "privileged"));
  put(service.host_pid, bool_field(config, "host_pid_namespace"));
  put(service.bind_mounts, TRY(plain_field(thread, config, "bind_mounts")));
  put(service.moved_files, TRY(plain_field(thread, config, "files_to_be_moved")));
  put(service.working_dir, TRY(plain_field(thread, config, "working_dir")));
  put(service.extra_hosts, TRY(plain_field(thread, config, "extra_hosts")));
  put(service.tmpfs, TRY(plain_field(thread, config, "tmpfs")));
  put(service.aliases, TRY(plain_field(thread, config, "aliases")));
  put(service.node_selectors, TRY(plain_field(thread, config, "node_selectors")));
  put(service.tolerations, TRY(plain_field(thread, config, "tolerations")));
  service.restart = draft.options().is_production ? "always" : "no";
  check_public_ports(draft, name, service);
  check_reach(draft, cat("the service `", name, "`"),
              {service.bind_mounts, service.privileged.get(), service.host_pid.get(),
               service.devices, service.capabilities});
  return service;
}

void check_reach(Draft& draft, std::string_view who, const MachineReach& reach) {
  for (const Entry& mount : reach.bind_mounts.entries())
    if (mount.key != engine_socket)
      draft.finding(cat(who, " requests a mount of `", printable(mount.key),
                        "` of this machine; only `", engine_socket, "` can be mounted"));
  const std::string wish = wish_beyond(reach);
  if (!wish.empty() && !draft.options().allows_privileged)
    draft.finding(cat(who, " requests ", wish, "; allow it with `--privileged`"));
}

Result<Value> recipe_attributes(const Draft& draft, starlark::Thread& thread,
                                starlark::Value recipe) {
  const starlark::RecordType* type = starlark::record_type_of(recipe);
  std::vector<Entry> entries;
  const auto put = [&](std::string_view key, Value value) {
    if (!value.is_null())
      entries.push_back({key, std::move(value)});
  };
  put("extract", TRY(plain_field(thread, recipe, "extract")));
  if (type == &types::exit_recipe) {
    put("type", "exit");
    return Value::dict(std::move(entries));
  }
  if (type == &types::exec_recipe) {
    put("type", "exec");
    put("command", TRY(text_list(draft, thread, recipe, "command", true)));
    return Value::dict(std::move(entries));
  }
  if (type != &types::get_recipe && type != &types::post_recipe)
    return user_error(cat(
        "`recipe` must be an ExecRecipe, a GetHttpRequestRecipe or a PostHttpRequestRecipe, got ",
        starlark::type_name(recipe)));
  put("type", type == &types::get_recipe ? "get" : "post");
  put("port", text_field(recipe, "port_id"));
  put("endpoint", text_field(recipe, "endpoint"));
  put("headers", TRY(text_dict(draft, thread, recipe, "headers", false)));
  if (type == &types::post_recipe) {
    put("body", TRY(holed_field(draft, thread, recipe, "body")));
    put("content_type", TRY(plain_field(thread, recipe, "content_type")));
  }
  return Value::dict(std::move(entries));
}

void check_recipe(Draft& draft, const ServiceState& service, const Value& recipe) {
  const std::string_view port = recipe.text_at("port");
  if (recipe.text_at("type") == "exec" || recipe.text_at("type") == "exit" ||
      service.ports.find(port) != nullptr)
    return;
  std::vector<std::string> ids;
  for (const Entry& entry : service.ports.entries())
    ids.push_back(entry.key.str());
  draft.finding(cat("the service `", service.key.name, "` has no port `", port, "`",
                    ids.empty()                     ? "; it has no ports"
                    : suggestion(port, ids).empty() ? "; it has " + join(ids, ", ")
                                                    : suggestion(port, ids)));
}

starlark::Value service_value(Draft& draft, starlark::Thread& thread, const std::string& name,
                              const ServiceState& service) {
  starlark::HeapAccess heap = thread.heap();
  std::vector<std::string> ids;  // keep texts alive while the dict is made
  std::vector<NamedValue> ports;
  for (const Entry& entry : service.ports.entries()) {
    const Value& port = entry.value;
    std::vector<NamedValue> fields{{"number", heap.integer(port.integer_at("number"))},
                                   {"transport_protocol", heap.text(port.text_at("transport"))}};
    const std::string_view application = port.text_at("application");
    std::string url(port.text_at("url"));
    if (url.empty())
      url =
          cat(application, application.empty() ? "" : "://", name, ":", port.integer_at("number"));
    if (!application.empty())
      fields.push_back({"application_protocol", heap.text(application)});
    const Value& wait = port.at("wait");
    fields.push_back({"wait", wait.is_null() ? starlark::Value::none() : heap.text(wait.text())});
    fields.push_back({"url", heap.text(url)});
    ports.push_back({entry.key.view(), heap.record(types::port_spec, fields)});
  }
  const std::vector<NamedValue> fields{
      {"name", heap.text(name)},
      {"hostname", heap.text(draft.references.to(service.key, "hostname"))},
      {"ip_address", heap.text(draft.references.to(service.key, "ip_address"))},
      {"ports", heap.dict(ports)}};
  return heap.record(types::service, fields);
}

}  // namespace fettle

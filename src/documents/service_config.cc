#include "documents/service_config.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "kinds/artifact.h"
#include "kinds/kinds.h"

namespace fettle {
namespace {

using Names = std::pair<std::string_view, std::string_view>;

/// Kurtosis' name, then ours.
constexpr std::array<Names, 15> attribute_names{
    {{"env_vars", "env"},
     {"private_ip_address_placeholder", "address_placeholder"},
     {"min_cpu", "cpu_min"},
     {"max_cpu", "cpu_max"},
     {"min_millicpus", "cpu_min"},
     {"max_millicpus", "cpu_max"},
     {"cpu_allocation", "cpu_max"},
     {"min_memory", "memory_min"},
     {"max_memory", "memory_max"},
     {"memory_allocation", "memory_max"},
     {"tini_enabled", "tini"},
     {"tty_enabled", "tty"},
     {"host_pid_namespace", "host_pid"},
     {"files_to_be_moved", "moved_files"},
     {"image_name", "image"}}};
constexpr std::array<Names, 4> port_names{{{"transport_protocol", "transport"},
                                           {"application_protocol", "application"},
                                           {"maybe_application_protocol", "application"},
                                           {"maybe_url", "url"}}};

template <size_t count>
Name renamed(const std::array<Names, count>& names, const Name& key) {
  for (const auto& [theirs, ours] : names)
    if (key == theirs)
      return ours;
  return key;
}

/// A config that was shown without its secrets says nothing about them.
Status check_shown(const Value& value, const std::string& path) {
  if (value.is_text() && value.text() == masked)
    return user_error(
        cat("`", path, "` is hidden; `fettle service inspect --show-secrets` shows it"));
  if (value.is_dict())
    for (const Entry& entry : value.entries())
      TRY(check_shown(entry.value, cat(path, path.empty() ? "" : ".", entry.key)));
  if (value.is_list())
    for (const Value& item : value.items())
      TRY(check_shown(item, path));
  return {};
}

/// The transports by the numbers that Kurtosis' interface has for them.
constexpr std::array<std::string_view, 3> by_number{"TCP", "SCTP", "UDP"};

/// Also reads such a number.
Value transport_of(const Value& value) {
  if (value.is_integer() && value.integer().value_or(-1) >= 0 && *value.integer() < 3)
    return by_number[static_cast<size_t>(*value.integer())];
  return value.is_text() ? Value(upper_case(value.text().view())) : value;
}

Result<Value> ports_of(const Value& ports) {
  if (!ports.is_dict())
    return user_error("`ports` must map port ids to ports");
  std::vector<Entry> found;
  for (const Entry& port : ports.entries()) {
    if (!port.value.is_dict() || port.value.integer_at("number") < 1 ||
        port.value.integer_at("number") > 65535)
      return user_error(cat("the port `", port.key, "` must be a mapping with its `number`"));
    std::vector<Entry> fields{
        {"transport", "TCP"}, {"application", Value()}, {"wait", "2m"}, {"url", Value()}};
    for (const Entry& field : port.value.entries()) {
      const Name name = renamed(port_names, field.key);
      fields.push_back({name, name == "transport" ? transport_of(field.value) : field.value});
    }
    found.push_back({port.key, Value::dict(std::move(fields))});
  }
  return Value::dict(std::move(found));
}

Result<Value> artifact_of(const Value& value) {
  const std::string name(value.is_text() ? value.text().view() : value.text_at("artifact"));
  if (name.empty())
    return user_error("`files` must map paths to names of files artifacts");
  return write(mounted_artifact(name));
}

Result<Value> files_of(const Value& files) {
  if (!files.is_dict())
    return user_error("`files` must map paths to names of files artifacts");
  std::vector<Entry> found;
  for (const Entry& file : files.entries()) {
    if (const std::string key(file.value.text_at("directory")); !key.empty()) {
      found.push_back({file.key, write(mounted_directory(key))});
      continue;
    }
    std::vector<Value> sources;
    if (file.value.is_list())
      for (const Value& one : file.value.items())
        sources.push_back(TRY(artifact_of(one)));
    else
      sources.push_back(TRY(artifact_of(file.value)));
    found.push_back({file.key, Value::list(std::move(sources))});
  }
  return Value::dict(std::move(found));
}

/// Whether Kurtosis tells a value: zeros and what is empty are left out.
bool is_set(const Value& value) {
  return !value.is_null() && !(value.is_text() && value.text().empty()) &&
         !(value.is_list() && value.items().empty()) &&
         !(value.is_dict() && value.entries().empty()) &&
         !(value.is_bool() && value == Value(false)) &&
         !(value.is_integer() && value.integer() == 0);
}

std::vector<Entry> entries_of(const Value& value) {
  return value.is_dict() ? std::vector<Entry>(value.entries().begin(), value.entries().end())
                         : std::vector<Entry>();
}

/// `number`, `transport` as a number, `maybe_application_protocol`, `wait`.
Value kurtosis_port(const Value& port, int64_t number) {
  const auto transport = std::ranges::find(by_number, port.text_at("transport", "TCP"));
  std::vector<Entry> fields{
      {"number", number},
      {"transport", transport == by_number.end() ? 0 : transport - by_number.begin()}};
  for (const auto& [theirs, ours] :
       {Names{"maybe_application_protocol", "application"}, Names{"wait", "wait"}})
    if (const Value& value = port.at(ours); is_set(value))
      fields.push_back({theirs, value});
  return Value::dict(std::move(fields));
}

/// The names of artifacts by path; Kurtosis tells of no directories there.
std::vector<Entry> kurtosis_files(const Value& files) {
  std::vector<Entry> told;
  for (const Entry& file : entries_of(files)) {
    std::vector<Value> names;
    if (file.value.is_list())
      for (const Value& one : file.value.items())
        if (const Value& name = one.at("artifact"); is_set(name))
          names.push_back(name);
    if (!names.empty())
      told.push_back({file.key, Value::list(std::move(names))});
  }
  return told;
}

}  // namespace

Value kurtosis_config_of(const Value& attributes, const Value& outputs) {
  if (!attributes.is_dict())
    return Value::dict({});
  constexpr std::array<Names, 6> scalars{{{"max_cpu", "cpu_max"},
                                          {"min_cpu", "cpu_min"},
                                          {"max_memory", "memory_max"},
                                          {"min_memory", "memory_min"},
                                          {"tini_enabled", "tini"},
                                          {"tty_enabled", "tty"}}};
  constexpr std::array<Names, 11> same{{{"image", "image"},
                                        {"entrypoint", "entrypoint"},
                                        {"cmd", "cmd"},
                                        {"env_vars", "env"},
                                        {"labels", "labels"},
                                        {"node_selectors", "node_selectors"},
                                        {"bind_mounts", "bind_mounts"},
                                        {"user", "user"},
                                        {"files_to_be_moved", "moved_files"},
                                        {"privileged", "privileged"},
                                        {"host_pid_namespace", "host_pid"}}};
  std::vector<Entry> entries;
  for (const auto& [theirs, ours] : scalars)
    if (const Value& value = attributes.at(ours); value.is_bool() || is_set(value))
      entries.push_back({theirs, value});
  for (const auto& [theirs, ours] : same)
    if (const Value& value = attributes.at(ours); is_set(value))
      entries.push_back({theirs, value});
  std::vector<Entry> ports, open_ports;
  for (const Entry& port : entries_of(attributes.at("ports"))) {
    ports.push_back({port.key, kurtosis_port(port.value, port.value.integer_at("number"))});
    const int64_t open = outputs.at("ports").at(port.key).integer_at("public");
    if (open > 0)
      open_ports.push_back({port.key, kurtosis_port(port.value, open)});
  }
  if (!ports.empty())
    entries.push_back({"ports", Value::dict(std::move(ports))});
  if (!open_ports.empty())
    entries.push_back({"public_ports", Value::dict(std::move(open_ports))});
  if (std::vector<Entry> files = kurtosis_files(attributes.at("files")); !files.empty())
    entries.push_back({"files", Value::dict(std::move(files))});
  return Value::dict(std::move(entries));
}

Result<Value> attributes_of_json(const Value& document) {
  const Value& config = document.at("attributes").is_dict() ? document.at("attributes") : document;
  if (!config.is_dict())
    return user_error("the configuration of a service must be a mapping");
  TRY(check_shown(config, ""));
  std::vector<Entry> entries;
  for (const Entry& entry : config.entries()) {
    const Name name = renamed(attribute_names, entry.key);
    // The id of the image is found out again, and null counts as not given.
    if (name == "image_id" || entry.value.is_null())
      continue;
    const bool are_ports = name == "ports" || name == "public_ports";
    entries.push_back({name, are_ports         ? TRY(ports_of(entry.value))
                             : name == "files" ? TRY(files_of(entry.value))
                                               : entry.value});
  }
  return Value::dict(std::move(entries));
}

}  // namespace fettle

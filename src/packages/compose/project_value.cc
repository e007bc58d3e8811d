#include "packages/compose/project_value.h"

#include "base/text.h"

namespace fettle::compose {
namespace {

class ValueFields {
 public:
  void put(std::string_view key, Value value) { entries_.push_back({key, std::move(value)}); }
  void text(std::string_view key, const std::string& value) {
    if (!value.empty())
      put(key, Value(value));
  }
  void texts(std::string_view key, const std::vector<std::string>& values) {
    std::vector<Value> items(values.begin(), values.end());
    if (!items.empty())
      put(key, Value::list(std::move(items)));
  }
  void number(std::string_view key, int64_t value, int64_t otherwise = 0) {
    if (value != otherwise)
      put(key, Value(value));
  }
  void map(std::string_view key, const std::map<std::string, std::string>& values) {
    std::vector<Entry> entries;
    for (const auto& [name, value] : values)
      entries.push_back({name, Value(value)});
    if (!entries.empty())
      put(key, Value::dict(std::move(entries)));
  }
  void list(std::string_view key, std::vector<Value> items) {
    if (!items.empty())
      put(key, Value::list(std::move(items)));
  }
  Value made() { return Value::dict(std::move(entries_)); }

 private:
  std::vector<Entry> entries_;
};

Value value_of(const Build& build) {
  ValueFields fields;
  fields.text("context", build.context);
  if (build.dockerfile_inline.empty())
    fields.text("dockerfile", build.dockerfile.empty() ? "Dockerfile" : build.dockerfile);
  fields.text("dockerfile_inline", build.dockerfile_inline);
  fields.text("target", build.target);
  fields.map("args", build.args);
  return fields.made();
}

Value value_of(const HealthCheck& check) {
  ValueFields fields;
  fields.texts("command", check.command);
  fields.number("interval", check.interval_ms);
  fields.number("timeout", check.timeout_ms);
  fields.number("start_period", check.start_period_ms);
  fields.number("retries", check.retries);
  return fields.made();
}

std::vector<Value> values_of(const std::vector<PublishedPort>& ports) {
  std::vector<Value> items;
  for (const PublishedPort& port : ports) {
    ValueFields fields;
    fields.number("target", port.target);
    fields.number("published", port.published.value_or(0));
    fields.text("protocol", port.protocol);
    items.push_back(fields.made());
  }
  return items;
}

std::vector<Value> values_of(const std::vector<VolumeMount>& volumes) {
  constexpr std::string_view names[] = {"bind", "volume", "tmpfs"};
  std::vector<Value> items;
  for (const VolumeMount& mount : volumes) {
    ValueFields fields;
    fields.text("type", std::string(names[static_cast<size_t>(mount.type)]));
    fields.text("source", mount.source);
    fields.text("target", mount.target);
    items.push_back(fields.made());
  }
  return items;
}

std::vector<Value> values_of(const std::vector<Grant>& grants, bool are_secrets) {
  std::vector<Value> items;
  for (const Grant& grant : grants)
    if (grant.is_secret == are_secrets)
      items.push_back(
          Value::dict({{"source", Value(grant.source)}, {"target", Value(grant.target)}}));
  return items;
}

Value values_of(const std::vector<Dependency>& needed) {
  constexpr std::string_view names[] = {"service_started", "service_healthy",
                                        "service_completed_successfully"};
  std::vector<Entry> entries;
  for (const Dependency& one : needed)
    entries.push_back({one.service, Value(names[static_cast<size_t>(one.condition)])});
  return Value::dict(std::move(entries));
}

Value value_of(const Service& service) {
  ValueFields fields;
  fields.text("image", service.image);
  fields.text("container_name", service.container_name);
  fields.text("hostname", service.hostname);
  fields.text("user", service.user);
  fields.text("working_dir", service.working_dir);
  if (service.build)
    fields.put("build", value_of(*service.build));
  fields.texts("command", service.command.items);
  fields.texts("entrypoint", service.entrypoint.items);
  std::map<std::string, std::string> environment;
  for (const auto& [name, value] : service.environment)
    if (value)
      environment[name] = *value;
  fields.map("environment", environment);
  fields.list("ports", values_of(service.ports));
  fields.list("volumes", values_of(service.volumes));
  fields.list("configs", values_of(service.grants, false));
  fields.list("secrets", values_of(service.grants, true));
  if (!service.depends_on.empty())
    fields.put("depends_on", values_of(service.depends_on));
  if (service.healthcheck)
    fields.put("healthcheck", value_of(*service.healthcheck));
  fields.texts("profiles", service.profiles);
  fields.texts("tmpfs", service.tmpfs);
  fields.map("labels", service.labels);
  fields.number("cpu_max", service.cpu_max);
  fields.number("cpu_min", service.cpu_min);
  fields.number("memory_max", service.memory_max);
  fields.number("memory_min", service.memory_min);
  fields.number("shm_size", service.shm_size);
  if (service.init)
    fields.put("init", *service.init);
  if (service.tty)
    fields.put("tty", true);
  if (service.is_privileged)
    fields.put("privileged", true);
  std::vector<std::string> capabilities;
  for (const auto& [name, where] : service.capabilities)
    capabilities.push_back(name);
  fields.texts("capabilities", capabilities);
  return fields.made();
}

}  // namespace

Value project_value(const Project& project) {
  std::vector<Entry> services;
  for (const Service& service : project.services)
    services.push_back({service.name, value_of(service)});
  ValueFields fields;
  fields.put("services", Value::dict(std::move(services)));
  std::vector<std::string> volumes;
  for (const auto& [key, name] : project.volumes)
    volumes.push_back(key);
  fields.texts("volumes", volumes);
  return fields.made();
}

}  // namespace fettle::compose

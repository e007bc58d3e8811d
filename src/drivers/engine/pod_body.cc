#include "drivers/engine/pod_body.h"

#include <algorithm>

#include "base/text.h"
#include "drivers/engine/pause.h"
#include "drivers/engine/pod_values.h"
#include "drivers/engine/subnets.h"
#include "kinds/pod.h"
#include "kinds/pod_change.h"
#include "kinds/quantity.h"

namespace fettle {
namespace {

constexpr int64_t nano_cpus_per_milli = 1'000'000;
constexpr int64_t shares_of_a_cpu = 1'024;
constexpr int64_t least_shares = 2;
constexpr int64_t default_grace_s = 30;

Value texts_value(const std::vector<std::string>& texts) {
  return Value::list(std::vector<Value>(texts.begin(), texts.end()));
}

/// The dict without some of its keys.
Value without(const Value& dict, std::initializer_list<std::string_view> keys) {
  std::vector<Entry> entries;
  if (dict.is_dict())
    for (const Entry& entry : dict.entries())
      if (std::ranges::find(keys, entry.key.view()) == keys.end())
        entries.push_back(entry);
  return Value::dict(std::move(entries));
}

Value picked(const Value& dict, std::initializer_list<const char*> keys) {
  std::vector<Entry> entries;
  for (const char* key : keys)
    if (const Value* const found = dict.find(key))
      entries.push_back({key, *found});
  return Value::dict(std::move(entries));
}

/// Its owner can change some things of a container without recreating it. They are not part of its
/// digest.
Digest digest_of(const Attributes& attributes, const Value& container) {
  std::vector<Value> taken;
  if (!read_one<&Pod::keep_environment>(attributes).get()) {
    const PodPlace nowhere;
    const PodValues values(attributes, nowhere);
    for (const std::string& path : metadata_taken(container))
      taken.emplace_back(values.field(path).value_or(""));
  }
  const Value& spec = pod_template_of(attributes).at("spec");
  std::vector<Entry> parts{{"container", without(container, {"resources", "imagePullPolicy"})},
                           {"taken", Value::list(std::move(taken))},
                           {"security", spec.at("securityContext")},
                           {"volumes", pod_spec(attributes).at("volumes")}};
  if (const Value& restart = restart_of(pod_template_of(attributes)); !restart.is_null())
    parts.push_back({"restart", restart});
  return Value::dict(std::move(parts)).digest();
}

void add_user(const Value& pod, const Value& own, std::vector<Entry>& body,
              std::vector<Entry>& host) {
  const auto said = [&](const char* field) -> const Value& {
    const Value& mine = own.at(field);
    return mine.is_null() ? pod.at(field) : mine;
  };
  const Value &user = said("runAsUser"), &group = said("runAsGroup");
  if (user.is_integer() || group.is_integer())
    body.push_back({"User", cat(user.is_integer() ? to_text(user) : "0",
                                group.is_integer() ? ":" + to_text(group) : "")});
  std::vector<Value> groups;
  for (const Value& each : items_of(pod.at("supplementalGroups")))
    groups.emplace_back(to_text(each));
  if (const Value& each = pod.at("fsGroup"); each.is_integer())
    groups.emplace_back(to_text(each));
  if (!groups.empty())
    host.push_back({"GroupAdd", Value::list(std::move(groups))});
}

Status add_security(const Attributes& attributes, const PodContainer& container,
                    std::vector<Entry>& body, std::vector<Entry>& host) {
  const Value& pod = pod_template_of(attributes).at("spec").at("securityContext");
  const Value& own = container.spec.at("securityContext");
  add_user(pod, own, body, host);
  const bool may_not_be_root = own.bool_at("runAsNonRoot", pod.bool_at("runAsNonRoot"));
  const int64_t user = own.integer_at("runAsUser", pod.integer_at("runAsUser", -1));
  if (may_not_be_root && user <= 0)
    return user_error(
        cat("container `", container.name, "`: `runAsNonRoot` needs a `runAsUser` other than 0"));
  if (own.bool_at("privileged"))
    host.push_back({"Privileged", true});
  if (own.bool_at("readOnlyRootFilesystem"))
    host.push_back({"ReadonlyRootfs", true});
  if (!own.bool_at("allowPrivilegeEscalation", true))
    host.push_back({"SecurityOpt", Value::list({Value("no-new-privileges")})});
  const Value& capabilities = own.at("capabilities");
  for (const auto& [field, name] : {std::pair("add", "CapAdd"), std::pair("drop", "CapDrop")})
    if (!items_of(capabilities.at(field)).empty())
      host.push_back({name, capabilities.at(field)});
  return {};
}

void add_resources(const Value& container, std::vector<Entry>& host) {
  const PodLimits limits = pod_limits(container);
  if (limits.memory > 0)
    host.push_back({"Memory", limits.memory});
  if (limits.nano_cpus > 0)
    host.push_back({"NanoCpus", limits.nano_cpus});
  const auto wanted = quantity_milli(container.at("resources").at("requests").at("cpu"));
  if (wanted)
    host.push_back({"CpuShares", std::max(least_shares, *wanted * shares_of_a_cpu / 1'000)});
}

/// Mounts a file or a folder of a volume that fettle fills. In any other volume, a container may
/// have put a link there that leads out of it.
Result<Value> part_mount(const PodContainer& container, const PodVolume& volume,
                         std::string_view part, std::string_view path) {
  while (part.ends_with('/'))
    part.remove_suffix(1);
  if (volume.sort != PodVolume::Sort::files)
    return user_error(cat("container `", container.name, "`: `subPath` of `", volume.name,
                          "` is supported for configMap, secret, downwardAPI and projected "
                          "volumes only"));
  const bool is_there = std::ranges::any_of(volume.files, [&](const auto& file) {
    return file.first == part || file.first.starts_with(cat(part, "/"));
  });
  if (!is_there)
    return user_error(
        cat("container `", container.name, "`: volume `", volume.name, "` has no `", part, "`"));
  return Value::dict({{"Type", "bind"},
                      {"Source", cat(volume.folder, "/", part)},
                      {"Target", path},
                      {"ReadOnly", true}});
}

/// The mounts of a container. A folder of the machine that may have to be made is a bind, since
/// engines make those. All others are mounts, whose source must be there.
Status add_mounts(const PodContainer& container, const std::vector<PodVolume>& volumes,
                  std::vector<Entry>& host) {
  std::vector<Value> mounts, binds;
  for (const Value& mount : items_of(container.spec.at("volumeMounts"))) {
    const std::string_view name = mount.text_at("name"), path = mount.text_at("mountPath");
    const auto volume = std::ranges::find(volumes, name, &PodVolume::name);
    if (volume == volumes.end())
      return user_error(cat("container `", container.name, "` mounts `", name,
                            "`, which is not a volume of the pod"));
    if (!path.starts_with('/') || path == "/")
      return user_error(cat("container `", container.name, "`: `mountPath` `", path,
                            "` is not an absolute path below `/`"));
    if (const std::string_view part = mount.text_at("subPath"); !part.empty()) {
      mounts.push_back(TRY(part_mount(container, *volume, part, path)));
      continue;
    }
    const bool is_read_only = mount.bool_at("readOnly") || volume->sort == PodVolume::Sort::files;
    if (volume->sort == PodVolume::Sort::folder && volume->makes_folder) {
      binds.emplace_back(cat(volume->there, ":", path, is_read_only ? ":ro" : ":rw"));
      continue;
    }
    const bool is_folder = volume->sort == PodVolume::Sort::folder;
    mounts.push_back(Value::dict({{"Type", is_folder ? "bind" : "volume"},
                                  {"Source", volume->there},
                                  {"Target", path},
                                  {"ReadOnly", is_read_only}}));
  }
  if (!mounts.empty())
    host.push_back({"Mounts", Value::list(std::move(mounts))});
  if (!binds.empty())
    host.push_back({"Binds", Value::list(std::move(binds))});
  return {};
}

/// `onFailure` for containers that have to end, until an owner decides about restarts.
void add_restarts(const Attributes& attributes, const PodContainer& container,
                  std::vector<Entry>& host) {
  const std::string_view policy = pod_restart_policy(attributes);
  const bool is_always = container.sort == PodContainer::Sort::sidecar ||
                         (container.sort == PodContainer::Sort::plain && policy == "Always");
  const std::string_view name = is_always ? "always" : policy == "Never" ? "no" : "on-failure";
  host.push_back({"RestartPolicy", Value::dict({{"Name", name}})});
}

void add_holder_network(const Attributes& attributes, const PodPlace& place,
                        std::vector<Entry>& body, std::vector<Entry>& host) {
  if (uses_host_network(attributes)) {
    host.push_back({"NetworkMode", "host"});
    return;
  }
  host.push_back({"NetworkMode", place.network.empty() ? "none" : place.network});
  if (place.network.empty())
    return;
  const Value endpoint = Value::dict({{"IPAMConfig", Value::dict({{"IPv4Address", place.address}})},
                                      {"Aliases", texts_value(pod_aliases(attributes))}});
  body.push_back({"NetworkingConfig",
                  Value::dict({{"EndpointsConfig", Value::dict({{place.network, endpoint}})}})});
}

std::vector<Value> host_ports(const Attributes& attributes) {
  std::vector<Value> found;
  for (const PodContainer& container : pod_containers(attributes))
    for (const Value& port : items_of(container.spec.at("ports")))
      if (port.integer_at("hostPort") > 0)
        found.push_back(picked(port, {"containerPort", "hostPort", "protocol", "hostIP"}));
  return found;
}

void add_ports(const Attributes& attributes, std::vector<Entry>& body, std::vector<Entry>& host) {
  std::vector<Entry> exposed;
  std::map<std::string, std::vector<Value>> bindings;
  if (uses_host_network(attributes))
    return;
  for (const Value& port : host_ports(attributes)) {
    const std::string key =
        cat(port.integer_at("containerPort"), "/", lower_case(port.text_at("protocol", "TCP")));
    exposed.push_back({key, Value::dict({})});
    bindings[key].push_back(Value::dict(
        {{"HostIp", port.text_at("hostIP")}, {"HostPort", to_text(port.at("hostPort"))}}));
  }
  if (exposed.empty())
    return;
  std::vector<Entry> bound;
  for (auto& [key, list] : bindings)
    bound.push_back({key, Value::list(std::move(list))});
  body.push_back({"ExposedPorts", Value::dict(std::move(exposed))});
  host.push_back({"PortBindings", Value::dict(std::move(bound))});
}

void add_names(const Attributes& attributes, std::vector<Entry>& host) {
  const Value& spec = pod_template_of(attributes).at("spec");
  std::vector<Value> hosts;
  for (const Value& alias : items_of(spec.at("hostAliases")))
    for (const Value& name : items_of(alias.at("hostnames")))
      hosts.emplace_back(cat(to_text(name), ":", alias.text_at("ip")));
  if (!hosts.empty())
    host.push_back({"ExtraHosts", Value::list(std::move(hosts))});
  const Value& dns = spec.at("dnsConfig");
  for (const auto& [field, name] :
       {std::pair("nameservers", "Dns"), std::pair("searches", "DnsSearch")})
    if (!items_of(dns.at(field)).empty())
      host.push_back({name, dns.at(field)});
  std::vector<Value> options;
  for (const Value& option : items_of(dns.at("options")))
    options.emplace_back(option.at("value").is_null()
                             ? std::string(option.text_at("name"))
                             : cat(option.text_at("name"), ":", to_text(option.at("value"))));
  if (!options.empty())
    host.push_back({"DnsOptions", Value::list(std::move(options))});
}

/// The first letters of a long name, as the kubelet does: no system takes more.
std::string hostname_of(const Attributes& attributes) {
  constexpr size_t longest = 63;
  const Pod pod = read<Pod>(attributes);
  std::string_view name =
      pod.hostname.empty() ? pod.pod_template.at("spec").text_at("hostname") : pod.hostname.view();
  if (name.empty())
    name = pod.name.view();
  if (name.size() > longest)
    name = name.substr(0, name.find_last_not_of("-.", longest - 1) + 1);
  return std::string(name);
}

Status add_command(const PodContainer& container, const PodValues& values,
                   std::vector<Entry>& body) {
  std::map<std::string, std::string> variables;
  std::vector<Value> lines;
  for (auto& [name, value] : TRY(values.environment(container.spec))) {
    lines.emplace_back(cat(name, "=", value));
    variables.emplace(std::move(name), std::move(value));
  }
  body.push_back({"Env", Value::list(std::move(lines))});
  for (const auto& [field, name] : {std::pair("command", "Entrypoint"), std::pair("args", "Cmd")}) {
    std::vector<Value> words;
    for (const Value& word : items_of(container.spec.at(field)))
      words.emplace_back(expanded(to_text(word), variables));
    if (!words.empty())
      body.push_back({name, Value::list(std::move(words))});
  }
  return {};
}

}  // namespace

std::vector<PodContainer> pod_containers(const Attributes& attributes) {
  std::vector<PodContainer> found;
  const Value spec = pod_spec(attributes);
  for (const bool init : {true, false})
    for (const Value& container : items_of(spec.at(init ? "initContainers" : "containers"))) {
      const bool is_sidecar = container.text_at("restartPolicy") == "Always";
      found.push_back({.sort = !init        ? PodContainer::Sort::plain
                               : is_sidecar ? PodContainer::Sort::sidecar
                                            : PodContainer::Sort::init,
                       .name = std::string(container.text_at("name")),
                       .image = std::string(container.text_at("image")),
                       .spec = container,
                       .digest = digest_of(attributes, container)});
    }
  return found;
}

std::string container_uri(bool is_podman, std::string_view id) {
  return cat(is_podman ? "podman://" : "docker://", id);
}

std::string_view pod_restart_policy(const Attributes& attributes) {
  return pod_template_of(attributes).at("spec").text_at("restartPolicy", "Always");
}

Duration pod_grace(const Attributes& attributes) {
  return std::chrono::seconds(
      std::max<int64_t>(0, pod_template_of(attributes)
                               .at("spec")
                               .integer_at("terminationGracePeriodSeconds", default_grace_s)));
}

bool uses_host_network(const Attributes& attributes) {
  return pod_template_of(attributes).at("spec").bool_at("hostNetwork");
}

std::vector<std::string> pod_aliases(const Attributes& attributes) {
  const std::string host = hostname_of(attributes);
  std::vector<std::string> names{host};
  const Name own = read_one<&Pod::subdomain>(attributes).get();
  const std::string_view service =
      own.empty() ? pod_template_of(attributes).at("spec").text_at("subdomain") : own.view();
  if (!service.empty()) {
    names.push_back(cat(host, ".", service));
    names.emplace_back(service);
  }
  return names;
}

PodLimits pod_limits(const Value& container) {
  const Value& limits = container.at("resources").at("limits");
  return {.memory = quantity_milli(limits.at("memory")).value_or(0) / 1'000,
          .nano_cpus = std::min<int64_t>(quantity_milli(limits.at("cpu")).value_or(0), 1'000'000) *
                       nano_cpus_per_milli};
}

Digest holder_digest(const Attributes& attributes) {
  const Dict claims = read_one<&Pod::claims>(attributes);
  const Value& spec = pod_template_of(attributes).at("spec");
  return Value::dict({{"spec", picked(spec, {"hostNetwork", "hostPID", "hostIPC", "hostAliases",
                                             "dnsConfig", "shareProcessNamespace"})},
                      {"sysctls", spec.at("securityContext").at("sysctls")},
                      {"aliases", texts_value(pod_aliases(attributes))},
                      {"ports", Value::list(host_ports(attributes))},
                      {"claims", claims.empty() ? Value() : claims.value()},
                      {"volumes", pod_spec(attributes).at("volumes")}})
      .digest();
}

Result<Value> holder_body(const Attributes& attributes, const PodPlace& place,
                          const std::vector<PodVolume>& volumes, const Labels& labels) {
  const Value& spec = pod_template_of(attributes).at("spec");
  std::vector<Entry> body{{"Image", pause_image}, {"Labels", labels_value(labels)}};
  std::vector<Entry> host{{"IpcMode", spec.bool_at("hostIPC") ? "host" : "shareable"}};
  if (!uses_host_network(attributes))
    body.push_back({"Hostname", hostname_of(attributes)});
  if (spec.bool_at("hostPID"))
    host.push_back({"PidMode", "host"});
  std::vector<Value> mounts;
  for (const PodVolume& volume : volumes)
    if (volume.sort == PodVolume::Sort::files || volume.sort == PodVolume::Sort::memory)
      mounts.push_back(Value::dict({{"Type", "volume"},
                                    {"Source", volume.there},
                                    {"Target", cat("/volumes/", volume.name)}}));
  if (!mounts.empty())
    host.push_back({"Mounts", Value::list(std::move(mounts))});
  std::vector<Entry> sysctls;
  for (const Value& each : items_of(spec.at("securityContext").at("sysctls")))
    sysctls.push_back({std::string(each.text_at("name")), to_text(each.at("value"))});
  if (!sysctls.empty())
    host.push_back({"Sysctls", Value::dict(std::move(sysctls))});
  add_names(attributes, host);
  add_ports(attributes, body, host);
  add_holder_network(attributes, place, body, host);
  body.push_back({"HostConfig", Value::dict(std::move(host))});
  return Value::dict(std::move(body));
}

Result<Value> container_body(const Attributes& attributes, const PodContainer& container,
                             const PodPlace& place, const std::vector<PodVolume>& volumes,
                             const Labels& labels) {
  const Value& spec = pod_template_of(attributes).at("spec");
  std::vector<Entry> body{{"Image", container.image}, {"Labels", labels_value(labels)}};
  const std::string holder = cat("container:", place.holder);
  std::vector<Entry> host{{"NetworkMode", uses_host_network(attributes) ? "host" : holder},
                          {"IpcMode", spec.bool_at("hostIPC") ? "host" : holder}};
  // Docker shares the name together with the network.
  if (place.is_podman && !uses_host_network(attributes))
    host.push_back({"UTSMode", holder});
  if (spec.bool_at("hostPID"))
    host.push_back({"PidMode", "host"});
  else if (spec.bool_at("shareProcessNamespace"))
    host.push_back({"PidMode", holder});
  const PodValues values(attributes, place);
  TRY(add_command(container, values, body));
  if (const std::string_view folder = container.spec.text_at("workingDir"); !folder.empty())
    body.push_back({"WorkingDir", folder});
  if (container.spec.bool_at("tty"))
    body.push_back({"Tty", true});
  if (container.spec.bool_at("stdin"))
    body.push_back({"OpenStdin", true});
  TRY(add_security(attributes, container, body, host));
  add_resources(container.spec, host);
  TRY(add_mounts(container, volumes, host));
  add_restarts(attributes, container, host);
  body.push_back({"HostConfig", Value::dict(std::move(host))});
  return Value::dict(std::move(body));
}

}  // namespace fettle

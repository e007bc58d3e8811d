#include "packages/compose/program.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/text.h"
#include "packages/compose/forms.h"
#include "packages/names.h"
#include "packages/service_config.h"

namespace fettle::compose {
namespace {

constexpr std::string_view docker_socket = "/var/run/docker.sock";
constexpr int64_t megabyte = 1'000'000, smallest_memory = 6;
constexpr size_t largest_secret = 500'000;        ///< of a build: BuildKit's limit
constexpr std::string_view longest_wait = "24h";  ///< for a service to end

/// A text of Starlark.
std::string literal(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string made = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      made.append(1, '\\').append(1, c);
    else if (c == '\n')
      made += "\\n";
    else if (c == '\t')
      made += "\\t";
    else if (c == '\r')
      made += "\\r";
    else if (byte < 0x20 || byte == 0x7f)
      made.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    else
      made += c;
  }
  return made + "\"";
}

std::string list_of(const std::vector<std::string>& items) {
  std::vector<std::string> texts;
  for (const std::string& item : items)
    texts.push_back(literal(item));
  return cat("[", join(texts, ", "), "]");
}

template <typename Map>
std::string dict_of(const Map& entries) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : entries)
    texts.push_back(cat(literal(key), ": ", literal(value)));
  return cat("{", join(texts, ", "), "}");
}

std::string duration_of(int64_t milliseconds) {
  return milliseconds % 1000 == 0 ? cat(milliseconds / 1000, "s") : cat(milliseconds, "ms");
}

/// Arguments of a call, in their order.
class Fields {
 public:
  void add(std::string_view name, std::string value) {
    texts_.push_back(cat(name, "=", std::move(value)));
  }
  std::string call(std::string_view name) const { return cat(name, "(", join(texts_, ", "), ")"); }

 private:
  std::vector<std::string> texts_;
};

/// Where the files of a service come from, while it is written.
struct Files {
  std::map<std::string, std::string> mounts;  ///< path inside -> expression
  std::map<std::string, std::string> moved;   ///< where a file is put first -> where it belongs
  std::map<std::string, std::string> binds;
};

class Writer {
 public:
  Writer(const ProjectRequest& request, const Project& project, Notes& notes)
      : request_(request), project_(project), notes_(notes) {}

  Result<Program> write() {
    name_volumes();
    for (const Service& service : project_.services)
      by_name_[service.name] = &service;
    for (const Service& service : project_.services)
      for (const Dependency& needed : service.depends_on)
        if (needed.condition == Dependency::Condition::completed)
          awaited_ends_.insert(needed.service);
        else if (needed.condition == Dependency::Condition::healthy)
          check_health(needed);
    line({}, "def run(plan):");
    for (const Service& service : project_.services)
      TRY(add(service));
    return std::move(program_);
  }

 private:
  void line(const Where& origin, const std::string& text) {
    program_.text += text + "\n";
    program_.origins.push_back(origin);
  }
  void call(const Where& origin, std::string_view name, const std::string& arguments) {
    line(origin, cat("    plan.", name, "(", arguments, ")"));
  }

  /// Two services that mount one volume share it, so its key is its name. Others must not get the
  /// same key: `A_b` and `a-b` are two volumes.
  void name_volumes() {
    std::map<std::string, std::string> keys;  // by the name of the volume
    std::set<std::string> taken;
    for (const auto& [key, name] : project_.volumes) {
      const auto [made, is_new] = keys.try_emplace(name);
      if (is_new)
        made->second = free_name(plain_name(name), taken);
      volume_keys_[key] = made->second;
    }
  }

  /// `NAME`, `NAME-2`, …: the first that is not taken.
  static std::string free_name(const std::string& name, std::set<std::string>& taken) {
    std::string free = name.empty() ? "unnamed" : name;
    for (int i = 2; !taken.insert(free).second; ++i)
      free = cat(name, "-", i);
    return free;
  }

  void check_health(const Dependency& needed) {
    if (const Service& service = *by_name_.at(needed.service); !service.healthcheck)
      notes_.add(needed.where,
                 cat("`", printable(service.name),
                     "` has no `healthcheck` in the project, so it counts as healthy when it "
                     "has started"));
  }

  std::string inside_of(const std::string& path) const { return path_in_folder(request_, path); }

  Status add(const Service& service) {
    const std::string name = environment_name(service);
    Files files;
    TRY(volumes(service, name, files));
    TRY(grants(service, files));
    Fields config;
    config.add("image", TRY(image_of(service)));
    ports(service, config);
    if (!service.entrypoint.items.empty())
      config.add("entrypoint", list_of(service.entrypoint.items));
    if (!service.command.items.empty())
      config.add("cmd", list_of(service.command.items));
    note_empty_commands(service);
    environment(service, config);
    if (!files.mounts.empty()) {
      std::vector<std::string> texts;
      for (const auto& [path, content] : files.mounts)
        texts.push_back(cat(literal(path), ": ", content));
      config.add("files", cat("{", join(texts, ", "), "}"));
    }
    if (!files.moved.empty())
      config.add("files_to_be_moved", dict_of(files.moved));
    if (!files.binds.empty())
      config.add("bind_mounts", dict_of(files.binds));
    limits(service, config);
    rights(service, config);
    rest(service, name, config);
    readiness(service, config);
    call(service.where, "add_service",
         cat("name = ", literal(name), ", config = ", config.call("ServiceConfig")));
    return {};
  }

  /// Another service may name what is built here as its image.
  static std::string image_name(const Service& service) {
    return service.image.empty() ? cat(environment_name(service), "-image") : service.image;
  }

  Result<std::string> image_of(const Service& service) {
    if (!service.build)
      return literal(service.image);
    const Build& build = *service.build;
    Fields spec;
    spec.add("image_name", literal(image_name(service)));
    spec.add("build_context_dir", literal(build.context));
    if (!build.dockerfile.empty() && build.dockerfile != "Dockerfile")
      spec.add("build_file", literal(build.dockerfile));
    if (!build.dockerfile_inline.empty())
      spec.add("dockerfile_inline", literal(build.dockerfile_inline));
    if (!build.target.empty())
      spec.add("target_stage", literal(build.target));
    if (!build.args.empty())
      spec.add("build_args", dict_of(build.args));
    std::map<std::string, std::string> contexts, secrets;
    for (const NamedContext& context : build.contexts)
      contexts[context.name] =
          !context.service.empty()
              ? cat("docker-image://", image_name(*by_name_.at(context.service)))
          : context.image.empty() ? context.folder
                                  : context.image;
    for (const BuildSecret& secret : build.secrets)
      secrets[secret.id] = TRY(secret_text(secret));
    if (!contexts.empty())
      spec.add("additional_contexts", dict_of(contexts));
    if (!secrets.empty())
      spec.add("secrets", dict_of(secrets));
    return spec.call("ImageBuildSpec");
  }

  /// The content of a secret of the project, which is shown to nobody.
  Result<std::string> secret_text(const BuildSecret& secret) {
    const Content& content = project_.secrets.at(secret.source);
    std::string text = content.text;
    if (content.source == Content::Source::file) {
      if (!is_relative_path(content.file) || inside_of(content.file).starts_with(".."))
        return user_error(cat("the file `", printable(content.file), "` of the secret `",
                              printable(secret.source), "` is not in the project"),
                          content.where);
      Result<std::string> read = read_project_file(request_, content.file);
      if (!read)
        return user_error(to_string(read.error()), content.where);
      text = std::move(*read);
    }
    if (!is_valid_utf8(text) || text.size() > largest_secret)
      return user_error(
          cat("the secret `", printable(secret.source), "` of a build must be a text of at most ",
              largest_secret / 1000, " kB"),
          content.where);
    program_.hidden.push_back(text);
    return text;
  }

  /// Kurtosis: ports are called by their numbers in the list, and these four speak HTTP. A port that
  /// nobody listens to is no failure in compose.
  static void ports(const Service& service, Fields& config) {
    constexpr int http[] = {8080, 8000, 80, 443};
    std::vector<std::string> inner, outer;
    for (size_t i = 0; i < service.ports.size(); ++i) {
      const PublishedPort& port = service.ports[i];
      const auto spec = [&](int number) {
        Fields fields;
        fields.add("number", std::to_string(number));
        fields.add("transport_protocol", literal(upper_case(port.protocol)));
        if (std::ranges::find(http, port.target) != std::end(http) && port.protocol == "tcp")
          fields.add("application_protocol", literal("http"));
        fields.add("wait", "None");
        return cat(literal(cat("port", i)), ": ", fields.call("PortSpec"));
      };
      inner.push_back(spec(port.target));
      if (port.published)
        outer.push_back(spec(*port.published));
    }
    if (!inner.empty())
      config.add("ports", cat("{", join(inner, ", "), "}"));
    if (!outer.empty())
      config.add("public_ports", cat("{", join(outer, ", "), "}"));
    if (std::ranges::any_of(service.ports,
                            [](const PublishedPort& port) { return port.protocol == "udp"; }))
      config.add("publish_udp", "True");
  }

  void note_empty_commands(const Service& service) {
    for (const auto& [key, command] :
         {std::pair("command", &service.command), std::pair("entrypoint", &service.entrypoint)})
      if (command->is_given && command->items.empty())
        notes_.add(service.where, cat("an empty `", key, "` does not take away that of the image"));
  }

  static void environment(const Service& service, Fields& config) {
    std::map<std::string, std::string> variables;
    for (const auto& [name, value] : service.environment)
      if (value)
        variables[name] = *value;
    if (!variables.empty())
      config.add("env_vars", dict_of(variables));
  }

  Status volumes(const Service& service, const std::string& name, Files& files) {
    std::vector<std::pair<std::string, std::string>> uploads;
    for (size_t i = 0; i < service.volumes.size(); ++i) {
      const VolumeMount& mount = service.volumes[i];
      const std::string own = cat(name, "--volume", i);
      if (mount.type == VolumeMount::Type::tmpfs)
        continue;
      if (mount.type == VolumeMount::Type::volume) {
        const std::string key = mount.source.empty() ? own : volume_keys_.at(mount.source);
        files.mounts[mount.target] = cat("Directory(persistent_key=", literal(key), ")");
        continue;
      }
      if (const auto source = bind_source(mount, files))
        TRY(bind(mount, *source, own, files, uploads));
    }
    std::ranges::sort(uploads);
    for (const auto& [path, artifact] : uploads)
      call(service.where, "upload_files",
           cat("src = ", literal(path), ", name = ", literal(artifact)));
    return {};
  }

  /// The path from the project's folder; none: it is outside.
  std::optional<std::string> bind_source(const VolumeMount& mount, Files& files) {
    std::string source = mount.source;
    const std::string own = (request_.folder.path() / request_.inside).lexically_normal().string();
    if (source == own || source.starts_with(own + "/"))
      source = rebased(cat(".", source.substr(own.size())), "");
    if (source == docker_socket) {
      if (request_.allows_privileged)
        files.binds[mount.target] = source;
      else
        notes_.add(mount.where,
                   cat("`", docker_socket, "` is not mounted: allow it with `--privileged`"));
      return std::nullopt;
    }
    if (is_relative_path(source) && !inside_of(source).starts_with(".."))
      return source;
    notes_.add(mount.where, cat("`", printable(source),
                                "` is not mounted: it is outside of the project's folder"));
    return std::nullopt;
  }

  Status bind(const VolumeMount& mount, const std::string& source, const std::string& own,
              Files& files, std::vector<std::pair<std::string, std::string>>& uploads) {
    const std::string inside = inside_of(source);
    if (request_.folder.has_folder(inside)) {
      uploads.emplace_back(source, own);
      files.mounts[mount.target] = literal(own);
    } else if (request_.folder.has_file(inside)) {
      uploads.emplace_back(source, own);
      put_file(own, source.substr(source.rfind('/') + 1), mount.target, files);
    } else {
      const auto names = request_.folder.names_beside(inside);
      const std::string last = source.substr(source.rfind('/') + 1);
      if (std::ranges::find(names, last) != names.end())
        return user_error(cat("`", printable(source), "` is a link to the outside, or no file"),
                          mount.where);
      notes_.add(
          mount.where,
          cat("`", printable(source), "` does not exist", std::string(suggestion(last, names)),
              "; a folder of the environment is mounted, which keeps what is written"));
      std::string& key = made_folders_[source];
      if (key.empty())
        key = own;
      files.mounts[mount.target] = cat("Directory(persistent_key=", literal(key), ")");
    }
    return {};
  }

  /// Artifacts are folders; a file of one is put where it belongs before the service starts.
  static void put_file(const std::string& artifact, std::string_view name,
                       const std::string& target, Files& files) {
    const std::string folder = cat("/tmp/", artifact);
    files.mounts[folder] = literal(artifact);
    files.moved[cat(folder, "/", name)] = target;
  }

  Status grants(const Service& service, Files& files) {
    for (const Grant& grant : service.grants) {
      const std::string_view kind = grant.is_secret ? "secret" : "config";
      const Content& content =
          (grant.is_secret ? project_.secrets : project_.configs).at(grant.source);
      if (content.source == Content::Source::outside) {
        notes_.add(grant.where, cat("the ", kind, " `", printable(grant.source),
                                    "` is not mounted: it comes from outside of the project"));
        continue;
      }
      const auto [made, is_new] = contents_.try_emplace({grant.is_secret, grant.source});
      if (is_new)
        made->second =
            free_name(plain_name(grant.source), grant.is_secret ? secret_names_ : config_names_);
      std::string name = made->second;
      const std::string artifact = cat(kind, "--", name);
      if (content.source == Content::Source::file) {
        if (!is_relative_path(content.file) || inside_of(content.file).starts_with("..") ||
            !request_.folder.has_file(inside_of(content.file)))
          return user_error(cat("the file `", printable(content.file), "` of the ", kind, " `",
                                printable(grant.source), "` is not in the project"),
                            content.where);
        name = content.file.substr(content.file.rfind('/') + 1);
        if (is_new)
          call(content.where, "upload_files",
               cat("src = ", literal(content.file), ", name = ", literal(artifact)));
      } else if (is_new) {
        write_content(grant.is_secret, name, artifact, content);
      }
      put_file(artifact, name, grant.target, files);
    }
    return {};
  }

  void write_content(bool is_secret, const std::string& name, const std::string& artifact,
                     const Content& content) {
    const std::string_view field = is_secret ? "secret" : "text";
    if (is_secret)
      program_.hidden.push_back(content.text);
    call(content.where, "render_templates",
         cat("config = {", literal(name), ": struct(template=", literal(cat("{{.", field, "}}")),
             ", data={", literal(field), ": ", literal(content.text),
             "})}, name = ", literal(artifact)));
  }

  static void limits(const Service& service, Fields& config) {
    const auto memory = [](int64_t bytes) {
      return std::to_string(std::max(smallest_memory, (bytes + megabyte - 1) / megabyte));
    };
    if (service.memory_min > 0)
      config.add("min_memory", memory(service.memory_min));
    if (service.memory_max > 0)
      config.add("max_memory", memory(service.memory_max));
    if (service.cpu_min > 0)
      config.add("min_cpu", std::to_string(service.cpu_min));
    if (service.cpu_max > 0)
      config.add("max_cpu", std::to_string(service.cpu_max));
    Fields gpu;
    if (service.gpus) {
      if (service.gpus->count != 0)
        gpu.add("count", std::to_string(service.gpus->count));
      if (!service.gpus->device_ids.empty())
        gpu.add("device_ids", list_of(service.gpus->device_ids));
      if (!service.gpus->driver.empty())
        gpu.add("driver", literal(service.gpus->driver));
    }
    if (service.shm_size > 0)
      gpu.add("shm_size", std::to_string((service.shm_size + megabyte - 1) / megabyte));
    if (!service.ulimits.empty()) {
      std::vector<std::string> texts;
      for (const auto& [name, number] : service.ulimits)
        texts.push_back(cat(literal(name), ": ", number));
      gpu.add("ulimits", cat("{", join(texts, ", "), "}"));
    }
    if (service.gpus || service.shm_size > 0 || !service.ulimits.empty())
      config.add("gpu", gpu.call("GpuConfig"));
  }

  /// What needs `--privileged` is left out without it, and noted.
  void rights(const Service& service, Fields& config) {
    const auto allowed = [&](bool is_harmless, const std::string& what, const Where& where) {
      if (!is_harmless && !request_.allows_privileged)
        notes_.add(where, cat(what, " is not given to the service: allow it with `--privileged`"));
      return is_harmless || request_.allows_privileged;
    };
    if (service.is_privileged && allowed(false, "`privileged`", service.privileged_where))
      config.add("privileged", "True");
    if (service.sees_processes && allowed(false, "`pid: host`", service.pid_where))
      config.add("host_pid_namespace", "True");
    std::vector<std::string> capabilities, devices;
    for (const auto& [name, where] : service.capabilities)
      if (allowed(is_harmless_capability(name), cat("the capability `", printable(name), "`"),
                  where))
        capabilities.push_back(name);
    for (const auto& [name, where] : service.devices)
      if (allowed(is_harmless_device(name), cat("the device `", printable(name), "`"), where))
        devices.push_back(name);
    if (!capabilities.empty())
      config.add("capabilities", list_of(capabilities));
    if (!devices.empty())
      config.add("devices", list_of(devices));
  }

  void rest(const Service& service, const std::string& name, Fields& config) {
    labels(service, config);
    if (!service.user.empty())
      config.add("user", user_of(service.user));
    if (service.init)
      config.add("tini_enabled", *service.init ? "True" : "False");
    if (service.tty)
      config.add("tty_enabled", "True");
    if (!service.working_dir.empty())
      config.add("working_dir", literal(service.working_dir));
    if (!service.extra_hosts.empty())
      config.add("extra_hosts", dict_of(service.extra_hosts));
    std::vector<std::string> tmpfs = service.tmpfs;
    for (const VolumeMount& mount : service.volumes)
      if (mount.type == VolumeMount::Type::tmpfs)
        tmpfs.push_back(mount.target);
    if (!tmpfs.empty())
      config.add("tmpfs", list_of(tmpfs));
    std::vector<std::string> aliases;
    const auto alias = [&](const std::string& text) {
      if (!text.empty() && text != name && std::ranges::find(aliases, text) == aliases.end())
        aliases.push_back(text);
    };
    alias(service.name);
    alias(service.container_name);
    alias(service.hostname);
    for (const std::string& text : service.aliases)
      alias(text);
    if (!aliases.empty())
      config.add("aliases", list_of(aliases));
  }

  void labels(const Service& service, Fields& config) {
    std::map<std::string, std::string> kept;
    for (const auto& [key, value] : service.labels)
      if (check_label_key(key) && check_label_value(value))
        kept[key] = value;
    if (kept.size() < service.labels.size())
      notes_.add(service.labels_where,
                 "labels are kept if they are as those of Kurtosis: at most 63 letters, digits, "
                 "`-`, `_` and `.`");
    if (!kept.empty())
      config.add("labels", dict_of(kept));
  }

  static std::string user_of(const std::string& user) {
    const size_t colon = user.find(':');
    const auto id = [](const std::string& text) {
      const bool is_number = !text.empty() && text.size() < 10 &&
                             std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
      return is_number ? std::to_string(std::stol(text)) : literal(text);
    };
    Fields fields;
    fields.add("uid", id(user.substr(0, colon)));
    if (colon != user.npos)
      fields.add("gid", id(user.substr(colon + 1)));
    return fields.call("User");
  }

  void readiness(const Service& service, Fields& config) {
    Fields condition;
    if (awaited_ends_.contains(service.name)) {
      condition.add("recipe", "ExitRecipe()");
    } else if (service.healthcheck) {
      Fields recipe;
      recipe.add("command", list_of(service.healthcheck->command));
      condition.add("recipe", recipe.call("ExecRecipe"));
    } else {
      return;
    }
    condition.add("field", literal("code"));
    condition.add("assertion", literal("=="));
    condition.add("target_value", "0");
    if (awaited_ends_.contains(service.name)) {
      condition.add("timeout", literal(longest_wait));
    } else {
      const HealthCheck& check = *service.healthcheck;
      constexpr int64_t day = 86'400'000;
      const int64_t round =
          std::min(day, std::max<int64_t>(check.interval_ms, 1)) + std::min(day, check.timeout_ms);
      const int64_t rounds = std::min<int64_t>(check.retries, 1'000);
      condition.add("interval", literal(duration_of(std::max<int64_t>(check.interval_ms, 1))));
      condition.add("timeout",
                    literal(duration_of(std::min(day, check.start_period_ms) + rounds * round)));
    }
    config.add("ready_conditions", condition.call("ReadyCondition"));
  }

  const ProjectRequest& request_;
  const Project& project_;
  Notes& notes_;
  Program program_;
  std::map<std::string, const Service*> by_name_;
  std::map<std::string, std::string> volume_keys_;  ///< by the volume's key in the project
  std::map<std::string, std::string>
      made_folders_;                    ///< keys of folders that are not there, by path
  std::set<std::string> awaited_ends_;  ///< services that others need to have ended
  /// Names of the artifacts that are there: of configs and secrets, by what the project calls them.
  std::map<std::pair<bool, std::string>, std::string> contents_;
  std::set<std::string> config_names_, secret_names_;
};

constexpr std::string_view file_names[] = {"compose.yml",        "compose.yaml",
                                           "docker-compose.yml", "docker-compose.yaml",
                                           "docker_compose.yml", "docker_compose.yaml"};

std::string beneath(const std::string& inside, std::string_view name) {
  return cat(inside, inside.empty() ? "" : "/", name);
}

}  // namespace

Result<Program> compose_program(const ProjectRequest& request) {
  Notes notes;
  const Project project = TRY(read_project(request, notes));
  Program program = TRY(Writer(request, project, notes).write());
  program.warnings = notes.texts();
  return program;
}

std::string project_name(std::string_view text) {
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with("name:"))
      continue;
    line = trim(line.substr(5, line.find(" #") - 5));
    if (line.size() > 1 && line.front() == line.back() && (line[0] == '"' || line[0] == '\''))
      line = line.substr(1, line.size() - 2);
    return line.find('$') == line.npos ? std::string(line) : std::string();
  }
  return {};
}

bool is_compose_name(std::string_view file) {
  return std::ranges::find(file_names, file) != std::end(file_names);
}

std::string compose_file_in(const ClosedFolder& tree, const std::string& inside) {
  for (const std::string_view name : file_names)
    if (tree.has_file(beneath(inside, name)))
      return std::string(name);
  return {};
}

std::string override_of(const ClosedFolder& tree, const std::string& inside,
                        std::string_view file) {
  const size_t dot = file.rfind('.');
  if (!is_compose_name(file))
    return {};
  for (const std::string_view ending :
       {file.substr(dot), std::string_view(".yml"), std::string_view(".yaml")})
    if (const std::string name = cat(file.substr(0, dot), ".override", ending);
        tree.has_file(beneath(inside, name)))
      return name;
  return {};
}

}  // namespace fettle::compose

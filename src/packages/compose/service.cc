#include "packages/compose/service.h"

#include <algorithm>

#include "base/text.h"
#include "packages/compose/fields.h"
#include "packages/compose/forms.h"

namespace fettle::compose {
namespace {

constexpr std::string_view own_options = "the engine's own are used";

/// Reads one service, key by key.
class Reader {
 public:
  Reader(const std::string& name, const Node& node, Notes& notes) : node_(node), notes_(notes) {
    service_.name = name;
    service_.where = node.where();
  }

  Result<Service> read() {
    note_ineffective();
    TRY(texts());
    TRY(commands());
    TRY(build());
    TRY(ports());
    TRY(volumes());
    TRY(grants("configs", false));
    TRY(grants("secrets", true));
    TRY(dependencies());
    TRY(environment());
    TRY(healthcheck());
    TRY(limits());
    TRY(deploy());
    TRY(gpus());
    TRY(reach());
    TRY(network());
    return std::move(service_);
  }

 private:
  void note(std::string_view key, std::string_view why) {
    note(key, cat("`", key, "` has no effect: "), why);
  }
  void note(std::string_view key, std::string_view what, std::string_view why) {
    for (const NodeKey& one : node_.keys)
      if (one.text == key)
        notes_.add(node_.where_of(one), cat(what, why));
  }

  /// Of an item of `of`, those of the keys that are given.
  void note_keys(const Node& item, std::initializer_list<std::string_view> keys,
                 std::string_view of, std::string_view why) {
    for (const std::string_view key : keys)
      if (const Node* const value = given(item, key))
        notes_.add(value->where(), cat("`", key, "` of `", of, "` has no effect: ", why));
  }

  void note_ineffective() {
    for (size_t i = 0; i < node_.keys.size(); ++i)
      if (const std::string_view why = ineffective(node_.keys[i].text);
          !why.empty() && !node_.items[i].is_null())
        notes_.add(node_.where_of(node_.keys[i]),
                   cat("`", node_.keys[i].text, "` has no effect: ", why));
    if (const Node* const restart = given(node_, "restart");
        restart != nullptr && restart->text() != "no")
      note("restart", "services that end are started again by `--production`, or by the next run");
  }

  Status text(std::string_view key, std::string& into) {
    if (const Node* const found = given(node_, key))
      into = TRY(text_of(*found, key));
    return {};
  }

  Status list(std::string_view key, std::vector<std::string>& into) {
    if (const Node* const found = given(node_, key))
      into = TRY(texts_of(*found, key));
    return {};
  }

  Status texts() {
    TRY(text("image", service_.image));
    TRY(text("container_name", service_.container_name));
    TRY(text("hostname", service_.hostname));
    TRY(text("working_dir", service_.working_dir));
    TRY(text("user", service_.user));
    TRY(list("profiles", service_.profiles));
    TRY(list("tmpfs", service_.tmpfs));
    for (std::string& path : service_.tmpfs)
      if (const size_t end = path.find(':'); end != path.npos) {
        path.resize(end);
        note("tmpfs", "options of `tmpfs` have no effect: ", own_options);
      }
    if (const Node* const init = given(node_, "init"))
      service_.init = TRY(truth_of(*init, "init"));
    if (const Node* const tty = given(node_, "tty"))
      service_.tty = TRY(truth_of(*tty, "tty"));
    if (const Node* const stdin_open = given(node_, "stdin_open");
        stdin_open != nullptr && TRY(truth_of(*stdin_open, "stdin_open")) && !service_.tty)
      note("stdin_open", "without `tty`, standard input is closed");
    if (given(node_, "provider") != nullptr)
      return error_at(*given(node_, "provider"),
                      "a service of a `provider` is not made by an image; take it out, or give it "
                      "a profile");
    return mapping("labels", service_.labels);
  }

  Status mapping(std::string_view key, std::map<std::string, std::string>& into) {
    const Node* const found = given(node_, key);
    if (found == nullptr)
      return {};
    if (!found->is_dict())
      return error_at(*found, cat("`", key, "` must be a mapping, it is ", kind_of(*found)));
    if (key == "labels")
      service_.labels_where = found->where();
    for (size_t i = 0; i < found->keys.size(); ++i)
      into[found->keys[i].text] =
          found->items[i].is_null() ? "" : TRY(text_of(found->items[i], key));
    return {};
  }

  Status commands() {
    for (const auto& [key, into] :
         {std::pair("command", &service_.command), std::pair("entrypoint", &service_.entrypoint)})
      if (const Node* const found = given(node_, key)) {
        into->items = TRY(texts_of(*found, key));
        into->is_given = true;
      }
    return {};
  }

  Status build() {
    const Node* const found = given(node_, "build");
    if (found == nullptr)
      return {};
    Build build;
    for (size_t i = 0; i < found->keys.size(); ++i) {
      const std::string& key = found->keys[i].text;
      const Node& value = found->items[i];
      if (value.is_null() || key.starts_with("x-"))
        continue;
      if (key == "context")
        build.context = TRY(text_of(value, key));
      else if (key == "dockerfile")
        build.dockerfile = TRY(text_of(value, key));
      else if (key == "target")
        build.target = TRY(text_of(value, key));
      else if (key == "args")
        TRY(build_args(value, build));
      else if (key == "dockerfile_inline")
        build.dockerfile_inline = TRY(text_of(value, key));
      else if (key == "additional_contexts")
        TRY(contexts(value, build));
      else if (key == "secrets")
        TRY(build_secrets(value, build));
      else
        notes_.add(found->where_of(found->keys[i]), cat("`", key, "` of `build` has no effect"));
    }
    if (!build.dockerfile.empty() && !build.dockerfile_inline.empty())
      return error_at(*found, "a build has either a `dockerfile` or a `dockerfile_inline`");
    if (build.context.find("://") != std::string::npos || build.context.starts_with("git@"))
      return error_at(*found, cat("the context `", printable(build.context),
                                  "` is not a folder of the project: clone it there"));
    service_.build = std::move(build);
    return {};
  }

  static Status contexts(const Node& given, Build& build) {
    constexpr std::string_view of_image = "docker-image://", of_service = "service:";
    if (!given.is_dict())
      return error_at(given,
                      cat("`additional_contexts` must be a mapping, it is ", kind_of(given)));
    for (size_t i = 0; i < given.keys.size(); ++i) {
      const std::string text = TRY(text_of(given.items[i], given.keys[i].text));
      NamedContext context{.name = given.keys[i].text, .where = given.items[i].where()};
      if (text.starts_with(of_image))
        context.image = text;
      else if (text.starts_with(of_service))
        context.service = text.substr(of_service.size());
      else if (text.find(':') == text.npos)
        context.folder = text;
      else
        return error_at(given.items[i],
                        cat("the context `", printable(context.name), "` is `", printable(text),
                            "`: it is a folder of the project, `service:NAME` or "
                            "`docker-image://REFERENCE`; clone a repository, or unpack an archive, "
                            "into the project"));
      build.contexts.push_back(std::move(context));
    }
    return {};
  }

  Status build_secrets(const Node& given_secrets, Build& build) {
    for (const Node& item : given_secrets.items) {
      note_keys(item, {"mode", "uid", "gid"}, "secrets", "the mount in the Dockerfile says it");
      BuildSecret secret{.source = TRY(text_of(*item.find("source"), "source")),
                         .where = item.where()};
      const Node* const target = given(item, "target");
      secret.id = target == nullptr ? secret.source : TRY(text_of(*target, "target"));
      build.secrets.push_back(std::move(secret));
    }
    return {};
  }

  static Status build_args(const Node& args, Build& build) {
    if (!args.is_dict())
      return error_at(args, cat("`args` must be a mapping, it is ", kind_of(args)));
    for (size_t i = 0; i < args.keys.size(); ++i)
      if (!args.items[i].is_null())
        build.args[args.keys[i].text] = TRY(text_of(args.items[i], args.keys[i].text));
    return {};
  }

  Status ports() {
    const Node* const found = given(node_, "ports");
    if (found == nullptr)
      return {};
    for (const Node& item : found->items) {
      PublishedPort port;
      port.where = item.where();
      const Node* const target = given(item, "target");
      if (target == nullptr)
        return error_at(item, "a port needs a `target`, the port in the container");
      port.target = static_cast<int>(TRY(integer_of(*target, "target")));
      if (port.target < 1 || port.target > 65535)
        return error_at(*target, cat("the port ", port.target, " is out of range"));
      if (const Node* const protocol = given(item, "protocol"))
        port.protocol = lower_case(TRY(text_of(*protocol, "protocol")));
      if (port.protocol != "tcp" && port.protocol != "udp" && port.protocol != "sctp")
        return error_at(item, cat("the port has the protocol `", printable(port.protocol),
                                  "`, expected `tcp`, `udp` or `sctp`"));
      if (const Node* const published = given(item, "published")) {
        const std::string text = TRY(text_of(*published, "published"));
        if (text.find('-') != text.npos)
          notes_.add(published->where(),
                     "of a range of published ports a free one is taken, which may be outside");
        else if (const int64_t number = TRY(integer_of(*published, "published")); number > 0)
          port.published = static_cast<int>(std::min<int64_t>(number, 65536));
      }
      if (port.published && *port.published > 65535)
        return error_at(item, "the published port is out of range");
      if (const Node* const address = given(item, "host_ip");
          address != nullptr && address->text() != "127.0.0.1" && address->text() != "0.0.0.0")
        notes_.add(address->where(), "ports are published on 127.0.0.1 only");
      service_.ports.push_back(std::move(port));
    }
    return {};
  }

  Status volumes() {
    if (given(node_, "volumes_from") != nullptr)
      note("volumes_from", "name the volumes in both services instead");
    const Node* const found = given(node_, "volumes");
    if (found == nullptr)
      return {};
    for (const Node& item : found->items) {
      VolumeMount mount;
      mount.where = item.where();
      mount.target = TRY(text_of(*item.find("target"), "target"));
      if (const Node* const source = given(item, "source"))
        mount.source = TRY(text_of(*source, "source"));
      const Node* const type = given(item, "type");
      const std::string name = type == nullptr ? "volume" : type->text();
      if (name == "bind") {
        mount.type = VolumeMount::Type::bind;
        if (mount.source.empty())
          return error_at(item, "a volume of the type `bind` needs a `source`, the path outside");
      } else if (name == "tmpfs")
        mount.type = VolumeMount::Type::tmpfs;
      else if (name != "volume") {
        notes_.add(item.where(), cat("volumes of the type `", printable(name),
                                     "` are not mounted, only bind, volume and tmpfs"));
        continue;
      }
      TRY(note_mount(item, name));
      service_.volumes.push_back(std::move(mount));
    }
    return {};
  }

  Status note_mount(const Node& item, std::string_view type) {
    if (const Node* const options = given(item, "tmpfs"))
      note_keys(*options, {"size", "mode"}, "tmpfs", own_options);
    if (const Node* const options = given(item, "bind"))
      note_keys(*options, {"propagation"}, "bind", "files are copied into the container");
    if (const Node* const options = given(item, "volume"))
      note_keys(*options, {"subpath"}, "volume", "the whole volume is mounted");
    // A copy is the service's own.
    if (const Node* const read_only = given(item, "read_only");
        read_only != nullptr && type == "volume" && TRY(truth_of(*read_only, "read_only")))
      note_keys(item, {"read_only"}, "volumes", "a service can write to what it mounts");
    return {};
  }

  Status grants(std::string_view key, bool is_secret) {
    const Node* const found = given(node_, key);
    if (found == nullptr)
      return {};
    for (const Node& item : found->items) {
      Grant grant;
      grant.where = item.where();
      grant.is_secret = is_secret;
      note_keys(item, {"mode", "uid", "gid"}, key, "its file is root's, and everybody may read it");
      grant.source = TRY(text_of(*item.find("source"), "source"));
      const Node* const target = given(item, "target");
      grant.target = target == nullptr ? grant.source : TRY(text_of(*target, "target"));
      if (!grant.target.starts_with('/'))
        grant.target = cat(is_secret ? "/run/secrets/" : "/", grant.target);
      service_.grants.push_back(std::move(grant));
    }
    return {};
  }

  Status dependencies() {
    if (const Node* const found = given(node_, "depends_on"))
      for (size_t i = 0; i < found->keys.size(); ++i) {
        Dependency needed;
        needed.service = found->keys[i].text;
        needed.where = found->where_of(found->keys[i]);
        const Node& value = found->items[i];
        if (const Node* const condition = given(value, "condition"))
          needed.condition = TRY(condition_of(*condition));
        if (const Node* const required = given(value, "required"))
          needed.is_required = TRY(truth_of(*required, "required"));
        if (const Node* const restart = given(value, "restart");
            restart != nullptr && TRY(truth_of(*restart, "restart")))
          notes_.add(restart->where(),
                     "`restart` of `depends_on` has no effect: a service is not restarted with "
                     "another one");
        service_.depends_on.push_back(std::move(needed));
      }
    if (const Node* const links = given(node_, "links"))
      for (const Node& link : links->items) {
        const std::string text = link.text();
        const std::string name = text.substr(0, text.find(':'));
        if (text.find(':') != text.npos)
          notes_.add(link.where(), "a link gives no other name; `aliases` of a network does");
        const auto& all = service_.depends_on;
        if (std::ranges::find(all, name, &Dependency::service) == all.end())
          service_.depends_on.push_back({.service = name, .where = link.where()});
      }
    return {};
  }

  static Result<Dependency::Condition> condition_of(const Node& node) {
    const std::string text = node.text();
    if (text == "service_started")
      return Dependency::Condition::started;
    if (text == "service_healthy")
      return Dependency::Condition::healthy;
    if (text == "service_completed_successfully")
      return Dependency::Condition::completed;
    const std::vector<std::string> known{"service_started", "service_healthy",
                                         "service_completed_successfully"};
    const std::string near = suggestion(text, known);
    return error_at(node, cat("there is no condition `", printable(text), "`",
                              near.empty() ? cat(", expected one of ", join(known, ", ")) : near));
  }

  Status environment() {
    if (const Node* const found = given(node_, "environment"))
      for (size_t i = 0; i < found->keys.size(); ++i)
        service_.environment[found->keys[i].text] =
            found->items[i].is_null()
                ? std::optional<std::string>()
                : std::optional(TRY(text_of(found->items[i], found->keys[i].text)));
    const Node* const files = given(node_, "env_file");
    if (files == nullptr)
      return extra_hosts();
    for (const Node& item : files->items) {
      EnvFile file{.path = TRY(text_of(*item.find("path"), "path")), .where = item.where()};
      if (const Node* const required = given(item, "required"))
        file.is_required = TRY(truth_of(*required, "required"));
      if (const Node* const format = given(item, "format"))
        file.is_raw = TRY(is_raw_format(*format));
      service_.env_files.push_back(std::move(file));
    }
    return extra_hosts();
  }

  Status extra_hosts() {
    TRY(mapping("extra_hosts", service_.extra_hosts));
    for (const auto& [name, address] : service_.extra_hosts)
      if (address.empty())
        return error_at(
            *node_.find("extra_hosts"),
            cat("`extra_hosts`: `", printable(name), "` has no address, expected `NAME=ADDRESS`"));
    return {};
  }

  static Result<bool> is_raw_format(const Node& format) {
    if (format.text() != "raw")
      return error_at(format, cat("there is no format `", printable(format.text()),
                                  "` of an `env_file`, expected `raw`"));
    return true;
  }

  Status healthcheck() {
    const Node* const found = given(node_, "healthcheck");
    if (found == nullptr)
      return {};
    if (!found->is_dict())
      return error_at(*found, cat("`healthcheck` must be a mapping, it is ", kind_of(*found)));
    const Node* const disable = given(*found, "disable");
    const Node* const test = given(*found, "test");
    if ((disable != nullptr && TRY(truth_of(*disable, "disable"))) || test == nullptr)
      return {};
    std::vector<std::string> words = TRY(texts_of(*test, "test"));
    if (words.empty() || words[0] == "NONE")
      return {};
    note_keys(*found, {"start_interval"}, "healthcheck", "each try waits for `interval`");
    HealthCheck check;
    if (words[0] == "CMD-SHELL")
      check.command = {"/bin/sh", "-c", words.size() > 1 ? words[1] : ""};
    else if (words[0] == "CMD" && words.size() > 1)
      check.command.assign(words.begin() + 1, words.end());
    else
      return error_at(*test, "`test` must begin with `CMD`, `CMD-SHELL` or `NONE`");
    for (const auto& [key, into] :
         {std::pair("interval", &check.interval_ms), std::pair("timeout", &check.timeout_ms),
          std::pair("start_period", &check.start_period_ms)})
      if (const Node* const value = given(*found, key))
        *into = TRY(milliseconds_of(*value, key));
    if (const Node* const retries = given(*found, "retries"))
      check.retries = std::clamp<int64_t>(TRY(integer_of(*retries, "retries")), 1, 1'000'000);
    service_.healthcheck = std::move(check);
    return {};
  }

  Status limits() {
    if (const Node* const cpus = given(node_, "cpus"))
      service_.cpu_max = TRY(thousandths_of(*cpus, "cpus"));
    for (const auto& [key, into] : {std::pair("mem_limit", &service_.memory_max),
                                    std::pair("mem_reservation", &service_.memory_min),
                                    std::pair("shm_size", &service_.shm_size)})
      if (const Node* const value = given(node_, key))
        *into = TRY(bytes_of(*value, key));
    const Node* const all = given(node_, "ulimits");
    if (all == nullptr)
      return {};
    if (!all->is_dict())
      return error_at(*all, "`ulimits` must be a mapping");
    for (size_t i = 0; i < all->keys.size(); ++i) {
      const Node& value = all->items[i];
      const Node* const number = value.is_dict() ? given(value, "soft") : &value;
      if (number == nullptr)
        return error_at(value, "a limit needs `soft` and `hard`");
      if (const Node* const hard = given(value, "hard");
          hard != nullptr && hard->text() != number->text())
        note_keys(value, {"hard"}, all->keys[i].text, "both are what `soft` says");
      service_.ulimits[all->keys[i].text] = TRY(integer_of(*number, all->keys[i].text));
    }
    return {};
  }

  Status deploy() {
    const Node* const found = given(node_, "deploy");
    if (found != nullptr)
      for (size_t i = 0; i < found->keys.size(); ++i) {
        const std::string& key = found->keys[i].text;
        const bool is_one = key == "replicas" && found->items[i].text() == "1";
        if (key != "resources" && !is_one && !key.starts_with("x-"))
          notes_.add(found->where_of(found->keys[i]),
                     cat("`", key, "` of `deploy` has no effect: only `resources` has"));
      }
    if (const Node* const scale = given(node_, "scale"); scale != nullptr && scale->text() != "1")
      note("scale", "each service has one container");
    const Node* const resources = found == nullptr ? nullptr : given(*found, "resources");
    if (resources == nullptr)
      return {};
    if (const Node* const most = given(*resources, "limits")) {
      TRY(amounts(*most, service_.cpu_max, service_.memory_max));
      note_keys(*most, {"pids"}, "limits", "limits of this kind are not set");
    }
    if (const Node* const least = given(*resources, "reservations")) {
      TRY(amounts(*least, service_.cpu_min, service_.memory_min));
      if (const Node* const devices = given(*least, "devices"))
        TRY(gpus_of(*devices));
    }
    return {};
  }

  static Status amounts(const Node& node, int64_t& cpus, int64_t& memory) {
    if (const Node* const value = given(node, "cpus"))
      cpus = TRY(thousandths_of(*value, "cpus"));
    if (const Node* const value = given(node, "memory"))
      memory = TRY(bytes_of(*value, "memory"));
    return {};
  }

  Status gpus() {
    const Node* const found = given(node_, "gpus");
    if (found == nullptr)
      return {};
    if (found->text() == "all") {
      service_.gpus = Gpus{.count = -1};
      return {};
    }
    return gpus_of(*found);
  }

  Status gpus_of(const Node& devices) {
    if (!devices.is_list())
      return error_at(devices, "devices must be a list");
    for (const Node& device : devices.items) {
      Gpus gpus{.count = -1};
      if (const Node* const count = given(device, "count");
          count != nullptr && count->text() != "all")
        gpus.count = TRY(integer_of(*count, "count"));
      if (const Node* const ids = given(device, "device_ids")) {
        gpus.device_ids = TRY(texts_of(*ids, "device_ids"));
        gpus.count = 0;
      }
      if (const Node* const driver = given(device, "driver"))
        gpus.driver = TRY(text_of(*driver, "driver"));
      service_.gpus = std::move(gpus);
    }
    return {};
  }

  Status reach() {
    if (const Node* const privileged = given(node_, "privileged")) {
      service_.is_privileged = TRY(truth_of(*privileged, "privileged"));
      service_.privileged_where = privileged->where();
    }
    if (const Node* const pid = given(node_, "pid")) {
      service_.sees_processes = pid->text() == "host";
      service_.pid_where = pid->where();
      if (!service_.sees_processes)
        note("pid", "each service has its own processes");
    }
    if (const Node* const all = given(node_, "cap_add"))
      for (const Node& one : all->items)
        service_.capabilities.emplace_back(TRY(text_of(one, "cap_add")), one.where());
    if (const Node* const all = given(node_, "devices"))
      for (const Node& one : all->items)
        device(one);
    return {};
  }

  void device(const Node& one) {
    if (one.is_scalar()) {
      service_.devices.emplace_back(one.text(), one.where());
    } else if (const Node* const source = given(one, "source")) {
      const Node* const target = given(one, "target");
      service_.devices.emplace_back(
          cat(source->text(), ":", target == nullptr ? source->text() : target->text()),
          one.where());
    }
  }

  Status network() {
    if (const Node* const mode = given(node_, "network_mode");
        mode != nullptr && mode->text() != "bridge" && mode->text() != "default")
      note("network_mode", "each service has its own address in the network of the environment");
    const Node* const found = given(node_, "networks");
    if (found == nullptr)
      return {};
    for (const Node& network : found->items) {
      if (const Node* const aliases = given(network, "aliases"))
        for (std::string& alias : TRY(texts_of(*aliases, "aliases")))
          service_.aliases.push_back(std::move(alias));
      for (const std::string_view key : {"ipv4_address", "ipv6_address", "mac_address"})
        if (const Node* const value = given(network, key))
          notes_.add(value->where(), cat("`", key, "` has no effect: addresses are chosen"));
    }
    return {};
  }

  const Node& node_;
  Notes& notes_;
  Service service_;
};

}  // namespace

Result<Service> read_service(const std::string& name, const Node& node, Notes& notes) {
  return Reader(name, node, notes).read();
}

}  // namespace fettle::compose

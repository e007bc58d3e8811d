#include "packages/compose/forms.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "packages/compose/command_words.h"
#include "packages/compose/part_keys.h"
#include "packages/compose/ports.h"

namespace fettle::compose {
namespace {

/// A range is written as each of its ports, and a line may have many ranges.
constexpr size_t most_ports = 65'535;

struct KnownKey {
  std::string_view name;
  std::string_view why_not{};  ///< empty: it has an effect, or there is nothing to say
};

constexpr std::string_view no_limits = "limits of this kind are not set";
constexpr std::string_view no_networks =
    "all services of an environment share one network, in which each is found by its name";
constexpr std::string_view no_kernel = "settings of the kernel and of namespaces are the engine's";
constexpr std::string_view no_hooks = "hooks are not run";
constexpr std::string_view no_dns = "names are resolved by the engine";
constexpr std::string_view no_ends = "a service is stopped with the engine's signal and grace";

constexpr KnownKey service_keys[] = {
    {"annotations", "annotations are not kept"},
    {"attach"},
    {"blkio_config", no_limits},
    {"build"},
    {"cap_add"},
    {"cap_drop", "capabilities are not taken away"},
    {"cgroup", no_kernel},
    {"cgroup_parent", no_kernel},
    {"command"},
    {"configs"},
    {"container_name"},
    {"cpu_count", no_limits},
    {"cpu_percent", no_limits},
    {"cpu_period", no_limits},
    {"cpu_quota", no_limits},
    {"cpu_rt_period", no_limits},
    {"cpu_rt_runtime", no_limits},
    {"cpu_shares", no_limits},
    {"cpus"},
    {"cpuset", no_limits},
    {"credential_spec", "only Windows has it"},
    {"depends_on"},
    {"deploy"},
    {"develop", "files are not watched; a repeated run does what changed"},
    {"device_cgroup_rules", no_kernel},
    {"devices"},
    {"dns", no_dns},
    {"dns_opt", no_dns},
    {"dns_search", no_dns},
    {"domainname", no_dns},
    {"entrypoint"},
    {"env_file"},
    {"environment"},
    {"expose"},
    {"extends"},
    {"external_links", no_networks},
    {"extra_hosts"},
    {"gpus"},
    {"group_add", "groups are not added to the user"},
    {"healthcheck"},
    {"hostname"},
    {"image"},
    {"init"},
    {"ipc", no_kernel},
    {"isolation", "only Windows has it"},
    {"label_file", "files of labels are not read"},
    {"labels"},
    {"links"},
    {"logging", "logs are kept by the engine's own driver"},
    {"mac_address", no_networks},
    {"mem_limit"},
    {"mem_reservation"},
    {"mem_swappiness", no_limits},
    {"memswap_limit", no_limits},
    {"models", "models are not provided"},
    {"network_mode"},
    {"networks"},
    {"oom_kill_disable", no_kernel},
    {"oom_score_adj", no_kernel},
    {"pid"},
    {"pids_limit", no_limits},
    {"platform", "images are those of the engine's own platform"},
    {"ports"},
    {"post_start", no_hooks},
    {"pre_start", no_hooks},
    {"pre_stop", no_hooks},
    {"privileged"},
    {"profiles"},
    {"provider"},
    {"pull_policy", "`--image-download` says when images are pulled"},
    {"pull_refresh_after", "`--image-download` says when images are pulled"},
    {"read_only", "a service can write to its own files"},
    {"restart"},
    {"runtime", "services run in the engine's own runtime"},
    {"scale"},
    {"secrets"},
    {"security_opt", no_kernel},
    {"shm_size"},
    {"stdin_open"},
    {"stop_grace_period", no_ends},
    {"stop_signal", no_ends},
    {"storage_opt", no_limits},
    {"sysctls", no_kernel},
    {"tmpfs"},
    {"tty"},
    {"ulimits"},
    {"umask", no_kernel},
    {"use_api_socket", "the engine is not given to a service"},
    {"user"},
    {"userns_mode", no_kernel},
    {"uts", no_kernel},
    {"volume_driver", "volumes are the engine's own"},
    {"volumes"},
    {"volumes_from"},
    {"working_dir"},
};

constexpr std::string_view top_keys[] = {"version", "name",    "services", "networks", "volumes",
                                         "secrets", "configs", "include",  "models"};

Error wrong_form(const Node& node, std::string_view key, std::string_view expected) {
  return error_at(node, cat("`", key, "` must be ", expected, ", it is ", kind_of(node)));
}

/// One service, key by key.
class ServiceForms {
 public:
  ServiceForms(Node& service, const std::string& base, size_t& ports_left)
      : service_(service), base_(base), ports_left_(ports_left) {}

  Status bring() {
    std::vector<std::string_view> known;
    for (const KnownKey& key : service_keys)
      known.push_back(key.name);
    TRY(check_keys(service_, "a service", known));
    for (const std::string_view key : {"environment", "labels", "annotations", "sysctls"})
      TRY(mapping(service_, key, '='));
    TRY(mapping(service_, "extra_hosts", '='));
    for (const std::string_view key :
         {"tmpfs", "dns", "dns_search", "dns_opt", "label_file", "env_file"})
      TRY(list(service_, key));
    for (const std::string_view key : {"cap_add", "cap_drop", "devices", "expose", "group_add",
                                       "links", "profiles", "security_opt", "volumes_from"})
      TRY(only_list(key));
    TRY(env_files());
    TRY(keyed("depends_on"));
    TRY(keyed("networks"));
    TRY(build());
    TRY(ports());
    TRY(volumes());
    TRY(grants(service_, "configs"));
    TRY(grants(service_, "secrets"));
    TRY(commands());
    TRY(check_service_parts(service_));
    return extends();
  }

 private:
  /// Texts `KEY=VALUE` or a mapping.
  static Status mapping(Node& owner, std::string_view key, char separator) {
    Node* const node = owner.find(key);
    if (node == nullptr || node->is_null() || node->is_dict())
      return {};
    if (!node->is_list())
      return wrong_form(*node, key, "a mapping or a list of `KEY=VALUE`");
    Node made = dict_node(*node);
    for (const Node& item : node->items) {
      if (!item.is_scalar())
        return wrong_form(item, key, "a list of `KEY=VALUE`");
      const std::string text = item.text();
      size_t cut = text.find(separator);
      if (cut == text.npos && key == "extra_hosts")
        cut = text.find(':');
      const NodeKey name{text.substr(0, cut), item.place};
      Node value = item;
      value.type = Node::Type::null;
      value.scalar = Value();
      made.put(name, cut == text.npos ? std::move(value) : text_node(text.substr(cut + 1), item));
    }
    *node = std::move(made);
    return {};
  }

  static Status list(Node& owner, std::string_view key) {
    Node* const node = owner.find(key);
    if (node == nullptr || node->is_null() || node->is_list())
      return {};
    if (node->is_dict() && key != "env_file")
      return wrong_form(*node, key, "a text or a list");
    Node made = list_node(*node);
    made.items.push_back(*node);
    made.items.back().merge = Node::Merge::usual;
    *node = std::move(made);
    return {};
  }

  Status only_list(std::string_view key) const {
    const Node* const node = service_.find(key);
    return node == nullptr || node->is_null() || node->is_list() ? Status()
                                                                 : wrong_form(*node, key, "a list");
  }

  Status env_files() {
    Node* const files = service_.find("env_file");
    if (files == nullptr)
      return {};
    for (Node& file : files->items) {
      if (file.is_scalar()) {
        Node made = dict_node(file);
        made.put({"path", file.place}, text_node(file.text(), file));
        file = std::move(made);
      }
      Node* const path = file.is_dict() ? file.find("path") : nullptr;
      if (path == nullptr || !path->is_scalar())
        return wrong_form(file, "env_file", "a path, or a mapping with `path`");
      path->scalar = Value(rebased(path->text(), base_));
    }
    return {};
  }

  /// A list of names, or a mapping by them.
  Status keyed(std::string_view key) {
    Node* const node = service_.find(key);
    if (node == nullptr || node->is_null() || node->is_dict())
      return {};
    if (!node->is_list())
      return wrong_form(*node, key, "a list or a mapping");
    Node made = dict_node(*node);
    for (const Node& item : node->items) {
      if (!item.is_scalar())
        return wrong_form(item, key, "a list of names");
      Node empty = item;
      empty.type = Node::Type::null;
      empty.scalar = Value();
      made.put({item.text(), item.place}, std::move(empty));
    }
    *node = std::move(made);
    return {};
  }

  Status build() {
    Node* const node = service_.find("build");
    if (node == nullptr || node->is_null())
      return {};
    if (node->is_scalar()) {
      Node made = dict_node(*node);
      made.put({"context", node->place}, text_node(node->text(), *node));
      *node = std::move(made);
    }
    if (!node->is_dict())
      return wrong_form(*node, "build", "a path or a mapping");
    TRY(mapping(*node, "args", '='));
    TRY(mapping(*node, "labels", '='));
    TRY(mapping(*node, "additional_contexts", '='));
    if (Node* const contexts = node->find("additional_contexts"); contexts != nullptr)
      for (Node& context : contexts->items)
        if (const std::string given = context.is_scalar() ? context.text() : "";
            !given.empty() && given.find(':') == given.npos)
          context.scalar = Value(rebased(given, base_));
    TRY(grants(*node, "secrets"));
    if (Node* const context = node->find("context"); context != nullptr && context->is_scalar())
      if (const std::string path = context->text(); path.find("://") == path.npos)
        context->scalar = Value(rebased(path, base_));
    return {};
  }

  Status ports() {
    Node* const node = service_.find("ports");
    if (node == nullptr || node->is_null())
      return {};
    if (!node->is_list())
      return wrong_form(*node, "ports", "a list");
    Node made = list_node(*node);
    for (Node& item : node->items) {
      if (item.is_dict()) {
        made.items.push_back(std::move(item));
        continue;
      }
      if (!item.is_scalar())
        return wrong_form(item, "ports", "a list of texts or mappings");
      const Result<std::vector<PortForm>> forms = read_port(item.text());
      if (!forms)
        return error_at(item, forms.error().message);
      if (forms->size() > ports_left_)
        return error_at(item, cat("a file may have ", most_ports, " ports"));
      ports_left_ -= forms->size();
      for (const PortForm& form : *forms)
        made.items.push_back(port_node(form, item));
    }
    *node = std::move(made);
    return {};
  }

  static Node port_node(const PortForm& form, const Node& like) {
    Node made = dict_node(like);
    made.put({"target", like.place}, text_node(std::to_string(form.target), like));
    if (!form.published.empty())
      made.put({"published", like.place}, text_node(form.published, like));
    if (!form.address.empty())
      made.put({"host_ip", like.place}, text_node(form.address, like));
    made.put({"protocol", like.place}, text_node(form.protocol, like));
    return made;
  }

  Status volumes() {
    Node* const node = service_.find("volumes");
    if (node == nullptr || node->is_null())
      return {};
    if (!node->is_list())
      return wrong_form(*node, "volumes", "a list");
    for (Node& item : node->items) {
      if (item.is_scalar())
        item = TRY(volume_node(item));
      Node* const target = item.find("target");
      if (!item.is_dict() || target == nullptr || !target->is_scalar())
        return error_at(item, "a volume needs a `target`, the path in the container");
      target->scalar = Value(plain_path(target->text()));
      Node* const source = item.find("source");
      const Node* const type = item.find("type");
      if (source != nullptr && source->is_scalar() && type != nullptr && type->text() == "bind")
        source->scalar = Value(rebased(source->text(), base_));
    }
    return {};
  }

  /// One path in one form, for volumes are merged by it.
  static std::string plain_path(const std::string& path) {
    std::string plain = std::filesystem::path(path).lexically_normal().string();
    if (plain.size() > 1 && plain.ends_with('/'))
      plain.pop_back();
    return plain;
  }

  /// `[SOURCE:]TARGET[:OPTIONS]`; a letter before the first colon is a drive of Windows.
  static Result<Node> volume_node(const Node& item) {
    const std::string text = item.text();
    std::vector<std::string> parts;
    for (const std::string_view part : split(text, ':')) {
      const bool is_drive = !parts.empty() && parts.back().size() == 1 && parts.size() == 1 &&
                            (part.starts_with('\\') || part.starts_with('/')) &&
                            std::isalpha(static_cast<unsigned char>(parts.back()[0])) != 0;
      if (is_drive)
        parts.back() += cat(":", part);
      else
        parts.emplace_back(part);
    }
    const bool has_empty = std::ranges::any_of(parts, &std::string::empty);
    if (has_empty || parts.size() > 3)
      return error_at(item, cat("the volume `", printable(text),
                                "` is none, expected `[SOURCE:]TARGET[:OPTIONS]`"));
    Node made = dict_node(item);
    const std::string source = parts.size() > 1 ? parts[0] : "";
    const bool is_path =
        !source.empty() && (std::string_view("./~\\").find(source[0]) != std::string_view::npos ||
                            (source.size() > 2 && source[1] == ':'));
    made.put({"type", item.place}, text_node(is_path ? "bind" : "volume", item));
    if (!source.empty())
      made.put({"source", item.place}, text_node(source, item));
    made.put({"target", item.place}, text_node(parts.size() > 1 ? parts[1] : parts[0], item));
    if (parts.size() == 3)
      for (const std::string_view option : split(parts[2], ','))
        if (option == "ro")
          made.put({"read_only", item.place}, text_node("true", item));
    return made;
  }

  /// `configs` and `secrets` of a service, `secrets` of a build: a name, or a mapping with `source`.
  static Status grants(Node& owner, std::string_view key) {
    Node* const node = owner.find(key);
    if (node == nullptr || node->is_null())
      return {};
    if (!node->is_list())
      return wrong_form(*node, key, "a list");
    for (Node& item : node->items) {
      if (item.is_scalar()) {
        Node made = dict_node(item);
        made.put({"source", item.place}, text_node(item.text(), item));
        item = std::move(made);
      }
      if (!item.is_dict() || item.find("source") == nullptr)
        return wrong_form(item, key, "a list of names, or of mappings with `source`");
    }
    return {};
  }

  /// A command in one text is cut as a shell cuts it.
  Status commands() {
    for (const std::string_view key : {"command", "entrypoint"})
      if (Node* const node = service_.find(key); node != nullptr && node->is_scalar()) {
        Node made = list_node(*node);
        const Result<std::vector<std::string>> words = command_words(node->text());
        if (!words)
          return error_at(*node, cat("`", key, "`: ", words.error().message));
        for (const std::string& word : *words)
          made.items.push_back(text_node(word, made));
        *node = std::move(made);
      }
    Node* const check = service_.find("healthcheck");
    Node* const test = check != nullptr && check->is_dict() ? check->find("test") : nullptr;
    if (test != nullptr && test->is_scalar()) {
      Node made = list_node(*test);
      made.items.push_back(text_node("CMD-SHELL", *test));
      made.items.push_back(text_node(test->text(), *test));
      *test = std::move(made);
    }
    return {};
  }

  Status extends() {
    Node* const node = service_.find("extends");
    if (node == nullptr || node->is_null())
      return {};
    if (node->is_scalar()) {
      Node made = dict_node(*node);
      made.put({"service", node->place}, text_node(node->text(), *node));
      *node = std::move(made);
    }
    const Node* const service = node->is_dict() ? node->find("service") : nullptr;
    if (service == nullptr || !service->is_scalar())
      return wrong_form(*node, "extends", "a name, or a mapping with `service`");
    if (Node* const file = node->find("file"); file != nullptr && file->is_scalar())
      file->scalar = Value(rebased(file->text(), base_));
    return {};
  }

  Node& service_;
  const std::string& base_;
  size_t& ports_left_;
};

/// The paths of `configs` and `secrets` of a project.
Status bring_contents(Node& document, std::string_view key, const std::string& base) {
  Node* const all = document.find(key);
  if (all == nullptr || all->is_null())
    return {};
  if (!all->is_dict())
    return wrong_form(*all, key, "a mapping");
  for (Node& one : all->items)
    if (Node* const file = one.is_dict() ? one.find("file") : nullptr;
        file != nullptr && file->is_scalar())
      file->scalar = Value(rebased(file->text(), base));
  return {};
}

}  // namespace

bool is_relative_path(std::string_view path) {
  return !path.starts_with('/') && !path.starts_with('~') && path.find(":\\") == path.npos &&
         !path.starts_with("\\\\");
}

std::string rebased(std::string_view path, std::string_view base) {
  if (!is_relative_path(path))
    return std::string(path);
  std::vector<std::string> steps;
  for (const std::string_view whole : {base, path})
    for (const std::string_view step : split(whole, '/')) {
      if (step.empty() || step == ".")
        continue;
      if (step == ".." && !steps.empty() && steps.back() != "..")
        steps.pop_back();
      else
        steps.emplace_back(step);
    }
  const std::string joined = join(steps, "/");
  return joined.empty()                                 ? "."
         : joined.starts_with("..") && steps[0] == ".." ? joined
                                                        : "./" + joined;
}

std::string_view ineffective(std::string_view key) {
  for (const KnownKey& known : service_keys)
    if (known.name == key)
      return known.why_not;
  return {};
}

Status bring_into_form(Node& document, const std::string& base) {
  if (document.is_null())
    document = dict_node(document);
  if (!document.is_dict())
    return error_at(document, cat("a compose file must be a mapping, it is ", kind_of(document)));
  if (document.find("services") == nullptr && document.find("include") == nullptr)
    for (size_t i = 0; i < document.items.size(); ++i)
      if (const Node& item = document.items[i]; item.is_dict() && item.find("image") != nullptr)
        return user_error(cat("`", document.keys[i].text, "` stands outside of `services:`"),
                          document.where_of(document.keys[i]));
  TRY(check_keys(document, "a project", top_keys));
  TRY(check_project_parts(document));
  for (const std::string_view key : {"configs", "secrets"})
    TRY(bring_contents(document, key, base));
  for (const std::string_view key : {"volumes", "networks"})
    if (const Node* const all = document.find(key);
        all != nullptr && !all->is_null() && !all->is_dict())
      return wrong_form(*all, key, "a mapping");
  Node* const services = document.find("services");
  if (services == nullptr || services->is_null())
    return {};
  if (!services->is_dict())
    return wrong_form(*services, "services", "a mapping");
  size_t ports_left = most_ports;
  for (size_t i = 0; i < services->items.size(); ++i) {
    Node& service = services->items[i];
    if (service.is_null())
      continue;
    if (!service.is_dict())
      return wrong_form(service, services->keys[i].text, "a mapping");
    TRY(ServiceForms(service, base, ports_left).bring());
  }
  return {};
}

}  // namespace fettle::compose

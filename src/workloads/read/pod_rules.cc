/// The rules between the fields of a pod (Kubernetes: its validation of pod templates).

#include <algorithm>
#include <array>

#include "base/text.h"
#include "kinds/quantity.h"
#include "workloads/read/label_syntax.h"
#include "workloads/read/rule_document.h"
#include "workloads/selector.h"

namespace fettle::workloads {
namespace {

class PodRules {
 public:
  explicit PodRules(const RuleDocument& document)
      : document_(document), checker_(document.checker) {}

  void check(bool can_select) {
    check_template(can_select);
    if (!document_.is_of_cluster)
      check_pods();
  }

  void check_containers(const std::string& path, bool is_required) {
    const TreeNode* list = find(path);
    if (list == nullptr || !list->is_list() || list->items().empty()) {
      if (is_required)
        refuse(path, cat("`", path, "` must list at least one container"));
      return;
    }
    std::set<std::string> names;
    size_t number = 0;
    for (const TreeNode* item : list->items()) {
      const std::string at = cat(path, "[", number++, "]");
      const TreeNode* name = item->is_dict() ? item->find("name") : nullptr;
      const TreeNode* image = item->is_dict() ? item->find("image") : nullptr;
      if (name == nullptr || !name->is_text() || name->text().empty())
        checker_.refuse(*item, cat("`", at, ".name` is missing"));
      else if (!names.insert(name->text().str()).second)
        checker_.refuse(*name,
                        cat("there are two containers `", name->text(), "` in `", path, "`"));
      else if (!is_container_name(name->text()))
        checker_.refuse(*name, cat("`", at,
                                   ".name` must have only lower case letters, digits and "
                                   "`-`, with a letter or digit first and last, not `",
                                   clipped(printable(name->text()), 60), "`"));
      if (image == nullptr || !image->is_text() || image->text().empty() ||
          image->text().view().find_first_of(" \t\n") != std::string_view::npos)
        checker_.refuse(image == nullptr ? *item : *image,
                        cat("`", at, ".image` must be the reference of an image"));
      check_ports(*item, at);
      check_resources(*item, at);
      for (const char* probe : {"livenessProbe", "startupProbe"})
        if (const TreeNode* times = Checker::find(*item, cat(probe, ".successThreshold"));
            times != nullptr && value_of(*times) != Value(1))
          checker_.refuse(*times, cat("`", at, ".", probe, ".successThreshold` must be 1"));
    }
  }

  static bool is_container_name(std::string_view name) {
    return !name.empty() && is_label_value(name) && std::ranges::none_of(name, [](char c) {
      return (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
    });
  }

  void check_ports(const TreeNode& container, const std::string& at) {
    const TreeNode* ports = container.is_dict() ? container.find("ports") : nullptr;
    if (ports == nullptr || !ports->is_list())
      return;
    std::set<Name> names;
    for (const TreeNode* port : ports->items())
      if (const TreeNode* name = port->is_dict() ? port->find("name") : nullptr;
          name != nullptr && name->is_text() && !names.insert(name->text()).second)
        checker_.refuse(*name, cat("there are two ports `", name->text(), "` in `", at, "`"));
  }

  void check_resources(const TreeNode& container, const std::string& at) {
    for (const char* amount : {"cpu", "memory"}) {
      const TreeNode* request = Checker::find(container, cat("resources.requests.", amount));
      const TreeNode* limit = Checker::find(container, cat("resources.limits.", amount));
      if (request == nullptr || limit == nullptr)
        continue;
      const auto wanted = quantity_milli(value_of(*request)),
                 most = quantity_milli(value_of(*limit));
      if (wanted && most && *wanted > *most)
        checker_.refuse(*request,
                        cat("`", at, ".resources.requests.", amount,
                            "` must not be above the limit of ", to_text(value_of(*limit))));
    }
  }

  void check_template(bool can_select) {
    if (find("spec.template") == nullptr || !find("spec.template")->is_dict()) {
      refuse("spec.template", "`spec.template` is missing");
      return;
    }
    check_labels(document_.root, "spec.template.metadata.labels", checker_);
    check_annotation_keys(document_.root, "spec.template.metadata.annotations", checker_);
    check_containers("spec.template.spec.containers", true);
    check_containers("spec.template.spec.initContainers", false);
    const Value pod = value_at("spec.template"), &spec = pod.at("spec");
    const Value& labels = pod.at("metadata").at("labels");
    if (labels.is_dict())
      for (const Entry& entry : labels.entries())
        if (!entry.value.is_text())
          refuse(cat("spec.template.metadata.labels.", entry.key),
                 cat("label `", entry.key, "` must be a string: put quotes around it"));
    const Selector selector = selector_of(value_at("spec.selector"));
    if (can_select && !selector.is_empty() && !selector.matches(labels))
      refuse("spec.template.metadata.labels",
             "`spec.selector` does not match the labels of `spec.template`");
    const Value& restart = spec.at("restartPolicy");
    if (!restart.is_null() && restart != Value("Always"))
      refuse("spec.template.spec.restartPolicy",
             "`spec.template.spec.restartPolicy` must be Always");
    if (!spec.at("activeDeadlineSeconds").is_null())
      refuse(
          "spec.template.spec.activeDeadlineSeconds",
          "`spec.template.spec.activeDeadlineSeconds` is not allowed for pods that keep running");
  }

  using Volumes = std::map<std::string, bool>;  ///< by name: whether it consists of files alone

  /// Checks everything that names something else in the pod.
  void check_pods() {
    const TreeNode* spec = find("spec.template.spec");
    if (spec == nullptr)
      return;
    Volumes volumes;
    each_of(spec->find("volumes"), [&](const TreeNode& volume) {
      const TreeNode* name = volume.find("name");
      if (name == nullptr || !name->is_text() || name->text().empty())
        checker_.refuse(volume, "each of `spec.template.spec.volumes` needs a `name`");
      else if (!volumes.emplace(name->text().str(), has_files(volume)).second)
        checker_.refuse(*name, cat("there are two volumes `", printable(name->text()), "`"));
      check_source(volume);
    });
    each_of(find("spec.volumeClaimTemplates"), [&](const TreeNode& claim) {
      if (const TreeNode* name = Checker::find(claim, "metadata.name");
          name != nullptr && name->is_text())
        volumes.insert_or_assign(name->text().str(), false);
    });
    for (const char* part : {"initContainers", "containers"})
      each_of(spec->find(part),
              [&](const TreeNode& container) { check_container(container, volumes); });
  }

  static void each_of(const TreeNode* list, const auto& function) {
    if (list != nullptr && list->is_list())
      for (const TreeNode* item : list->items())
        if (item->is_dict())
          function(*item);
  }

  void check_source(const TreeNode& volume) {
    const TreeNode* second = nullptr;
    size_t sources = 0;
    for (const TreeMember& entry : volume.entries())
      if (entry.key->text() != "name" && !entry.value->is_null() && ++sources == 2)
        second = entry.key;
    if (second != nullptr)
      checker_.refuse(*second, "a volume is of one sort only");
  }

  static bool has_files(const TreeNode& volume) {
    return std::ranges::any_of(std::array{"configMap", "secret", "downwardAPI", "projected"},
                               [&](const char* source) {
                                 const TreeNode* found = volume.find(source);
                                 return found != nullptr && !found->is_null();
                               });
  }

  /// A volume that a pod can write to could lead a path anywhere on the machine.
  void check_part(const TreeNode& mount, bool has_files) {
    const TreeNode* part = mount.find("subPath");
    if (part == nullptr || !part->is_text() || part->text().empty())
      return;
    const auto names = split(part->text().view(), '/');
    if (part->text().view().starts_with('/') || std::ranges::find(names, "..") != names.end())
      checker_.refuse(*part, "`subPath` must be a path inside the volume");
    else if (!has_files)
      checker_.refuse(*part,
                      "`subPath` is supported for configMap, secret, downwardAPI and "
                      "projected volumes only");
  }

  void check_container(const TreeNode& container, const Volumes& volumes) {
    std::vector<std::string> known;
    for (const auto& [name, has_files] : volumes)
      known.push_back(name);
    each_of(container.find("volumeMounts"), [&](const TreeNode& mount) {
      const TreeNode* name = mount.find("name");
      if (name == nullptr || !name->is_text())
        checker_.refuse(mount, "each of `volumeMounts` needs a `name`");
      else if (const auto volume = volumes.find(name->text().str()); volume == volumes.end())
        checker_.refuse(*name, cat("there is no volume `", printable(name->text()), "`",
                                   suggestion(name->text(), known)));
      else
        check_part(mount, volume->second);
    });
    each_of(container.find("env"), [&](const TreeNode& variable) { check_variable(variable); });
    const Value ports =
        container.find("ports") == nullptr ? Value() : value_of(*container.find("ports"));
    for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"})
      if (const TreeNode* node = container.find(probe); node != nullptr && node->is_dict())
        check_handler(*node, probe, ports);
    for (const char* hook : {"lifecycle.postStart", "lifecycle.preStop"})
      if (const TreeNode* node = Checker::find(container, hook); node != nullptr && node->is_dict())
        check_handler(*node, hook, ports);
  }

  /// A variable has one source for its text.
  void check_variable(const TreeNode& variable) {
    const TreeNode *value = variable.find("value"), *from = variable.find("valueFrom");
    if (from == nullptr || from->is_null())
      return;
    if (value != nullptr && !value->is_null() && scalar_of(value) != Value(""))
      checker_.refuse(*value, "a variable has `value` or `valueFrom`, not both");
    if (!from->is_dict())
      return;
    const auto is_given = [](const TreeMember& entry) { return !entry.value->is_null(); };
    if (std::ranges::count_if(from->entries(), is_given) != 1)
      checker_.refuse(*from,
                      "`valueFrom` needs exactly one of fieldRef, resourceFieldRef, "
                      "configMapKeyRef and secretKeyRef");
  }

  /// A handler has one way to ask, and a port that the container has.
  void check_handler(const TreeNode& node, std::string_view what, const Value& ports) {
    size_t ways = 0;
    for (const char* way : {"exec", "httpGet", "tcpSocket", "sleep"}) {
      const TreeNode* found = node.find(way);
      if (found == nullptr || found->is_null())
        continue;
      ++ways;
      const TreeNode* port = found->is_dict() ? found->find("port") : nullptr;
      const bool needs_port =
          std::string_view(way) == "httpGet" || std::string_view(way) == "tcpSocket";
      if (needs_port && (port == nullptr || port->is_null()))
        checker_.refuse(*found, cat("`", way, "` of `", what, "` needs a `port`"));
      else if (port != nullptr && port->is_text())
        check_port_name(*port, ports);
    }
    if (ways != 1)
      checker_.refuse(node, cat("`", what, "` needs exactly one of exec, httpGet and tcpSocket"));
  }

  void check_port_name(const TreeNode& port, const Value& ports) {
    std::vector<std::string> known;
    if (ports.is_list())
      for (const Value& each : ports.items())
        if (const std::string_view name = each.text_at("name"); !name.empty())
          known.emplace_back(name);
    if (std::ranges::find(known, port.text().view()) == known.end())
      checker_.refuse(port, cat("the container has no port `", printable(port.text()), "`",
                                suggestion(port.text(), known)));
  }

 private:
  const TreeNode* find(std::string_view path) const { return document_.find(path); }
  void refuse(std::string_view path, std::string message) const {
    document_.refuse(path, std::move(message));
  }
  Value value_at(std::string_view path) const { return document_.value_at(path); }

  const RuleDocument& document_;
  Checker& checker_;
};

void check_keys(const TreeNode& dict, std::string_view what, Checker& checker) {
  for (const TreeMember& entry : dict.entries())
    if (const std::string_view key = entry.key->text().view(); !is_label_key(key))
      checker.refuse(*entry.key, cat("`", clipped(printable(key), 60), "` is not a key of ", what,
                                     ": use letters, digits, `-`, `_` and `.`, with a letter or "
                                     "digit first and last"));
}

}  // namespace

void check_pod_rules(const RuleDocument& document, bool can_select) {
  PodRules(document).check(can_select);
}

void check_containers(const RuleDocument& document, const std::string& path, bool is_required) {
  PodRules(document).check_containers(path, is_required);
}

void check_labels(const TreeNode& root, std::string_view path, Checker& checker) {
  const TreeNode* const labels = Checker::find(root, path);
  if (labels == nullptr || !labels->is_dict())
    return;
  check_keys(*labels, "a label", checker);
  for (const TreeMember& label : labels->entries())
    if (label.value->is_text() && !label.value->text().empty() &&
        !is_label_value(label.value->text()))
      checker.refuse(*label.value, cat("`", clipped(printable(label.value->text()), 60),
                                       "` is not a value of a label: use ", label_value_words));
}

void check_annotation_keys(const TreeNode& root, std::string_view path, Checker& checker) {
  const TreeNode* const annotations = Checker::find(root, path);
  if (annotations != nullptr && annotations->is_dict())
    check_keys(*annotations, "an annotation", checker);
}

}  // namespace fettle::workloads

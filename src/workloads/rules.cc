/// The rules between the fields of a manifest (OpenKruise: its admission webhooks).

#include <algorithm>
#include <array>

#include "base/text.h"
#include "kinds/quantity.h"
#include "workloads/amount.h"
#include "workloads/checker.h"
#include "workloads/names.h"
#include "workloads/selector.h"

namespace fettle::workloads {
namespace {

constexpr size_t longest_label = 63;

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// What stands between the ends of a label is letters, digits and these.
bool is_label_text(std::string_view text, std::string_view between) {
  return !text.empty() && text.size() <= longest_label && is_letter_or_digit(text.front()) &&
         is_letter_or_digit(text.back()) && std::ranges::all_of(text, [&](char c) {
           return is_letter_or_digit(c) || between.find(c) != between.npos;
         });
}

/// `PREFIX/NAME`, where the prefix may be missing.
bool is_label_key(std::string_view key) {
  const size_t slash = key.find('/');
  const std::string_view prefix = slash == key.npos ? "a" : key.substr(0, slash);
  return is_label_text(key.substr(slash == key.npos ? 0 : slash + 1), "-_.") && !prefix.empty() &&
         std::ranges::all_of(prefix,
                             [](char c) { return is_letter_or_digit(c) || c == '-' || c == '.'; });
}

void check_keys(const TreeNode& dict, std::string_view what, Checker& checker) {
  for (const TreeMember& entry : dict.entries())
    if (const std::string_view key = entry.key->text().view(); !is_label_key(key))
      checker.refuse(*entry.key, cat("`", clipped(printable(key), 60), "` is not a key of ", what,
                                     ": use letters, digits, `-`, `_` and `.`, with a letter or "
                                     "digit first and last"));
}

/// What a node is if it is a plain value.
Value scalar_of(const TreeNode* node) {
  return node != nullptr && node->is_scalar() ? node->scalar() : Value();
}

class Rules {
 public:
  Rules(const TreeNode& root, std::string_view kind, bool is_alpha, Checker& checker)
      : root_(root), kind_(kind), is_alpha_(is_alpha), checker_(checker) {}

  void check() {
    if (find("spec") == nullptr) {
      checker_.refuse(root_, "`spec` is missing");
      return;
    }
    if (kind_ == "ImagePullJob") {
      check_job();
      return;
    }
    const bool can_select = check_selector("spec.selector", true);
    if (kind_ == "SidecarSet") {
      check_sidecar_set();
      return;
    }
    check_template(can_select);
    check_pods();
    check_claims();
    check_annotations();
    const std::string rolling = is_alpha_ && kind_ == "CloneSet"
                                    ? "spec.updateStrategy"
                                    : "spec.updateStrategy.rollingUpdate";
    check_numbers(rolling);
    check_strategies(rolling);
    if (kind_ == "StatefulSet") {
      check_strategies(cat(rolling, ".unorderedUpdate"));
      check_ordinals();
    }
    if (kind_ == "CloneSet")
      check_clone_set(rolling);
  }

 private:
  const TreeNode* find(std::string_view path) const { return Checker::find(root_, path); }
  void refuse(std::string_view path, std::string message) {
    checker_.refuse_at(root_, path, std::move(message));
  }
  Value value_at(std::string_view path) const {
    const TreeNode* node = find(path);
    return node == nullptr ? Value() : value_of(*node);
  }

  /// Whether it is a selector at all: one with an error is not judged further.
  bool check_selector(std::string_view path, bool is_required) {
    const Value selector = value_at(path);
    const Value &labels = selector.at("matchLabels"),
                &expressions = selector.at("matchExpressions");
    const bool has_labels = labels.is_dict() && !labels.entries().empty();
    const bool has_expressions = expressions.is_list() && !expressions.items().empty();
    if (is_required && !has_labels && !has_expressions) {
      refuse(path, cat("`", path, "` must select something: a selector must not be empty"));
      return false;
    }
    bool is_good = check_requirements(path);
    if (has_labels)
      for (const Entry& entry : labels.entries())
        if (!entry.value.is_text()) {
          is_good = false;
          refuse(cat(path, ".matchLabels.", entry.key),
                 cat("label `", entry.key, "` must be a string: put quotes around it"));
        }
    return is_good;
  }

  bool check_requirements(std::string_view path) {
    const TreeNode* list = find(cat(path, ".matchExpressions"));
    bool is_good = true;
    if (list == nullptr || !list->is_list())
      return is_good;
    const auto refuse_item = [&](const TreeNode& item, std::string message) {
      is_good = false;
      checker_.refuse(item, std::move(message));
    };
    for (const TreeNode* item : list->items()) {
      const Value value = value_of(*item);
      const std::string_view op = value.text_at("operator");
      const bool is_known = op == "In" || op == "NotIn" || op == "Exists" || op == "DoesNotExist";
      const Value& values = value.at("values");
      const bool has_values = values.is_list() && !values.items().empty();
      if (value.text_at("key").empty())
        refuse_item(*item, cat("each of `", path, ".matchExpressions` needs a `key`"));
      else if (!is_known)
        refuse_item(*item, cat("`operator` must be In, NotIn, Exists or DoesNotExist, not `",
                               printable(op), "`"));
      else if ((op == "In" || op == "NotIn") != has_values)
        refuse_item(*item, has_values ? cat("`", op, "` takes no `values`")
                                      : cat("`", op, "` needs `values`"));
      else if (has_values && !std::ranges::all_of(values.items(), &Value::is_text))
        refuse_item(*item, "`values` must be strings: put quotes around them");
    }
    return is_good;
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
    return is_label_text(name, "-") &&
           std::ranges::none_of(name, [](char c) { return c >= 'A' && c <= 'Z'; });
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
    check_labels(root_, "spec.template.metadata.labels", checker_);
    check_annotation_keys(root_, "spec.template.metadata.annotations", checker_);
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

  /// What names something else in the pod.
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

  /// What a pod can write into could lead a path anywhere on the machine.
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

  /// Its text has one source.
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

  /// One way to ask, and a port that the container has.
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

  /// What asks for images ahead in our words. A number that OpenKruise cannot read is its default.
  void check_annotations() {
    const auto word = [&](const Name& key, std::initializer_list<std::string> known) {
      const TreeNode* node = annotation_at(key);
      if (node != nullptr &&
          !(node->is_text() && std::ranges::find(known, node->text().view()) != known.end()))
        checker_.refuse(
            *node, cat("annotation `", key, "` must be ",
                       join(std::vector<std::string>(known), " or "), ", not ", found_text(*node)));
    };
    if (const TreeNode* node = annotation_at(annotation::pull_parallelism))
      if (const std::string text = to_text(node->scalar());
          text.starts_with('-') && amount_of(Value(text.substr(1))))
        checker_.refuse(
            *node, cat("annotation `", annotation::pull_parallelism,
                       "` must be a number of nodes or a percentage, not ", found_text(*node)));
    word(annotation::pull_mode, {"race", "wait"});
    word(annotation::pull_order, {"early", "last"});
    word(annotation::pull_rules, {"kruise", "none"});
  }
  const TreeNode* annotation_at(const Name& key) const {
    const TreeNode* all = find("metadata.annotations");
    const TreeNode* node = all != nullptr && all->is_dict() ? all->find(key) : nullptr;
    return node == nullptr || !node->is_scalar() || node->is_null() ? nullptr : node;
  }

  void check_claims() {
    const TreeNode* list = find("spec.volumeClaimTemplates");
    if (list == nullptr || !list->is_list())
      return;
    std::set<std::string> names;
    for (const TreeNode* item : list->items()) {
      const TreeNode* name = Checker::find(*item, "metadata.name");
      if (name == nullptr || !name->is_text())
        checker_.refuse(*item, "each of `spec.volumeClaimTemplates` needs a `metadata.name`");
      else if (!names.insert(name->text().str()).second)
        checker_.refuse(*name, cat("there are two claim templates `", name->text(), "`"));
    }
  }

  bool is_zero(const std::string& path, bool otherwise) const {
    const TreeNode* node = find(path);
    if (node == nullptr || node->is_null())
      return otherwise;
    const auto amount = amount_of(scalar_of(node));
    return amount && amount->number == 0;
  }

  void check_numbers(const std::string& rolling) {
    const bool has_surge = kind_ != "StatefulSet";
    const std::string unavailable = cat(rolling, ".maxUnavailable"),
                      surge = cat(rolling, ".maxSurge");
    const TreeNode* maximum = find(unavailable);
    if (maximum != nullptr && is_zero(unavailable, false) && (!has_surge || is_zero(surge, true)) &&
        kind_ != "StatefulSet")
      refuse(unavailable,
             cat("`", unavailable, "` and `", surge, "` cannot both be 0: no pod could change"));
    const TreeNode* policy =
        find(is_alpha_ && kind_ == "CloneSet" ? cat(rolling, ".type")
                                              : cat(rolling, ".podUpdatePolicy"));
    if (policy != nullptr && policy->is_text() && policy->text() == "InPlaceOnly" &&
        !is_zero(surge, true))
      refuse(surge, cat("`", surge, "` cannot be used with InPlaceOnly: no pod is recreated"));
    for (const std::string& path : {unavailable, surge, cat(rolling, ".partition")}) {
      const TreeNode* node = find(path);
      const auto amount = node == nullptr ? std::nullopt : amount_of(scalar_of(node));
      if (amount && amount->is_percent && amount->number > 100)
        refuse(path, cat("`", path, "` must not be more than 100%"));
    }
  }

  void check_strategies(const std::string& at) {
    const TreeNode* weights = find(cat(at, ".priorityStrategy.weightPriority"));
    const TreeNode* keys = find(cat(at, ".priorityStrategy.orderPriority"));
    if (weights != nullptr && keys != nullptr && !weights->is_null() && !keys->is_null())
      refuse(cat(at, ".priorityStrategy"),
             cat("`", at, ".priorityStrategy` takes weights or order keys, not both"));
    if (weights != nullptr && weights->is_list())
      for (const TreeNode* item : weights->items()) {
        const Value value = value_of(*item);
        if (!value.at("weight").is_integer() || value.integer_at("weight", -1) < 0 ||
            value.integer_at("weight") > 100)
          checker_.refuse(*item, "`weight` must be from 0 to 100");
        if (selector_of(value.at("matchSelector")).is_empty())
          checker_.refuse(*item, "`matchSelector` must select something");
      }
    if (keys != nullptr && keys->is_list())
      for (const TreeNode* item : keys->items())
        if (value_of(*item).text_at("orderedKey").empty())
          checker_.refuse(*item, "`orderedKey` is missing");
    check_scatter(cat(at, ".scatterStrategy"));
  }

  void check_scatter(const std::string& path) {
    const TreeNode* terms = find(path);
    if (terms == nullptr || !terms->is_list())
      return;
    std::set<std::pair<std::string, std::string>> seen;
    for (const TreeNode* item : terms->items()) {
      const Value value = value_of(*item);
      const std::string key(value.text_at("key")), text(value.text_at("value"));
      if (key.empty())
        checker_.refuse(*item, cat("each of `", path, "` needs a `key`"));
      else if (!seen.insert({key, text}).second)
        checker_.refuse(*item, cat("`", path, "` has `", key, "=", text, "` twice"));
    }
  }

  void check_clone_set(const std::string& rolling) {
    const TreeNode* names = find("spec.scaleStrategy.podsToDelete");
    std::set<std::string> seen;
    if (names != nullptr && names->is_list())
      for (const TreeNode* item : names->items()) {
        if (!item->is_text())
          checker_.refuse(*item, "`spec.scaleStrategy.podsToDelete` must list names of pods");
        else if (!seen.insert(item->text().str()).second)
          checker_.refuse(*item, cat("pod `", item->text(), "` is listed twice"));
      }
    const Value spec = value_at("spec");
    const Value& deadline = spec.at("progressDeadlineSeconds");
    if (deadline.is_integer() && deadline.integer() <= spec.integer_at("minReadySeconds"))
      refuse("spec.progressDeadlineSeconds",
             "`spec.progressDeadlineSeconds` must be more than `spec.minReadySeconds`");
    if (!is_alpha_) {
      const TreeNode* type = find("spec.updateStrategy.type");
      if (type != nullptr && type->is_text() && type->text() != "RollingUpdate" &&
          type->text() != "OnDelete")
        refuse("spec.updateStrategy.type",
               cat("`spec.updateStrategy.type` must be RollingUpdate or OnDelete; `", type->text(),
                   "` is a `podUpdatePolicy` of `spec.updateStrategy.rollingUpdate`"));
    } else {
      const TreeNode* nested = find(cat(rolling, ".rollingUpdate"));
      if (nested != nullptr)
        checker_.refuse(*nested, "`spec.updateStrategy.rollingUpdate` is a field of v1beta1");
    }
  }

  void check_ordinals() {
    const TreeNode* list = find("spec.reserveOrdinals");
    if (list == nullptr || !list->is_list())
      return;
    for (const TreeNode* item : list->items()) {
      const Value value = scalar_of(item);
      std::string text = value.is_text() ? value.text().str() : "";
      const auto is_digits = [](std::string_view digits) {
        return !digits.empty() && digits.size() < 10 &&
               digits.find_first_not_of("0123456789") == digits.npos;
      };
      const size_t dash = text.find('-');
      const bool is_range = is_digits(text.substr(0, dash)) &&
                            (dash == text.npos ||
                             (is_digits(text.substr(dash + 1)) &&
                              std::stol(text.substr(0, dash)) <= std::stol(text.substr(dash + 1))));
      const bool is_number = value.is_integer() && value.integer().value_or(-1) >= 0;
      if (!is_number && !is_range)
        checker_.refuse(*item, "`spec.reserveOrdinals` must list numbers and ranges such as `3-5`");
    }
  }

  void check_sidecar_set() {
    const bool has_init = find("spec.initContainers") != nullptr;
    check_containers("spec.containers", !has_init);
    check_containers("spec.initContainers", false);
    check_strategies("spec.updateStrategy");
    for (const char* field :
         {"spec.updateStrategy.maxUnavailable", "spec.updateStrategy.partition"})
      if (const TreeNode* node = find(field))
        if (const auto amount = amount_of(scalar_of(node));
            amount && amount->is_percent && amount->number > 100)
          refuse(field, cat("`", field, "` must not be more than 100%"));
    if (find("spec.namespace") != nullptr && find("spec.namespaceSelector") != nullptr)
      refuse("spec.namespaceSelector",
             "`spec.namespace` and `spec.namespaceSelector` exclude each other");
    check_injected(find("spec.injectionStrategy.revision"));
    for (const char* field : {"spec.containers", "spec.initContainers"})
      if (const TreeNode* containers = find(field); containers != nullptr && containers->is_list())
        for (const TreeNode* item : containers->items())
          check_sidecar(*item);
  }

  void check_injected(const TreeNode* revision) {
    if (revision == nullptr || !revision->is_dict())
      return;
    const Value value = value_of(*revision);
    if (value.text_at("revisionName").empty() && value.text_at("customVersion").empty())
      checker_.refuse(*revision,
                      "`spec.injectionStrategy.revision` needs `revisionName` or `customVersion`");
  }

  void check_sidecar(const TreeNode& item) {
    const Value value = value_of(item);
    const Value& strategy = value.at("upgradeStrategy");
    if (strategy.text_at("upgradeType") == "HotUpgrade" &&
        trim(strategy.text_at("hotUpgradeEmptyImage")).empty())
      checker_.refuse(item,
                      "`upgradeStrategy.upgradeType` HotUpgrade needs `hotUpgradeEmptyImage`: what "
                      "the idle one of the two containers runs");
    const Value& transfers = value.at("transferEnv");
    if (!transfers.is_list())
      return;
    for (const Value& transfer : transfers.items())
      if (!transfer.is_dict() ||
          (transfer.text_at("sourceContainerName").empty() &&
           transfer.at("sourceContainerNameFrom").is_null()) ||
          (transfer.text_at("envName").empty() && !transfer.at("envNames").is_list()))
        checker_.refuse(item,
                        "each of `transferEnv` needs `sourceContainerName` or "
                        "`sourceContainerNameFrom`, and `envName` or `envNames`");
  }

  void check_job() {
    const TreeNode* image = find("spec.image");
    if (image == nullptr || !image->is_text() || image->text().empty() ||
        image->text().view().find_first_of(" \t\n") != std::string_view::npos)
      refuse("spec.image", "`spec.image` must be the reference of an image");
    const TreeNode *nodes = find("spec.selector"), *pods = find("spec.podSelector");
    if (nodes != nullptr && pods != nullptr)
      refuse("spec.podSelector", "`spec.selector` and `spec.podSelector` exclude each other");
    if (const TreeNode* names = find("spec.selector.names"); names != nullptr && names->is_list()) {
      std::set<std::string> seen;
      for (const TreeNode* item : names->items())
        if (item->is_text() && !seen.insert(item->text().str()).second)
          checker_.refuse(*item, cat("node `", item->text(), "` is listed twice"));
      if (find("spec.selector.matchLabels") != nullptr ||
          find("spec.selector.matchExpressions") != nullptr)
        refuse("spec.selector.names", "`spec.selector` takes names or labels, not both");
    }
    check_selector("spec.podSelector", false);
    check_requirements("spec.selector");
    const Value completion = value_at("spec.completionPolicy");
    const int64_t timeout = value_at("spec.pullPolicy").integer_at("timeoutSeconds", 600);
    for (const char* field : {"activeDeadlineSeconds", "ttlSecondsAfterFinished"})
      if (completion.text_at("type") == "Never" && !completion.at(field).is_null())
        refuse(cat("spec.completionPolicy.", field),
               cat("`spec.completionPolicy.", field, "` is only for jobs that complete"));
    if (completion.integer_at("activeDeadlineSeconds", timeout) < timeout)
      refuse(
          "spec.completionPolicy.activeDeadlineSeconds",
          cat("`spec.completionPolicy.activeDeadlineSeconds` must not be less than the timeout of ",
              "one pull, ", timeout, " seconds"));
  }

  const TreeNode& root_;
  std::string_view kind_;
  bool is_alpha_;
  Checker& checker_;
};

}  // namespace

void check_labels(const TreeNode& root, std::string_view path, Checker& checker) {
  const TreeNode* const labels = Checker::find(root, path);
  if (labels == nullptr || !labels->is_dict())
    return;
  check_keys(*labels, "a label", checker);
  for (const TreeMember& label : labels->entries())
    if (label.value->is_text() && !label.value->text().empty() &&
        !is_label_text(label.value->text(), "-_."))
      checker.refuse(*label.value,
                     cat("`", clipped(printable(label.value->text()), 60),
                         "` is not a value of a label: use at most 63 letters, digits, `-`, `_` "
                         "and `.`, with a letter or digit first and last"));
}

void check_annotation_keys(const TreeNode& root, std::string_view path, Checker& checker) {
  const TreeNode* const annotations = Checker::find(root, path);
  if (annotations != nullptr && annotations->is_dict())
    check_keys(*annotations, "an annotation", checker);
}

void check_rules(const TreeNode& root, std::string_view kind, bool is_alpha, Checker& checker) {
  Rules(root, kind, is_alpha, checker).check();
}

}  // namespace fettle::workloads

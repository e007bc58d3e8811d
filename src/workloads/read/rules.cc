/// The rules between the fields of a manifest (OpenKruise: its admission webhooks).

#include <algorithm>

#include "base/text.h"
#include "workloads/amount.h"
#include "workloads/names.h"
#include "workloads/read/rule_document.h"
#include "workloads/selector.h"

namespace fettle::workloads {
namespace {

constexpr size_t most_images = 255;  ///< of an ImageListPullJob

class Rules {
 public:
  explicit Rules(const RuleDocument& document)
      : document_(document),
        kind_(document.kind),
        is_alpha_(document.is_alpha),
        checker_(document.checker) {}

  void check() {
    if (find("spec") == nullptr) {
      checker_.refuse(document_.root, "`spec` is missing");
      return;
    }
    if (kind_ == "ImagePullJob" || kind_ == "ImageListPullJob") {
      check_job();
      return;
    }
    const TreeNode* const selector = find("spec.selector");
    const bool can_select =
        check_selects("spec.selector") && selector != nullptr && !checker_.has_error_in(*selector);
    if (kind_ == "SidecarSet") {
      check_sidecar_set();
      return;
    }
    check_pod_rules(document_, can_select);
    check_claims();
    check_annotations();
    const std::string rolling = is_alpha_ && kind_ == "CloneSet"
                                    ? "spec.updateStrategy"
                                    : "spec.updateStrategy.rollingUpdate";
    check_shares(rolling);
    check_strategies(rolling);
    if (kind_ == "StatefulSet")
      check_stateful_set(rolling);
    else if (kind_ == "DaemonSet")
      check_daemon_set(rolling);
    else
      check_clone_set(rolling);
  }

 private:
  const TreeNode* find(std::string_view path) const { return document_.find(path); }
  void refuse(std::string_view path, std::string message) const {
    document_.refuse(path, std::move(message));
  }
  Value value_at(std::string_view path) const { return document_.value_at(path); }
  void check_containers(const std::string& path, bool is_required) {
    workloads::check_containers(document_, path, is_required);
  }

  /// Checks that the selector selects something.
  bool check_selects(std::string_view path) {
    const Value selector = value_at(path);
    if (!selector_of(selector).is_empty())
      return true;
    refuse(path, cat("`", path, "` must select something: a selector must not be empty"));
    return false;
  }
  void check_selects_if_there(std::string_view path) {
    if (const TreeNode* node = find(path); node != nullptr && node->is_dict())
      check_selects(path);
  }

  /// Checks our annotations for images that are pulled ahead. OpenKruise replaces a number that it
  /// cannot read by its default.
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

  /// Whether the number or share is 0; `otherwise`: if there is none.
  bool is_zero(const std::string& path, bool otherwise) const {
    const TreeNode* node = find(path);
    if (node == nullptr || node->is_null())
      return otherwise;
    const auto amount = amount_of(scalar_of(node));
    return amount && amount->number == 0;
  }

  void check_shares(const std::string& rolling) {
    for (const char* field : {"maxUnavailable", "maxSurge", "partition"}) {
      const std::string path = cat(rolling, ".", field);
      const TreeNode* node = find(path);
      const auto amount = node == nullptr ? std::nullopt : amount_of(scalar_of(node));
      if (amount && amount->is_percent && amount->number > 100)
        refuse(path, cat("`", path, "` must not be more than 100%"));
    }
  }

  void refuse_standstill(const std::string& unavailable, const std::string& surge) {
    refuse(unavailable,
           cat("`", unavailable, "` and `", surge, "` cannot both be 0: no pod could change"));
  }

  void check_daemon_set(const std::string& rolling) {
    const std::string unavailable = cat(rolling, ".maxUnavailable"),
                      surge = cat(rolling, ".maxSurge");
    const bool says_surge = !scalar_of(find(surge)).is_null();
    const bool has_surge = !is_zero(surge, true);
    // If neither is given, one pod may be unavailable.
    const bool has_unavailable = !is_zero(unavailable, says_surge);
    if (!has_unavailable && !has_surge)
      refuse_standstill(unavailable, surge);
    if (has_surge && has_unavailable)
      refuse(surge, cat("`", surge, "` cannot be used with `", unavailable,
                        "`: either new pods come first, or old ones go first"));
    if (has_surge && value_at(cat(rolling, ".rollingUpdateType")) == Value("InPlaceIfPossible"))
      refuse(surge, cat("`", surge, "` cannot be used with InPlaceIfPossible: no pod is added"));
    if (find("spec.lifecycle.inPlaceUpdate") != nullptr)
      refuse("spec.lifecycle.inPlaceUpdate",
             "`spec.lifecycle.inPlaceUpdate` is not a hook of a DaemonSet, only `preDelete` is");
  }

  void check_stateful_set(const std::string& rolling) {
    check_strategies(cat(rolling, ".unorderedUpdate"));
    check_ordinals();
    const bool is_parallel = value_at("spec.podManagementPolicy") == Value("Parallel");
    for (const std::string& path :
         {cat(rolling, ".maxUnavailable"), std::string("spec.scaleStrategy.maxUnavailable")}) {
      const Value amount = scalar_of(find(path));
      if (is_zero(path, false))
        refuse(path, cat("`", path, "` must be at least 1"));
      else if (!amount.is_null() && amount_of(amount) && !is_parallel && amount != Value(1))
        refuse(path,
               cat("`", path, "` must be 1 unless `spec.podManagementPolicy` is Parallel: in ",
                   "order, one pod changes at a time"));
    }
    if (const std::string path = cat(rolling, ".unorderedUpdate");
        !is_parallel && find(path) != nullptr && find(path)->is_dict())
      refuse(path, cat("`", path, "` needs `spec.podManagementPolicy` Parallel"));
    if (value_at("spec.updateStrategy.type") == Value("OnDelete") && find(rolling) != nullptr &&
        find(rolling)->is_dict())
      refuse(rolling, cat("`", rolling, "` has no meaning with OnDelete"));
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
        if (value.at("weight").is_null())
          checker_.refuse(*item, "`weight` is missing");
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
    const std::string unavailable = cat(rolling, ".maxUnavailable"),
                      surge = cat(rolling, ".maxSurge");
    if (is_zero(unavailable, false) && is_zero(surge, true))
      refuse_standstill(unavailable, surge);
    const Value policy = value_at(cat(rolling, is_alpha_ ? ".type" : ".podUpdatePolicy"));
    if (policy == Value("InPlaceOnly") && !is_zero(surge, true))
      refuse(surge, cat("`", surge, "` cannot be used with InPlaceOnly: no pod is recreated"));
    const TreeNode* names = find("spec.scaleStrategy.podsToDelete");
    std::set<std::string> seen;
    if (names != nullptr && names->is_list())
      for (const TreeNode* item : names->items()) {
        if (item->is_text() && !seen.insert(item->text().str()).second)
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
    check_selects_if_there("spec.namespaceSelector");
    check_selects_if_there("spec.updateStrategy.selector");
    if (const TreeNode* selector = find("spec.updateStrategy.selector");
        selector != nullptr && selector->is_dict() &&
        !is_zero("spec.updateStrategy.partition", true))
      refuse(
          "spec.updateStrategy.partition",
          "`spec.updateStrategy.partition` and `spec.updateStrategy.selector` exclude each other");
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

  static bool is_reference(const TreeNode& node) {
    return node.is_text() && !node.text().empty() &&
           node.text().view().find_first_of(" \t\n") == std::string_view::npos;
  }

  void check_images() {
    const TreeNode* const images = find("spec.images");
    const bool is_list = images != nullptr && images->is_list();
    const size_t count = is_list ? images->items().size() : 0;
    if (count == 0 || count > most_images)
      return refuse("spec.images",
                    cat("`spec.images` must have 1 to ", most_images, " references of images"));
    std::set<std::string> seen;
    for (const TreeNode* item : images->items())
      if (!is_reference(*item))
        checker_.refuse(*item, "it must be the reference of an image");
      else if (!seen.insert(item->text().str()).second)
        checker_.refuse(*item, cat("image `", item->text(), "` is listed twice"));
  }

  void check_job() {
    const TreeNode* image = find("spec.image");
    if (kind_ == "ImageListPullJob")
      check_images();
    else if (image == nullptr || !is_reference(*image))
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

  const RuleDocument& document_;
  const std::string_view kind_;
  const bool is_alpha_;
  Checker& checker_;
};

}  // namespace

void check_rules(const RuleDocument& document) { Rules(document).check(); }

}  // namespace fettle::workloads

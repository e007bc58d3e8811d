#include "plan/overlap.h"

#include <algorithm>
#include <set>

namespace fettle {
namespace {

/// Compares a submitted plan with the executed list from one place on.
class OverlapAttempt {
 public:
  OverlapAttempt(const std::vector<ListedInstruction>& executed, size_t start,
                 const std::vector<ListedInstruction>& submitted, OverlapRules rules)
      : executed_(executed), start_(start), submitted_(submitted), rule_(rules) {}

  /// Makes one decision for each instruction. False: the place does not fit.
  bool run(std::vector<Overlap>& decisions) {
    decisions.clear();
    for (size_t i = 0; i < submitted_.size(); ++i) {
      const ListedInstruction* before = at(i);
      if (before == nullptr) {
        decisions.push_back(Overlap::added);
        note(submitted_[i], false);
        continue;
      }
      if (!matches(submitted_[i], *before))
        return false;
      const bool updated = is_update(i, *before);
      decisions.push_back(updated ? Overlap::update : Overlap::equal);
      note(submitted_[i], updated);
    }
    return true;
  }

 private:
  const ListedInstruction* at(size_t i) const {
    return start_ + i < executed_.size() ? &executed_[start_ + i] : nullptr;
  }

  static bool same_artifacts(const ListedInstruction& a, const ListedInstruction& b) {
    return std::equal(a.artifacts.begin(), a.artifacts.end(), b.artifacts.begin(),
                      b.artifacts.end(),
                      [](const auto& x, const auto& y) { return x.first == y.first; });
  }

  /// Whether one can be equal to the other, or an update of it.
  bool matches(const ListedInstruction& now, const ListedInstruction& before) const {
    if (now.type != before.type)
      return false;
    switch (rule_(now.type).identity) {
      case OverlapRule::Identity::services:
        return now.services == before.services;
      case OverlapRule::Identity::services_among: {
        // Dicts are compared regardless of the order of their entries.
        const std::set<std::string> names(now.services.begin(), now.services.end());
        return std::ranges::all_of(before.services,
                                   [&](const std::string& name) { return names.contains(name); });
      }
      case OverlapRule::Identity::artifacts:
        return same_artifacts(now, before);
      case OverlapRule::Identity::text:
        break;
    }
    return now.text == before.text;
  }

  bool any_updated(const std::vector<std::string>& names,
                   const std::set<std::string>& updated) const {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return updated.contains(name); });
  }

  /// Whether a `set_service` that follows gives it a config that differs from the executed one.
  bool is_set_anew(const ListedInstruction& added) const {
    for (size_t i = 0; i < submitted_.size(); ++i) {
      const ListedInstruction& set = submitted_[i];
      if (!rule_(set.type).sets_services || set.services != added.services)
        continue;
      const ListedInstruction* before = at(i);
      if (before == nullptr || before->type != set.type || before->text != set.text)
        return true;
    }
    return false;
  }

  bool is_update(size_t i, const ListedInstruction& before) const {
    const ListedInstruction& now = submitted_[i];
    const OverlapRule& rule = rule_(now.type);
    if (now.text != before.text || now.force)
      return true;
    if (rule.compares_digests && now.artifacts != before.artifacts)
      return true;
    if (rule.depends_on == OverlapRule::DependsOn::mounts &&
        any_updated(now.mounts, updated_artifacts_))
      return true;
    if (rule.depends_on == OverlapRule::DependsOn::services &&
        any_updated(now.services, updated_services_))
      return true;
    // Services that are added by one instruction cannot be set one by one.
    return rule.adds_services && rule.identity == OverlapRule::Identity::services &&
           is_set_anew(now);
  }

  void note(const ListedInstruction& instruction, bool updated) {
    if (!updated)
      return;
    if (rule_(instruction.type).adds_services)
      updated_services_.insert(instruction.services.begin(), instruction.services.end());
    for (const auto& [name, digest] : instruction.artifacts)
      updated_artifacts_.insert(name);
  }

  const std::vector<ListedInstruction>& executed_;
  size_t start_;
  const std::vector<ListedInstruction>& submitted_;
  OverlapRules rule_;
  std::set<std::string> updated_services_, updated_artifacts_;
};

}  // namespace

Resolution resolve_overlap(const std::vector<ListedInstruction>& executed,
                           const std::vector<ListedInstruction>& submitted, OverlapRules rules) {
  Resolution resolution{executed.size(), std::vector<Overlap>(submitted.size(), Overlap::added)};
  if (submitted.empty() || !std::ranges::all_of(submitted, [&](const ListedInstruction& one) {
        return rules(one.type).is_resolvable;
      }))
    return resolution;
  // An overlap further left would leave executed instructions behind the submitted plan.
  const size_t first = executed.size() > submitted.size() ? executed.size() - submitted.size() : 0;
  for (size_t start = first; start < executed.size(); ++start) {
    std::vector<Overlap> decisions;
    if (OverlapAttempt(executed, start, submitted, rules).run(decisions))
      return {start, std::move(decisions)};
  }
  return resolution;
}

Value to_value(const std::vector<ListedInstruction>& list) {
  const auto texts = [](const std::vector<std::string>& names) {
    return Value::list(std::vector<Value>(names.begin(), names.end()));
  };
  std::vector<Value> items;
  for (const ListedInstruction& instruction : list) {
    std::vector<Entry> artifacts;
    for (const auto& [name, digest] : instruction.artifacts)
      artifacts.push_back({name, digest});
    std::vector<Entry> item{{"type", instruction.type}, {"text", instruction.text}};
    if (!instruction.services.empty())
      item.push_back({"services", texts(instruction.services)});
    if (!instruction.mounts.empty())
      item.push_back({"mounts", texts(instruction.mounts)});
    if (!instruction.actions.empty())
      item.push_back({"actions", texts(instruction.actions)});
    if (!artifacts.empty())
      item.push_back({"artifacts", Value::dict(std::move(artifacts))});
    items.push_back(Value::dict(std::move(item)));
  }
  return Value::list(std::move(items));
}

std::vector<ListedInstruction> listed_instructions(const Value& value) {
  std::vector<ListedInstruction> list;
  if (!value.is_list())
    return list;
  const auto texts = [](const Value& names) {
    std::vector<std::string> found;
    if (names.is_list())
      for (const Value& name : names.items())
        found.push_back(to_text(name));
    return found;
  };
  for (const Value& item : value.items()) {
    ListedInstruction instruction;
    instruction.type = item.text_at("type");
    instruction.text = item.text_at("text");
    instruction.services = texts(item.at("services"));
    instruction.mounts = texts(item.at("mounts"));
    instruction.actions = texts(item.at("actions"));
    if (item.at("artifacts").is_dict())
      for (const Entry& artifact : item.at("artifacts").entries())
        instruction.artifacts[artifact.key.str()] = to_text(artifact.value);
    list.push_back(std::move(instruction));
  }
  return list;
}

}  // namespace fettle

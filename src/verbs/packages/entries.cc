#include "verbs/packages/entries.h"

#include <set>

#include "base/text.h"
#include "core/rename.h"

namespace fettle {
namespace {

bool is_action(const Key& key, const Kinds& kinds) {
  const Kind* kind = kinds.find(key.kind);
  return kind != nullptr && kind->sort() == Sort::action;
}

std::string action_of(const Key& key) { return cat(key.kind, "/", key.name); }

Key key_of(const Name& environment, std::string_view action) {
  const size_t slash = action.find('/');
  return {environment, action.substr(0, slash),
          action.substr(std::min(slash, action.size() - 1) + 1)};
}

/// `web#1f0c.2` follows `web#1f0c`, and so on.
Key next_key(const Key& key) {
  const std::string_view name = key.name;
  const size_t dot = name.find('.', name.rfind('#') == name.npos ? 0 : name.rfind('#'));
  const int count = dot == name.npos ? 1 : std::atoi(std::string(name.substr(dot + 1)).c_str());
  return {key.environment, key.kind, cat(name.substr(0, dot), ".", count + 1)};
}

/// Maps keys to the keys that stand for them.
class Names {
 public:
  Names(const Package& package, const Kinds& kinds, const std::vector<ListedInstruction>& executed,
        const Resolution& resolution)
      : package_(package), kinds_(kinds), executed_(executed), resolution_(resolution) {
    const Name& environment = package.intent->environment;
    for (size_t i = 0; i < std::min(resolution.start, executed.size()); ++i)
      for (const std::string& action : executed[i].actions)
        taken_.insert(key_of(environment, action));
    for (const bool equal : {true, false})
      for (size_t i = 0; i < package.statements->size(); ++i)
        if ((resolution.decisions[i] == Overlap::equal) == equal)
          name(i, equal);
  }

  const Key& of(const Key& key) const {
    const auto found = names_.find(key);
    return found == names_.end() ? key : found->second;
  }
  const Renames& renames() const { return names_; }

 private:
  void name(size_t i, bool equal) {
    const Name& environment = package_.intent->environment;
    const size_t at = resolution_.start + i;
    const bool is_new = resolution_.decisions[i] == Overlap::added || at >= executed_.size();
    const std::vector<std::string> none;
    const std::vector<std::string>& before = is_new ? none : executed_[at].actions;
    size_t place = 0;
    for (const Key& own : (*package_.statements)[i].keys) {
      if (!is_action(own, kinds_))
        continue;
      Key key = place < before.size() ? key_of(environment, before[place]) : own;
      ++place;
      if (key.kind != own.kind)
        key = own;
      while (!equal && taken_.contains(key))
        key = next_key(key);
      taken_.insert(key);
      if (key != own)
        names_[own] = key;
    }
  }

  const Package& package_;
  const Kinds& kinds_;
  const std::vector<ListedInstruction>& executed_;
  const Resolution& resolution_;
  Renames names_;
  std::set<Key> taken_;
};

/// The resources under their new keys. The first of several under one key stands for all of them.
/// What comes after another of them comes after the needs of that one, too.
std::vector<Resource> renamed(const std::vector<Resource>& resources, const Names& names,
                              const Name& environment) {
  std::vector<Resource> made;
  std::set<Key> there;
  std::map<Key, std::vector<Key>> instead;  // of those that are left out
  for (const Resource& before : resources) {
    Resource resource = before;
    resource.key = names.of(before.key);
    resource.attributes = renamed(before.attributes, names.renames(), environment);
    for (Need& need : resource.needs) {
      std::vector<Key> keys;
      for (const Key& key : need.keys) {
        keys.push_back(names.of(key));
        if (const auto found = instead.find(key); found != instead.end() && !need.any)
          keys.insert(keys.end(), found->second.begin(), found->second.end());
      }
      need.keys = std::move(keys);
    }
    if (there.insert(resource.key).second) {
      made.push_back(std::move(resource));
      continue;
    }
    for (const Need& need : resource.needs)
      if (need.bond == Bond::order)
        for (const Key& key : need.keys)
          if (key != resource.key)
            instead[before.key].push_back(key);
  }
  return made;
}

}  // namespace

std::vector<std::string> actions_of(std::span<const Key> keys, const Kinds& kinds) {
  std::vector<std::string> actions;
  for (const Key& key : keys)
    if (is_action(key, kinds))
      actions.push_back(action_of(key));
  return actions;
}

void name_by_entries(Package& package, const Kinds& kinds,
                     const std::vector<ListedInstruction>& executed, const Resolution& resolution) {
  const Names names(package, kinds, executed, resolution);
  if (names.renames().empty())
    return;
  const Name& environment = package.intent->environment;
  auto intent = std::make_shared<Intent>(*package.intent);
  for (auto& [set, resources] : intent->resources)
    resources = renamed(resources, names, environment);
  auto statements = std::make_shared<std::vector<Statement>>(*package.statements);
  for (Statement& statement : *statements)
    for (Key& key : statement.keys)
      key = names.of(key);
  package.output = renamed(package.output, names.renames(), environment);
  package.intent = std::move(intent);
  package.statements = std::move(statements);
}

}  // namespace fettle

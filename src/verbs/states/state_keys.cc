#include "verbs/states/state_keys.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "kinds/kinds.h"
#include "states/types.h"

namespace fettle {
namespace {

using IdOfState = std::pair<Name, Name>;

Key with_tag(const Key& key, const StateTag& tag) {
  return {key.environment, key.kind, tag.function.empty() ? tag.key() : tag.tag()};
}

/// The path of a thing. Empty: it has none, or nobody knows it.
std::string path_of(const Key& key, const Record& record) {
  static const Name of_a_call = state_kind().name();
  if (key.kind == of_a_call)
    return {};
  const Resource* const then = resource_of_then(record);
  for (const Kind* kind : {&file_kind(), &folder_kind(), &link_kind()})
    if (then != nullptr && key.kind == kind->name())
      return kind->place(then->attributes, record.outputs);
  return {};
}

/// Finds what former runs left of the states of today.
class Seeker {
 public:
  Seeker(const states::CompiledStates& compiled, const Name& environment, const Known& known)
      : compiled_(compiled), environment_(environment), known_(known) {}

  Renames find() {
    for (const states::Chunk& chunk : compiled_.chunks) {
      if (is_own_name(chunk))
        continue;
      bool is_known = false;
      Key key{environment_, {}, states::key_of(chunk)};
      for (const Name& kind : kinds_of(chunk)) {
        key.kind = kind;
        const auto found = known_.find(key);
        if (found == known_.end())
          continue;
        set_aside(chunk, found->first, *found->second);
        is_known = is_known || !renames_.contains(key);
      }
      if (!is_known)
        take_over(chunk);
    }
    return std::move(renames_);
  }

 private:
  static bool is_own_name(const states::Chunk& chunk) {
    const states::MappedState* const mapped = states::find_mapped(chunk.state, chunk.function);
    return chunk.is_delayed || (mapped != nullptr && mapped->is_own_name);
  }

  const std::vector<Name>& kinds_of(const states::Chunk& chunk) {
    static const std::vector<Name> of_a_call{state_kind().name()};
    if (states::find_mapped(chunk.state, chunk.function) == nullptr)
      return of_a_call;
    const auto [known, is_new] = kinds_.try_emplace(chunk.state);
    if (is_new)
      for (const Kind* kind : states::kinds_of(chunk.state))
        known->second.push_back(kind->name());
    return known->second.empty() ? of_a_call : known->second;
  }

  /// A thing at another path than the one that is wanted now is another thing.
  void set_aside(const states::Chunk& chunk, const Key& key, const Record& record) {
    if (!chunk.bound_name.is_null() || !chunk.entry.empty())
      return;
    const std::string path = path_of(key, record);
    if (path.empty() || !is_tag_part(path) ||
        path == file_kind().place(Value::dict({{"path", chunk.name}}), {}))
      return;
    rename(key, with_tag(key, {chunk.state, chunk.id, Name(path), {}}));
  }

  /// Takes over what is known of the state under another key, unless that key belongs to somebody
  /// else.
  void take_over(const states::Chunk& chunk) {
    for (const Key& key : known_as(chunk.state, chunk.id)) {
      const std::optional<StateTag> tag = state_of_key(key);
      const Record& record = *known_.at(key);
      if (!is_wanted(key) &&
          (tag->name() == chunk.name || name_of_state(key, record) == chunk.name))
        rename(key, with_tag(key, {chunk.state, chunk.id, chunk.entry, {}}));
    }
  }

  /// Whether a state of today has the key.
  bool is_wanted(const Key& key) {
    if (!wanted_) {
      wanted_.emplace();
      for (const states::Chunk& chunk : compiled_.chunks)
        if (!is_own_name(chunk))
          for (const Name& kind : kinds_of(chunk))
            wanted_->insert({environment_, kind, states::key_of(chunk)});
    }
    return wanted_->contains(key);
  }

  /// Renames a key together with the keys beside it.
  void rename(const Key& from, const Key& to) {
    renames_.emplace(from, to);
    const std::optional<StateTag> before = state_of_key(from), after = state_of_key(to);
    const Key check{environment_, state_kind().name(), before->beside("check")};
    if (known_.contains(check))
      renames_.emplace(check, Key{environment_, state_kind().name(), after->beside("check")});
  }

  const std::vector<Key>& known_as(const Name& state, const Name& id) {
    if (!is_read_) {
      is_read_ = true;
      for (const auto& [key, record] : known_)
        if (const std::optional<StateTag> tag = state_of_key(key); tag && tag->function.empty())
          by_id_[{tag->state, tag->id}].push_back(key);
    }
    return by_id_[{state, id}];
  }

  const states::CompiledStates& compiled_;
  const Name& environment_;
  const Known& known_;
  std::unordered_map<Name, std::vector<Name>> kinds_;       ///< by state
  std::optional<std::unordered_set<Key, KeyHash>> wanted_;  ///< once somebody has asked
  bool is_read_ = false;
  std::map<IdOfState, std::vector<Key>> by_id_;
  Renames renames_;
};

}  // namespace

std::map<StateTag, StateTag> upgraded_tags(std::span<const StateTag> tags) {
  std::map<IdOfState, std::vector<const StateTag*>> by_id;
  for (const StateTag& tag : tags)
    by_id[{tag.state, tag.id}].push_back(&tag);
  std::map<StateTag, StateTag> upgraded;
  for (const auto& [id, all] : by_id)
    if (all.size() == 1 && !all[0]->entry.empty())
      upgraded.emplace(*all[0], StateTag{id.first, id.second});
  return upgraded;
}

Renames upgraded_keys(const Known& known) {
  std::set<StateTag> tags;
  for (const auto& [key, record] : known)
    if (std::optional<StateTag> tag = state_of_key(key)) {
      tag->function = Name();
      tags.insert(*std::move(tag));
    }
  const std::vector<StateTag> all(tags.begin(), tags.end());
  const std::map<StateTag, StateTag> upgraded = upgraded_tags(all);
  Renames renames;
  for (const auto& [key, record] : known)
    if (const std::optional<StateTag> tag = state_of_key(key))
      if (const auto to = upgraded.find({tag->state, tag->id, tag->entry, {}});
          to != upgraded.end())
        renames.emplace(key, with_tag(key, {tag->state, tag->id, {}, tag->function}));
  return renames;
}

Renames keys_of_today(const states::CompiledStates& compiled, const Name& environment,
                      const Known& known) {
  return known.empty() ? Renames() : Seeker(compiled, environment, known).find();
}

std::vector<Change> rename_known(const Renames& renames, Known& known) {
  std::vector<Change> changes, records;
  if (renames.empty())
    return changes;
  for (const auto& [from, to] : renames) {
    Change moved{Change::moved, from, {}, {}};
    moved.logged.key = to;
    changes.push_back(std::move(moved));
  }
  Known after;
  std::vector<std::pair<Key, RecordPointer>> moved;
  for (auto& [key, record] : known) {
    RecordPointer other = renamed(record, renames);
    if (const auto to = renames.find(key); to != renames.end()) {
      changes.push_back({Change::forget, key, {}, {}});
      moved.emplace_back(to->second, std::move(other));
      continue;
    }
    if (other != record)
      records.push_back({Change::record, key, other, {}});
    after.emplace(key, std::move(other));
  }
  for (auto& [key, record] : moved) {
    records.push_back({Change::record, key, record, {}});
    after.insert_or_assign(key, std::move(record));
  }
  changes.insert(changes.end(), records.begin(), records.end());
  known = std::move(after);
  return changes;
}

}  // namespace fettle

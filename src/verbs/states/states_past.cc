#include "verbs/states/states_past.h"

#include <algorithm>

#include "base/text.h"
#include "core/open_payload.h"
#include "kinds/state.h"
#include "verbs/states/state_keys.h"

namespace fettle {
namespace {

/// A state that removes what another state has replaced is nothing by itself.
bool removes_others(const Record& record) {
  return record.applied &&
         read_one<&StateInvocation::settings>(record.applied->attributes).find("replaced") !=
             nullptr;
}

}  // namespace

std::vector<Name> KnownMemory::find(const Name& state, const Name& target) const {
  std::vector<Name> found;
  const std::string prefix = cat(state, StateTag::separator);
  for (const auto& [key, record] : known_) {
    if (!key.name.view().starts_with(prefix) || removes_others(*record))
      continue;
    const std::optional<StateTag> tag = StateTag::parse(key.name);
    if (tag && tag->function.empty() &&
        (tag->id == target || tag->entry == target || name_of_state(key, *record) == target.view()))
      found.push_back(key.name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool KnownMemory::has(const Name& state, const Name& id, const Name& parameter) const {
  const std::vector<Name> names = find(state, id);
  return std::ranges::any_of(known_, [&](const auto& known) {
    const auto& [key, record] = known;
    return key.kind == "state" && std::ranges::find(names, key.name) != names.end() &&
           !read_one<&StateOutputs::new_state>(record->outputs).at(parameter).is_null();
  });
}

bool RunOutcomes::has_run(std::string_view id) const {
  bool is_there = false;
  for (size_t i = 0; i < keys_.size(); ++i)
    if (compiled_.chunks[i].id == id) {
      is_there = true;
      // If all is only looked at, what engines look at themselves counts as done.
      const Standing standing = run_.standing(keys_[i]);
      if (!is_good(standing) && !(looks_ && standing == Standing::open && keys_[i].kind != "state"))
        return false;
    }
  return is_there;
}

std::optional<Value> RunOutcomes::new_state(std::string_view state, std::string_view id,
                                            std::string_view name) const {
  for (size_t i = 0; i < keys_.size(); ++i) {
    const states::Chunk& chunk = compiled_.chunks[i];
    if (chunk.state != state || chunk.id != id || (!name.empty() && chunk.name != name) ||
        !is_good(run_.standing(keys_[i])))
      continue;
    if (const Outputs* looked = run_.looked(keys_[i]); looked != nullptr)
      return read_one<&StateOutputs::new_state>(*looked);
    if (const auto record = run_.known().find(keys_[i]); record != run_.known().end())
      return keys_[i].kind == "state" ? read_one<&StateOutputs::new_state>(record->second->outputs)
                                      : dict_of(record->second->outputs);
  }
  return std::nullopt;
}

}  // namespace fettle

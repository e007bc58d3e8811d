#include "workplace/state_of_key.h"

#include <algorithm>
#include <array>

#include "kinds/kinds.h"

namespace fettle {
namespace {

/// Whether the keys of the kind are those of states.
bool holds_states(const Name& kind) {
  static const std::array<Name, 5> kinds{state_kind().name(), file_kind().name(),
                                         folder_kind().name(), link_kind().name(),
                                         command_kind().name()};
  return std::ranges::find(kinds, kind) != kinds.end();
}

}  // namespace

std::optional<StateTag> state_of_key(const Key& key) {
  return holds_states(key.kind) ? StateTag::parse(key.name) : std::nullopt;
}

std::string_view name_of_state(const Key& key, const Record& record) {
  if (const Value& called = record.outputs.at("called").at("name"); called.is_text())
    return record.outputs.at("called").text_at("name");
  const Resource* const then = resource_of_then(record);
  if (then != nullptr && key.kind == state_kind().name())
    return then->attributes.text_at("name");
  const std::string_view path = record.outputs.text_at("path");
  return !path.empty() || then == nullptr ? path : then->attributes.text_at("path");
}

}  // namespace fettle

#include "workplace/state_of_key.h"

#include <algorithm>
#include <array>

#include "kinds/file.h"
#include "kinds/kinds.h"
#include "kinds/state.h"

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
  if (const Value called = read_one<&StateOutputs::called>(record.outputs).name; called.is_text())
    return called.text().view();
  const Resource* const then = resource_of_then(record);
  if (then != nullptr && key.kind == state_kind().name())
    return read_one<&StateInvocation::name>(then->attributes).view();
  const std::string_view path = read_one<&PathOutputs::path>(record.outputs);
  return !path.empty() || then == nullptr ? path : read_one<&File::path>(then->attributes).view();
}

}  // namespace fettle

#include "verbs/states/last_states.h"

namespace fettle {
namespace {

constexpr std::string_view last_states_note = "last states";

}  // namespace

Result<std::optional<LastStates>> read_last_states(const Workplace& place,
                                                   const Name& environment) {
  const std::optional<Value> note = TRY(place.store->note(environment, last_states_note));
  if (!note || !note->is_dict())
    return std::optional<LastStates>();
  const Value asked = reveal(note->at("asked"));
  LastStates last{{}, std::string(asked.text_at("folder"))};
  for (const Value& word : items_of(asked.at("words")))
    last.words.push_back(to_text(word));
  return std::optional(std::move(last));
}

Status write_last_states(const Workplace& place, Edit& edit, const LastStates& asked) {
  if (const auto before = TRY(read_last_states(place, edit.environment()));
      before && *before == asked)
    return {};
  const Value words = Value::list({asked.words.begin(), asked.words.end()});
  return edit.put_note(
      last_states_note,
      Value::dict(
          {{"asked", Value::secret(Value::dict({{"words", words}, {"folder", asked.folder}}))}}));
}

}  // namespace fettle

#include "states/holes.h"

#include <algorithm>

#include "base/text.h"
#include "core/output_at.h"
#include "kinds/command.h"
#include "kinds/file.h"
#include "kinds/kinds.h"
#include "kinds/state.h"
#include "states/reference.h"
#include "states/types.h"
#include "value/leaves.h"

namespace fettle::states {
namespace {

/// Turns the path of a reference into the name of an output.
Name output_path(std::string_view path, std::string_view prefix) {
  std::string made = prefix.empty() ? "" : path_step(prefix);
  for (const Step& step : steps_of(path, "").value_or(std::vector<Step>()))
    made += path_of(step);
  return made;
}

}  // namespace

Value Holes::rebound(const Value& value, const Chunk& owner) {
  if (!value.has_deferred())
    return value;
  return with_leaves(value, [&](const Value& leaf) -> std::optional<Value> {
    if (!leaf.is_deferred())
      return std::nullopt;
    std::vector<Part> parts;
    std::vector<Output> remembered;
    for (const Part& part : leaf.parts()) {
      parts.push_back(part.hole.kind == bound_kind ? Part(output_of(part.hole)) : part);
      if (part.is_hole() && takes_from_memory(owner, part.hole))
        remembered.push_back(parts.back().hole);
    }
    Value bound = Value::deferred(std::move(parts), leaf.text_form());
    return remembered.empty() ? bound : filled_from_memory(bound, remembered);
  });
}

/// Whether the value of a hole comes from memory. A state that is undone goes before those from
/// which it took values. When others would take what it left, that is gone, so memory has these
/// values.
bool Holes::takes_from_memory(const Chunk& owner, const Output& hole) {
  if (!compiled_.is_inverted)
    return false;
  const auto target = hole.kind == bound_kind ? chunk_named(hole.name) : std::optional<size_t>();
  return owner.has_inverse() || !target || compiled_.chunks[*target].has_inverse();
}

/// Null: one of the outputs is not remembered. Then the argument is what memory has for it.
Value Holes::filled_from_memory(const Value& leaf, const std::vector<Output>& remembered) const {
  bool is_known = true;
  Value filled = fill_with(leaf, [&](const Output& hole) -> std::optional<Value> {
    if (std::ranges::find(remembered, hole) == remembered.end())
      return std::nullopt;
    const Record* record = record_of({environment_, hole.kind, hole.name});
    std::optional<Value> left =
        record == nullptr ? std::nullopt : output_at(*record, hole.path.view());
    is_known &= left && !left->is_null();
    return left;
  });
  return is_known ? filled : Value();
}

Value Holes::name_of(const Chunk& chunk) {
  if (chunk.bound_name.is_null())
    return chunk.name;
  const Value name = rebound(chunk.bound_name, chunk);
  return name.is_null() ? remembered_name(chunk) : name;
}

Value Holes::remembered_name(const Chunk& chunk) const {
  std::vector<const Kind*> kinds = kinds_of(chunk.state);
  kinds.push_back(&state_kind());
  for (const Kind* kind : kinds)
    if (const Record* record = record_of({environment_, kind->name(), key_of(chunk)});
        record != nullptr && record->applied) {
      if (const Value called = read_one<&StateOutputs::called>(record->outputs).name;
          called.is_text())
        return called;
      const Attributes& attributes = record->applied->attributes;
      for (const Hole<Name>& name :
           {read_one<&StateInvocation::name>(attributes), read_one<&File::path>(attributes)})
        if (!name.empty())
          return name.value();
    }
  return {};
}

bool Holes::has_lost_name(const Chunk& chunk) {
  return compiled_.is_inverted && !chunk.bound_name.is_null() && name_of(chunk).is_null();
}

Key Holes::remembered_key(const Name& memory) const {
  for (const Kind* kind : kinds_of(StateTag::parse(memory).value_or(StateTag()).state))
    if (const Key key{environment_, kind->name(), memory}; record_of(key) != nullptr)
      return key;
  return {environment_, state_kind().name(), memory};
}

/// The chunk that a reference names. None: it is not in this run.
std::optional<size_t> Holes::chunk_named(const Name& name) {
  if (by_name_.empty())
    for (size_t i = 0; i < compiled_.chunks.size(); ++i)
      if (!keys_[i].kind.empty())
        by_name_.emplace(key_of(compiled_.chunks[i]), i);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

Output Holes::output_of(const Output& hole) {
  const std::optional<size_t> chunk = chunk_named(hole.name);
  const Key key = chunk ? keys_[*chunk] : remembered_key(hole.name);
  if (key.kind == state_kind().name())
    return {key.kind, key.name,
            output_path(hole.path, !chunk && is_kept_apart(key) ? "memory" : "new_state")};
  if (key.kind != command_kind().name())
    return {key.kind, key.name, cat("@", output_path(hole.path, ""))};
  // The outputs of a command have Idem's names. Earlier there was only one output.
  if (hole.path == "retcode")
    return {key.kind, key.name, "code"};
  const Record* record = record_of(key);
  const bool is_of_before = hole.path == "stdout" && record != nullptr &&
                            !record->outputs.is_null() && !has_told(record->outputs);
  return {key.kind, key.name, is_of_before ? Name("output") : output_path(hole.path, "")};
}

/// Whether memory has something else for a call than its result.
bool Holes::is_kept_apart(const Key& key) const {
  const Record* record = record_of(key);
  return record != nullptr && !read_one<&StateOutputs::memory>(record->outputs).is_null();
}

const Record* Holes::record_of(const Key& key) const {
  if (known_ == nullptr)
    return nullptr;
  const auto record = known_->find(key);
  return record == known_->end() ? nullptr : record->second.get();
}

}  // namespace fettle::states

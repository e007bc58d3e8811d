/// Finds the targets of requisites: chunks of this run, or things that a former run left.

#include <algorithm>

#include "base/text.h"
#include "states/compilation.h"
#include "states/reference.h"

namespace fettle::states {
namespace {

/// In Idem's words: the state is not there at all, or not what it names.
std::string not_found(Compilation& with, std::string_view requisite, const Name& state,
                      const Name& target) {
  if (state != "sls" && !with.index().has_state(with.index().state_of(state)))
    return cat("Requisite '", requisite, "' state '", state,
               "': not found in current run. Verify the syntax.");
  return cat("Requisite '", requisite, " ", state, ":", target,
             "' not found in current run. Verify the syntax.");
}

/// Whether a pattern leaves out the state that has the requisite.
bool leaves_out_itself(const Name& state, const Name& target) {
  return state == "sls" || is_pattern(halves_of_id(target).first);
}

/// Whether the value is this text, or a list that contains it.
bool names(const Value& value, const Name& wanted) {
  if (value.is_list())
    return std::ranges::any_of(value.items(),
                               [&](const Value& item) { return names(item, wanted); });
  return value.is_text() && value.text() == wanted;
}

/// Whether a requisite `sls: ref` waits for a file that an `sls.run` among its targets has not yet
/// brought, although the ID of that state is the ref of the file.
bool waits_for_file(const Compilation& with, const Need& need) {
  if (need.state != "sls" || !with.is_partial())
    return false;
  bool is_to_come = false;
  for (uint32_t t = need.begin; t < need.begin + need.count; ++t) {
    const Chunk& chunk = with.made.chunks[with.made.targets[t]];
    if (is_ref_of(need.target, chunk.sls))
      return false;
    for (const auto& [parameter, value] : chunk.arguments)
      is_to_come |= chunk.state == "sls" && parameter == "sls_sources" && names(value, need.target);
  }
  return is_to_come;
}

}  // namespace

Need need_of(Compilation& with, Chunk& chunk, uint32_t self, const GlobalArgument& requisite,
             const Name& state, const Name& target, Position at) {
  CompiledStates& made = with.made;
  Need need;
  need.requisite = requisite.requisite;
  need.any = requisite.any;
  need.state = state;
  need.target = target;
  need.at = at;
  need.begin = static_cast<uint32_t>(made.targets.size());
  if (made.targets.size() > most_targets)
    return need;
  if (!chunk.prefix.empty())
    with.index().find(with.index().state_of(state), cat(chunk.prefix, target), made.targets);
  if (made.targets.size() == need.begin)
    with.index().find(with.index().state_of(state), target, made.targets);
  if (leaves_out_itself(state, target))
    made.targets.erase(std::remove(made.targets.begin() + need.begin, made.targets.end(), self),
                       made.targets.end());
  need.count = static_cast<uint32_t>(made.targets.size()) - need.begin;
  if (made.targets.size() > most_targets)
    with.report.error(
        at, cat("the requisites of this run name more than ", most_targets, " states together"));
  else if (!with.index().is_complete())
    with.report.error(at, "the patterns of this run's requisites take too many comparisons");
  if (need.count > 0) {
    chunk.is_delayed |= waits_for_file(with, need);
    return need;
  }
  if (with.options.memory != nullptr && row_of(need.requisite).is_of_memory) {
    const std::vector<Name> keys = with.options.memory->find(state, target);
    need.is_remembered = !keys.empty();
    if (keys.size() == 1)
      need.memory = keys[0];
  }
  if (need.is_remembered)
    return need;
  if (with.is_partial() || with.is_asked(target) || with.is_asked(state))
    chunk.is_delayed = true;
  else
    with.fail(chunk, at, not_found(with, requisite.name, state, target),
              [&] { return with.index().suggestion_for(with.index().state_of(state), target); });
  return need;
}

TargetIndex& Compilation::index() {
  if (!chunk_index) {
    chunk_index.emplace();
    for (uint32_t i = 0; i < made.chunks.size(); ++i) {
      const Chunk& chunk = made.chunks[i];
      chunk_index->add(i, chunk.state, chunk.id, chunk.name, chunk.sls);
    }
  }
  return *chunk_index;
}

void resolve_needs(Compilation& with) {
  std::vector<Chunk>& chunks = with.made.chunks;
  for (uint32_t i = 0; i < chunks.size(); ++i) {
    const Body& body = *with.bodies[i];
    chunks[i].needs.reserve(body.wishes.size());
    for (const Wish& wish : body.wishes)
      if (wish.requisite->role == GlobalArgument::Role::requisite)
        chunks[i].needs.push_back(
            need_of(with, chunks[i], i, *wish.requisite, wish.state, wish.target, wish.at));
  }
}

}  // namespace fettle::states

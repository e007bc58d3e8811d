/// Other runs of the same files: everything undone, or one ID with what it needs.

#include <algorithm>

#include "base/text.h"
#include "states/compilation.h"
#include "states/types.h"

namespace fettle::states {
namespace {

bool is_profile(const Chunk& chunk) { return chunk.state == "acct" && chunk.function == "profile"; }

std::span<const uint32_t> targets_of(const Compiled& made, const Need& need) {
  return std::span(made.targets).subspan(need.begin, need.count);
}

bool lacks(const Module* module, std::string_view function) {
  return module != nullptr && module->find(function) == nullptr;
}

/// The function that undoes a state; empty: it stays as it is.
Name inverse_of(const Chunk& chunk) {
  if (chunk.function == "present" || chunk.function == "absent")
    return chunk.function == "present" ? "absent" : "present";
  const bool is_undone = find_mapped(chunk.state, chunk.function) != nullptr &&
                         find_mapped(chunk.state, "absent") != nullptr;
  return is_undone ? Name("absent") : Name();
}

}  // namespace

/// What needed something is undone before it. References are filled from memory: what they name is
/// still there then. A profile is made before those that use it, as ever.
void invert(Compilation& with) {
  Compiled& made = with.made;
  std::vector<std::vector<uint32_t>> dependants(made.chunks.size());
  for (uint32_t i = 0; i < made.chunks.size(); ++i) {
    Chunk& chunk = made.chunks[i];
    if (chunk.function == "absent" && lacks(with.modules[i], "present"))
      chunk.has_nothing_to_undo = true;
    else if (const Name inverse = inverse_of(chunk); !inverse.empty()) {
      chunk.function = inverse;
      chunk.is_swapped = true;
    }
    std::vector<Need> kept;
    for (Need& need : chunk.needs) {
      const auto targets = targets_of(made, need);
      if (std::any_of(targets.begin(), targets.end(),
                      [&](uint32_t target) { return is_profile(made.chunks[target]); })) {
        kept.push_back(std::move(need));
        continue;
      }
      if (need.requisite == Requisite::listen)
        continue;
      for (const uint32_t target : targets)
        if (need.requisite == Requisite::prereq)
          dependants[i].push_back(target);
        else
          dependants[target].push_back(i);
      if (need.requisite == Requisite::arg_bind) {
        if (need.count > 0)
          need.memory = key_of(made.chunks[targets[0]]);
        need.is_remembered = true;
        need.count = 0;
        kept.push_back(std::move(need));
      }
    }
    chunk.needs = std::move(kept);
  }
  for (uint32_t i = 0; i < made.chunks.size(); ++i) {
    if (dependants[i].empty())
      continue;
    Need need;
    need.is_implied = true;
    need.state = made.chunks[i].state;
    need.target = "*";
    need.at = made.chunks[i].at;
    need.begin = static_cast<uint32_t>(made.targets.size());
    need.count = static_cast<uint32_t>(dependants[i].size());
    made.targets.insert(made.targets.end(), dependants[i].begin(), dependants[i].end());
    made.chunks[i].needs.push_back(std::move(need));
  }
}

void select_target(Compilation& with) {
  Compiled& made = with.made;
  const Name target = with.options.target;
  constexpr uint32_t left_out = UINT32_MAX;
  std::vector<uint32_t> numbers(made.chunks.size(), left_out);
  std::vector<uint32_t> open;
  const auto take = [&](uint32_t i) {
    if (numbers[i] == left_out)
      open.push_back(i);
    numbers[i] = 0;
  };
  for (uint32_t i = 0; i < made.chunks.size(); ++i)
    if (made.chunks[i].id == target)
      take(i);
  if (open.empty()) {
    std::vector<std::string_view> ids;
    for (const Chunk& chunk : made.chunks)
      ids.push_back(chunk.id);
    with.report.error(
        user_error(cat("Invalid 'target' for run '", with.options.run_name, "': ", target,
                       ". 'target' should be a declaration ID", suggestion(target, ids))));
    return;
  }
  while (!open.empty()) {
    const Chunk& chunk = made.chunks[open.back()];
    open.pop_back();
    for (const Need& need : chunk.needs)
      for (const uint32_t other : targets_of(made, need))
        take(other);
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < made.chunks.size(); ++i)
    if (numbers[i] != left_out) {
      numbers[i] = count;
      if (count != i) {
        made.chunks[count] = std::move(made.chunks[i]);
        with.bodies[count] = with.bodies[i];
        with.modules[count] = with.modules[i];
      }
      ++count;
    }
  made.chunks.resize(count);
  with.bodies.resize(count);
  with.modules.resize(count);
  for (uint32_t& number : made.targets)
    number = numbers[number];
}

}  // namespace fettle::states

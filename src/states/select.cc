/// Other runs of the same files: everything undone, or only one ID with its needs.

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "states/compilation.h"
#include "states/types.h"

namespace fettle::states {
namespace {

bool is_profile(const Chunk& chunk) { return chunk.state == "acct" && chunk.function == "profile"; }

std::span<const uint32_t> targets_of(const CompiledStates& made, const Need& need) {
  return std::span(made.targets).subspan(need.begin, need.count);
}

bool lacks(const Module* module, std::string_view function) {
  return module != nullptr && module->find(function) == nullptr;
}

/// The function that undoes a state. Empty: the state stays as it is.
Name inverse_of(const Chunk& chunk) {
  if (chunk.function == "present" || chunk.function == "absent")
    return chunk.function == "present" ? "absent" : "present";
  const bool is_undone = find_mapped(chunk.state, chunk.function) != nullptr &&
                         find_mapped(chunk.state, "absent") != nullptr;
  return is_undone ? Name("absent") : Name();
}

/// Turns the needs of a run round.
class Inversion {
 public:
  explicit Inversion(Compilation& with) : with_(with), made_(with.made) {}

  void run() {
    swap_functions();
    dependants_.resize(made_.chunks.size());
    for (uint32_t i = 0; i < made_.chunks.size(); ++i)
      turn_needs_of(i);
    for (uint32_t i = 0; i < made_.chunks.size(); ++i)
      for (const bool undone : {false, true})
        add_order(i, undone);
    break_circles();
  }

 private:
  void swap_functions() {
    for (uint32_t i = 0; i < made_.chunks.size(); ++i) {
      Chunk& chunk = made_.chunks[i];
      if (chunk.function == "absent" && lacks(with_.modules[i], "present"))
        chunk.has_nothing_to_undo = true;
      else if (const Name inverse = inverse_of(chunk); !inverse.empty()) {
        chunk.function = inverse;
        chunk.is_swapped = true;
      }
    }
  }

  bool has_inverse(uint32_t i) const { return made_.chunks[i].has_inverse(); }

  void turn_needs_of(uint32_t i) {
    Chunk& chunk = made_.chunks[i];
    std::vector<Need> kept;
    for (Need& need : chunk.needs) {
      const auto targets = targets_of(made_, need);
      const bool has_profile = std::ranges::any_of(
          targets, [&](uint32_t target) { return is_profile(made_.chunks[target]); });
      const bool turns =
          std::ranges::any_of(targets, [&](uint32_t target) { return has_inverse(target); });
      if (need.requisite == Requisite::arg_bind && !has_profile && (has_inverse(i) || turns))
        kept.push_back(remembered(i, std::move(need)));
      else if (has_profile || !turns || (!has_inverse(i) && need.requisite != Requisite::require))
        kept.push_back(std::move(need));
      else if (need.requisite != Requisite::listen)
        for (Need& rest : turned(i, std::move(need)))
          kept.push_back(std::move(rest));
    }
    std::erase_if(kept, [&](const Need& need) {
      return need.requisite == Requisite::listen && has_inverse(i);
    });
    chunk.needs = std::move(kept);
  }

  /// The need for a remembered thing: what a reference names is still there if it is to go at all.
  Need remembered(uint32_t i, Need need) {
    const auto targets = targets_of(made_, need);
    for (const uint32_t target : targets)
      if (has_inverse(target))
        dependants_[target].push_back(i);
    if (need.count > 0)
      need.memory = key_of(made_.chunks[targets[0]]);
    need.is_remembered = true;
    need.count = 0;
    return need;
  }

  /// States that are undone wait for this one, or it waits for them. Its needs for other states
  /// stay.
  std::vector<Need> turned(uint32_t i, Need need) {
    std::vector<uint32_t> others;
    for (const uint32_t target : targets_of(made_, need)) {
      if (!has_inverse(target))
        others.push_back(target);
      else if (need.requisite == Requisite::prereq)
        dependants_[i].push_back(target);
      else
        dependants_[target].push_back(i);
    }
    if (others.empty())
      return {};
    need.begin = static_cast<uint32_t>(made_.targets.size());
    need.count = static_cast<uint32_t>(others.size());
    made_.targets.insert(made_.targets.end(), others.begin(), others.end());
    return {std::move(need)};
  }

  /// Puts it after undone states, or after the others, whatever their result: only needs between
  /// undone states are turned round.
  void add_order(uint32_t i, bool undone) {
    std::vector<uint32_t> targets;
    std::ranges::copy_if(dependants_[i], std::back_inserter(targets),
                         [&](uint32_t target) { return has_inverse(target) == undone; });
    if (targets.empty())
      return;
    Need need;
    need.requisite = undone ? Requisite::require : Requisite::order;
    need.is_implied = true;
    need.state = made_.chunks[i].state;
    need.target = "*";
    need.at = made_.chunks[i].at;
    need.begin = static_cast<uint32_t>(made_.targets.size());
    need.count = static_cast<uint32_t>(targets.size());
    made_.targets.insert(made_.targets.end(), targets.begin(), targets.end());
    made_.chunks[i].needs.push_back(std::move(need));
  }

  /// A command between two undone states cannot come before one and after the other. Then undone
  /// states wait for no commands; the remaining needs have no circles.
  void break_circles() {
    const std::vector<bool> stuck = stuck_chunks();
    for (uint32_t i = 0; i < made_.chunks.size(); ++i)
      if (stuck[i] && has_inverse(i))
        std::erase_if(made_.chunks[i].needs, [&](const Need& need) {
          return !need.is_remembered &&
                 std::ranges::any_of(targets_of(made_, need), [&](uint32_t target) {
                   return stuck[target] && !has_inverse(target) &&
                          !is_profile(made_.chunks[target]);
                 });
        });
  }

  /// The states in a circle of needs, and those that wait for one.
  std::vector<bool> stuck_chunks() const {
    std::vector<uint32_t> open(made_.chunks.size(), 0), ready;
    std::vector<std::vector<uint32_t>> waiting(made_.chunks.size());
    for (uint32_t i = 0; i < made_.chunks.size(); ++i)
      for (const Need& need : made_.chunks[i].needs)
        if (need.requisite != Requisite::listen)
          for (const uint32_t target : targets_of(made_, need)) {
            const bool is_before = need.requisite == Requisite::prereq;
            waiting[is_before ? i : target].push_back(is_before ? target : i);
            ++open[is_before ? target : i];
          }
    std::vector<bool> stuck(made_.chunks.size(), true);
    for (uint32_t i = 0; i < made_.chunks.size(); ++i)
      if (open[i] == 0)
        ready.push_back(i);
    while (!ready.empty()) {
      const uint32_t i = ready.back();
      ready.pop_back();
      stuck[i] = false;
      for (const uint32_t other : waiting[i])
        if (--open[other] == 0)
          ready.push_back(other);
    }
    return stuck;
  }

  Compilation& with_;
  CompiledStates& made_;
  std::vector<std::vector<uint32_t>> dependants_;
};

}  // namespace

/// A state that requires another one is undone before that one. A state that cannot be undone keeps
/// its other conditions. References to undone states are filled from memory, since what they name
/// is still there then. As always, a profile is made before it is used.
void invert(Compilation& with) { Inversion(with).run(); }

void select_target(Compilation& with) {
  CompiledStates& made = with.made;
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

#include "verbs/states/state_comments.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

#include "base/text.h"
#include "kinds/kinds.h"
#include "states/reference.h"
#include "value/leaves.h"

namespace fettle {
namespace {

std::string_view python_word(const Value& result) {
  return result.is_null() ? "None" : result == Value(true) ? "True" : "False";
}

bool has_no_changes(const Value& changes) {
  return changes.is_null() || (changes.is_dict() && changes.entries().empty());
}

/// The reasons why references of a chunk lead nowhere.
struct BrokenReferences {
  std::unordered_map<uint32_t, std::string> of_target;  ///< the first one to each state of this run
  std::string remembered;                               ///< the last one to a state of a former run
};

BrokenReferences broken_references(const CommentContext& of, const states::Chunk& chunk) {
  std::unordered_map<Name, uint32_t> targets;
  std::unordered_map<uint32_t, Name> written;  // of references
  for (const states::Need& need : chunk.needs)
    for (uint32_t t = need.begin; t < need.begin + need.count; ++t) {
      const uint32_t target = of.compiled.targets[t];
      targets.emplace(states::key_of(of.compiled.chunks[target]), target);
      if (need.requisite == states::Requisite::arg_bind)
        written.emplace(target, need.target);
    }
  BrokenReferences broken;
  const auto look_up = [&](const Output& hole, std::string_view state, const Value& left) {
    if (of.is_look)  // it may be there after the act
      return std::string();
    const Result<Value> value = states::value_at(left, hole.path.view(), state);
    return value ? std::string() : value.error().message;
  };
  const auto look_at = [&](const Value& leaf) -> std::optional<Value> {
    if (leaf.is_deferred())
      for (const Part& part : leaf.parts()) {
        if (part.hole.kind != states::bound_kind)
          continue;
        const auto target = targets.find(part.hole.name);
        if (target == targets.end()) {
          const StateTag tag = StateTag::parse(part.hole.name).value_or(StateTag());
          broken.remembered = look_up(part.hole, tag.state, Value());
          continue;
        }
        std::string& line = broken.of_target[target->second];
        const states::Chunk& other = of.compiled.chunks[target->second];
        const Value& left = of.results[target->second].entry.at("new_state");
        if (line.empty())
          line = left.is_null() ? cat("\"", other.state, ":", written[target->second],
                                      "\" state does not have \"new_state\" in the state returns.")
                                : look_up(part.hole, other.state, left);
      }
    return std::nullopt;
  };
  for (const auto& [name, value] : chunk.arguments)
    if (value.has_deferred())
      static_cast<void>(with_leaves(value, look_at));
  if (chunk.bound_name.has_deferred())
    static_cast<void>(look_at(chunk.bound_name));
  return broken;
}

/// Idem's words about one target of a need that is not met. Idem calls every requisite `require`.
void complain(const CommentContext& of, const BrokenReferences& broken, const states::Need& need,
              uint32_t target, std::vector<std::string>& lines) {
  const StateResult& other = of.results[target];
  if (other.tag.empty())
    return;
  const Value& result = other.entry.at("result");
  const auto check_result = [&](bool is_met, std::string_view wanted) {
    if (!is_met)
      lines.push_back(cat("Result of require ", other.tag, " is \"", python_word(result),
                          "\", not \"", wanted, "\""));
  };
  const bool succeeded = result == Value(true) || (of.is_look && result.is_null());
  using Expectation = states::RequisiteRow::Expectation;
  switch (states::row_of(need.requisite).wanted) {
    case Expectation::nothing:
      return;
    case Expectation::no_failure:
      check_result(result != Value(false), "[True, None]");
      if (const auto line = broken.of_target.find(target);
          need.requisite == states::Requisite::arg_bind && line != broken.of_target.end() &&
          !line->second.empty())
        lines.push_back(line->second);
      return;
    case Expectation::success:
      return check_result(succeeded, "True");
    case Expectation::failure:
      check_result(result == Value(false), "False");
      if (result == Value(false) && other.is_unmet)
        lines.push_back(cat(other.tag, " was not needed, which is not a failure"));
      return;
    case Expectation::changes:
      check_result(succeeded, "True");
      if (has_no_changes(other.entry.at("changes")))
        lines.push_back(cat("Changes from ", other.tag, " is \"False\", not \"True\""));
      return;
    case Expectation::would_change:
      if (!of.would_change(target))
        lines.push_back(cat("No changes found in execution of ", need.state, ".", need.target));
      return;
  }
}

/// Whether one target meets a need. A state that waits for something that does not happen is not
/// needed.
NeedVerdict met_by(const CommentContext& of, const states::Need& need, uint32_t target) {
  const StateResult& other = of.results[target];
  if (other.tag.empty())
    return NeedVerdict::yes;
  const bool is_failed = other.entry.at("result") == Value(false);
  using Expectation = states::RequisiteRow::Expectation;
  switch (states::row_of(need.requisite).wanted) {
    case Expectation::no_failure:
    case Expectation::success:
      return !is_failed       ? NeedVerdict::yes
             : other.is_unmet ? NeedVerdict::not_needed
                              : NeedVerdict::failed;
    case Expectation::changes:
      return !is_failed && !has_no_changes(other.entry.at("changes")) ? NeedVerdict::yes
                                                                      : NeedVerdict::not_needed;
    case Expectation::failure:
      return is_failed && !other.is_unmet ? NeedVerdict::yes : NeedVerdict::not_needed;
    default:
      return NeedVerdict::yes;
  }
}

}  // namespace

NeedVerdict met_by_results(const CommentContext& of, size_t chunk) {
  NeedVerdict all = NeedVerdict::yes;
  std::map<states::Requisite, NeedVerdict> any;  // the best of alternatives
  for (const states::Need& need : of.compiled.chunks[chunk].needs)
    for (uint32_t t = need.begin; t < need.begin + need.count; ++t) {
      const NeedVerdict met = met_by(of, need, of.compiled.targets[t]);
      if (!need.any) {
        all = std::max(all, met);
        continue;
      }
      const auto [best, is_first] = any.emplace(need.requisite, met);
      const bool is_better = met == NeedVerdict::yes ||
                             (met == NeedVerdict::failed && best->second != NeedVerdict::yes);
      if (!is_first && is_better)
        best->second = met;
    }
  for (const auto& [requisite, met] : any)
    all = std::max(all, met);
  return all;
}

std::string comment_of_requisites(const CommentContext& of, size_t chunk) {
  const BrokenReferences broken = broken_references(of, of.compiled.chunks[chunk]);
  std::vector<std::string> lines;
  struct Group {
    std::vector<std::string> lines;
    bool is_met = false;
  };
  std::map<states::Requisite, Group> any;
  for (const states::Need& need : of.compiled.chunks[chunk].needs)
    for (uint32_t t = need.begin; t < need.begin + need.count; ++t) {
      std::vector<std::string>& found = need.any ? any[need.requisite].lines : lines;
      const size_t before = found.size();
      complain(of, broken, need, of.compiled.targets[t], found);
      if (need.any && found.size() == before)
        any[need.requisite].is_met = true;
    }
  for (auto& [requisite, group] : any)
    if (!group.is_met)
      std::ranges::move(group.lines, std::back_inserter(lines));
  // Several requisites may say the same about one state.
  std::vector<std::string> told;
  for (std::string& line : lines)
    if (std::ranges::find(told, line) == told.end())
      told.push_back(std::move(line));
  return join(told, "\n");
}

std::string comment_of_references(const CommentContext& of, size_t chunk) {
  return broken_references(of, of.compiled.chunks[chunk]).remembered;
}

std::optional<Name> holder_of(const CommentContext& of, const states::DelayedBlock& block) {
  for (const states::DelayedBlock::AwaitedState& awaited : block.awaited)
    for (size_t i = 0; i < of.compiled.chunks.size(); ++i)
      if (of.compiled.chunks[i].id == awaited.id &&
          (of.results[i].tag.empty() || of.results[i].entry.at("result") == Value(false)))
        return awaited.id;
  return std::nullopt;
}

std::string comment_of_delayed(const CommentContext& of) {
  for (const states::DelayedBlock& block : of.compiled.delayed)
    if (const std::optional<Name> holder = holder_of(of, block))
      return cat("it needs states of a block that was not rendered, because ID ", *holder,
                 " did not succeed");
  return "it needs states of a block that was not rendered";
}

bool is_purged(const Record* record) {
  return record != nullptr && record->applied && is_purged(record->applied->attributes);
}

/// Whether something was at its place before anybody here made it.
bool existed_already(const Step& step) { return step.verb == Verb::create && !step.seen.is_null(); }

/// Whether it was not there before. That other attributes were wanted earlier says nothing.
bool is_made(const Step& step) {
  if (step.known == nullptr || is_purged(step.known.get()))
    return step.verb == Verb::create || step.verb == Verb::update;
  return step.verb == Verb::create &&
         (!step.known->applied || step.why.view().ends_with(" changed"));
}

std::string comment_of_look(const Step& step) {
  if (step.key.kind == command_kind().name())
    return cat("it would be run: ", step.why);
  if (existed_already(step))
    return "it would be updated: it exists already";
  return is_made(step) && step.known != nullptr ? "it would be created" : step.why.str();
}

std::string comment_of_step(const Step* step, Standing standing) {
  if (step == nullptr)
    return {};
  if (standing == Standing::unchanged)
    return step->key.kind == command_kind().name() ? "not run: its conditions do not hold"
                                                   : "as described";
  const auto done = [&](std::string_view what) {
    return step->known == nullptr ? std::string(what) : cat(what, ": ", step->why);
  };
  if (step->key.kind == command_kind().name() && step->verb != Verb::keep &&
      step->verb != Verb::remove)
    return done("run");
  if (existed_already(*step))
    return "updated: it existed already";
  if (is_made(*step))
    return "created";
  switch (step->verb) {
    case Verb::keep:
      return "as described";
    case Verb::create:
      return done("created");
    case Verb::update:
      return done("updated");
    case Verb::replace:
      return done("recreated");
    case Verb::remove:
      return done("removed");
    case Verb::run:
      return done("run");
    case Verb::start:
      return done("started");
    case Verb::stop:
      return done("stopped");
    default:
      return step->why.str();
  }
}

}  // namespace fettle

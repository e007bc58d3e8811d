#include "verbs/states/state_results.h"

#include <algorithm>

#include "base/text.h"
#include "core/open_payload.h"
#include "drivers/state/guards.h"
#include "kinds/command.h"
#include "kinds/file.h"
#include "kinds/kinds.h"
#include "kinds/state.h"
#include "value/changes.h"
#include "value/mask.h"
#include "verbs/states/state_comments.h"

namespace fettle {
namespace {

const Value nothing = Value::dict({});

/// Whether a field belongs to the reported state: it matters, and it is known by now. A content
/// that is not known yet has an empty digest.
bool is_told(const Entry& entry) {
  const bool is_missing = entry.key == "digest" && entry.value == Value("");
  return !entry.value.is_null() && !entry.value.has_deferred() && !is_missing;
}

}  // namespace

Value with_masked_keys(const Value& value, const Mask& mask) {
  if (value.is_list()) {
    std::vector<Value> items;
    for (const Value& item : value.items())
      items.push_back(with_masked_keys(item, mask));
    return Value::list(std::move(items));
  }
  if (!value.is_dict())
    return value;
  std::vector<Entry> entries;
  for (const Entry& entry : value.entries())
    entries.push_back({mask.has_secret(entry.key) ? Name(mask.text(entry.key)) : entry.key,
                       with_masked_keys(entry.value, mask)});
  return Value::dict(std::move(entries));
}

namespace {

/// The secrets of a state: values that are marked, or that its `sensitive` names.
Mask secrets_of(const states::Chunk& chunk) {
  Mask mask;
  const states::Settings* const settings = chunk.settings.get();
  for (const auto& [name, value] : chunk.arguments)
    if (settings != nullptr &&
        std::ranges::find(settings->sensitive, name) != settings->sensitive.end())
      mask.add_marked(Value::secret(value));
    else
      mask.add_marked(value);
  return mask;
}

/// The keys of an entry, each made once.
struct EntryNames {
  Name id = "__id__", run_num = "__run_num", changes = "changes", comment = "comment",
       esm_tag = "esm_tag", name = "name", new_state = "new_state", old_state = "old_state",
       rerun_data = "rerun_data", result = "result", sls_meta = "sls_meta",
       start_time = "start_time", tag = "tag", total_seconds = "total_seconds";
};

/// Makes the entries of one run.
class Teller {
 public:
  explicit Teller(const StatesRun& of) : of_(of) {
    for (const Failure& failure : of.summary.failures)
      failures_.emplace(failure.key, &failure);
    for (const UnsettledAct& one : of.summary.unsettled)
      unsettled_.emplace(one.key, &one);
    for (const Skip& skip : of.summary.skips)
      skips_.emplace(skip.key, &skip);
    results_.resize(of.compiled.chunks.size());
  }

  std::vector<StateResult> tell() {
    const std::vector<size_t> order = in_order();
    for (const size_t i : order) {
      results_[i].tag = states::tag_of(of_.compiled.chunks[i]);
      ++number_;
      results_[i] = result_of(i);
      number_ -= is_quiet(i) ? 1 : 0;
    }
    number_ = 0;
    number(order);
    tell_of_delayed();
    // A blocked state reports what happened to the states that it needs. A state whose references
    // lead nowhere reports what they looked for.
    for (const size_t i : order) {
      const Standing standing = of_.run.standing(of_.keys[i]);
      if (standing == Standing::blocked || standing == Standing::unmet)
        comment(i, comment_of_requisites(commented(), i));
      else if (standing == Standing::failed && is_without_answer(i))
        comment(i, why_unmet(i));
    }
    std::vector<StateResult> told;
    told.reserve(order.size());
    for (const size_t i : order)
      told.push_back(std::move(results_[i]));
    for (StateResult& left : results_)
      if (left.is_delayed)
        told.push_back(std::move(left));
    return told;
  }

  /// The same for looks. `steps`: the plan for things that engines look at themselves.
  std::vector<StateResult> tell_looks(const Plan& plan) {
    is_look_ = true;
    std::unordered_map<Key, const Step*, KeyHash> steps;
    for (const Step& step : plan.steps)
      steps.emplace(step.key, &step);
    std::vector<size_t> unmet;
    const std::vector<size_t> order = in_order();
    for (const size_t i : order) {
      results_[i].tag = states::tag_of(of_.compiled.chunks[i]);
      const auto step = steps.find(of_.keys[i]);
      if (!look_at(i, step == steps.end() ? nullptr : step->second))
        unmet.push_back(i);
    }
    number(order);
    tell_of_delayed();
    for (const size_t i : unmet)
      comment(i, why_unmet(i));
    std::vector<StateResult> told;
    for (const size_t i : order)
      if (!results_[i].tag.empty() && !results_[i].is_quiet)
        told.push_back(std::move(results_[i]));
    for (size_t i = 0; i < results_.size(); ++i)
      if (of_.keys[i].kind.empty() && !results_[i].tag.empty())
        told.push_back(std::move(results_[i]));
    return told;
  }

  Value entry_of(size_t i, Value result, Value comment, Value changes, Value old_state,
                 Value new_state, Value rerun_data) const {
    const states::Chunk& chunk = of_.compiled.chunks[i];
    const StateTimes::Times* times = of_.times.find(of_.keys[i]);
    const bool is_timed = times != nullptr && times->began.has_value();
    const Time ended = is_timed && times->ended ? *times->ended : Time();
    const double seconds =
        is_timed && times->ended ? std::chrono::duration<double>(ended - *times->began).count() : 0;
    static const EntryNames names;
    return Value::dict(
        {{names.id, chunk.id},
         {names.run_num, number_},
         {names.changes, changes.is_null() ? nothing : std::move(changes)},
         {names.comment, std::move(comment)},
         {names.esm_tag, states::state_tag(chunk).memory()},
         {names.name, of_.compiled.chunks[i].name},
         {names.new_state, std::move(new_state)},
         {names.old_state, std::move(old_state)},
         {names.rerun_data, std::move(rerun_data)},
         {names.result, std::move(result)},
         {names.sls_meta, meta_of(chunk)},
         {names.start_time, is_timed ? text_of_time(*times->began) : Value()},
         {names.tag, results_.empty() ? Value(states::tag_of(chunk)) : Value(results_[i].tag)},
         {names.total_seconds, seconds}});
  }

  const Record* record(size_t i) const {
    const auto found = of_.run.known().find(of_.keys[i]);
    return found == of_.run.known().end() ? nullptr : found->second.get();
  }

  /// A listener is reported only if something changed, and a remover only if there was something to
  /// remove.
  bool is_quiet(size_t i) const {
    const states::Chunk& chunk = of_.compiled.chunks[i];
    if (of_.keys[i].kind.empty())
      return false;
    const Standing standing = of_.run.standing(of_.keys[i]);
    if (chunk.is_remover)
      return standing != Standing::changed && standing != Standing::failed;
    return chunk.is_listener && !has_heard(chunk);
  }

  /// Whether something that it listens to reports a change.
  bool has_heard(const states::Chunk& chunk) const {
    return std::ranges::any_of(chunk.needs, [&](const states::Need& need) {
      const auto targets =
          std::span<const uint32_t>(of_.compiled.targets).subspan(need.begin, need.count);
      return need.requisite == states::Requisite::listen &&
             std::ranges::any_of(targets, [&](uint32_t target) {
               return !is_empty_dict(results_[target].entry.at("changes"));
             });
    });
  }

  /// Reported entries are numbered in their order. Most have their numbers since they were made: an
  /// entry that is made again leaves a hole in memory.
  void number(const std::vector<size_t>& order) {
    int number = 0;
    for (const size_t i : order) {
      results_[i].is_quiet = is_quiet(i);
      if (!results_[i].is_quiet && results_[i].entry.at("__run_num") != Value(++number))
        results_[i].entry = with(results_[i].entry, "__run_num", number);
    }
  }

  bool is_call(size_t i) const { return of_.keys[i].kind == "state"; }

  /// What the guards of a thing said when they asked for nothing to be done. Null: they did not.
  const Outputs* held_by_guard(size_t i) const {
    const states::Chunk& chunk = of_.compiled.chunks[i];
    if (is_call(i) || chunk.settings == nullptr)
      return nullptr;
    const Outputs* looked = of_.run.looked(states::guard_key(of_.keys[i].environment, chunk));
    return looked != nullptr && read_one<&StateOutputs::result>(*looked) == Value(true) ? looked
                                                                                        : nullptr;
  }

  /// A file, folder or link in the shape of `after`, as it was seen before; else `remembered`.
  Value as_it_was(size_t i, const Value& remembered, const Value& after) const {
    const Observation* const seen = seen_at_first(i);
    if (seen == nullptr || !seen->unavailable.empty())
      return remembered;
    if (!seen->state)
      return {};
    const Value& shape = after.is_dict() ? after : dict_of(*seen->state);
    std::vector<Entry> entries;
    for (const Entry& entry : shape.entries()) {
      const Value* const then = dict_of(*seen->state).find(entry.key);
      if (then != nullptr)
        entries.push_back({entry.key, *then});
      else if (entry.key != "content")
        entries.push_back(entry);
    }
    return Value::dict(std::move(entries));
  }

  /// A file, folder or link before anything was done. Null: it is something else.
  const Observation* seen_at_first(size_t i) const {
    const Name& kind = of_.keys[i].kind;
    if (kind != "file" && kind != "folder" && kind != "link")
      return nullptr;
    if (of_.seen == nullptr)
      return of_.run.seen_before(of_.keys[i]);
    const auto seen = of_.seen->find(of_.keys[i]);
    return seen == of_.seen->end() ? nullptr : &seen->second;
  }

 private:
  CommentContext commented() const {
    return {of_.compiled, results_,
            [this](uint32_t chunk) {
              return of_.run.standing(states::look_key(of_.keys[chunk])) == Standing::changed;
            },
            is_look_};
  }

  std::string why_unmet(size_t i) const {
    std::string told = comment_of_requisites(commented(), i);
    return told.empty() ? comment_of_references(commented(), i) : told;
  }

  void comment(size_t i, const std::string& text) {
    if (!text.empty())
      results_[i].entry = with(results_[i].entry, "comment", Value(text));
  }

  /// A state that needs a block that was not rendered was not judged.
  void tell_of_delayed() {
    for (size_t i = 0; i < results_.size(); ++i)
      if (of_.keys[i].kind.empty()) {
        results_[i].tag = states::tag_of(of_.compiled.chunks[i]);
        results_[i].is_delayed = true;
        results_[i].entry =
            entry_of(i, of_.summary.stopped ? Value() : Value(false), {}, {}, {}, {}, {});
      }
    for (size_t i = 0; i < results_.size(); ++i)
      if (results_[i].is_delayed)
        comment(i, of_.summary.stopped ? "it was not run" : comment_of_delayed(commented()));
  }

  bool is_without_answer(size_t i) const {
    const auto failure = failures_.find(of_.keys[i]);
    return failure != failures_.end() && failure->second->missing.has_value();
  }

  /// Reports a look at a state. Returns whether it was judged, and not held back by a requisite.
  bool look_at(size_t i, const Step* step) {
    const Key& key = of_.keys[i];
    StateResult& made = results_[i];
    const Outputs* looked = is_call(i) ? of_.run.looked(key) : nullptr;
    const Standing standing = of_.run.standing(key);
    const auto failure = failures_.find(key);
    const auto says = [&](Value result, const Value& comment) {
      made.entry = entry_of(i, std::move(result), comment, {}, {}, {}, {});
    };
    if (looked != nullptr) {
      const StateOutputs said = read<StateOutputs>(*looked);
      made.entry = with_name(i, entry_of(i, said.result, said.comment, said.changes, said.old_state,
                                         said.new_state, said.rerun_data));
      made.is_held = said.is_held;
      hide(i, made);
    } else if (failure != failures_.end()) {
      says(false, Value(failure->second->error.message));
      return !is_without_answer(i);
    } else if (const Outputs* guard = held_by_guard(i)) {
      made.is_held = true;
      says(true, read_one<&StateOutputs::comment>(*guard));
    } else if (!is_call(i) && standing == Standing::unchanged) {
      made.is_held = true;
      says(true, Value("not run: its conditions do not hold"));
    } else if (step != nullptr && !is_call(i) && is_good_or_open(standing)) {
      return look_at_thing(i, *step);
    } else {
      const Step* decided = of_.run.step(key);
      made.is_unmet = standing == Standing::unmet;
      says(false, Value(decided == nullptr ? "it was not checked" : decided->why.str()));
      return false;
    }
    return true;
  }

  static bool is_good_or_open(Standing standing) {
    return standing == Standing::open || is_good(standing);
  }

  /// The type of what is at the place of a file, folder or link; empty: nothing is.
  Name type_in_place(size_t i) const {
    const Observation* const seen = seen_at_first(i);
    return seen == nullptr || !seen->state ? Name() : read_one<&PathSeen::type>(*seen->state);
  }

  /// What is in the way, in the words of whoever acts. Empty: nothing is. Only a link gives way to
  /// a file.
  std::string obstacle_in_place(size_t i, const Step& step) const {
    const Name type = type_in_place(i);
    const bool gives_way = type.empty() || type == step.key.kind ||
                           (type == "link" && step.key.kind == file_kind().name());
    return gives_way || step.wanted == nullptr
               ? std::string()
               : cat("there is a ", type, " at `",
                     read_one<&File::path>(step.wanted->attributes).view(), "`");
  }

  /// A file in the place of a link says so.
  std::string with_link(size_t i, std::string comment, std::string_view verb) const {
    const bool replaces = of_.keys[i].kind == file_kind().name() && type_in_place(i) == "link";
    return replaces ? cat(comment, "; it ", verb, " a link to `",
                          to_text(read_one<&PathSeen::leads_to>(*seen_at_first(i)->state)), "`")
                    : std::move(comment);
  }

  /// Reports the plan for a thing that the engine has a kind for. Returns whether it was judged.
  bool look_at_thing(size_t i, const Step& step) {
    StateResult& made = results_[i];
    if (const NeedVerdict met = met_by_results(commented(), i); met != NeedVerdict::yes) {
      made.is_unmet = met == NeedVerdict::not_needed;
      made.entry = entry_of(i, false, Value(""), {}, {}, {}, {});
      return false;
    }
    if (const std::string obstacle = obstacle_in_place(i, step);
        !obstacle.empty() && step.verb != Verb::keep && step.verb != Verb::blocked) {
      made.entry = entry_of(i, false, Value(obstacle), {}, {}, {}, {});
      return true;
    }
    const auto before = of_.before.find(of_.keys[i]);
    const Observation* const seen = seen_at_first(i);
    const bool is_absence = step.wanted != nullptr && fettle::is_purged(step.wanted->attributes);
    const bool is_purged = step.wanted == nullptr || is_absence;
    const bool is_due = (step.verb != Verb::keep && step.verb != Verb::blocked) &&
                        (!is_purged || seen == nullptr || seen->state.has_value());
    const bool is_command = step.key.kind == command_kind().name();
    const Value wanted = is_purged    ? Value()
                         : is_command ? command_of(step.wanted->attributes)
                                      : known_part_of(dict_of(step.wanted->attributes));
    const Value old_state = as_it_was(
        i, remembered_state(before == of_.before.end() ? nullptr : before->second.get()), wanted);
    made.is_unmet = step.obstacle == Obstacle::unmet;
    const Value changes = !is_due      ? nothing
                          : is_command ? Value::dict({{"new", wanted}})
                                       : changes_between(old_state, wanted);
    made.entry = entry_of(i,
                          step.verb == Verb::blocked ? Value(false)
                          : is_due                   ? Value()
                                                     : Value(true),
                          is_absence && step.verb != Verb::blocked
                              ? Value(is_due ? "it would be removed" : "as described")
                          : !is_due   ? Value(step.why.str())
                          : is_purged ? Value(comment_of_look(step))
                                      : Value(with_link(i, comment_of_look(step), "replaces")),
                          changes, old_state, is_due ? wanted : old_state, {});
    hide(i, made);
    return step.verb != Verb::blocked;
  }

  static Value command_of(const Attributes& attributes) {
    return known_part_of(
        Value::dict({{"command", read_one<&HostCommand::command>(attributes).value()}}));
  }

  /// Leaves out what does not matter, and what other states will leave only later.
  static Value known_part_of(const Value& attributes) {
    std::vector<Entry> entries;
    for (const Entry& entry : attributes.entries())
      if (is_told(entry))
        entries.push_back(entry);
    return Value::dict(std::move(entries));
  }

  Value meta_of(const states::Chunk& chunk) const {
    static const Value no_meta = Value::dict({{"SLS", nothing}, {"ID_DECS", nothing}});
    if (of_.compiled.file_metas.empty() && of_.compiled.id_metas.empty())
      return no_meta;
    // In Idem's form, where each state has the metadata of its file and of its ID.
    const auto named = [](const auto& metas, const auto& name) {
      const auto meta = metas.find(name);
      return meta == metas.end() ? nothing : Value::dict({{name, meta->second}});
    };
    return Value::dict(
        {{"SLS", named(of_.compiled.file_metas, chunk.sls)},
         {"ID_DECS", named(of_.compiled.id_metas, std::string(cat(chunk.sls, ".", chunk.id)))}});
  }

  /// Many entries begin at the same moment.
  Value text_of_time(Time time) const {
    if (time != last_time_ || last_text_.is_null()) {
      last_time_ = time;
      last_text_ = Value(to_string(time));
    }
    return last_text_;
  }

  /// The chunks of the run in the order in which Idem starts them: by wave, then by file. The order
  /// in which they end would differ from run to run.
  std::vector<size_t> in_order() const {
    std::vector<size_t> chunks;
    for (size_t i = 0; i < of_.compiled.chunks.size(); ++i)
      if (!of_.keys[i].kind.empty())
        chunks.push_back(i);
    std::ranges::stable_sort(chunks, {}, [&](size_t i) { return of_.compiled.chunks[i].rank; });
    return chunks;
  }

  /// If a call was made, it was made under a name. If the file has none, memory has it.
  Value with_name(size_t i, Value entry) const {
    const states::Chunk& chunk = of_.compiled.chunks[i];
    const auto before = of_.before.find(of_.keys[i]);
    if (chunk.name != chunk.id || before == of_.before.end() || chunk.is_remover)
      return entry;
    const Value then = remembered(before->second->outputs);
    const Value& name = then.at("name");
    return name.is_text() && !name.text().empty() ? with(entry, "name", name) : std::move(entry);
  }

  StateResult result_of(size_t i) const {
    const Key& key = of_.keys[i];
    const Standing standing = of_.run.standing(key);
    StateResult made;
    made.tag = results_[i].tag;
    made.is_unmet = standing == Standing::unmet;
    made.is_pending = unsettled_.contains(key);
    made.re_runs = of_.run.calls_again(key);
    if (standing == Standing::open || standing == Standing::under_way) {
      made.is_interrupted = true;
      made.entry = entry_of(i, {}, Value("it was not run"), {}, {}, {}, {});
    } else if (const Outputs* guard = held_by_guard(i);
               guard != nullptr && standing == Standing::kept) {
      made.is_held = true;
      made.entry = entry_of(i, true, read_one<&StateOutputs::comment>(*guard), {}, {}, {}, {});
    } else if (standing == Standing::blocked || standing == Standing::unmet) {
      made.entry = entry_of(i, false, Value(why_blocked(of_.run.step(key))), {}, {}, {}, {});
    } else if (is_call(i)) {
      made.entry = entry_of_call(i, standing);
      made.is_held = is_good(standing) && record(i) != nullptr &&
                     read_one<&StateOutputs::is_held>(record(i)->outputs);
    } else {
      made.is_held = key.kind == command_kind().name() && standing == Standing::unchanged;
      made.entry = entry_of_thing(i, standing);
    }
    tell_of_check(i, made);
    hide(i, made);
    if (const auto left = unsettled_.find(key); left != unsettled_.end())
      made.entry =
          with(made.entry, "comment", with_line(made.entry.at("comment"), left->second->what));
    const auto failure = failures_.find(key);
    made.is_final =
        is_call(i) && failure != failures_.end() && failure->second->error.unknown_outcome;
    if (failure != failures_.end() && !failure->second->late.empty())
      made.entry =
          with(made.entry, "comment", with_line(made.entry.at("comment"), failure->second->late));
    return made;
  }

  /// For a thing that no state describes, such as an image or a network, nobody else reports why it
  /// failed.
  std::string why_blocked(const Step* step) const {
    if (step == nullptr)
      return {};
    const auto failure = failures_.find(step->because);
    const bool is_told_elsewhere =
        failure == failures_.end() || (failure->first.kind != image_kind().name() &&
                                       failure->first.kind != network_kind().name());
    return is_told_elsewhere ? step->why.str() : to_string(failure->second->error);
  }

  /// A call hides what is sensitive itself. A hidden value may also be a key.
  void hide(size_t i, StateResult& made) const {
    const states::Chunk& chunk = of_.compiled.chunks[i];
    Mask mask = secrets_of(chunk);
    mask.add_marked(made.entry);
    if (!mask.secrets().empty())
      for (const char* field : {"changes", "old_state", "new_state"})
        made.entry = with(made.entry, field, with_masked_keys(made.entry.at(field), mask));
    const states::Settings* settings = chunk.settings.get();
    if (is_call(i) || settings == nullptr || settings->sensitive.empty())
      return;
    const std::vector<Value> names(settings->sensitive.begin(), settings->sensitive.end());
    made.entry = with_hidden(made.entry, Value::list(names));
  }

  /// Reports a thing that is as wanted but is no good according to its `check_cmd`.
  void tell_of_check(size_t i, StateResult& made) const {
    const states::Chunk& chunk = of_.compiled.chunks[i];
    if (is_call(i) || chunk.settings == nullptr || chunk.settings->check_cmd.empty())
      return;
    const auto failure = failures_.find(states::check_key(of_.keys[i].environment, chunk));
    if (failure == failures_.end())
      return;
    made.entry = with(with(made.entry, "result", false), "comment",
                      with_line(made.entry.at("comment"), failure->second->error.message));
  }

  static Value with_line(const Value& comment, const std::string& text) {
    std::vector<Value> lines;
    if (comment.is_list())
      lines.assign(comment.items().begin(), comment.items().end());
    else if (!comment.is_null())
      lines.push_back(comment);
    lines.emplace_back(text);
    return Value::list(std::move(lines));
  }

  Value entry_of_call(size_t i, Standing standing) const {
    const Record* left = record(i);
    const auto failure = failures_.find(of_.keys[i]);
    const StateOutputs outputs =
        left == nullptr ? StateOutputs() : read<StateOutputs>(left->outputs);
    // What failed without an answer of its function has the answer of another run, or none.
    const bool has_answer = standing != Standing::failed ||
                            (outputs.result == Value(false) &&
                             (failure == failures_.end() || failure->second->has_outputs));
    if (!has_answer || standing == Standing::skipped) {
      const auto skip = skips_.find(of_.keys[i]);
      return entry_of(i, standing == Standing::skipped ? Value() : Value(false),
                      Value(failure != failures_.end() ? to_string(failure->second->error)
                            : skip != skips_.end()     ? skip->second->why
                                                       : std::string()),
                      {}, {}, {}, {});
    }
    return with_name(i, entry_of(i, outputs.result, outputs.comment, outputs.changes,
                                 outputs.old_state, outputs.new_state, outputs.rerun_data));
  }

  Value entry_of_thing(size_t i, Standing standing) const {
    const auto before = of_.before.find(of_.keys[i]);
    const Value old_state =
        as_it_was(i, remembered_state(before == of_.before.end() ? nullptr : before->second.get()),
                  remembered_state(record(i)));
    if (standing == Standing::failed || standing == Standing::skipped) {
      const auto failure = failures_.find(of_.keys[i]);
      return entry_of(i, false,
                      Value(failure == failures_.end() ? "" : to_string(failure->second->error)),
                      {}, old_state, {}, {});
    }
    const Step* step = of_.run.step(of_.keys[i]);
    const Value new_state = remembered_state(record(i));
    Value changes = nothing;
    if (standing == Standing::changed) {
      changes = changes_between(old_state, new_state);
      // A thing that was brought back is as it was.
      if (is_empty_dict(changes))
        changes = Value::dict({{"new", new_state}});
    }
    const bool is_away = standing == Standing::changed && is_purged(record(i));
    return entry_of(i, true,
                    is_away ? Value("removed")
                    : standing == Standing::changed
                        ? Value(with_link(i, comment_of_step(step, standing), "replaced"))
                        : Value(comment_of_step(step, standing)),
                    std::move(changes), old_state, new_state, {});
  }

  const StatesRun& of_;
  std::unordered_map<Key, const Failure*, KeyHash> failures_;
  std::unordered_map<Key, const UnsettledAct*, KeyHash> unsettled_;
  std::unordered_map<Key, const Skip*, KeyHash> skips_;
  std::vector<StateResult> results_;
  bool is_look_ = false;
  int number_ = 0;  ///< the next entry's number; 0: entries have none
  mutable Time last_time_;
  mutable Value last_text_;
};

}  // namespace

bool is_empty_dict(const Value& value) {
  return value.is_null() || (value.is_dict() && value.entries().empty());
}

Value left_by_command(const Outputs& outputs) {
  const CommandOutputs left = read<CommandOutputs>(outputs);
  const ToldOutputs told = read<ToldOutputs>(outputs);
  return Value::dict({{"retcode", outputs.is_null() ? Value() : Value(left.code)},
                      {"stdout", has_told(outputs) ? told.out : left.output},
                      {"stderr", told.errors},
                      {"state", told.state}});
}

Value remembered_state(const Record* record) {
  if (record == nullptr || !record->applied || is_purged(record))
    return {};
  if (record->applied->key.kind == "command")
    return left_by_command(record->outputs);
  std::vector<Entry> entries;
  for (const Value* part : {&dict_of(record->applied->attributes), &dict_of(record->outputs)})
    if (part->is_dict())
      for (const Entry& entry : part->entries())
        if (is_told(entry) && std::ranges::none_of(entries, [&](const Entry& other) {
              return other.key == entry.key;
            }))
          entries.push_back(entry);
  return Value::dict(std::move(entries));
}

std::vector<StateResult> results_of(const StatesRun& of) { return Teller(of).tell(); }

std::vector<StateResult> results_of_looks(const StatesRun& of, const Plan& plan) {
  return Teller(of).tell_looks(plan);
}

}  // namespace fettle

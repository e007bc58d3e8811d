#include "drivers/state/driver.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "core/open_payload.h"
#include "core/state_tag.h"
#include "drivers/state/guards.h"
#include "kinds/state.h"
#include "value/changes.h"
#include "value/empty.h"
#include "value/json.h"
#include "value/mask.h"
#include "value/with.h"

namespace fettle {
namespace {

const Value nothing = Value::dict({});

/// The key of a hint about a path or a process.
Key hint_key(const Name& environment, const std::string& what) {
  return {environment, what.starts_with('/') ? "path" : "process", what};
}

/// The texts of a comment, which may be a list.
std::vector<std::string> lines_of_comment(const Value& comment) {
  std::vector<std::string> lines;
  if (!comment.is_list() && !is_empty(comment))
    lines.push_back(to_text(comment));
  if (comment.is_list())
    for (const Value& line : comment.items())
      lines.push_back(to_text(line));
  return lines;
}

/// The same as one text.
std::string text_of_comment(const Value& comment) { return join(lines_of_comment(comment), "\n"); }

/// A name may be written as a number.
std::string name_text(const Value& name) { return to_text(reveal(name)); }

Value with_comment(const Value& ret, std::string_view text) {
  std::vector<Value> lines;
  if (const Value& comment = ret.at("comment"); comment.is_list())
    lines.assign(comment.items().begin(), comment.items().end());
  else if (!comment.is_null())
    lines.push_back(comment);
  lines.emplace_back(std::string(text));
  std::vector<Entry> entries;
  for (const Entry& entry : ret.entries())
    if (entry.key != "comment")
      entries.push_back(entry);
  entries.push_back({"comment", Value::list(std::move(lines))});
  return Value::dict(std::move(entries));
}

Value ret_of(std::optional<bool> result, std::string comment) {
  return Value::dict({{"result", result ? Value(*result) : Value()},
                      {"comment", std::move(comment)},
                      {"changes", nothing}});
}

}  // namespace

bool asks_again(const Value& ret, const PendingCounts& counts) {
  return !is_empty(ret.at("rerun_data")) && !counts.is_alike() && !counts.is_over();
}

namespace {

/// One act: its calls, and what becomes of their answers.
class StateAct {
 public:
  StateAct(StateFunctions& functions, const StateOptions& options, Watcher& watcher, Reruns& reruns,
           const Act& act, std::stop_token stop)
      : functions_(functions),
        options_(options),
        watcher_(watcher),
        reruns_(reruns),
        act_(act),
        stop_(std::move(stop)),
        wanted_(read<StateInvocation>(act.attributes)),
        settings_(wanted_.settings.value()) {
    call_.state = wanted_.state.view();
    call_.function = wanted_.function.view();
    call_.id = wanted_.id.view();
    tag_ = StateTag::parse(act.key.name).value_or(StateTag());
    call_.entry = tag_.entry;
    call_.name = name_text(wanted_.name.value());
    call_.arguments = hidden_at(wanted_.arguments, settings_.at("sensitive"));
    call_.acct_profile = settings_.text_at("acct_profile");
    call_.on_log = [this](std::string_view text) { note(text); };
    call_.is_test = act.looks_only;
    call_.so_far = act.so_far.is_dict() ? act.so_far.at("state") : Value();
    if (act.so_far.is_dict()) {
      call_.rerun_data = act.so_far.at("rerun_data");
      story_ = act.so_far.at("story");
    } else if (!options.calls_again && !act.looks_only) {
      call_.rerun_data = reruns_.of(act.key);
    }
    // A look for another state is about what that state left.
    const RecordPointer& past =
        act.known == nullptr && act.looks_only && !act.needs.empty() ? act.needs.back() : act.known;
    skips_memory_ = functions.skips_memory(call_.state);
    if (options.remembers && !skips_memory_) {
      if (past != nullptr && past->applied &&
          read_one<&StateInvocation::id>(past->applied->attributes) == wanted_.id)
        remember(past->outputs);
      else if (act.known != nullptr)
        remember(act.known->outputs);
    }
    // If no file has a name, it is the remembered one, as in Idem.
    if (const Value& name = call_.old_state.at("name"); call_.name == call_.id && name.is_text())
      call_.name = name_text(name);
    if (!call_.old_state.is_null() || !is_empty(call_.arguments.at("resource_id")))
      call_.ignored = settings_.at("ignore_changes");
  }

  Result<Outcome> run() {
    if (stop_.stop_requested())
      return cancelled_error();
    if (act_.verb == Verb::remove)
      return remove();
    if (act_.looks_only && options_.looks_where_it_can && !functions_.can_look(call_.state))
      return world_error(cat("`", call_.state, "` does not say that it can look (`CAN_LOOK`)"));
    if (const std::string_view failure = wanted_.failure.view(); !failure.empty())
      return outcome_of(ret_of(false, std::string(failure)), true);
    if (const std::string complaint = complaint_of_watched(); !complaint.empty())
      return outcome_of(ret_of(false, complaint), true);
    if (const Value* replaced = settings_.find("replaced"))
      return remove_replaced(*replaced);
    if (std::optional<std::string> reason = TRY(reason_to_leave_alone(settings_, stop_))) {
      is_held_ = true;
      return outcome_of(ret_of(true, std::move(*reason)), true);
    }
    Result<StateAnswer> answer = call();
    if (!answer)
      return is_cancelled(answer.error()) ? Result<Outcome>(answer.error())
                                          : failed(std::move(answer).error());
    if (answer->again)
      return Outcome(Pending{cat("waits, ", call_.state, ".", call_.function),
                             answer->again,
                             Value::dict({{"state", answer->so_far}}),
                             {}});
    if (answer->verdict == PluginAnswer::Verdict::skipped)
      return Outcome(Skipped{answer->why});
    if (answer->verdict != PluginAnswer::Verdict::answered)
      return not_ready(*answer);
    acted_ = answer->ret;
    Result<Value> said = heard(std::move(answer->ret));
    if (!said)
      return is_cancelled(said.error()) ? Result<Outcome>(said.error())
                                        : failed(std::move(said).error());
    Value ret = *std::move(said);
    if (std::optional<std::string> complaint = ret.at("result") == Value(true) && !call_.is_test
                                                   ? TRY(complaint_of_checks(settings_, stop_))
                                                   : std::nullopt)
      ret = with_result(with_comment(ret, *complaint), false);
    return outcome_of(std::move(ret), false);
  }

 private:
  /// All states that it watches must have succeeded: a result that is not known is no success.
  std::string complaint_of_watched() const {
    const Value& watched = settings_.at("watches");
    if (!watched.is_dict() || (act_.looks_only && !settings_.bool_at("is_guard")))
      return {};
    std::string text;
    for (const RecordPointer& record : act_.needs) {
      const Value* tag = record->applied ? watched.find(record->applied->key.name) : nullptr;
      if (tag != nullptr && has_unknown_result(record->outputs))
        text += cat(text.empty() ? "" : "\n", "Result of require ", tag->text(),
                    " is \"None\", not \"True\"");
    }
    return text;
  }

  /// Removes what another call has replaced, once all that used it have gone on.
  Result<Outcome> remove_replaced(const Value& replaced) {
    const List before =
        act_.known == nullptr ? List() : read_one<&StateOutputs::removed>(act_.known->outputs);
    Value ret = ret_of(true, "");
    for (const Value& old : fettle::items_of(replaced)) {
      if (is_among(old, before)) {
        removed_.push_back(old);
        continue;
      }
      StateCall away = call_;
      away.ignored = nothing;
      away.old_state = old;
      StateAnswer answer = TRY(functions_.call(away, stop_));
      if (answer.verdict != PluginAnswer::Verdict::answered)
        return not_ready(answer);
      if (answer.ret.at("result") == Value(false))
        return outcome_of(std::move(answer.ret), false);
      removed_.push_back(old);
      ret = Value::dict({{"result", answer.ret.at("result")},
                         {"comment", answer.ret.at("comment")},
                         {"old_state", old},
                         {"changes", Value::dict({{"old", old}, {"new", nothing}})}});
    }
    return outcome_of(std::move(ret), true);
  }

  static bool is_among(const Value& one, const List& list) {
    const auto items = list.items();
    return std::ranges::find(items, one) != items.end();
  }

  /// All that this state has replaced and nobody has removed.
  std::vector<Value> replaced_before() const {
    std::vector<Value> left;
    if (act_.known == nullptr)
      return left;
    List removed;
    for (const RecordPointer& record : act_.needs)
      if (record->applied && record->applied->key.name == settings_.text_at("remover"))
        removed = read_one<&StateOutputs::removed>(record->outputs);
    const List replaced = read_one<&StateOutputs::replaced>(act_.known->outputs);
    for (const Value& one : replaced.items())
      if (!is_among(one, removed))
        left.push_back(one);
    return left;
  }

  void remember(const Outputs& outputs) {
    call_.old_state = without_unset(remembered(outputs), settings_.at("unset"));
    if (is_empty(call_.old_state))
      call_.old_state = {};
  }

  static Value with_result(const Value& ret, bool result) {
    std::vector<Entry> entries;
    for (const Entry& entry : ret.entries())
      if (entry.key != "result")
        entries.push_back(entry);
    entries.push_back({"result", result});
    return Value::dict(std::move(entries));
  }

  /// If the thing is there and wanted otherwise, it may have to be recreated instead of changed. A
  /// test reports the same.
  Result<StateAnswer> call() {
    const Value& recreates = settings_.at("recreate_on_update");
    if (recreates.is_null() || call_.function != "present" || !differs())
      return functions_.call(call_, stop_);
    const StateCall old = call_;
    const bool creates_first = recreates.bool_at("create_before_destroy");
    StateAnswer gone;
    if (!creates_first) {
      StateCall away = old;
      away.function = "absent";
      away.arguments = away.ignored = nothing;
      gone = TRY(functions_.call(away, stop_));
      if (gone.verdict != PluginAnswer::Verdict::answered || gone.ret.at("result") == Value(false))
        return gone;
    }
    call_.old_state = {};
    call_.ignored = {};
    StateAnswer made = TRY(functions_.call(call_, stop_));
    // A replacement is complete with its first success.
    if (made.ret.at("result") == Value(true))
      made.ret = with(made.ret, "rerun_data", Value());
    const bool is_made =
        made.verdict == PluginAnswer::Verdict::answered && made.ret.at("result") != Value(false);
    if (!creates_first) {
      if (is_made)
        made.ret = as_replaced(old.old_state, gone.ret, made.ret, computed());
      return made;
    }
    // The old one is still there.
    if (is_made)
      replaced_.push_back(old.old_state);
    else
      call_.old_state = old.old_state;
    return made;
  }

  /// A removal and a creation as one result: from the former state to the new one.
  static Value as_replaced(const Value& before, const Value& gone, const Value& made,
                           const Value& computed) {
    std::vector<Value> comments{"it differs, so it is removed and created again"};
    for (const Value* ret : {&gone, &made})
      if (std::string text = text_of_comment(ret->at("comment")); !text.empty())
        comments.emplace_back(std::move(text));
    std::vector<Entry> entries;
    for (const Entry& entry : made.entries())
      if (entry.key != "comment" && entry.key != "old_state" && entry.key != "changes")
        entries.push_back(entry);
    entries.push_back({"comment", Value::list(std::move(comments))});
    entries.push_back({"old_state", before});
    entries.push_back({"changes", changes_between(before, made.at("new_state"), computed)});
    return Value::dict(std::move(entries));
  }

  Value computed() const { return functions_.computed(call_.state, call_.function); }

  bool differs() const {
    if (call_.old_state.is_null())
      return false;
    const Value wanted = with_ignored(call_.arguments, call_.ignored);
    const Value known = with_ignored(call_.old_state, call_.ignored);
    for (const Entry& entry : wanted.entries())
      if (const Value* before = known.find(entry.key);
          !entry.value.is_null() && before != nullptr && *before != entry.value)
        return true;
    return false;
  }

  /// Something that it watches has changed: the result is that of `mod_watch`.
  Result<Value> heard(Value ret) {
    if (act_.events.empty() || story_.is_dict() || ret.at("result") == Value(false) ||
        !functions_.has(call_.state, "mod_watch") || call_.function == "mod_watch")
      return ret;
    StateCall watch = call_;
    watch.function = "mod_watch";
    StateAnswer answer = TRY(functions_.call(watch, stop_));
    return std::move(answer.ret);
  }

  Result<Outcome> remove() {
    if (settings_.find("replaced") != nullptr)
      return Outcome(Done{});  // the replacing state is removed by itself
    if (!functions_.has_module(call_.state))
      return world_error(cat("no module `", call_.state,
                             "` was loaded that could remove it: `--plugin-dir` names its folder"));
    if (!functions_.has(call_.state, "absent"))
      return world_error(cat("`", call_.state, "` has no function `absent` that could remove it"));
    TRY(call_as_then());
    const StateAnswer answer = TRY(functions_.call(call_, stop_));
    if (answer.verdict != PluginAnswer::Verdict::answered)
      return Outcome(Pending{answer.why, {}, {}, {}});
    const Value ret = with_hidden(answer.ret, settings_.at("sensitive"));
    if (ret.at("result") == Value(false))
      return world_error(text_of_comment(ret.at("comment")));
    Done done;
    done.printed = lines_of_comment(ret.at("comment"));
    return Outcome(std::move(done));
  }

  /// Lines that the code prints are part of the act's report.
  void note(std::string_view line) {
    constexpr size_t most = 100, longest = 1'000;
    if (printed_.size() < most)
      printed_.emplace_back(clipped(line, longest));
    else if (printed_.size() == most)
      printed_.emplace_back("…");
  }

  /// Turns it into a call that removes what the last one made, under the former name: by now a
  /// reference in the name may lead elsewhere, or nowhere.
  Status call_as_then() {
    const CalledAs called =
        act_.known == nullptr ? CalledAs() : read_one<&StateOutputs::called>(act_.known->outputs);
    Value name = called.name, id = called.resource_id;
    if (name.is_null())
      name = wanted_.name.value();
    if (name.has_deferred())
      return world_error(
          "cannot tell its name: the name refers to a value that is no longer known");
    if (id.is_null())
      id = wanted_.arguments.at("resource_id");
    call_.function = "absent";
    call_.name = name_text(name);
    call_.arguments = call_.ignored = nothing;
    if (!is_empty(id) && !id.has_deferred() && is_empty(call_.old_state.at("resource_id")))
      call_.arguments = Value::dict({{"resource_id", id}});
    return {};
  }

  CalledAs called(const Value& memory) const {
    CalledAs called;
    if (tag_.name() != call_.name)
      called.name = call_.name;
    const Value& id = call_.arguments.at("resource_id");
    if (!is_empty(id) && is_empty(memory.at("resource_id")))
      called.resource_id = id;
    return called;
  }

  Result<Outcome> not_ready(const StateAnswer& answer) {
    if (options_.calls_again)
      return Outcome(
          Pending{answer.why.empty() ? "not ready" : answer.why,
                  TRY(functions_.wait(call_.state, settings_.at("wait"), act_.attempt - 1, stop_)),
                  {},
                  watched(answer.watch)});
    return outcome_of(ret_of(false, answer.why), true);
  }

  /// The keys about which the driver gives hints.
  std::vector<Key> watched(const Value& named) {
    std::vector<Key> keys;
    if (!named.is_list())
      return keys;
    for (const Value& one : named.items()) {
      if (one.is_text()) {
        watcher_.add_path(one.text().str());
        keys.push_back(hint_key(act_.key.environment, normal_path(one.text().str())));
      } else if (const std::optional<int64_t> process =
                     one.is_integer() ? one.integer() : std::nullopt;
                 process && *process > 0 && *process <= INT32_MAX) {
        watcher_.add_process(static_cast<int>(*process));
        keys.push_back(hint_key(act_.key.environment, std::to_string(*process)));
      }
    }
    return keys;
  }

  /// A function that ended with an exception fails only its state.
  Result<Outcome> failed(Error error) {
    std::string comment = to_string(error);
    if (!error.excerpt.empty())
      comment += cat("\n", error.excerpt);
    is_unknown_ = error.unknown_outcome && !call_.is_test && !functions_.can_repeat(call_.state);
    if (is_unknown_)
      comment += cat("; it may have acted, and is not called again: `", call_.state,
                     "` does not say `CAN_REPEAT`");
    return outcome_of(ret_of(false, std::move(comment)), is_unknown_);
  }

  /// The memory after a call: the new state after a success, one that was saved by force, and the
  /// first one that there is. If a look says that the thing is gone, it is forgotten.
  Result<Value> memory_of(const Value& ret) {
    const Value& new_state = ret.at("new_state");
    const bool saves = !is_empty(ret.at("result")) || !is_empty(ret.at("force_save")) ||
                       (is_empty(ret.at("old_state")) && !is_empty(new_state));
    if (saves)
      return new_state;
    if (!settings_.bool_at("recreate_if_deleted") || !is_empty(ret.at("rerun_data")) ||
        ret.at("result") != Value(false) || call_.old_state.is_null())
      return call_.old_state;
    const Value& id = call_.old_state.at("resource_id");
    const Result<Value> found = functions_.exec(
        cat(call_.state, ".get"), Value::dict({{"name", call_.name}, {"resource_id", id}}), stop_);
    return found && is_empty(*found) ? Value() : call_.old_state;
  }

  /// Whether it has settled, by its module, the settings and the result.
  Result<std::optional<Again>> again_of(const Value& ret) {
    const Value& result = ret.at("result");
    const std::string comment = text_of_comment(ret.at("comment"));
    const auto again_after = [&](std::optional<Duration> wait) {
      return Again{comment.empty() ? "not successful yet" : comment,
                   wait,
                   Value::dict({{"rerun_data", ret.at("rerun_data")}, {"story", story_after(ret)}}),
                   {},
                   {}};
    };
    if (const Value& retry = settings_.at("retry"); !retry.is_null() && !call_.is_test) {
      const bool is_so = result.is_bool() && result.boolean() == retry.bool_at("until", true);
      const int64_t attempts = retry.at("attempts").integer().value_or(2);
      if (!is_so && act_.attempt < attempts) {
        const auto seconds = [&](const char* name) {
          const Value& value = retry.at(name);
          return value.is_real() ? value.real() : static_cast<double>(value.integer().value_or(0));
        };
        const double splay = seconds("splay") * static_cast<double>(act_.attempt % 10) / 10;
        return std::optional(
            again_after(Duration(static_cast<int64_t>((seconds("interval") + splay) * 1e9))));
      }
      return std::optional<Again>();
    }
    if (!options_.calls_again || call_.is_test)
      return std::optional<Again>();
    const PendingCounts counts{alike(ret), act_.attempt - 1};
    if (const std::optional<bool> pending =
            TRY(functions_.is_pending(call_.state, ret, counts, stop_)))
      return *pending ? std::optional(again_after(TRY(own_wait()))) : std::nullopt;
    if (result != Value(false))
      return asks_again(ret, counts) ? std::optional(again_after(TRY(own_wait()))) : std::nullopt;
    Again again = again_after(TRY(own_wait()));
    again.progress = Value::dict({{"result", result},
                                  {"changes", ret.at("changes")},
                                  {"new_state", ret.at("new_state")},
                                  {"rerun_data", ret.at("rerun_data")}})
                         .digest();
    return std::optional(std::move(again));
  }

  Result<std::optional<Duration>> own_wait() {
    return functions_.wait(call_.state, settings_.at("wait"), act_.attempt - 1, stop_);
  }

  Result<Outcome> outcome_of(Value ret, bool is_final) {
    std::optional<Again> again;
    ret = with_story(with_hidden(without_secrets(std::move(ret)), settings_.at("sensitive")));
    if (!is_final)
      again = TRY(again_of(ret));
    if (!options_.calls_again && !call_.is_test)
      reruns_.keep(act_.key, again ? Value() : ret.at("rerun_data"));
    const Value result = ret.at("result");  // a look may replace it
    const bool changes = !is_empty(ret.at("changes"));
    if (!again && !call_.is_test && result == Value(true) && changes && options_.calls_again)
      ret = TRY(confirmed(std::move(ret)));
    // The answer of `mod_watch` is reported; the state that the function itself left is remembered.
    const Value left = acted_.is_null() ? ret : with_hidden(acted_, settings_.at("sensitive"));
    const Value memory = call_.is_test ? Value() : TRY(memory_of(left));
    std::vector<Entry> outputs;
    static const std::array<Name, 6> keys{"result",    "comment",   "changes",
                                          "old_state", "new_state", "rerun_data"};
    outputs.reserve(keys.size() + 1);
    for (const Name& key : keys)
      if (const Value* value = ret.find(key))
        outputs.push_back({key, *value});
    if (!call_.is_test && options_.remembers && (skips_memory_ || memory != ret.at("new_state")))
      outputs.push_back({"memory", memory.is_null() || skips_memory_ ? nothing : memory});
    if (Value then = act_.looks_only ? Value() : write(called(memory)); !is_empty(then))
      outputs.push_back({"called", std::move(then)});
    if (settings_.find("remover") != nullptr) {
      std::vector<Value> replaced = replaced_before();
      replaced.insert(replaced.end(), replaced_.begin(), replaced_.end());
      outputs.push_back({"replaced", Value::list(std::move(replaced))});
    }
    if (settings_.find("replaced") != nullptr)
      outputs.push_back({"removed", Value::list(removed_)});
    if (is_held_)
      outputs.push_back({"held", true});
    Value kept = Value::dict(std::move(outputs));
    if (result == Value(false)) {
      const std::string comment = text_of_comment(ret.at("comment"));
      Error error = world_error(comment.empty() ? "it failed" : comment);
      error.unknown_outcome = is_unknown_;
      return Outcome(Failed{.error = std::move(error),
                            .outputs = std::move(kept),
                            .again = std::move(again),
                            .printed = std::move(printed_),
                            .has_changed = changes});
    }
    // A result that is not known to be a success wakes nobody.
    const bool wakes = changes && (call_.is_test || !result.is_null());
    return Outcome(Done{.outputs = std::move(kept),
                        .changed = wakes,
                        .again = std::move(again),
                        .printed = std::move(printed_),
                        .is_vain = changes && !wakes});
  }

  /// The answer without secrets that were given to the call, since people read it.
  Value without_secrets(Value ret) const {
    if (!act_.attributes.has_secret())
      return ret;
    Mask mask;
    mask.add_marked(dict_of(act_.attributes));
    return with(ret, "comment", mask.value(ret.at("comment")));
  }

  /// One look after a success with changes. If it still sees changes, that is reported. If it is
  /// not possible, the function is believed.
  Result<Value> confirmed(Value ret) {
    static constexpr std::array<std::string_view, 8> unconfirmed{
        "exec", "time", "cmd", "data", "trigger", "sls", "render", "acct"};
    if (std::ranges::find(unconfirmed, call_.state) != unconfirmed.end() ||
        call_.function == "mod_watch" || !functions_.can_look(call_.state))
      return ret;
    StateCall look = call_;
    look.is_test = true;
    look.old_state = ret.at("new_state");
    const Result<StateAnswer> answer = functions_.call(look, stop_);
    if (!answer || answer->verdict != PluginAnswer::Verdict::answered ||
        is_empty(answer->ret.at("changes")))
      return ret;
    return with_comment(ret, "warning: changes remain after a second look");
  }

  /// The result of this act's calls so far: the first state, and the last changes.
  Value story_after(const Value& ret) const {
    return Value::dict({{"old_state", ret.at("old_state")},
                        {"changes", ret.at("changes")},
                        {"result", ret.at("result")},
                        {"alike", alike(ret)}});
  }

  /// How many calls in a row had the same result as this one.
  int64_t alike(const Value& ret) const {
    const bool is_same = story_.is_dict() && story_.at("result") == ret.at("result") &&
                         story_.at("changes") == ret.at("changes");
    return is_same ? story_.integer_at("alike") + 1 : 0;
  }

  /// The calls of one act are reported as one: from the first state to the last.
  Value with_story(Value ret) const {
    if (!story_.is_dict())
      return ret;
    const Value& first = story_.at("old_state");
    const Value& last = ret.at("new_state");
    const Value changes = first.is_dict() && last.is_dict()
                              ? changes_between(first, last, computed())
                          : is_empty(ret.at("changes")) ? story_.at("changes")
                                                        : ret.at("changes");
    std::vector<Entry> entries;
    for (const Entry& entry : ret.entries())
      if (entry.key != "old_state" && entry.key != "changes")
        entries.push_back(entry);
    entries.push_back({"old_state", first});
    entries.push_back({"changes", changes});
    return Value::dict(std::move(entries));
  }

  StateFunctions& functions_;
  const StateOptions& options_;
  Watcher& watcher_;
  Reruns& reruns_;
  bool skips_memory_ = false;
  std::vector<std::string> printed_;       ///< by the code
  Value acted_;                            ///< what the function returned; null: nothing
  bool is_unknown_ = false;                ///< whether it acted
  bool is_held_ = false;                   ///< its conditions keep it from acting
  std::vector<Value> replaced_, removed_;  ///< by this act
  Value story_;                            ///< null in the first call of an act
  const Act& act_;
  std::stop_token stop_;
  StateInvocation wanted_;  ///< the attributes of the act
  const Value& settings_;
  StateTag tag_;  ///< of its key
  StateCall call_;
};

}  // namespace

Result<std::vector<Observation>> StateDriver::observe(std::span<const Subject> subjects,
                                                      std::stop_token) {
  return std::vector<Observation>(subjects.size());
}

Result<std::vector<Found>> StateDriver::list(const Name&, std::stop_token) {
  return std::vector<Found>();
}

Result<Outcome> StateDriver::apply(const Act& act, const ProgressSink&, std::stop_token stop) {
  return StateAct(functions_, options_, watcher_, reruns_, act, std::move(stop)).run();
}

void StateDriver::watch(const Name& environment, const std::function<void(const Key&)>& hint,
                        std::stop_token stop) {
  watcher_.run([&](const std::string& what) { hint(hint_key(environment, what)); },
               std::move(stop));
}

}  // namespace fettle

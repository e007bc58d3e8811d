#include "verbs/states/reconcile_states.h"

#include <algorithm>

#include "base/prng.h"
#include "base/text.h"
#include "reconcile/wait.h"
#include "states/pace.h"
#include "states/settings.h"
#include "verbs/states/state_results.h"
#include "workplace/time_up.h"

namespace fettle {
namespace {

constexpr Duration usual_wait = 3s;
bool is_true(const Value& value) { return value == Value(true); }

bool has_content(const Value& value) {
  return !value.is_null() && !(value.is_dict() && value.entries().empty()) &&
         !(value.is_list() && value.items().empty()) && value != Value(false);
}

/// Users may ask about something that has no tag.
StateTag parts_of(std::string_view tag) { return StateTag::parse(tag).value_or(StateTag()); }
std::string state_of(std::string_view tag) { return parts_of(tag).state.str(); }
std::string function_of(std::string_view tag) { return parts_of(tag).function.str(); }

class StatesLoop {
 public:
  StatesLoop(const Workplace& place, RunFunctions& functions, const ReconcileOptions& options,
             const ApplyAgain& apply, StatesReport& report)
      : place_(place),
        functions_(functions),
        options_(options),
        apply_(apply),
        report_(report),
        prng_(place.random ? place.random() : 1),
        executor_(place.executor != nullptr ? nullptr
                                            : std::make_unique<Threads>(*place.interrupt)),
        time_up_(place.interrupt->acts_token(), options.deadline) {
    began_ = executor().now().instant;
    for (const StateResult& result : report.results)
      current_[result.tag.str()] = result;
  }

  Status basic() {
    Status done = rounds();
    if (done || !is_cancelled(done.error()) || !is_over())
      return done;
    report_.requires_re_run = true;
    return {};
  }

  /// Runs a loop of users: it decides what is applied again, and sleeps.
  Status of_users(const std::string& path) {
    PluginCall call;
    call.path = path;
    call.arguments = Value::dict({{"pending_plugin", options_.pending},
                                  {"name", options_.run_name},
                                  {"max_pending_reruns", options_.max_reruns},
                                  {"apply_kwargs", Value::dict({{"name", options_.run_name}})}});
    call.only_known = true;
    call.run = Value::dict({{"name", options_.run_name}, {"running", running()}});
    call.on_ask = [this](const Value& asked) { return answer(asked); };
    Result<PluginAnswer> answer = functions_.plugins().call(call, time_up_.token());
    if (!answer && is_over()) {
      report_.requires_re_run = true;
      return {};
    }
    if (!answer && (is_cancelled(answer.error()) || answer.error().blame == Blame::bug))
      return answer.error();
    if (!answer)
      return end(std::move(answer).error());
    const Value& said = answer->result;
    if (!said.is_dict() || !said.at("re_runs_count").is_integer())
      return end(world_error("it must return a dict with `re_runs_count` and `require_re_run`"));
    report_.re_runs =
        static_cast<int>(std::clamp<int64_t>(said.integer_at("re_runs_count"), 0, INT32_MAX));
    report_.requires_re_run = said.bool_at("require_re_run");
    take(answer->running);
    if (report_.requires_re_run)
      mark(TRY(pending_now()));
    return {};
  }

 private:
  Status rounds() {
    while (true) {
      std::set<std::string> pending = TRY(pending_now());
      report_.requires_re_run = !pending.empty();
      mark(pending);
      std::erase_if(pending, [&](const std::string& tag) { return is_in_vain(tag); });
      if (pending.empty() || report_.re_runs >= options_.max_reruns)
        break;
      Duration wait{0};
      const size_t given_up = given_up_.size();
      for (const std::string& tag : pending) {
        const Result<Duration> own = wait_of(tag);
        if (!own)
          TRY(give_up(tag, own.error()));
        else
          wait = std::max(wait, *own);
      }
      if (given_up_.size() > given_up)
        continue;
      if (!sleep(wait))
        break;
      ++report_.re_runs;
      TRY(apply(pending));
      if (report_.is_stopped || !report_.fault.empty())
        break;
    }
    return {};
  }

  /// A loop of users ended with an error. The error comes with the results so far.
  Status end(Error error) {
    error.trace.push_back(cat("reconciler `", options_.loop, "`"));
    report_.fault = to_string(error);
    if (!error.excerpt.empty())
      report_.fault += cat("\n", error.excerpt);
    return {};
  }

  /// Takes over the results as a loop of users left them.
  void take(const Value& running) {
    for (StateResult& result : report_.results)
      if (const Value& left = running.at(result.tag); left.is_dict())
        for (const char* key :
             {"result", "comment", "changes", "old_state", "new_state", "rerun_data"})
          if (const Value* value = left.find(key))
            result.entry = with(result.entry, key, *value);
  }

  Executor& executor() { return place_.executor != nullptr ? *place_.executor : *executor_; }

  Value computed_of(const Name& tag) const {
    const StateTag parts = parts_of(tag);
    return functions_.computed(parts.state, parts.function);
  }

  void mark(const std::set<std::string>& pending) {
    for (StateResult& result : report_.results)
      result.is_pending = pending.contains(result.tag.str());
  }

  Value running() const {
    std::vector<Entry> entries;
    for (const auto& [tag, result] : current_)
      if (!result.is_quiet)
        entries.push_back({Name(tag), result.entry});
    return Value::dict(std::move(entries));
  }

  /// Whether somebody asked to stop, or time is up.
  bool is_over() {
    return report_.is_stopped || time_up_.token().stop_requested() ||
           (options_.deadline > 0s && executor().now().instant >= began_ + options_.deadline);
  }

  Result<Value> answer(const Value& asked) {
    if (is_over())
      return cancelled_error();
    if (const Value* apply_asked = asked.find("apply")) {
      std::set<std::string> tags;
      if (const Value& given = apply_asked->at("tags"); given.is_list()) {
        for (const Value& tag : given.items())
          if (tag.is_text())
            tags.insert(tag.text().str());
      } else {
        for (const auto& [tag, result] : current_)
          tags.insert(tag);
      }
      return Value::dict({{"ran", TRY(apply(tags))}, {"running", running()}});
    }
    if (const Value* seconds = asked.find("sleep")) {
      if (!sleep(TRY(states::read_seconds(*seconds))))
        return cancelled_error();
      return Value();
    }
    if (const Value* ret = asked.find("is_pending"))
      return Value(TRY(is_pending(std::string(ret->text_at("tag")), *ret)));
    const std::string path(asked.text_at("call"));
    if (!path.starts_with("exec."))
      return user_error(cat("a reconciler cannot call `", path, "`"));
    const Value& positional = asked.at("positional");
    states::ExecCall call{.path = path.substr(5)};
    if (positional.is_list())
      call.positional.assign(positional.items().begin(), positional.items().end());
    if (asked.at("arguments").is_dict())
      call.named = asked.at("arguments");
    return functions_.exec_function(call, time_up_.token());
  }

  /// False: somebody asked to stop, or time is up.
  bool sleep(Duration time) {
    const Instant end = executor().now().instant + time;
    if (options_.deadline > 0s && end > began_ + options_.deadline)
      return false;
    while (executor().now().instant < end) {
      const News news = executor().wait(end);
      if (news.stop || news.leave) {
        report_.is_stopped = true;
        return false;
      }
    }
    return true;
  }

  PendingCounts counts_of(const std::string& tag) const {
    const auto alike = alike_by_tag_.find(tag);
    return {alike == alike_by_tag_.end() ? 0 : alike->second, report_.re_runs, options_.max_reruns};
  }

  /// Whether its results do not change any more, and its module does not itself decide when to end.
  bool is_in_vain(const std::string& tag) const {
    return counts_of(tag).is_alike() &&
           !functions_.plugins().has(cat("states.", state_of(tag), ".is_pending"));
  }

  /// The tags of what ran.
  Result<Value> apply(const std::set<std::string>& tags) {
    std::vector<StateResult> again = TRY(apply_(tags));
    std::vector<Value> ran;
    for (StateResult& result : again) {
      StateResult& before = current_[result.tag.str()];
      const bool is_same = !before.tag.empty() &&
                           before.entry.at("result") == result.entry.at("result") &&
                           before.entry.at("changes") == result.entry.at("changes");
      int& alike = alike_by_tag_[result.tag.str()];
      alike = is_same ? alike + 1 : 0;
      const auto shown = std::ranges::find(report_.results, result.tag, &StateResult::tag);
      if (shown == report_.results.end()) {
        report_.results.push_back(result);
      } else {
        shown->entry = merged(shown->entry, result.entry, computed_of(result.tag));
        shown->is_unmet = result.is_unmet;
        shown->is_held = result.is_held;
        shown->is_final = result.is_final;
        shown->is_quiet &= result.is_quiet;
        ++shown->re_runs;
      }
      if (!result.is_quiet)
        ran.push_back(Value(result.tag));
      before = std::move(result);
    }
    return Value::list(std::move(ran));
  }

  Result<std::set<std::string>> pending_now() {
    std::set<std::string> pending;
    for (auto& [tag, result] : current_) {
      if (result.is_quiet || result.is_pruned || result.is_final || given_up_.contains(tag))
        continue;
      const Result<bool> said = is_pending(tag, result.entry);
      if (said && *said)
        pending.insert(tag);
      if (!said)
        TRY(give_up(tag, said.error()));
    }
    return pending;
  }

  /// A plugin that ends with an exception fails only its state, which is not applied again.
  Status give_up(const std::string& tag, const Error& error) {
    if (is_cancelled(error) || error.blame == Blame::bug)
      return error;
    fail(tag, error);
    given_up_.insert(tag);
    return {};
  }

  void fail(const std::string& tag, const Error& error) {
    const auto shown = std::ranges::find(report_.results, Name(tag), &StateResult::tag);
    if (shown == report_.results.end())
      return;
    std::vector<Entry> entries;
    for (const Entry& entry : shown->entry.entries())
      if (entry.key != "result" && entry.key != "comment")
        entries.push_back(entry);
    entries.push_back({"result", false});
    entries.push_back({"comment", to_string(error)});
    shown->entry = merged(shown->entry, Value::dict(std::move(entries)));
  }

  Result<bool> is_pending(const std::string& tag, const Value& ret) {
    // Whatever was reported at the end of the first pass is not reported again.
    if (function_of(tag) == "mod_watch")
      return false;
    const PendingCounts counts = counts_of(tag);
    const bool succeeded = is_true(ret.at("result"));
    const std::string state = state_of(tag);
    if (!tag.empty())
      if (const std::optional<bool> said =
              TRY(functions_.is_pending(state, ret, counts, time_up_.token())))
        return *said;
    // Commands that succeeded are not reconciled, nor is what merely passed time.
    if (succeeded && ((state == "exec" && function_of(tag) == "run") ||
                      (state == "cmd" && function_of(tag) == "run") ||
                      (state == "time" && function_of(tag) == "sleep")))
      return false;
    const std::string own = cat("reconcile.pending.", options_.pending, ".is_pending");
    const bool is_own = functions_.plugins().has(own);
    if (options_.pending == "default" && !is_own)
      return !succeeded || has_content(ret.at("changes")) || asks_again(ret, counts);
    if (options_.pending == "idem25" && !is_own)
      return !counts.is_alike() && !counts.is_over() &&
             (!succeeded || has_content(ret.at("rerun_data")));
    PluginCall call;
    call.path = own;
    call.arguments = Value::dict({{"ret", ret},
                                  {"state", state},
                                  {"ctx", Value()},
                                  {"reruns_wo_change_count", counts.alike},
                                  {"reruns_count", counts.all},
                                  {"max_pending_reruns", counts.most}});
    call.only_known = true;
    const PluginAnswer answer = TRY(functions_.plugins().call(call, time_up_.token()));
    return has_content(answer.result);
  }

  /// The wait for this iteration, as the state's module says.
  Result<Duration> wait_of(const std::string& tag) {
    if (const auto own = options_.waits.find(tag); own != options_.waits.end())
      return pause_by(own->second);
    const auto own = options_.own_waits.find(tag);
    if (const std::optional<Duration> said = TRY(
            functions_.wait(state_of(tag), own == options_.own_waits.end() ? Value() : own->second,
                            report_.re_runs, time_up_.token())))
      return *said;
    const states::Module* module = functions_.catalogue().find(state_of(tag));
    if (module == nullptr || module->wait.is_null())
      return usual_wait;
    const Result<states::WaitRule> rule = states::read_wait(module->wait);
    if (!rule)
      return usual_wait;
    return pause_by(*rule);
  }

  Duration pause_by(const states::WaitRule& rule) {
    Resource paced;
    states::set_pace(rule, paced);
    return pause(paced.pace, report_.re_runs + 1, Duration(0), prng_);
  }

  const Workplace& place_;
  RunFunctions& functions_;
  const ReconcileOptions& options_;
  const ApplyAgain& apply_;
  StatesReport& report_;
  Prng prng_;
  std::unique_ptr<Threads> executor_;
  TimeUp time_up_;  ///< for users' code
  Instant began_;
  std::map<std::string, StateResult> current_;
  std::map<std::string, int> alike_by_tag_;
  std::set<std::string> given_up_;  ///< tags of states whose plugins failed
};

}  // namespace

Status check_loop(RunFunctions& functions, const std::string& loop, const std::string& pending) {
  const auto known = [&](const std::string& word, std::vector<std::string> words,
                         std::string_view before, std::string_view after, std::string_view what) {
    if (std::ranges::find(words, word) != words.end() ||
        functions.plugins().has(cat(before, word, after)))
      return Status();
    if (const Error* broken = functions.problem_of(cat(before, word)))
      return Status(Error(*broken).context(cat("loading the ", what, " `", word, "`")));
    for (std::string& own : functions.plugins().names(before, after))
      words.push_back(std::move(own));
    return Status(user_error(cat("there is no ", what, " `", word, "`; known are ",
                                 join(words, ", "), suggestion(word, words))));
  };
  TRY(known(loop, {"fettle", "basic", "none"}, "reconcile.", ".loop", "reconciler"));
  if (pending != "default" && (loop == "fettle" || loop == "none"))
    return user_error(cat("`-P ", pending, "` means nothing to the loop `", loop,
                          "`: give `-R basic`, or a loop of your own"));
  return known(pending, {"default", "idem25"}, "reconcile.pending.", ".is_pending",
               "rule for pending states");
}

Status reconcile_states(const Workplace& place, RunFunctions& functions,
                        const ReconcileOptions& options, const ApplyAgain& apply,
                        StatesReport& report) {
  StatesLoop work(place, functions, options, apply, report);
  const std::string own = cat("reconcile.", options.loop, ".loop");
  return functions.plugins().has(own) ? work.of_users(own) : work.basic();
}

}  // namespace fettle

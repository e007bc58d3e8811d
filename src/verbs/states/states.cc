#include "verbs/states/states.h"

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <unordered_set>

#include "base/text.h"
#include "core/environment_name.h"
#include "kinds/kinds.h"
#include "kinds/state.h"
#include "states/pace.h"
#include "store/null_edit.h"
#include "verbs/states/paced_drivers.h"
#include "verbs/states/path_owners.h"
#include "verbs/states/reconcile_states.h"
#include "verbs/states/state_keys.h"
#include "verbs/states/state_looks.h"
#include "verbs/states/state_results.h"
#include "verbs/states/states_away.h"
#include "verbs/states/states_past.h"
#include "workplace/machines.h"

namespace fettle {
namespace {

constexpr std::string_view open_run_note = "states_run";
constexpr std::string_view plugins_note = "states_plugins";

/// In a test, a new state may lack values that only its act will know, as in Idem.
std::optional<Value> value_to_come(const Output& hole, const Outputs& look) {
  const std::string_view path = hole.path.view();
  const std::string_view key = path.substr(path.rfind('/') + 1);
  if (!path.starts_with("/new_state/") || is_empty_dict(read_one<&StateOutputs::new_state>(look)))
    return std::nullopt;
  return Value(cat(key, "_value_known_after_applying"));
}

/// What former runs left. What an earlier fettle wrote under other keys goes by today's from the
/// first read on; the store is told later, when the files have no errors.
class Past {
 public:
  Known known;

  Status read(Store& store, const Name& environment) {
    known = TRY(store.known(environment));
    is_by_name_ = TRY(store.note(environment, states_by_name_note)).has_value();
    if (is_by_name_)
      rename(upgraded_keys(known));
    return {};
  }

  void rename(const Renames& renames) { renamed_.push_back(rename_known(renames, known)); }

  /// Each renaming begins where the one before ended.
  Status write_renames(Edit& edit) {
    for (const std::vector<Change>& changes : std::exchange(renamed_, {}))
      TRY(edit.write(changes));
    if (std::exchange(is_by_name_, false))
      TRY(edit.put_note(states_by_name_note, {}));
    return {};
  }

 private:
  bool is_by_name_ = false;  ///< an earlier fettle wrote it
  std::vector<std::vector<Change>> renamed_;
};

/// One run of files of states.
class StatesWork {
 public:
  /// `machine`: where the states are called; null: here.
  StatesWork(const Workplace& place, StatesRequest request, Machine* machine, Audience* audience)
      : request_(std::move(request)),
        place_(place),
        machine_(machine),
        functions_(place_, request_.functions),
        driver_(functions_, calling()),
        paced_([this](const Value& wait, int calls, std::stop_token stop) -> Result<Duration> {
          return TRY(functions_.wait({}, wait, calls, std::move(stop))).value_or(Duration(0));
        }),
        own_files_(request_.files == nullptr ? states::disk_files() : nullptr),
        times_(audience) {
    place_.driver = [this, driver = place.driver](const Name& name) {
      return owners_.around(name,
                            name == "state" ? states_driver() : paced_.around(name, driver(name)));
    };
  }

  Result<StatesReport> work() {
    if (request_.prune && !request_.compile.target.empty())
      return user_error(
          "`--prune` removes states that are in no file, but `--target` reads only a part of the "
          "files: leave one of them out");
    TRY(check_environment_name(request_.environment));
    TRY(functions_.open(false));
    if (machine_ != nullptr)
      TRY(machine_->begin_states(settings_of_states(request_.functions, calling()),
                                 place_.interrupt->acts_token()));
    TRY(check_loop(functions_, request_.reconciler, request_.pending));
    for (const Error& problem : functions_.problems())
      report_.warnings.push_back(problem);
    request_.compile.catalogue = &functions_.catalogue();
    request_.compile.host.exec = [this](std::string_view path, std::span<const Value> positional,
                                        std::span<const Entry> named) {
      return functions_.exec_function(
          {.path = std::string(path),
           .positional = {positional.begin(), positional.end()},
           .named = Value::dict(std::vector<Entry>(named.begin(), named.end()))});
    };
    request_.compile.host.draw = place_.random;
    if (request_.is_test || !request_.remembers)
      return without_a_trace();
    edit_ = TRY(begin_edit(place_, request_.environment, request_.waits));
    TRY(past_.read(*place_.store, request_.environment));
    TRY(find_modules_of_past());
    TRY(compile(nullptr));
    if (!report_.errors.empty())
      return std::move(report_);
    TRY(check_kept_plan());
    TRY(ensure_environment(place_, *edit_, Value::dict({{"states", true}})));
    TRY(remember_plugins());
    if (request_.asked)
      TRY(write_last_states(place_, *edit_, *request_.asked));
    TRY(goes_on_or_begins());
    TRY(carry_and_reconcile());
    warn_of_blocks(report_.results);
    if (!report_.is_stopped)
      TRY(edit_->put_note(open_run_note, {}));
    return std::move(report_);
  }

 private:
  StateOptions calling() const {
    return {.calls_again = request_.reconciler == "fettle", .remembers = request_.remembers};
  }
  Driver* states_driver() { return machine_ == nullptr ? &driver_ : &machine_->driver(); }
  states::Files& files() { return request_.files != nullptr ? *request_.files : *own_files_; }

  /// What is to be pruned may be of an installed package that no file mentions any more.
  Status find_modules_of_past() {
    const bool lacks =
        request_.prune && std::ranges::any_of(past_.known, [&](const auto& known) {
          const std::optional<StateTag> tag = StateTag::parse(known.first.name);
          return known.first.kind == "state" && tag && !functions_.has_module(tag->state.view());
        });
    if (lacks && TRY(functions_.open_packages()))
      request_.compile.catalogue = &functions_.catalogue();
    return {};
  }

  /// Reads the files and makes the intent; `outcomes`: those of states that have run.
  Status compile(const states::Outcomes* outcomes) {
    states::CompileOptions options = request_.compile;
    options.outcomes = outcomes;
    auto compiled = TRY(compiled_as_known(options));
    // What is not there may be in an installed package.
    const bool lacks = !compiled->errors.empty() || functions_.lacks_functions_of(*compiled);
    if (outcomes == nullptr && lacks && TRY(functions_.open_packages())) {
      request_.compile.catalogue = &functions_.catalogue();
      report_.warnings = functions_.problems();
      return compile(nullptr);
    }
    states::IntentOptions made;
    made.environment = request_.environment;
    // Blocks that join the run later may describe what was there before.
    made.prune = request_.prune && compiled->delayed.empty() && !compiled->waits_for_additions &&
                 std::ranges::all_of(compiled->chunks, [](const states::Chunk& chunk) {
                   return chunk.failure.empty();  // nobody knows what else it was to be
                 });
    made.known = &past_.known;
    states::StatesIntent intent;
    if (compiled->errors.empty())
      intent = options.is_lenient ? states::lenient_intent_of(*compiled, made)
                                  : states::intent_of(*compiled, made);
    std::vector<Error> errors = compiled->errors;
    if (const Status profile = functions_.check_profile(); !profile && !makes_profiles(*compiled))
      errors.push_back(profile.error());
    errors.insert(errors.end(), intent.errors.begin(), intent.errors.end());
    if (outcomes != nullptr)
      for (const std::string& secret : outcomes->secrets().secrets())
        place_.mask->add(secret);
    if (!errors.empty() && outcomes != nullptr)
      return place_.mask->error(errors[0]);
    report_.errors = std::move(errors);
    if (outcomes == nullptr)
      report_.warnings.insert(report_.warnings.end(), compiled->warnings.begin(),
                              compiled->warnings.end());
    if (!report_.errors.empty()) {
      for (const Error& problem : functions_.hidden_problems(report_.errors))
        report_.warnings.push_back(problem);
      return {};
    }
    if (edit_ != nullptr)
      TRY(past_.write_renames(*edit_));
    compiled_ = std::move(compiled);
    if (!request_.is_test)
      TRY(put_sources());
    keys_ = intent.keys;
    owners_.put(intent);
    failhard_.clear();
    for (size_t i = 0; i < keys_.size(); ++i)
      if (compiled_->chunks[i].settings != nullptr && compiled_->chunks[i].settings->failhard)
        failhard_.push_back(i);
    intent_ = tuned(*intent.intent);
    return {};
  }

  /// Files in the sources that are no short text are copied byte for byte, as blobs.
  Status put_sources() {
    for (const states::Chunk& chunk : compiled_->chunks) {
      if (chunk.content == nullptr || chunk.content->text != nullptr ||
          TRY(place_.blobs->has(chunk.content->digest)))
        continue;
      if (TRY(place_.blobs->put(TRY(chunk.content->open()))) != chunk.content->digest)
        return user_error(cat("the `source` of `", chunk.id,
                              "` was changed while it was being copied; call this again"));
    }
    return {};
  }

  /// Moves what former runs left to the keys of today.
  Result<std::shared_ptr<states::CompiledStates>> compiled_as_known(
      states::CompileOptions& options) {
    while (true) {
      const KnownMemory memory(past_.known);
      options.memory = &memory;
      auto compiled = std::make_shared<states::CompiledStates>(
          states::compile(request_.words, files(), options));
      options.memory = nullptr;
      const Renames renames = keys_of_today(*compiled, request_.environment, past_.known);
      if (renames.empty())
        return compiled;
      past_.rename(renames);
    }
  }

  /// Whether states may bring credentials that no file has.
  static bool makes_profiles(const states::CompiledStates& compiled) {
    return !compiled.delayed.empty() || compiled.waits_for_additions ||
           std::ranges::any_of(compiled.chunks, [](const states::Chunk& chunk) {
             return chunk.state == "acct" && chunk.function == "profile";
           });
  }

  /// The intent with the limits that its loop sets for each resource.
  std::shared_ptr<const Intent> tuned(const Intent& intent) {
    auto made = std::make_shared<Intent>(intent);
    std::unordered_map<Key, size_t, KeyHash> chunks;
    for (size_t i = 0; i < keys_.size(); ++i)
      chunks.emplace(keys_[i], i);
    for (auto& [set, resources] : made->resources) {
      for (Resource& resource : resources)
        if (const auto chunk = chunks.find(resource.key); chunk != chunks.end())
          tune(compiled_->chunks[chunk->second], resource);
      if (request_.is_serial)
        std::ranges::stable_sort(resources, {}, [&](const Resource& resource) {
          const auto chunk = chunks.find(resource.key);
          return chunk == chunks.end() ? 0 : compiled_->chunks[chunk->second].rank;
        });
    }
    return made;
  }

  /// Whether a command runs around a call.
  static bool runs_commands(const states::Settings* settings) {
    return settings != nullptr && (!settings->unless.empty() || !settings->onlyif.empty() ||
                                   !settings->check_cmd.empty() || settings->recreate_if_deleted);
  }

  void tune(const states::Chunk& chunk, Resource& resource) {
    const states::Settings* settings = chunk.settings.get();
    resource.ends_run = settings != nullptr && settings->failhard;
    if (request_.reconciler == "fettle")
      resource.patience.with_errors = true;
    else if (resource.patience.most == 0)
      resource.patience = {1, 0s, false};  // its first answer counts in this pass
    if (settings == nullptr || !settings->attempt)
      resource.deadlines.attempt = 10min;
    if ((settings == nullptr || !settings->deadline) && resource.deadlines.settle == 0s)
      resource.deadlines.settle = 20min;
    const states::Module* module = functions_.catalogue().find(chunk.state);
    resource.is_instant = resource.driver == "state" && module != nullptr && module->is_instant &&
                          !request_.is_serial && chunk.pool.empty() && !runs_commands(settings);
    // In a pass of another loop, the first answer ends the act; the wait is between passes.
    const bool has_wait = settings != nullptr && (settings->wait || !settings->own_wait.is_null());
    if (has_wait && resource.driver != "state" && resource.patience.with_errors)
      paced_.put(resource.key, settings->own_wait);
    if (settings != nullptr && (settings->wait || (settings->retry && resource.patience.most > 0)))
      return;
    if (resource.key.kind == "state" || resource.key.kind == "command" ||
        resource.key.kind == "file")
      resource.pace = {Wait::exponential, 200ms, 3s, 2};
    if (module != nullptr && !module->wait.is_null())
      if (const Result<states::WaitRule> rule = states::read_wait(module->wait))
        states::set_pace(*rule, resource);
  }

  /// A later look needs the same plugins.
  Status remember_plugins() {
    std::vector<Value> folders;
    for (const Path& folder : request_.functions.folders)
      folders.emplace_back(std::filesystem::absolute(folder).string());
    const Value plugins = Value::dict(
        {{"folders", Value::list(std::move(folders))}, {"run_name", request_.functions.run_name}});
    const std::optional<Value> before = TRY(place_.store->note(request_.environment, plugins_note));
    return before == plugins ? Status() : edit_->put_note(plugins_note, plugins);
  }

  /// A killed run goes on with its number, unless the run is to begin afresh.
  Status goes_on_or_begins() {
    const std::optional<Value> open = TRY(place_.store->note(request_.environment, open_run_note));
    if (open && !request_.is_fresh) {
      continues_ = static_cast<uint64_t>(open->at("number").integer().value_or(0));
      return find_changed();
    }
    if (open || request_.is_fresh)
      for (auto& [key, record] : past_.known)
        if (record->attempt && record->attempt->course) {
          auto fresh = std::make_shared<Record>(*record);
          Attempt& attempt = fresh->attempt.edit();
          attempt.course.reset();
          attempt.failed = true;
          record = std::move(fresh);
        }
    return edit_->put_note(open_run_note,
                           Value::dict({{"number", static_cast<int64_t>(edit_->number())}}));
  }

  /// Finds what the run that goes on has changed so far, for the states that wait for changes.
  Status find_changed() {
    constexpr size_t looked_at = 20;  // newest first: what came after a change is seldom more
    for (const auto& [key, record] : past_.known) {
      if (record->run < continues_)
        continue;
      for (const Event& event : TRY(place_.store->events_of(key, looked_at)))
        if (event.type == EventType::done && event.detail.bool_at("changed") &&
            event.detail.integer_at("run") == static_cast<int64_t>(continues_))
          changed_.insert(key);
    }
    return {};
  }

  RunOptions options() const {
    RunOptions options;
    options.parallelism = request_.is_serial ? 1 : std::max(1, request_.parallelism);
    options.continues = continues_;
    options.keeps_seen = true;
    options.plan.changed_before = std::make_shared<const std::set<Key>>(changed_);
    options.plan.given_up = given_up_;
    if (request_.is_test)
      options.yet_to_come = &value_to_come;
    if (request_.deadline > 0s)
      options.deadline = std::max(Duration(1), began_ + request_.deadline - now());
    return options;
  }

  Instant now() const {
    return place_.executor != nullptr ? place_.executor->now().instant : instant_from_clock();
  }

  /// Carries the intent out once, and keeps the records for the next time.
  Result<std::vector<StateResult>> carry() {
    const Known before = past_.known;
    RunRequest run_request;
    run_request.intent = intent_;
    run_request.known = past_.known;
    run_request.options = options();
    run_request.audience = &times_;
    run_request.wants = [this](const Run& run) { return wanted_now(run); };
    RunResult run_result = TRY(carry_out(place_, *edit_, std::move(run_request)));
    if (!run_result.summary) {
      if (run_result.summary.error().blame != Blame::user)
        return run_result.summary.error();
      report_.fault = to_string(run_result.summary.error());
    }
    const Summary& summary = run_result.summary ? *run_result.summary : run_result.run.summary();
    report_.is_stopped = summary.stopped && !summary.is_late && report_.fault.empty();
    if (request_.reconciler == "fettle" || request_.reconciler == "none")
      intent_.reset();  // these carry it out once
    if (request_.reconciler != "fettle" && request_.reconciler != "none")
      for (const Key& key : keys_)
        if (run_result.run.standing(key) == Standing::changed)
          changed_.insert(key);
    run_result.run.let_go();
    const StatesRun done{*compiled_, keys_, run_result.run, summary, before, times_};
    std::vector<StateResult> results = results_of(done);
    add_removals(done, results);
    past_.known = run_result.run.take_known();
    report_.rest =
        std::make_shared<const std::tuple<RunResult, Known>>(std::move(run_result), past_.known);
    return results;
  }

  /// Blocks that wait join the run as soon as what they wait for has run.
  Result<std::shared_ptr<const Intent>> wanted_now(const Run& run) {
    TRY(check_failhard(run));
    const bool is_more = take_additions();
    if (!is_more && compiled_->delayed.empty())
      return nullptr;
    if (!is_more && !is_block_ready(run, false))
      return nullptr;
    TRY(compile_after(run, false));
    return intent_;
  }

  /// Whether everything that a block waits for has run.
  bool is_block_ready(const Run& run, bool looks) const {
    const RunOutcomes outcomes(*compiled_, keys_, run, looks);
    return std::ranges::any_of(compiled_->delayed, [&](const states::DelayedBlock& block) {
      return std::ranges::all_of(block.awaited, [&](const states::DelayedBlock::AwaitedState& one) {
        return outcomes.has_run(one.id.view());
      });
    });
  }

  Status compile_after(const Run& run, bool looks) {
    const std::shared_ptr<const states::CompiledStates> compiled = compiled_;
    const std::vector<Key> keys = keys_;
    const RunOutcomes then(*compiled, keys, run, looks);
    return compile(&then);
  }

  /// Warns of blocks that were never rendered: nobody knows what is in them.
  void warn_of_blocks(std::span<const StateResult> results) {
    for (const states::DelayedBlock& block : compiled_->delayed) {
      const auto is_of = [](const states::DelayedBlock::AwaitedState& one) {
        return [&one](const StateResult& result) {
          return result.entry.text_at("__id__") == one.id.view();
        };
      };
      const auto has_not_run = [&](const states::DelayedBlock::AwaitedState& one) {
        return std::ranges::none_of(results, [&](const StateResult& result) {
          return is_of(one)(result) && result.entry.at("result") != Value(false);
        });
      };
      const auto holder = std::ranges::find_if(block.awaited, has_not_run);
      if (holder == block.awaited.end())
        continue;
      const bool is_there = std::ranges::any_of(results, is_of(*holder));
      Error warning =
          user_error(cat("the block that waits for ID ", holder->id, " was not rendered, because ",
                         is_there ? "that did not succeed" : "there is no such ID"));
      if (!is_there && !report_.is_stopped && !request_.is_test && report_.fault.empty())
        report_.fault = "a block waits for an ID that does not exist";
      if (holder->at.file < compiled_->files.size())
        warning.where = {compiled_->files[holder->at.file], static_cast<int>(holder->at.line),
                         static_cast<int>(holder->at.column)};
      report_.warnings.push_back(std::move(warning));
    }
  }

  /// Whether states that ran have added something new.
  bool take_additions() {
    bool is_more = false;
    std::vector<states::Addition> added = functions_.take_additions();
    if (machine_ != nullptr)
      for (const Value& addition : machine_->take_additions())
        added.push_back({Name(addition.text_at("by")), addition.at("what")});
    for (states::Addition& addition : added) {
      std::vector<states::Addition>& all = request_.compile.additions;
      const auto before = std::ranges::find(all, addition.by, &states::Addition::by);
      if (before != all.end() && before->what == addition.what)
        continue;
      is_more = true;
      if (before != all.end())
        *before = std::move(addition);
      else
        all.push_back(std::move(addition));
    }
    return is_more;
  }

  /// A state may ask that nothing goes on once it has failed.
  Status check_failhard(const Run& run) const {
    for (const size_t i : failhard_)
      if (run.standing(keys_[i]) == Standing::failed)
        return user_error(
            cat("ID ", compiled_->chunks[i].id, " failed, so nothing more was started"), {});
    return {};
  }

  Status carry_and_reconcile() {
    TRY(carry_and_loop());
    std::erase_if(report_.results, [](const StateResult& one) { return one.is_quiet; });
    return {};
  }

  Status carry_and_loop() {
    report_.results = TRY(carry());
    if (request_.reconciler == "fettle") {
      for (const StateResult& one : report_.results) {
        report_.requires_re_run |= one.is_pending;
        report_.re_runs = std::max(report_.re_runs, one.re_runs);
      }
      return {};
    }
    if (request_.reconciler == "none" || report_.is_stopped || !report_.fault.empty())
      return {};
    ReconcileOptions options;
    options.loop = request_.reconciler;
    options.pending = request_.pending;
    options.max_reruns = request_.max_reruns;
    if (request_.deadline > 0s)
      options.deadline = std::max(Duration(1), began_ + request_.deadline - now());
    options.run_name = request_.compile.run_name;
    for (const states::Chunk& chunk : compiled_->chunks) {
      if (chunk.settings != nullptr && chunk.settings->wait)
        options.waits.emplace(states::tag_of(chunk), *chunk.settings->wait);
      if (chunk.settings != nullptr && !chunk.settings->own_wait.is_null())
        options.own_waits.emplace(states::tag_of(chunk), chunk.settings->own_wait);
    }
    const auto apply = [&](const std::set<std::string>& tags) { return apply_again(tags); };
    return reconcile_states(place_, functions_, options, apply, report_);
  }

  bool is_remover(const Name& tag) const {
    return std::ranges::any_of(compiled_->chunks, [&](const states::Chunk& chunk) {
      return chunk.is_remover && states::tag_of(chunk) == tag.view();
    });
  }

  /// Runs some states once more; all others stay as they were.
  Result<std::vector<StateResult>> apply_again(const std::set<std::string>& tags) {
    auto given_up = std::make_shared<std::set<Key>>();
    for (size_t i = 0; i < keys_.size(); ++i) {
      const auto record = past_.known.find(keys_[i]);
      if (record == past_.known.end())
        continue;
      if (!tags.contains(states::tag_of(compiled_->chunks[i]))) {
        if (record->second->attempt)  // it failed, or nobody knows what it did
          given_up->insert(keys_[i]);
        continue;
      }
      auto again = std::make_shared<Record>(*record->second);
      again->run = 0;
      record->second = std::move(again);
    }
    given_up_ = std::move(given_up);
    std::vector<StateResult> results = TRY(carry());
    // States that were due only after these ran by themselves.
    std::erase_if(results, [&](const StateResult& one) {
      return !tags.contains(one.tag.str()) &&
             (one.is_quiet || !(one.is_pruned || is_remover(one.tag)));
    });
    return results;
  }

  /// `--test`, and runs without memory: nothing is written.
  Result<StatesReport> without_a_trace() {
    if (request_.remembers)
      TRY(past_.read(*place_.store, request_.environment));
    TRY(find_modules_of_past());
    TRY(compile(nullptr));
    if (!report_.errors.empty())
      return std::move(report_);
    if (request_.is_test) {
      TRY(look());
    } else {
      edit_ = std::make_unique<NullEdit>(request_.environment, NullEdit::Use::acts);
      TRY(check_kept_plan());
      TRY(carry_and_reconcile());
    }
    warn_of_blocks(report_.results);
    return std::move(report_);
  }

  /// Reports a look at each state. A block counts as ready once what it waits for was looked at.
  Status look() {
    for (size_t waiting = SIZE_MAX;;) {
      Threads threads(*place_.interrupt, place_.mask.get());
      const RunResult run_result =
          TRY(look_by_acts(place_.run_context(), threads, looks_of(*intent_, *place_.kinds),
                           past_.known, options()));
      if (compiled_->delayed.size() < waiting && is_block_ready(run_result.run, true)) {
        waiting = compiled_->delayed.size();
        TRY(compile_after(run_result.run, true));
        continue;
      }
      const PreviewedPlan things = TRY(look_and_plan(place_, *intent_, past_.known, {}));
      const Plan& plan = things.plan;
      const Summary& summary = run_result.summary ? *run_result.summary : run_result.run.summary();
      report_.is_stopped = summary.stopped;
      const StatesRun looked{*compiled_,  keys_,  run_result.run, summary,
                             past_.known, times_, &things.seen};
      report_.results = results_of_looks(looked, plan);
      add_looks_of_removals(looked, plan, report_.results);
      return {};
    }
  }

  /// A plan is carried out if the same things are due as when it was made.
  Status check_kept_plan() {
    if (!request_.plan)
      return {};
    TRY(look());
    if (report_.is_stopped)
      return cancelled_error();
    TRY(check_plan(digest_of(report_), *request_.plan));
    report_ = {};
    report_.warnings = functions_.problems();
    return compile(nullptr);
  }

  StatesRequest request_;
  Workplace place_;
  Machine* machine_;
  RunFunctions functions_;
  StateDriver driver_;
  PacedDrivers paced_;
  PathOwners owners_;
  std::unique_ptr<states::Files> own_files_;
  StateTimes times_;
  StatesReport report_;
  std::unique_ptr<Edit> edit_;
  Past past_;
  std::shared_ptr<const std::set<Key>> given_up_;  ///< by a loop that goes on with others
  std::shared_ptr<const states::CompiledStates> compiled_;
  std::vector<Key> keys_;
  std::vector<size_t> failhard_;  ///< the chunks that ask for it
  std::shared_ptr<const Intent> intent_;
  Instant began_ = now();
  uint64_t continues_ = 0;
  std::set<Key> changed_;  ///< by this run, before what is carried out now
};

}  // namespace

StatesPlace::StatesPlace(const Workplace& place, Machine* machine, const FunctionOptions& options)
    : place_(place), functions_(place_, options), driver_(functions_, calling) {
  place_.driver = [this, machine, driver = place.driver](const Name& name) {
    if (name != "state")
      return driver(name);
    return machine == nullptr ? &driver_ : &machine->driver();
  };
}

Result<std::unique_ptr<StatesPlace>> StatesPlace::make(const Workplace& place,
                                                       const Name& environment) {
  FunctionOptions options;
  if (const std::optional<Value> plugins = TRY(place.store->note(environment, plugins_note))) {
    for (const Value& folder : plugins->at("folders").items())
      options.folders.emplace_back(folder.text().view());
    options.run_name = plugins->text_at("run_name");
  }
  Machine* machine = nullptr;
  if (place.machines != nullptr && !TRY(machine_name(place, environment)).empty())
    machine = TRY(machine_of(place, environment));
  if (machine != nullptr)
    TRY(leave_modules_here(options));
  std::unique_ptr<StatesPlace> made(new StatesPlace(place, machine, options));
  TRY(made->functions_.open());
  if (machine != nullptr)
    TRY(machine->begin_states(settings_of_states(options, StatesPlace::calling),
                              place.interrupt->acts_token()));
  return made;
}

Result<StatesReport> apply_states(const Workplace& place, StatesRequest request,
                                  Audience* audience) {
  Machine* const machine = TRY(machine_of(place, request.environment));
  if (machine != nullptr)
    TRY(leave_modules_here(request.functions));
  return StatesWork(place, std::move(request), machine, audience).work();
}

}  // namespace fettle

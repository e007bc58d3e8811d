#include "controller/keeper.h"

#include <malloc.h>

#include <algorithm>

#include "controller/leftovers.h"
#include "controller/wakeful.h"

namespace fettle {
namespace {

constexpr Duration longest_rest = 2s;  ///< while an engine does not answer

}  // namespace

Keeper::Keeper(const Workplace& place, FleetSource& source, Edit& edit, const BringOptions& options)
    : place_(place),
      options_(options),
      counts_(!options.keeps || !source.tells_of_pods()),
      edit_(edit,
            [this](const Key& key, const RecordPointer& record) { learn_record(key, record); }),
      account_(place, options),
      cache_(place, source),
      notifier_(place),
      pods_(place, source, cache_, notifier_),
      news_(source.news(cache_, edit_, notifier_)) {}

Result<BringResult> Keeper::bring() {
  TRY(learn());
  news_->listen();
  changed_ = instant_from_clock();
  while (true) {
    const Result<bool> over = take_turn();
    if (over && *over)
      break;
    if (over)
      continue;
    // A controller goes on when an engine is there again.
    if (!options_.keeps || is_cancelled(over.error()) || over.error().blame != Blame::world)
      return over.error();
    if (to_string(over.error()) != complaint_)
      place_.tell(complaint_ = to_string(over.error()));
    is_due_ = true;
    if (!rest(longest_rest))
      break;
  }
  return account_.close(cache_.view());
}

/// Carries out what is due, or waits for a change. Returns whether the work is over.
Result<bool> Keeper::take_turn() {
  is_due_ |= cache_.wishes().ask(place_.clock());
  if (is_due_) {
    const bool is_about_all = outstanding_.is_all;
    TRY(carry());
    // A run that goes through all that there is needs more memory than any after it.
    if (is_about_all)
      malloc_trim(0);
    is_due_ = false;
    complaint_.clear();
    changed_ = acted_ = instant_from_clock();
    pods_.want();
    TRY(look());
    TRY(news_->clear_leftovers());
    return account_.summary().stopped || account_.summary().is_late;
  }
  if (outstanding_.owners.empty())
    cache_.wishes().forget_gone(cache_.records());
  if (counts_)
    account_.count(cache_.view());
  if (!options_.keeps && is_over())
    return true;
  if (!options_.keeps && instant_from_clock() - changed_ > options_.limit) {
    account_.summary().is_late = true;
    return true;
  }
  account_.tell_waiting();
  if (!rest(pause()))
    return true;
  is_due_ |= TRY(catch_up());
  return false;
}

/// False: a stop was asked for.
bool Keeper::rest(Duration limit) {
  const bool goes_on = notifier_.rest(limit, *place_.interrupt);
  account_.summary().stopped |= !goes_on;
  return goes_on;
}

bool Keeper::is_over() const {
  if (pods_.looked() < acted_)
    return false;  // nobody has seen the result yet
  return (!account_.progress().is_any_awaited &&
          account_.has_seen_available(pods_.looked_time())) ||
         !account_.summary().failures.empty();
}

Instant Keeper::next_look() const {
  return pods_.looked() + account_.look_pause(cache_.view().fleet);
}

Duration Keeper::pause() const {
  const Instant now = instant_from_clock();
  Instant until = news_->due();
  if (counts_ && !pods_.is_under_way())
    until = std::min(until, pods_.is_wanted() ? now : next_look());
  if (options_.keeps && !outstanding_.owners.empty())
    until = std::min(until, outstanding_.backoff.until());
  if (FailedActs* const failed = news_->failed_acts())
    until = std::min(until, failed->due().value_or(until));
  if (const auto ask = cache_.wishes().ask_at())
    until = std::min(until, now + (*ask - place_.clock()));
  return until - now;
}

Status Keeper::learn() {
  TRY(news_->learn());
  outstanding_.is_all = true;
  TRY(pods_.look_now());
  account_.expire();
  return {};
}

/// Takes in everything that may have changed: wishes, nodes, pods. Returns whether something that
/// is wanted should be tried again.
Result<bool> Keeper::catch_up() {
  const Instant now = instant_from_clock();
  TRY(hear_news());
  TRY(watch_nodes());
  TRY(news_->forget_lost());
  TRY(news_->clear_leftovers_again());
  const bool has_looked = TRY(look());
  if (options_.keeps && has_looked)
    outstanding_.owners.merge(cache_.owners_of_drifted());
  if (!take_retries().empty())
    return true;
  if (!options_.keeps || !outstanding_.backoff.is_over(now) || outstanding_.owners.empty())
    return false;
  outstanding_.backoff.begin(now);
  return true;
}

/// Takes in what users want by now, and what else the source tells.
Status Keeper::hear_news() {
  const Result<FleetNews::News> news = news_->hear();
  if (!news || *news != FleetNews::News::none)
    account_.expire();
  if (news && *news == FleetNews::News::wishes)
    outstanding_.backoff.reset();
  return news ? Status() : Status(news.error());
}

Status Keeper::watch_nodes() {
  if (!TRY(news_->watch_nodes()))
    return {};
  outstanding_.backoff.end(instant_from_clock());
  outstanding_.is_all = true;
  pods_.want();
  return {};
}

/// Looks at the pods if it is time. Returns whether somebody has looked.
Result<bool> Keeper::look() {
  if (!counts_)
    return false;
  const bool has_looked = TRY(pods_.proceed([this] {
    return instant_from_clock() >= next_look() ||
           (place_.clock() >= account_.progress().all_available &&
            !account_.has_seen_available(pods_.looked_time()));
  }));
  if (has_looked)
    account_.expire();
  return has_looked;
}

void Keeper::learn_record(const Key& key, const RecordPointer& record) {
  if (!cache_.put(key, record))
    return;
  motion_.moved = instant_from_clock();
  motion_.awaited.erase(key);
  if (key.kind == "pod")
    pods_.want();
}

/// Carries out what is due. While acts are under way, it goes on with what is wanted by then.
Status Keeper::carry() {
  outstanding_.owners.merge(cache_.wishes().take_changed());
  take_retries();
  if (outstanding_.owners.empty())
    return {};
  Threads threads(*place_.interrupt, place_.mask.get());
  Wakeful executor(place_.executor == nullptr ? threads : *place_.executor, notifier_);
  Workplace place = news_->place_of_acts();
  place.executor = &executor;
  Due due = cache_.wishes().due(outstanding_.owners, cache_.records(),
                                {.is_all = outstanding_.is_all,
                                 .drifted = &cache_.drifted(),
                                 .failed = news_->failed_acts(),
                                 .now = instant_from_clock()});
  RunRequest run_request;
  run_request.intent = std::move(due.intent);
  run_request.known = std::move(due.known);
  run_request.options.parallelism = cache_.wishes().acts_at_once();
  run_request.options.sequence = cache_.records().sequence();
  run_request.audience = options_.audience;
  run_request.wants = [&](const Run& run) { return wanted_by_now(run, executor); };
  run_request.also_known = [this](const Run&, const Intent&) {
    return std::move(outstanding_.of_run);
  };
  motion_ = {instant_from_clock(), {}};
  const RunResult run_result = TRY(carry_out(place, edit_, std::move(run_request)));
  if (!run_result.summary) {
    // The last write may or may not be in the store.
    TRY(learn());
    return run_result.summary.error();
  }
  account_.add(*run_result.summary, cache_.records());
  // Failures are in the records.
  outstanding_.is_all = outstanding_.is_all && run_result.summary->stopped;
  const bool are_failures_kept = news_->failed_acts() != nullptr && !run_result.summary->stopped;
  if (run_result.summary->good() || are_failures_kept) {
    outstanding_.backoff.reset();
    outstanding_.owners.clear();
  }
  return {};
}

Result<std::shared_ptr<const Intent>> Keeper::wanted_by_now(const Run& run, Wakeful& executor) {
  TRY(hear_news());
  TRY(watch_nodes());
  TRY(look());
  if (!options_.keeps && is_stuck(run)) {
    account_.summary().is_late = true;
    executor.stop();
    return nullptr;
  }
  const bool is_any_new = cache_.wishes().ask(place_.clock());
  const std::set<Key> retries = take_retries();
  if (!is_any_new && retries.empty())
    return nullptr;
  end_unwanted_pulls(run, cache_, executor);
  outstanding_.owners.merge(cache_.wishes().take_changed());
  Due due = cache_.wishes().due(outstanding_.owners, cache_.records(),
                                {.is_all = outstanding_.is_all,
                                 .in_run = &run.known(),
                                 .drifted = &cache_.drifted(),
                                 .failed = news_->failed_acts(),
                                 .now = instant_from_clock()});
  outstanding_.of_run = news_for(run, std::move(due.known), retries);
  return std::move(due.intent);
}

/// Whatever has failed and is to be tried again by now: its owners are asked for all that they
/// want.
std::set<Key> Keeper::take_retries() {
  std::set<Key> keys;
  if (FailedActs* const failed = news_->failed_acts())
    for (FailedActs::Retry& retry : failed->take_due(instant_from_clock())) {
      outstanding_.owners.merge(retry.owners);
      keys.insert(std::move(retry.key));
    }
  return keys;
}

/// What a run has to learn beside its new wish. On engines nobody else changes anything.
Known Keeper::news_for(const Run& run, Known due, const std::set<Key>& retries) const {
  if (news_->failed_acts() == nullptr)
    return due;
  // A run decides anew about a record that is another one.
  for (const Key& key : retries)
    if (const auto found = due.find(key); found != due.end())
      found->second = std::make_shared<Record>(*found->second);
  // Others may have removed things, and what failed to go waits: a run must not remove them.
  for (const auto& [key, record] : run.known())
    due.try_emplace(key, nullptr);
  return due;
}

/// Whether everything under way only waits to be called again, and nothing else has happened for as
/// long as that may last.
bool Keeper::is_stuck(const Run& run) {
  for (const WaitingAct& waiting : run.waiting())
    motion_.awaited.insert(waiting.key);
  const Instant now = instant_from_clock();
  if (motion_.awaited.empty())
    motion_.moved = now;
  return now - motion_.moved > options_.limit;
}

}  // namespace fettle

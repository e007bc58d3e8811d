#include "reconcile/loop.h"

#include "base/text.h"

namespace fettle {

Result<Summary> Loop::carry_out() {
  TRY(obey(run_.start(executor_.now())));
  while (!run_.finished()) {
    News news = executor_.wait(wake_);
    for (const auto& [key, progress] : news.progress)
      if (audience_ != nullptr)
        audience_->progress(key, progress);
    if (news.leave)
      break;
    std::vector<Input> inputs;
    if (news.stop)
      inputs.emplace_back(StopRequest{});
    for (ActEnd& ended : news.ended)
      inputs.emplace_back(std::move(ended));
    for (Key& key : news.hints)
      inputs.emplace_back(Hint{std::move(key)});
    const Moment now = executor_.now();
    if (wake_ && now.instant >= *wake_) {
      wake_.reset();
      inputs.emplace_back(TimerDue{});
    }
    if (!inputs.empty() || news.is_woken)
      TRY(obey(run_.on(inputs, now)));
  }
  if (refusal_)
    return *std::move(refusal_);
  Summary summary = run_.summary();
  summary.stopped |= !run_.finished();
  return summary;
}

/// All writes go into one transaction, before any act of the batch starts.
Status Loop::obey(std::vector<Order> orders) {
  TRY(write(orders));
  for (Order& order : orders) {
    if (auto* log = std::get_if<LogEvent>(&order)) {
      if (audience_ != nullptr && log->is_told)
        audience_->event(log->event);
    } else if (auto* start = std::get_if<StartAct>(&order)) {
      begin(std::move(*start));
    } else if (const auto* end = std::get_if<EndAct>(&order)) {
      executor_.end(end->key);
    } else if (const auto* watch = std::get_if<Watch>(&order)) {
      if (Driver* driver = driver_(watch->driver))
        executor_.watch(*driver, edit_.environment());
    } else if (auto* wake = std::get_if<WakeAt>(&order)) {
      wake_ = wake->instant;
    }
  }
  if (audience_ != nullptr)
    audience_->moved(run_);
  if (!wants_)
    return {};
  Result<NewWish> asked = wants_(run_);
  if (!asked) {
    // Acts under way come to their end.
    refusal_ = std::move(asked).error();
    wants_ = nullptr;
    const Input stop = StopRequest{};
    return obey(run_.on(std::span(&stop, 1), executor_.now()));
  }
  NewWish wanted = *std::move(asked);
  if (wanted.intent == nullptr)
    return {};
  return obey(TRY(run_.want(std::move(wanted.intent), std::move(wanted.seen), executor_.now(),
                            std::move(wanted.also_known))));
}

Status Loop::write(const std::vector<Order>& orders) {
  std::vector<Change> changes;
  for (const Order& order : orders) {
    if (const auto* write = std::get_if<WriteRecord>(&order))
      changes.push_back({write->record == nullptr ? Change::forget : Change::record,
                         write->key,
                         write->record,
                         {}});
    else if (const auto* log = std::get_if<LogEvent>(&order); log != nullptr && log->is_kept)
      changes.push_back({Change::event, {}, nullptr, log->event});
  }
  return edit_.write(changes);
}

void Loop::begin(StartAct start) {
  Job job{std::move(start.act), driver_(start.driver)};
  executor_.start(std::move(job));
}

}  // namespace fettle

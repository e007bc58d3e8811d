#include "reconcile/executor.h"

#include <system_error>

#include "base/text.h"
#include "core/open_payload.h"

namespace fettle {

void Interrupt::ask() {
  const std::lock_guard own(mutex_);
  if (++asked_ > 1 || leaves_at_once())
    acts_.request_stop();
  if (wakes_ == nullptr)
    return;
  const std::lock_guard theirs(*guards_);
  wakes_->notify_all();
}

Threads::Threads(Interrupt& interrupt, const Mask* mask) : interrupt_(interrupt), mask_(mask) {
  const std::lock_guard lock(interrupt_.mutex_);
  interrupt_.wakes_ = &told_;
  interrupt_.guards_ = &mutex_;
}

Threads::~Threads() {
  {
    const std::lock_guard lock(interrupt_.mutex_);
    interrupt_.wakes_ = nullptr;
  }
  leaving_.request_stop();
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    jobs_.clear();
  }
  work_.notify_all();
  watchers_.clear();  // asks them to stop, and joins them
  threads_.clear();   // joins them
}

void Threads::start(Job job) {
  if (job.act.is_instant) {
    std::stop_source stops;
    ActEnd ended = told(job, act(job, stops));
    const std::lock_guard lock(mutex_);
    news_.ended.push_back(std::move(ended));
    return;
  }
  const std::lock_guard lock(mutex_);
  // Without a single thread, the loop would wait forever.
  if (idle_ <= jobs_.size() && !begin_thread() && threads_.empty()) {
    news_.ended.push_back({job.act.key, world_error("this machine cannot start more threads")});
    told_.notify_one();
    return;
  }
  acts_[job.act.key] = {};
  jobs_.push_back(std::move(job));
  work_.notify_one();
}

void Threads::end(const Key& key) {
  const std::lock_guard lock(mutex_);
  if (const auto act = acts_.find(key); act != acts_.end())
    act->second.request_stop();
}

/// If no thread can be started, there are no hints, which is allowed.
void Threads::watch(Driver& driver, const Name& environment) {
  const auto hint = [this](const Key& key) {
    const std::lock_guard lock(mutex_);
    news_.hints.push_back(key);
    told_.notify_one();
  };
  try {
    watchers_.emplace_back([&driver, environment, hint](std::stop_token stop) {
      driver.watch(environment, hint, std::move(stop));
    });
  } catch (const std::system_error&) {
    return;
  }
}

bool Threads::begin_thread() {
  try {
    threads_.emplace_back([this] { work(); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void Threads::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    work_.wait(lock, [&] { return closing_ || !jobs_.empty(); });
    --idle_;
    if (jobs_.empty())
      return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    std::stop_source stops = acts_[job.act.key];
    lock.unlock();
    ActEnd ended = told(job, act(job, stops));
    lock.lock();
    acts_.erase(job.act.key);
    news_.ended.push_back(std::move(ended));
    told_.notify_one();
  }
}

/// The messages of an act without secrets: those of the run, and those of the resource whose names
/// say so.
ActEnd Threads::told(const Job& job, Result<Outcome> outcome) const {
  if (mask_ == nullptr)
    return {job.act.key, std::move(outcome)};
  Mask own = *mask_;
  own.add_marked(dict_of(job.act.attributes));
  for (const RecordPointer& need : job.act.needs)  // a part of them may be embedded
    own.add_marked(dict_of(need->outputs));
  for (const char* given : {"fields", "environment"})
    own.add_named(dict_of(job.act.attributes).at(given));
  own.add_variables(dict_of(job.act.attributes));
  if (!outcome)
    return {job.act.key, own.error(std::move(outcome).error())};
  if (auto* pending = std::get_if<Pending>(&*outcome))
    pending->what = own.text(pending->what);
  if (auto* skipped = std::get_if<Skipped>(&*outcome))
    skipped->why = own.text(skipped->why);
  if (auto* done = std::get_if<Done>(&*outcome)) {
    if (done->again)
      done->again->what = own.text(done->again->what);
    for (std::string& line : done->printed)
      line = own.text(line);
  }
  if (auto* failed = std::get_if<Failed>(&*outcome)) {
    failed->error = own.error(std::move(failed->error));
    for (std::string& line : failed->printed)
      line = own.text(line);
    if (failed->again)
      failed->again->what = own.text(failed->again->what);
  }
  return {job.act.key, std::move(outcome)};
}

Result<Outcome> Threads::act(const Job& job, std::stop_source& stops) {
  if (job.driver == nullptr)
    return world_error(cat("nothing here can act on `", to_string(job.act.key), "`"));
  const ProgressSink tell = [&](Progress progress) {
    if (mask_ != nullptr)
      progress.text = mask_->text(progress.text);
    const std::lock_guard lock(mutex_);
    news_.progress.emplace_back(job.act.key, std::move(progress));
    told_.notify_one();
  };
  // The act is told to stop when it takes too long, at a second interruption, and when the loop
  // ends before it.
  const auto stop = [&] { stops.request_stop(); };
  const std::stop_callback on_interrupt(interrupt_.acts_token(), stop);
  const std::stop_callback on_leaving(leaving_.get_token(), stop);
  return perform(*job.driver, job.act, tell, stops.get_token());
}

bool Threads::has_news() const {
  const bool stops = interrupt_.asked() > 1 || (interrupt_.asked() == 1 && !stop_told_);
  return stops || is_woken_ || !news_.ended.empty() || !news_.progress.empty() ||
         !news_.hints.empty();
}

void Threads::wake() {
  const std::lock_guard lock(mutex_);
  is_woken_ = true;
  told_.notify_one();
}

News Threads::wait(std::optional<Instant> until) {
  std::unique_lock lock(mutex_);
  if (until)
    told_.wait_until(lock, *until, [this] { return has_news(); });
  else
    told_.wait(lock, [this] { return has_news(); });
  News news = std::exchange(news_, {});
  is_woken_ = false;
  news.leave = interrupt_.asked() > 1;
  news.stop = interrupt_.asked() == 1 && !std::exchange(stop_told_, true);
  return news;
}

}  // namespace fettle

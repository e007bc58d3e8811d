#include "reconcile/loop.h"

#include <deque>
#include <thread>

#include "base/text.h"

namespace fettle {

void Interrupt::ask() {
  const std::lock_guard own(mutex_);
  if (++asked_ > 1 || at_once_)
    acts_.request_stop();
  if (wakes_ == nullptr)
    return;
  const std::lock_guard theirs(*guards_);
  wakes_->notify_all();
}

class Loop {
 public:
  Loop(Run& run, const Surroundings& surroundings, Interrupt& interrupt)
      : run_(run), around_(surroundings), interrupt_(interrupt) {
    const std::lock_guard lock(interrupt_.mutex_);
    interrupt_.wakes_ = &told_;
    interrupt_.guards_ = &mutex_;
  }

  ~Loop() {
    {
      const std::lock_guard lock(interrupt_.mutex_);
      interrupt_.wakes_ = nullptr;
    }
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    work_.notify_all();
    threads_.clear();  // joins
  }

  Result<Summary> carry_out() {
    Status obeyed = obey(run_.start(around_.clock()));
    while (obeyed && !run_.finished()) {
      std::optional<Input> input = next_input();
      if (!input)
        break;  // told to leave at once
      obeyed = obey(run_.on(*input, around_.clock()));
    }
    if (!obeyed) {
      interrupt_.acts_.request_stop();
      return std::move(obeyed).error();
    }
    Summary summary = run_.summary();
    summary.stopped |= !run_.finished();
    return summary;
  }

 private:
  struct Job {
    Act act;
    Driver* driver;
  };

  /// Everything that is to be written goes into one transaction, before any act of the batch
  /// begins.
  Status obey(std::vector<Order> commands) {
    std::vector<Change> changes;
    for (Order& command : commands) {
      if (auto* write = std::get_if<WriteRecord>(&command))
        changes.push_back({write->record == nullptr ? Change::forget : Change::record,
                           write->key,
                           write->record,
                           {}});
      else if (auto* log = std::get_if<LogEvent>(&command))
        changes.push_back({Change::event, {}, nullptr, log->event});
    }
    TRY(around_.store->write(changes));
    for (Order& command : commands) {
      if (auto* log = std::get_if<LogEvent>(&command)) {
        if (around_.audience != nullptr)
          around_.audience->event(log->event);
      } else if (auto* start = std::get_if<StartAct>(&command)) {
        begin({std::move(start->act), around_.driver(start->driver)});
      } else if (auto* wake = std::get_if<WakeAt>(&command)) {
        wake_ = wake->time;
      }
    }
    if (around_.audience != nullptr)
      around_.audience->moved(run_);
    return {};
  }

  void begin(Job job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    if (idle_ < jobs_.size())
      threads_.emplace_back([this] { work(); });
    work_.notify_one();
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      work_.wait(lock, [&] { return closing_ || !jobs_.empty(); });
      --idle_;
      if (jobs_.empty())
        return;
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      ActEnded ended{job.act.key, act(job)};
      lock.lock();
      messages_.push_back(std::move(ended));
      told_.notify_one();
    }
  }

  Result<Outcome> act(const Job& job) {
    if (job.driver == nullptr)
      return world_error(cat("nobody here can act on `", to_string(job.act.key), "`"));
    const ProgressSink tell = [&](const Progress& progress) {
      const std::lock_guard lock(mutex_);
      progress_.emplace_back(job.act.key, progress);
      told_.notify_one();
    };
    return job.driver->apply(job.act, tell, interrupt_.acts_token());
  }

  /// The next message or timer; none when everything is to be left at once.
  std::optional<Input> next_input() {
    std::unique_lock lock(mutex_);
    while (true) {
      if (interrupt_.asked() > 1)
        return std::nullopt;
      if (interrupt_.asked() == 1 && !stop_told_) {
        stop_told_ = true;
        return StopAsked{};
      }
      if (!progress_.empty()) {
        auto [key, progress] = std::move(progress_.front());
        progress_.pop_front();
        lock.unlock();
        if (around_.audience != nullptr)
          around_.audience->progress(key, progress);
        lock.lock();
        continue;
      }
      if (!messages_.empty()) {
        ActEnded ended = std::move(messages_.front());
        messages_.pop_front();
        return ended;
      }
      if (wake_ && around_.clock() >= *wake_) {
        wake_.reset();
        return TimerDue{};
      }
      if (wake_)
        told_.wait_for(lock, *wake_ - around_.clock());
      else
        told_.wait(lock);
    }
  }

  Run& run_;
  const Surroundings& around_;
  Interrupt& interrupt_;
  std::mutex mutex_;
  std::condition_variable told_, work_;
  std::deque<Job> jobs_;
  std::deque<ActEnded> messages_;
  std::deque<std::pair<Key, Progress>> progress_;
  std::optional<Time> wake_;
  size_t idle_ = 0;
  bool closing_ = false;
  bool stop_told_ = false;
  std::vector<std::jthread> threads_;
};

Result<Summary> carry_out(Run& run, const Surroundings& surroundings, Interrupt& interrupt) {
  return Loop(run, surroundings, interrupt).carry_out();
}

}  // namespace fettle

#pragma once
/// The base of a loop: a clock, a way to start an act elsewhere, and a way to wait for news.
/// `Threads` is the real one; the simulator has another.

#include <atomic>
#include <deque>
#include <mutex>

#include "base/condition.h"
#include "base/thread.h"
#include "core/driver.h"
#include "reconcile/run.h"
#include "value/mask.h"

namespace fettle {

/// An act and the driver that does it; null: there is none.
struct Job {
  Act act;
  Driver* driver = nullptr;
};

/// The events since the last wait.
struct News {
  std::vector<ActEnd> ended;
  std::vector<std::pair<Key, Progress>> progress;
  std::vector<Key> hints;  ///< things that should be looked at again
  bool stop = false;       ///< a request to start nothing new
  bool is_woken = false;   ///< the loop asks whether the wish has changed
  bool leave = false;      ///< a request to leave at once; acts in flight count as interrupted
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual Moment now() = 0;
  /// Starts the act elsewhere; `wait` reports how it ended. An act that cannot be started ends with
  /// an error.
  virtual void start(Job job) = 0;
  /// Tells an act to stop; `wait` reports its end.
  virtual void end(const Key& key) = 0;
  /// Lets a driver give hints about an environment until the loop ends.
  virtual void watch(Driver& driver, const Name& environment) = 0;
  /// Waits for news until an instant at the latest. Without one, it waits until there are any.
  virtual News wait(std::optional<Instant> until) = 0;
  /// Ends the wait, or the next one, from any thread. An executor with simulated time has no other
  /// threads.
  virtual void wake() {}
};

/// A request to stop from another thread (a signal, a face). While a loop acts, it starts nothing
/// new after the first request, and acts in flight may finish. The second one tells them to stop,
/// and the loop returns at once; they count as interrupted. While nothing is being changed, one
/// request is enough.
class Interrupt {
 public:
  void ask();
  int asked() const { return asked_; }
  /// Whether the first request ends the work under way, because that changes nothing.
  bool leaves_at_once() const { return acting_ == 0; }
  /// Says that the work under way runs until it is stopped, so that a stop is its proper end.
  enum class Ends { by_sigterm, by_any_signal };
  void expect(Ends ends = Ends::by_sigterm) {
    ends_ = ends;
    is_expected_ = true;
  }
  bool is_expected() const { return is_expected_; }
  /// Whether Ctrl-C is its proper end, too.
  bool is_expected_by_any() const { return is_expected_ && ends_ == Ends::by_any_signal; }
  /// While one of these exists, something is being changed.
  class ActGuard {
   public:
    explicit ActGuard(Interrupt& interrupt) : interrupt_(interrupt) { ++interrupt_.acting_; }
    ~ActGuard() { --interrupt_.acting_; }
    ActGuard(const ActGuard&) = delete;
    ActGuard& operator=(const ActGuard&) = delete;

   private:
    Interrupt& interrupt_;
  };
  std::stop_token acts_token() const { return acts_.get_token(); }

 private:
  friend class Threads;
  std::atomic<int> asked_{0};
  std::atomic<int> acting_{0};
  std::atomic<bool> is_expected_ = false;
  std::atomic<Ends> ends_ = Ends::by_sigterm;
  std::stop_source acts_;
  std::mutex mutex_;
  Condition* wakes_ = nullptr;
  std::mutex* guards_ = nullptr;
};

/// Acts on its own threads, as many as there are concurrent acts. Its destructor tells acts in
/// flight to stop and waits for them.
class Threads : public Executor {
 public:
  /// `mask` hides the secrets in the messages of acts. Null: nothing is hidden.
  explicit Threads(Interrupt& interrupt, const Mask* mask = nullptr);
  ~Threads() override;
  Moment now() override { return moment_from_clocks(); }
  void start(Job job) override;
  void end(const Key& key) override;
  void watch(Driver& driver, const Name& environment) override;
  News wait(std::optional<Instant> until) override;
  void wake() override;

 private:
  bool begin_thread();
  void work();
  Result<Outcome> act(const Job& job, std::stop_source& stops);
  ActEnd told(const Job& job, Result<Outcome> outcome) const;
  bool has_news() const;

  Interrupt& interrupt_;
  const Mask* mask_;
  std::stop_source leaving_;
  std::mutex mutex_;
  Condition told_, work_;
  std::deque<Job> jobs_;
  std::unordered_map<Key, std::stop_source, KeyHash> acts_;  ///< of acts that wait for a thread or
                                                             ///< run
  News news_;
  size_t idle_ = 0;
  bool closing_ = false;
  bool stop_told_ = false;
  bool is_woken_ = false;
  std::vector<Thread> threads_;
  std::vector<Thread> watchers_;
};

}  // namespace fettle

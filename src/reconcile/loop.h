#pragma once
/// Obeys a `Run`: writes what is to be written, lets threads act, waits for them and for timers.
/// The one place of the engine with threads: one decides, the others act and tell by message.

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "reconcile/run.h"
#include "store/store.h"

namespace fettle {

/// Asked to stop from another thread (a signal, a face). Once: nothing new is begun, what is in
/// flight may end. Twice: acts in flight are told to stop and the loop returns at once; what they
/// were doing counts as interrupted.
class Interrupt {
 public:
  void ask();
  int asked() const { return asked_; }
  /// What is under way changes nothing: the first one ends it, as otherwise the second.
  void leave_at_once() { at_once_ = true; }
  bool leaves_at_once() const { return at_once_; }
  std::stop_token acts_token() const { return acts_.get_token(); }

 private:
  friend class Loop;
  std::atomic<int> asked_{0};
  std::atomic<bool> at_once_{false};
  std::stop_source acts_;
  std::mutex mutex_;
  std::condition_variable* wakes_ = nullptr;
  std::mutex* guards_ = nullptr;
};

/// Told of everything as it happens, by the deciding thread alone.
class Audience {
 public:
  virtual ~Audience() = default;
  virtual void event(const Event& /*event*/) {}
  virtual void progress(const Key& /*key*/, const Progress& /*progress*/) {}
  /// After each batch of commands, when `run` has been brought up to date.
  virtual void moved(const Run& /*run*/) {}
};

struct Surroundings {
  Store* store = nullptr;
  std::function<Driver*(const Name&)> driver;  ///< none when there is no such driver
  std::function<Time()> clock;
  Audience* audience = nullptr;
};

/// Carries the run to its end. Errors: the store could not be written; acts in flight are stopped
/// first, and what was recorded stays.
Result<Summary> carry_out(Run& run, const Surroundings& surroundings, Interrupt& interrupt);

}  // namespace fettle

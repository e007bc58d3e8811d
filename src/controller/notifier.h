#pragma once
/// Wakes whoever keeps a fleet: engines report on pods, somebody has written to the store, a look
/// has ended. All of them notify from threads of their own.

#include <array>
#include <map>
#include <mutex>

#include "base/condition.h"
#include "base/thread.h"
#include "workplace/workplace.h"

namespace fettle {

class Notifier {
 public:
  enum class Cause { pods, store, look };

  explicit Notifier(const Workplace& place) : place_(place) {}
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  /// Listens to a driver from now on, unless it does so already.
  void listen(const Name& driver, const Name& environment);
  /// Listens to the store from now on.
  void listen_to_store();
  /// The same if somebody else calls `notify` about the store.
  void expect_calls() { hears_store_ = true; }
  /// How long to wait at most until the store is asked whether somebody wrote: a short time where
  /// the store cannot tell, and for a while after it did, since what is being written when it tells
  /// can only be read a moment later.
  Duration store_pause() const;

  void notify(Cause cause);
  /// Whether it was notified of this since the last call.
  bool take(Cause cause);
  /// Waits until it is notified or the time is over, which is never less than 20 ms. False: a stop
  /// was asked for.
  bool rest(Duration limit, const Interrupt& interrupt);
  /// Also wakes whoever waits on an executor. Null: nobody does.
  void wake_on(Executor* executor);

 private:
  const Workplace& place_;
  mutable std::mutex mutex_;
  Condition told_;
  std::array<bool, 3> causes_{};
  Executor* executor_ = nullptr;
  std::atomic<bool> hears_store_ = false;
  Instant store_told_{};
  std::map<Name, Thread> threads_;
};

}  // namespace fettle

#pragma once
/// Real threads under a time that is played: one runs at a time, until it waits, and a seed says
/// which is next. When all of them wait, the time goes on to whatever is first: a limit of one of
/// them, or something on the agenda.
///
/// Threads are real so that the code under test needs no second form. Each has a turn to wait for;
/// whoever waits gives the turn away first. What stands on the agenda is done by whoever gives the
/// turn away, and must not wait.
///
/// A group of threads is a process: whoever begins a thread has it in its own group. A group can be
/// paused, as a machine pauses a process; its limits go on.

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/play.h"
#include "base/prng.h"

namespace fettle::sim {

class Turns : public Play {
 public:
  /// The thread that makes it is its first one, in group 0, and the last one that waits here.
  explicit Turns(uint64_t seed);
  ~Turns() override;
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  Moment now() override;
  void wait(const void* place, std::optional<Instant> until) override;
  void wake(const void* place) override;
  uint64_t add_thread() override;
  void begin_thread(uint64_t number) override;
  void end_thread(uint64_t number) override;
  void await_end(uint64_t number) override;

  /// Puts something on the agenda.
  void after(Duration pause, std::function<void()> act);
  /// The group of this thread, and of those that it begins, from now on.
  void join_group(int group);
  void pause_group(int group, bool is_paused);

  /// Called when nobody can go on any more, or after so many turns; does not return.
  void on_end(uint64_t most_turns, std::function<void(const char* why)> act);
  uint64_t turns() const { return turns_; }
  /// Of who had which turn when: the same for the same seed.
  uint64_t digest() const { return digest_; }

 private:
  struct Actor {
    std::condition_variable turn;
    const void* place = nullptr;
    std::optional<Instant> until{};
    int group = 0;
    bool is_ready = false;
    bool has_turn = false;
    bool has_ended = false;
  };
  using Lock = std::unique_lock<std::mutex>;

  void give_turn(Lock& lock);
  void do_what_is_due(Lock& lock);
  Actor* choose();
  bool go_on_to_what_is_next();
  void await_turn(Lock& lock, Actor& own);

  std::mutex mutex_;
  Prng prng_;
  Instant now_{};
  std::map<uint64_t, std::unique_ptr<Actor>> actors_;
  uint64_t running_ = 0, last_ = 0;
  std::multimap<Instant, std::function<void()>> agenda_;
  std::map<int, bool> paused_;
  std::function<void(const char*)> on_end_ = [](const char*) {};
  uint64_t most_turns_ = 0, turns_ = 0, digest_ = 0;
};

}  // namespace fettle::sim

#include "sim/cluster/turns.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/invariant.h"

namespace fettle::sim {
namespace {

/// What a thread does between two waits takes time as well, so nobody waits for ever by looking at
/// the clock.
constexpr Duration time_of_turn = 10us;
/// Some morning, and far from zero, for code that takes the time from an instant.
constexpr Time first_time{Duration(1'790'000'000s)};
constexpr Instant first_instant{Duration(100'000s)};

}  // namespace

Turns::Turns(uint64_t seed) : prng_(seed), now_(first_instant) {
  auto own = std::make_unique<Actor>();
  own->has_turn = true;
  actors_.emplace(0, std::move(own));
  enter(this);
}

Turns::~Turns() {
  enter(nullptr);
  INVARIANT(actors_.size() == 1);
}

Moment Turns::now() {
  const std::lock_guard lock(mutex_);
  return {now_, first_time + (now_ - first_instant)};
}

void Turns::wait(const void* place, std::optional<Instant> until) {
  Lock lock(mutex_);
  Actor& own = *actors_.at(running_);
  own.place = place;
  own.until = until;
  own.is_ready = false;
  own.has_turn = false;
  give_turn(lock);
  await_turn(lock, own);
}

void Turns::await_turn(Lock& lock, Actor& own) {
  own.turn.wait(lock, [&] { return own.has_turn; });
  own.place = nullptr;
  own.until.reset();
}

void Turns::wake(const void* place) {
  const std::lock_guard lock(mutex_);
  for (auto& [number, actor] : actors_)
    if (actor->place == place)
      actor->is_ready = true;
}

uint64_t Turns::add_thread() {
  const std::lock_guard lock(mutex_);
  auto added = std::make_unique<Actor>();
  added->group = actors_.at(running_)->group;
  added->is_ready = true;
  actors_.emplace(++last_, std::move(added));
  return last_;
}

void Turns::begin_thread(uint64_t number) {
  Lock lock(mutex_);
  enter(this);
  await_turn(lock, *actors_.at(number));
}

void Turns::end_thread(uint64_t number) {
  Lock lock(mutex_);
  Actor& own = *actors_.at(number);
  own.has_ended = true;
  own.has_turn = false;
  own.is_ready = false;
  for (auto& [other, actor] : actors_)
    if (actor->place == &own)
      actor->is_ready = true;
  give_turn(lock);
  enter(nullptr);
}

void Turns::await_end(uint64_t number) {
  const Actor* awaited = nullptr;
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = actors_.find(number);
      INVARIANT(found != actors_.end());
      if (found->second->has_ended) {
        actors_.erase(found);
        return;
      }
      awaited = found->second.get();
    }
    wait(awaited, {});
  }
}

void Turns::after(Duration pause, std::function<void()> act) {
  const std::lock_guard lock(mutex_);
  agenda_.emplace(now_ + pause, std::move(act));
}

void Turns::join_group(int group) {
  const std::lock_guard lock(mutex_);
  actors_.at(running_)->group = group;
}

void Turns::pause_group(int group, bool is_paused) {
  const std::lock_guard lock(mutex_);
  paused_[group] = is_paused;
}

void Turns::on_end(uint64_t most_turns, std::function<void(const char*)> act) {
  const std::lock_guard lock(mutex_);
  most_turns_ = most_turns;
  on_end_ = std::move(act);
}

/// Of whoever waits or has ended.
void Turns::give_turn(Lock& lock) {
  now_ += time_of_turn;
  Actor* next = nullptr;
  while (next == nullptr) {
    do_what_is_due(lock);
    next = choose();
    if (next == nullptr && !go_on_to_what_is_next()) {
      on_end_("nobody can go on");
      INVARIANT(false);
    }
  }
  if (++turns_ == most_turns_) {
    on_end_("it goes on for ever");
    INVARIANT(false);
  }
  digest_ =
      std::rotl(digest_, 7) ^ (running_ + static_cast<uint64_t>(now_.time_since_epoch().count()));
  next->is_ready = false;
  next->has_turn = true;
  next->turn.notify_one();
}

void Turns::do_what_is_due(Lock& lock) {
  while (!agenda_.empty() && agenda_.begin()->first <= now_) {
    const std::function<void()> act = std::move(agenda_.begin()->second);
    agenda_.erase(agenda_.begin());
    lock.unlock();
    act();
    lock.lock();
  }
  for (auto& [number, actor] : actors_)
    if (actor->until && *actor->until <= now_)
      actor->is_ready = true;
}

/// Null: nobody is ready.
Turns::Actor* Turns::choose() {
  std::vector<uint64_t> ready;
  for (const auto& [number, actor] : actors_)
    if (actor->is_ready && !actor->has_ended && !paused_[actor->group])
      ready.push_back(number);
  if (ready.empty())
    return nullptr;
  running_ = ready[prng_.below(ready.size())];
  return actors_.at(running_).get();
}

/// False: there is nothing.
bool Turns::go_on_to_what_is_next() {
  std::optional<Instant> next;
  const auto take = [&](Instant instant) {
    if (instant > now_ && (!next || instant < *next))
      next = instant;
  };
  for (const auto& [number, actor] : actors_)
    if (actor->until && !actor->is_ready)
      take(*actor->until);
  if (!agenda_.empty())
    take(agenda_.begin()->first);
  if (next)
    now_ = *next;
  return next.has_value();
}

}  // namespace fettle::sim

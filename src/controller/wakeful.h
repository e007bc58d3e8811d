#pragma once
/// An executor on which nobody waits for long: while acts are under way, pods become ready, and
/// users change their minds. A notifier ends its wait.

#include "controller/notifier.h"
#include "reconcile/executor.h"

namespace fettle {

class Wakeful : public Executor {
 public:
  Wakeful(Executor& inner, Notifier& notifier) : inner_(inner), notifier_(notifier) {
    notifier_.wake_on(&inner_);
  }
  ~Wakeful() override { notifier_.wake_on(nullptr); }
  Wakeful(const Wakeful&) = delete;
  Wakeful& operator=(const Wakeful&) = delete;
  Moment now() override { return inner_.now(); }
  void start(Job job) override { inner_.start(std::move(job)); }
  void end(const Key& key) override { inner_.end(key); }
  void watch(Driver& driver, const Name& environment) override {
    inner_.watch(driver, environment);
  }
  News wait(std::optional<Instant> until) override {
    const Instant soon = inner_.now().instant + std::min(longest_wait, notifier_.store_pause());
    News news = inner_.wait(until && *until < soon ? *until : soon);
    news.stop |= is_over_;
    news.is_woken = true;
    return news;
  }
  /// Lets nothing new begin, and leaves acts that wait to be called again as they are.
  void stop() { is_over_ = true; }

 private:
  static constexpr Duration longest_wait = 200ms;

  Executor& inner_;
  Notifier& notifier_;
  bool is_over_ = false;
};

}  // namespace fettle

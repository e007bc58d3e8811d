#pragma once
/// A question to the world that a thread of its own answers. Engines need a tenth of a second or
/// more to report their containers, and the thread that decides has other things to do meanwhile.

#include <functional>
#include <mutex>
#include <optional>

#include "base/result.h"
#include "base/thread.h"
#include "base/time.h"

namespace fettle {

template <class Answer>
class AsyncQuestion {
 public:
  using Question = std::function<Result<Answer>(const std::stop_token& stop)>;

  /// `ended` is called from the other thread when the answer can be taken. `interrupted` ends a
  /// question, and so does the destructor.
  AsyncQuestion(std::stop_token interrupted, std::function<void()> ended)
      : interrupted_(std::move(interrupted)), ended_(std::move(ended)) {}
  AsyncQuestion(const AsyncQuestion&) = delete;
  AsyncQuestion& operator=(const AsyncQuestion&) = delete;

  /// When the question was put whose answer has not been taken yet.
  std::optional<Instant> began() const { return began_; }

  /// Puts a question. There must be none under way.
  void begin(Question question, Instant now) {
    began_ = now;
    thread_ = Thread([this, question = std::move(question)](const std::stop_token& leaving) {
      std::stop_source stops;
      const auto stop = [&] { stops.request_stop(); };
      const std::stop_callback on_interrupt(interrupted_, stop);
      const std::stop_callback on_leaving(leaving, stop);
      Result<Answer> answer = question(stops.get_token());
      {
        const std::lock_guard lock(mutex_);
        answer_ = std::move(answer);
      }
      ended_();
    });
  }

  /// Takes the answer. None: there is none yet.
  std::optional<Result<Answer>> take() {
    const std::lock_guard lock(mutex_);
    if (answer_)
      began_.reset();
    return std::exchange(answer_, std::nullopt);
  }

 private:
  const std::stop_token interrupted_;
  const std::function<void()> ended_;
  std::optional<Instant> began_;
  std::mutex mutex_;
  std::optional<Result<Answer>> answer_;
  Thread thread_;  ///< ends before the other members go
};

}  // namespace fettle

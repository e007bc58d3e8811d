#include "reconcile/retries.h"

#include "base/text.h"
#include "reconcile/wait.h"

namespace fettle {
namespace {

/// An outcome's wish for the next call. Something that is not ready has no result yet.
std::optional<Again> again_of(const Outcome& outcome) {
  if (const auto* done = std::get_if<Done>(&outcome))
    return done->again;
  if (const auto* failed = std::get_if<Failed>(&outcome))
    return failed->again;
  if (const auto* pending = std::get_if<Pending>(&outcome))
    return Again{pending->what, pending->retry_after, pending->so_far, {}, pending->watch};
  return std::nullopt;
}

}  // namespace

bool Retries::resume(const Course& course, std::string what, Instant now) {
  course_ = course;
  began_ = now - course.spent;
  alike_since_ = now - course.alike_for;
  due_ = now + course.pause;
  what_ = std::move(what);
  return course.pause.count() > 0;
}

std::optional<Instant> Retries::limit() const {
  const Duration limit = resource_->deadlines.attempt;
  return limit.count() > 0 ? std::optional(called_ + limit) : std::nullopt;
}

std::optional<Duration> Retries::time_left(Instant now) const {
  const Duration limit = resource_->deadlines.settle;
  return limit.count() > 0 && !is_removal_ ? std::optional(limit - (now - began_)) : std::nullopt;
}

Outcome Retries::outcome_of(Error error, const CallEnd& end) const {
  if (end.was_stopped)
    error = world_error(cat("a call took longer than ", to_string(resource_->deadlines.attempt),
                            ": ", error.message));
  const bool is_late = end.is_run_late && is_cancelled(error);
  if (is_late)
    error.message = cat(run_is_late, ", in the middle of a call");
  std::optional<Again> again;
  if ((end.was_stopped || resource_->patience.with_errors) && !error.unknown_outcome && !is_late)
    again = Again{error.message, {}, course_.so_far, Name(error.message).digest(), {}};
  return Failed{std::move(error), {}, std::move(again)};
}

Verdict Retries::judge(const Outcome& outcome, const CallEnd& end, Prng& prng) {
  const bool is_wait = std::holds_alternative<Pending>(outcome);
  ++course_.calls;
  waits_ += is_wait ? 1 : 0;
  Verdict verdict{.again = again_of(outcome)};
  if (!verdict.again)
    return verdict;
  verdict.over = reason_of_time(end);
  verdict.is_over_time = !verdict.over.empty();
  if (end.is_stale || (end.is_look && !is_wait) ||
      (is_removal_ && std::holds_alternative<Done>(outcome)))
    return verdict;
  if (verdict.over.empty() && !is_wait)
    verdict.over = reason_of_patience(verdict.again->progress, end.now);
  if (!verdict.over.empty()) {
    verdict.next = Verdict::Next::give_up;
    return verdict;
  }
  verdict.next = Verdict::Next::call_again;
  verdict.is_news = what_ != verdict.again->what;
  schedule(*verdict.again, end.now, prng);
  return verdict;
}

std::string Retries::reason_of_time(const CallEnd& end) const {
  if (const auto left = time_left(end.now); left && left->count() <= 0)
    return cat("gave up after ", to_string(resource_->deadlines.settle));
  return end.is_run_late ? std::string(run_is_late) : "";
}

std::string Retries::reason_of_patience(const Digest& progress, Instant now) {
  if (progress != course_.progress || progress == Digest{}) {
    course_.progress = progress;
    course_.alike = 0;
    alike_since_ = now;
  }
  ++course_.alike;
  const Patience& patience = resource_->patience;
  if (patience.most > 0 && course_.calls >= patience.most)
    return cat("gave up after ", course_.calls, " calls");
  const Duration same_for = now - alike_since_;
  if (progress != Digest{} && course_.alike >= patience.calls && same_for >= patience.time)
    return cat("nothing has moved for ",
               to_string(std::chrono::round<std::chrono::milliseconds>(same_for)), " and ",
               course_.alike, " calls");
  return {};
}

/// An act that makes progress starts its pauses again with the shortest.
void Retries::schedule(const Again& again, Instant now, Prng& prng) {
  what_ = again.what;
  course_.so_far = again.so_far;
  const int call = again.progress == Digest{} ? course_.calls : course_.alike;
  course_.pause = again.after.value_or(pause(resource_->pace, call, course_.pause, prng));
  const Duration most = time_left(now).value_or(Duration::max());
  due_ = now + std::min({course_.pause, most, Instant::max() - now});
}

Course Retries::course(Instant now) const {
  Course course = course_;
  course.spent = now - began_;
  course.pause = due_ - now;
  course.alike_for = now - alike_since_;
  return course;
}

}  // namespace fettle

#include "base/budget.h"

#include <unistd.h>

#include "base/text.h"

namespace fettle {
namespace {

constexpr uint64_t steps_between_looks = 4096;

/// The budget if nobody has set one. Values that a process keeps may outlive everything else.
Budget& without_limits() {
  static Budget& budget = *new Budget({});
  return budget;
}

thread_local Budget* current_budget = nullptr;

}  // namespace

bool Budget::refuse(Refusal what) {
  if (!is_over())
    refused_.store(what, relaxed);
  set(next_look_, 0);
  return false;
}

bool Budget::refuse(std::string why) {
  if (!is_over())
    why_ = std::move(why);
  return refuse(Refusal::other);
}

bool Budget::look() {
  if (is_over())
    return false;
  if (limits_.steps != 0 && steps() > limits_.steps)
    return refuse(Refusal::steps);
  if (limits_.cancelled != nullptr && limits_.cancelled->load(std::memory_order_relaxed))
    return refuse(Refusal::cancelled);
  const uint64_t next = steps() + steps_between_looks;
  set(next_look_, limits_.steps == 0 ? next : std::min(next, limits_.steps + 1));
  return true;
}

void Budget::begin() {
  set(steps_, 0);
  set(next_look_, 0);
  refused_.store(Refusal::nothing, relaxed);
}

std::string Budget::refusal() const {
  switch (refused_.load(relaxed)) {
    case Refusal::nothing:
      return {};
    case Refusal::steps:
      return cat("it takes more than ", limits_.steps, " steps");
    case Refusal::bytes:
      return cat("it takes more than ", limits_.bytes / 1'000'000, " MB of memory");
    case Refusal::cancelled:
      return "it was cancelled";
    case Refusal::other:
      return why_;
  }
  return {};
}

uint64_t Budget::default_bytes() {
  static const uint64_t bytes = [] {
    constexpr uint64_t least = 2'000'000'000;
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages < 0 || size < 0
               ? least
               : std::max(least, static_cast<uint64_t>(pages) * static_cast<uint64_t>(size) / 2);
  }();
  return bytes;
}

Budget& Budget::current() { return current_budget == nullptr ? without_limits() : *current_budget; }

Budget::Scope::Scope(Budget& budget) : before_(std::exchange(current_budget, &budget)) {}
Budget::Scope::~Scope() { current_budget = before_; }

}  // namespace fettle

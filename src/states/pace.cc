#include "states/pace.h"

#include <algorithm>

namespace fettle::states {
namespace {

Duration seconds(double count) { return Duration(static_cast<int64_t>(count * 1e9)); }

Jitter jitter_of(WaitRule::Jitter jitter) {
  switch (jitter) {
    case WaitRule::Jitter::none:
      return Jitter::none;
    case WaitRule::Jitter::full:
      return Jitter::full;
    case WaitRule::Jitter::equal:
      return Jitter::equal;
    case WaitRule::Jitter::decorrelated:
      return Jitter::decorrelated;
  }
  return Jitter::none;
}

}  // namespace

void set_pace(const WaitRule& rule, Resource& resource) {
  Pace& pace = resource.pace;
  switch (rule.algorithm) {
    case WaitRule::Algorithm::fixed:
      pace = {Wait::fixed, seconds(rule.seconds), seconds(rule.seconds)};
      break;
    case WaitRule::Algorithm::random:
      pace = {Wait::random, seconds(static_cast<double>(rule.shortest)),
              seconds(static_cast<double>(rule.longest))};
      pace.unit = 1s;
      break;
    case WaitRule::Algorithm::exponential:
      pace = {Wait::exponential, seconds(rule.seconds),
              rule.cap ? seconds(*rule.cap) : Duration::max(), rule.multiplier};
      break;
  }
  pace.jitter = jitter_of(rule.jitter);
}

void add_pace(const Settings& settings, Resource& resource) {
  if (settings.deadline)
    resource.deadlines.settle = *settings.deadline;
  if (settings.attempt)
    resource.deadlines.attempt = *settings.attempt;
  if (settings.wait)
    set_pace(*settings.wait, resource);
}

void try_again(const Retry& retry, Resource& resource) {
  const auto calls = static_cast<int>(std::clamp<int64_t>(retry.attempts, 1, 1'000'000));
  resource.patience = {calls, 0s, true, calls};
  resource.pace = {retry.splay > 0 ? Wait::random : Wait::fixed, seconds(retry.interval),
                   seconds(retry.interval + retry.splay)};
  resource.pace.unit = 1ms;
}

}  // namespace fettle::states

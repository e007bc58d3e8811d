#include "reconcile/wait.h"

#include <cmath>

namespace fettle {
namespace {

/// A random duration from `least` to `most`, both included, in steps of `unit`.
Duration draw(Duration least, Duration most, Duration unit, Prng& prng) {
  const int64_t step = std::max<int64_t>(1, unit.count());
  const int64_t steps = std::max<int64_t>(0, (most - least).count()) / step;
  return least +
         Duration(step * static_cast<int64_t>(prng.below(static_cast<uint64_t>(steps) + 1)));
}

Duration pause_fixed(const Pace& pace, int, Prng&) { return pace.shortest; }

Duration pause_random(const Pace& pace, int, Prng& prng) {
  return draw(pace.shortest, pace.longest, pace.unit, prng);
}

Duration pause_exponential(const Pace& pace, int call, Prng&) {
  constexpr double most = 1e18;
  const double pause = static_cast<double>(pace.shortest.count()) * std::pow(pace.factor, call - 1);
  return Duration(pause < most ? std::llround(pause) : static_cast<int64_t>(most));
}

Duration with_jitter(const Pace& pace, Duration pause, Duration before, Prng& prng) {
  constexpr Duration finest{1};
  switch (pace.jitter) {
    case Jitter::none:
      return pause;
    case Jitter::full:
      return draw(Duration(0), pause, finest, prng);
    case Jitter::equal:
      return draw(pause / 2, pause, finest, prng);
    case Jitter::decorrelated:
      return draw(pace.shortest, std::max(pace.shortest, std::min(before, pace.longest / 3) * 3),
                  finest, prng);
  }
  return pause;
}

struct Row {
  Wait wait;
  Duration (*algorithm)(const Pace&, int call, Prng&);
};
constexpr std::array rows{
    Row{Wait::fixed, pause_fixed},
    Row{Wait::random, pause_random},
    Row{Wait::exponential, pause_exponential},
};

}  // namespace

Duration pause(const Pace& pace, int call, Duration before, Prng& prng) {
  for (const Row& row : rows)
    if (row.wait == pace.wait) {
      const Duration plain = std::clamp(row.algorithm(pace, call, prng), pace.shortest,
                                        std::max(pace.shortest, pace.longest));
      return with_jitter(pace, plain, before, prng);
    }
  return pace.shortest;
}

}  // namespace fettle

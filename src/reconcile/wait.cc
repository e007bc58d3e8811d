#include "reconcile/wait.h"

#include "base/text.h"

namespace fettle {
namespace {

Duration pause_fixed(const Pace& pace, int, Prng&) { return pace.shortest; }

Duration pause_random(const Pace& pace, int, Prng& prng) {
  const auto span = std::max<int64_t>(0, (pace.longest - pace.shortest).count());
  return pace.shortest +
         Duration(static_cast<int64_t>(prng.below(static_cast<uint64_t>(span) + 1)));
}

/// Half as long again each time: twice would look too rarely at what takes a few hundred
/// milliseconds.
Duration pause_exponential(const Pace& pace, int attempt, Prng&) {
  Duration pause = pace.shortest;
  for (int i = 1; i < attempt && pause < pace.longest; ++i)
    pause += pause / 2;
  return pause;
}

struct Row {
  Wait wait;
  Duration (*algorithm)(const Pace&, int attempt, Prng&);
};
constexpr std::array rows{
    Row{Wait::fixed, pause_fixed},
    Row{Wait::random, pause_random},
    Row{Wait::exponential, pause_exponential},
};

}  // namespace

Result<Wait> parse_wait(std::string_view text) {
  std::vector<std::string_view> names;
  for (const Row& row : rows) {
    if (to_string(row.wait) == text)
      return row.wait;
    names.push_back(to_string(row.wait));
  }
  return user_error(cat("unknown wait algorithm `", text, "`", suggestion(text, names)));
}

Duration pause(const Pace& pace, int attempt, Prng& prng) {
  for (const Row& row : rows)
    if (row.wait == pace.wait)
      return std::clamp(row.algorithm(pace, attempt, prng), pace.shortest,
                        std::max(pace.shortest, pace.longest));
  return pace.shortest;
}

}  // namespace fettle

#include "states/shape.h"

#include <cmath>

#include "base/text.h"
#include "value/json.h"
#include "value/mask.h"

namespace fettle::states {
namespace {

/// Longer ones are mistakes: a year.
constexpr double longest_seconds = 366.0 * 24 * 3600;

bool are_seconds(const Value& given) {
  const double seconds = given.is_real()      ? given.real()
                         : given.is_integer() ? static_cast<double>(given.integer().value_or(-1))
                                              : -1;
  return seconds >= 0 && seconds <= longest_seconds;  // not of NaN
}

std::string shown(const Value& given) {
  if (given.is_real() && !std::isfinite(given.real()))
    return std::isnan(given.real()) ? ".nan" : given.real() < 0 ? "-.inf" : ".inf";
  return clipped(write_json(given), 200);
}

}  // namespace

std::string complaint(Shape shape, const Value& given) {
  const auto unless = [&](bool fits, std::string_view wanted) {
    return fits ? std::string() : cat("must be ", wanted, ", not ", shown(given));
  };
  switch (shape) {
    case Shape::any:
      return {};
    case Shape::text: {
      const Value plain = reveal(given);
      return unless(plain.is_text() && !plain.text().empty(), "a string");
    }
    case Shape::dict:
      return unless(given.is_dict(), "a dictionary");
    case Shape::list:
      return unless(given.is_list(), "a list");
    case Shape::seconds:
      return unless(are_seconds(given), "a number of seconds");
  }
  return {};
}

}  // namespace fettle::states

/// Floating-point functions, named as in C. Where Go's results differ, those count.

#include <array>
#include <cmath>
#include <limits>

#include "jq/natives.h"

namespace fettle::jq {
namespace {

/// A number beyond 64 bits becomes the smallest integer, as on the processor.
int whole(double number) {
  constexpr double end = 9223372036854775808.0;
  if (!(number >= -end && number < end))
    return std::numeric_limits<int>::min();
  return static_cast<int>(std::clamp<int64_t>(clamped(number), std::numeric_limits<int>::min(),
                                              std::numeric_limits<int>::max()));
}

double significand(double x) {
  int exponent = 0;
  return std::frexp(x, &exponent) * 2;
}
double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}
double drem(double x, double y) {
  const double rest = std::remainder(x, y);
  return rest == 0 ? std::copysign(rest, x) : rest;
}
double difference(double x, double y) { return x - y <= 0 ? 0 : x - y; }
double scaled(double x, double exponent) { return std::ldexp(x, whole(exponent)); }

struct OfOne {
  std::string_view name;
  double (*compute)(double);
};
struct OfTwo {
  std::string_view name;
  double (*compute)(double, double);
};

constexpr OfOne of_one[] = {
    {"acos", std::acos},
    {"acosh", std::acosh},
    {"asin", std::asin},
    {"asinh", std::asinh},
    {"atan", std::atan},
    {"atanh", std::atanh},
    {"cbrt", std::cbrt},
    {"ceil", std::ceil},
    {"cos", std::cos},
    {"cosh", std::cosh},
    {"erf", std::erf},
    {"erfc", std::erfc},
    {"exp", std::exp},
    {"exp10", [](double x) { return std::pow(10, x); }},
    {"exp2", std::exp2},
    {"expm1", std::expm1},
    {"fabs", std::fabs},
    {"floor", std::floor},
    {"gamma", std::tgamma},
    {"j0", ::j0},
    {"j1", ::j1},
    {"lgamma", log_gamma},
    {"log", std::log},
    {"log10", std::log10},
    {"log1p", std::log1p},
    {"log2", std::log2},
    {"logb", std::logb},
    {"nearbyint", std::nearbyint},
    {"rint", std::nearbyint},
    {"round", std::round},
    {"significand", significand},
    {"sin", std::sin},
    {"sinh", std::sinh},
    {"sqrt", std::sqrt},
    {"tan", std::tan},
    {"tanh", std::tanh},
    {"tgamma", std::tgamma},
    {"trunc", std::trunc},
    {"y0", ::y0},
    {"y1", ::y1},
};

constexpr OfTwo of_two[] = {
    {"atan2", std::atan2},
    {"copysign", std::copysign},
    {"drem", drem},
    {"fdim", difference},
    {"fmax", std::fmax},
    {"fmin", std::fmin},
    {"fmod", std::fmod},
    {"hypot", std::hypot},
    {"jn", [](double n, double x) { return ::jn(whole(n), x); }},
    {"ldexp", scaled},
    {"nextafter", std::nextafter},
    {"nexttoward", std::nextafter},
    {"pow", std::pow},
    {"remainder", std::remainder},
    {"scalb", scaled},
    {"scalbln", scaled},
    {"yn", [](double n, double x) { return ::yn(whole(n), x); }},
};

template <size_t i>
Answer compute_one(const Json& input, Arguments) {
  const std::optional<double> x = to_real(input);
  return x ? Answer(Json::real(of_one[i].compute(*x))) : not_for(of_one[i].name, input);
}

template <size_t i>
Answer compute_two(const Json&, Arguments given) {
  const std::optional<double> x = to_real(given[0]), y = to_real(given[1]);
  if (!x || !y)
    return not_for(of_two[i].name, given[x ? 1 : 0]);
  return Json::real(of_two[i].compute(*x, *y));
}

Answer fused(const Json&, Arguments given) {
  std::array<double, 3> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::optional<double> number = to_real(given[i]);
    if (!number)
      return not_for("fma", given[i]);
    numbers[i] = *number;
  }
  return Json::real(std::fma(numbers[0], numbers[1], numbers[2]));
}

Answer fraction_and_exponent(const Json& input, Arguments) {
  const std::optional<double> x = to_real(input);
  if (!x)
    return not_for("frexp", input);
  int exponent = 0;
  const double fraction = std::frexp(*x, &exponent);
  return Json::list({Json::real(fraction), Json::integer(std::isfinite(*x) ? exponent : 0)});
}

Answer fraction_and_whole(const Json& input, Arguments) {
  const std::optional<double> x = to_real(input);
  if (!x)
    return not_for("modf", input);
  double whole_part = 0;
  const double fraction = std::modf(*x, &whole_part);
  return Json::list({Json::real(fraction), Json::real(whole_part)});
}

template <size_t... ones, size_t... twos>
std::span<const Native> table_of(std::index_sequence<ones...>, std::index_sequence<twos...>) {
  static const Native table[] = {
      {of_one[ones].name, 0, compute_one<ones>}...,
      {of_two[twos].name, 2, compute_two<twos>}...,
      {"fma", 3, fused},
      {"frexp", 0, fraction_and_exponent},
      {"modf", 0, fraction_and_whole},
  };
  return table;
}

}  // namespace

std::span<const Native> number_functions() {
  return table_of(std::make_index_sequence<std::size(of_one)>(),
                  std::make_index_sequence<std::size(of_two)>());
}

}  // namespace fettle::jq

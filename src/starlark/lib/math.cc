/// `math`: functions of numbers, with starlark-go's names.

#include <cmath>

#include "starlark/eval/bind.h"
#include "starlark/lib/library.h"

namespace fettle::starlark {
namespace {

bool number(Vm& vm, const Arguments& a, uint32_t i, double& x) {
  const Value v = a.positional[i];
  if (is_float(v)) {
    x = float_of(v);
    return true;
  }
  if (is_int(v)) {
    x = integer_to_double(v);
    if (!std::isinf(x))
      return true;
    vm.fail_with(a.name, ": for parameter ", i + 1, ": int too large to convert to float");
    return false;
  }
  wrong_type(vm, a, i, "float or int");
  return false;
}

template <double (*F)(double)>
Value unary(Vm& vm, const Arguments& a) {
  double x = 0;
  if (!want_positional(vm, a, 1, 1) || !number(vm, a, 0, x))
    return Value::error();
  return make_float(vm.heap(), F(x));
}
template <double (*F)(double, double)>
Value binary(Vm& vm, const Arguments& a) {
  double x = 0, y = 0;
  if (!want_positional(vm, a, 2, 2) || !number(vm, a, 0, x) || !number(vm, a, 1, y))
    return Value::error();
  return make_float(vm.heap(), F(x, y));
}
template <double (*F)(double)>
Value rounding(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  if (is_int(a.positional[0]))
    return a.positional[0];
  if (!is_float(a.positional[0]))
    return vm.fail_with("got ", type_name_of(a.positional[0]), ", want float or int");
  const double x = float_of(a.positional[0]);
  Value whole;
  if (!float_to_integer(vm.heap(), F(x), whole))
    return vm.fail_with("cannot convert float ", std::isnan(x) ? "NaN" : "infinity", " to integer");
  return whole;
}

double degrees(double x) { return x * 180 / M_PI; }
double radians(double x) { return x * M_PI / 180; }
/// Halves go away from zero.
double round_half(double x) { return std::round(x); }

Value math_log(Vm& vm, const Arguments& a) {
  double x = 0, base = M_E;
  if (!want_positional(vm, a, 1, 2) || !number(vm, a, 0, x) ||
      (a.count == 2 && !number(vm, a, 1, base)))
    return Value::error();
  if (base == 1)
    return vm.fail("division by zero");
  return make_float(vm.heap(), a.count == 1 ? std::log(x) : std::log(x) / std::log(base));
}

double math_mod(double x, double y) { return std::fmod(x, y); }

constexpr MethodEntry math_table[] = {{"acos", unary<std::acos>},
                                      {"acosh", unary<std::acosh>},
                                      {"asin", unary<std::asin>},
                                      {"asinh", unary<std::asinh>},
                                      {"atan", unary<std::atan>},
                                      {"atan2", binary<std::atan2>},
                                      {"atanh", unary<std::atanh>},
                                      {"ceil", rounding<std::ceil>},
                                      {"copysign", binary<std::copysign>},
                                      {"cos", unary<std::cos>},
                                      {"cosh", unary<std::cosh>},
                                      {"degrees", unary<degrees>},
                                      {"exp", unary<std::exp>},
                                      {"fabs", unary<std::fabs>},
                                      {"floor", rounding<std::floor>},
                                      {"gamma", unary<std::tgamma>},
                                      {"hypot", binary<std::hypot>},
                                      {"log", math_log},
                                      {"mod", binary<math_mod>},
                                      {"pow", binary<std::pow>},
                                      {"radians", unary<radians>},
                                      {"remainder", binary<std::remainder>},
                                      {"round", unary<round_half>},
                                      {"sin", unary<std::sin>},
                                      {"sinh", unary<std::sinh>},
                                      {"sqrt", unary<std::sqrt>},
                                      {"tan", unary<std::tan>},
                                      {"tanh", unary<std::tanh>}};

}  // namespace

Value make_math_module(Heap& heap) {
  const NamedValue constants[] = {{"e", make_float(heap, M_E)}, {"pi", make_float(heap, M_PI)}};
  return make_library(heap, "math", math_table, constants);
}

}  // namespace fettle::starlark

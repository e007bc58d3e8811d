/// The tests of the language: `x is defined`.

#include <cmath>

#include "base/text.h"
#include "template/jinja/renderer.h"
#include "value/python.h"

namespace fettle::jinja {
namespace {

using TestArguments = Arguments&;

template <typename Check>
Result<bool> of_value(TestArguments given, Check check) {
  return check(given.positional[0]);
}

Result<bool> compares(TestArguments given, std::string_view op) {
  if (given.positional.size() < 2)
    return raise("TypeError", "a comparison needs a second value");
  const Value& a = given.positional[0];
  const Value& b = given.positional[1];
  if (a.is_undefined() || b.is_undefined())
    return undefined_error(a.is_undefined() ? a : b);
  return holds(op, a, b);
}

Result<bool> equals(TestArguments given, bool is_wanted) {
  if (given.positional.size() < 2)
    return raise("TypeError", "eq expected 2 arguments, got 1");
  for (const Value& value : given.positional)
    if (value.is_strictly_undefined())
      return undefined_error(value);
  return is_equal(given.positional[0], given.positional[1]) == is_wanted;
}

Result<bool> divides(TestArguments given) {
  if (given.positional.size() < 2)
    return raise("TypeError", "test_divisibleby() missing 1 required positional argument: 'num'");
  return is_equal(TRY(operate("%", given.positional[0], given.positional[1])), Value(0));
}

Result<bool> is_odd(TestArguments given, bool wanted) {
  const Value rest = TRY(operate("%", given.positional[0], Value(2)));
  return is_equal(rest, Value(1)) == wanted && (wanted || is_equal(rest, Value(0)));
}

Result<bool> is_in(TestArguments given) {
  if (given.positional.size() < 2)
    return raise("TypeError", "test_in() missing 1 required positional argument: 'seq'");
  return holds("in", given.positional[0], given.positional[1]);
}

bool has_items(const Value& value) {
  return value.is_list() || value.is_dict() || value.is_text() || value.is_lenient() ||
         (value.is_object() && items_of(value).has_value());
}

const std::unordered_map<std::string_view, TestBuiltin>& table() {
  static const std::unordered_map<std::string_view, TestBuiltin> tests = [] {
    std::unordered_map<std::string_view, TestBuiltin> made;
    const auto add = [&](std::initializer_list<std::string_view> names, TestBuiltin run) {
      for (const std::string_view name : names)
        made.emplace(name, run);
    };
    using R = Renderer&;
    add({"defined"},
        [](R, TestArguments g) -> Result<bool> { return !g.positional[0].is_undefined(); });
    add({"undefined"},
        [](R, TestArguments g) -> Result<bool> { return g.positional[0].is_undefined(); });
    add({"none"}, [](R, TestArguments g) -> Result<bool> { return g.positional[0].is_none(); });
    add({"boolean"}, [](R, TestArguments g) -> Result<bool> { return g.positional[0].is_bool(); });
    add({"true"}, [](R, TestArguments g) -> Result<bool> {
      return g.positional[0].is_bool() && g.positional[0].boolean();
    });
    add({"false"}, [](R, TestArguments g) -> Result<bool> {
      return g.positional[0].is_bool() && !g.positional[0].boolean();
    });
    add({"integer"}, [](R, TestArguments g) -> Result<bool> {
      return !g.positional[0].is_bool() && digits_of(g.positional[0]).has_value();
    });
    add({"float"}, [](R, TestArguments g) -> Result<bool> { return g.positional[0].is_real(); });
    add({"number"}, [](R, TestArguments g) -> Result<bool> {
      return g.positional[0].is_number() || digits_of(g.positional[0]).has_value();
    });
    add({"string"}, [](R, TestArguments g) -> Result<bool> { return g.positional[0].is_text(); });
    add({"mapping"}, [](R, TestArguments g) -> Result<bool> { return g.positional[0].is_dict(); });
    add({"iterable"}, [](R, TestArguments g) -> Result<bool> {
      if (g.positional[0].is_strictly_undefined())
        return undefined_error(g.positional[0]);
      return has_items(g.positional[0]);
    });
    add({"sequence"},
        [](R, TestArguments g) -> Result<bool> { return has_items(g.positional[0]); });
    add({"callable"}, [](R, TestArguments g) -> Result<bool> {
      // As in Python, where the call of what is not there is the error.
      return g.positional[0].is_undefined() ||
             (g.positional[0].is_object() && g.positional[0].object()->is_callable());
    });
    add({"escaped"}, [](R, TestArguments) -> Result<bool> { return false; });
    add({"odd"}, [](R, TestArguments g) { return is_odd(g, true); });
    add({"even"}, [](R, TestArguments g) { return is_odd(g, false); });
    add({"divisibleby"}, [](R, TestArguments g) { return divides(g); });
    add({"in"}, [](R, TestArguments g) { return is_in(g); });
    add({"sameas"}, [](R, TestArguments g) -> Result<bool> {
      if (g.positional.size() < 2)
        return raise("TypeError", "test_sameas() missing 1 required positional argument: 'other'");
      const Value& a = g.positional[0];
      const Value& b = g.positional[1];
      return a.is_same(b) ||
             (type_name(a) == type_name(b) && (a.is_text() || a.is_integer()) && is_equal(a, b));
    });
    add({"eq", "==", "equalto"}, [](R, TestArguments g) { return equals(g, true); });
    add({"ne", "!="}, [](R, TestArguments g) { return equals(g, false); });
    add({"lt", "<", "lessthan"}, [](R, TestArguments g) { return compares(g, "<"); });
    add({"le", "<="}, [](R, TestArguments g) { return compares(g, "<="); });
    add({"gt", ">", "greaterthan"}, [](R, TestArguments g) { return compares(g, ">"); });
    add({"ge", ">="}, [](R, TestArguments g) { return compares(g, ">="); });
    add({"lower"}, [](R, TestArguments g) -> Result<bool> {
      if (g.positional[0].is_strictly_undefined())
        return undefined_error(g.positional[0]);
      const std::string text = text_of(g.positional[0]);
      return text == python::lower(text) && text != python::upper(text);
    });
    add({"upper"}, [](R, TestArguments g) -> Result<bool> {
      if (g.positional[0].is_strictly_undefined())
        return undefined_error(g.positional[0]);
      const std::string text = text_of(g.positional[0]);
      return text == python::upper(text) && text != python::lower(text);
    });
    add({"filter"}, [](R renderer, TestArguments g) -> Result<bool> {
      TRY(check_hashable(g.positional[0]));
      return has_filter(renderer.environment(), text_of(g.positional[0]));
    });
    add({"test"}, [](R renderer, TestArguments g) -> Result<bool> {
      TRY(check_hashable(g.positional[0]));
      return has_test(renderer.environment(), text_of(g.positional[0]));
    });
    return made;
  }();
  return tests;
}

}  // namespace

TestBuiltin find_test(std::string_view name) {
  const auto found = table().find(name);
  return found == table().end() ? nullptr : found->second;
}

bool has_test(const Environment& environment, const std::string& name) {
  return find_test(name) != nullptr || (environment.find_test && environment.find_test(name));
}

}  // namespace fettle::jinja

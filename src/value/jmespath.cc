#include "value/jmespath.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "base/text.h"
#include "value/jmespath_node.h"
#include "value/json.h"

namespace fettle {
namespace jmespath {
namespace {

using Arguments = std::vector<Value>;

bool is_number(const Value& value) { return value.is_integer() || value.is_real(); }

double number_of(const Value& value) {
  return value.is_real() ? value.real() : static_cast<double>(value.integer().value_or(0));
}

/// A number without a fraction is an integer.
Value value_of(double number) {
  const bool is_whole = std::floor(number) == number && std::abs(number) < 9e15;
  return is_whole ? Value(static_cast<int64_t>(number)) : Value(number);
}

bool is_true(const Value& value) {
  return !(value.is_null() || value == Value(false) || (value.is_text() && value.text().empty()) ||
           (value.is_list() && value.items().empty()) ||
           (value.is_dict() && value.entries().empty()));
}

std::vector<Value> values_of(const Value& dict) {
  std::vector<Value> values;
  for (const Entry& entry : dict.entries())
    values.push_back(entry.value);
  return values;
}

bool is_before(const Value& a, const Value& b) {
  return a.is_text() && b.is_text() ? a.text().view() < b.text().view()
                                    : number_of(a) < number_of(b);
}

class Evaluator {
 public:
  Result<Value> evaluate(const Node& node, const Value& value) {
    switch (node.type) {
      case Node::Type::current:
        return value;
      case Node::Type::field:
        return Value(value.at(node.text));
      case Node::Type::literal:
        return node.value;
      case Node::Type::index:
        return item_of(value, *node.numbers[0]);
      case Node::Type::slice:
        return slice_of(value, node.numbers);
      case Node::Type::chain:
        return evaluate(*node.parts[1], TRY(evaluate(*node.parts[0], value)));
      case Node::Type::projection:
      case Node::Type::value_projection:
      case Node::Type::filter_projection:
        return project(node, TRY(evaluate(*node.parts[0], value)));
      case Node::Type::flatten:
        return flattened(TRY(evaluate(*node.parts[0], value)));
      case Node::Type::either:
      case Node::Type::both: {
        Value left = TRY(evaluate(*node.parts[0], value));
        const bool is_enough = is_true(left) == (node.type == Node::Type::either);
        return is_enough ? Result<Value>(std::move(left)) : evaluate(*node.parts[1], value);
      }
      case Node::Type::negation:
        return Value(!is_true(TRY(evaluate(*node.parts[0], value))));
      case Node::Type::comparison:
        return compared(TRY(evaluate(*node.parts[0], value)), node.text,
                        TRY(evaluate(*node.parts[1], value)));
      case Node::Type::list:
      case Node::Type::dict:
        return value.is_null() ? Result<Value>(Value()) : collected(node, value);
      case Node::Type::call:
        return call(node, value);
      case Node::Type::reference:
        return user_error("JMESPath: `&` stands before an argument only");
    }
    return Value();
  }

 private:
  static Value item_of(const Value& value, int64_t index) {
    if (!value.is_list())
      return {};
    const auto count = static_cast<int64_t>(value.items().size());
    const int64_t place = index < 0 ? index + count : index;
    return place < 0 || place >= count ? Value() : value.items()[static_cast<size_t>(place)];
  }

  static Value slice_of(const Value& value, const std::vector<std::optional<int64_t>>& numbers) {
    if (!value.is_list())
      return {};
    const auto count = static_cast<int64_t>(value.items().size());
    const int64_t step = numbers[2].value_or(1);
    const auto clamp = [&](std::optional<int64_t> given, int64_t otherwise) {
      if (!given)
        return otherwise;
      const int64_t place = *given < 0 ? *given + count : *given;
      return step > 0 ? std::clamp<int64_t>(place, 0, count)
                      : std::clamp<int64_t>(place, -1, count - 1);
    };
    const int64_t start = clamp(numbers[0], step > 0 ? 0 : count - 1);
    const int64_t stop = clamp(numbers[1], step > 0 ? count : -1);
    std::vector<Value> items;
    // Steps that are longer than any list need no more than one.
    const int64_t stride = std::clamp<int64_t>(step, -count - 1, count + 1);
    for (int64_t i = start; stride > 0 ? i < stop : i > stop; i += stride)
      items.push_back(value.items()[static_cast<size_t>(i)]);
    return Value::list(std::move(items));
  }

  Result<Value> project(const Node& node, const Value& base) {
    const bool is_of_dict = node.type == Node::Type::value_projection;
    if (is_of_dict ? !base.is_dict() : !base.is_list())
      return Value();
    const std::vector<Value> items =
        is_of_dict ? values_of(base) : std::vector<Value>(base.items().begin(), base.items().end());
    std::vector<Value> made;
    for (const Value& item : items) {
      if (node.type == Node::Type::filter_projection &&
          !is_true(TRY(evaluate(*node.parts[2], item))))
        continue;
      Value found = TRY(evaluate(*node.parts[1], item));
      if (!found.is_null())
        made.push_back(std::move(found));
    }
    return Value::list(std::move(made));
  }

  static Value flattened(const Value& value) {
    if (!value.is_list())
      return {};
    std::vector<Value> items;
    for (const Value& item : value.items())
      if (item.is_list())
        items.insert(items.end(), item.items().begin(), item.items().end());
      else
        items.push_back(item);
    return Value::list(std::move(items));
  }

  static Value compared(const Value& left, std::string_view sign, const Value& right) {
    if (sign == "==" || sign == "!=") {
      const bool are_equal =
          is_number(left) && is_number(right) ? number_of(left) == number_of(right) : left == right;
      return are_equal == (sign == "==");
    }
    if (!is_number(left) || !is_number(right))
      return {};
    const double a = number_of(left), b = number_of(right);
    return sign == "<" ? a < b : sign == ">" ? a > b : sign == "<=" ? a <= b : a >= b;
  }

  Result<Value> collected(const Node& node, const Value& value) {
    std::vector<Value> items;
    for (const NodePointer& part : node.parts)
      items.push_back(TRY(evaluate(*part, value)));
    if (node.type == Node::Type::list)
      return Value::list(std::move(items));
    std::vector<Entry> entries;
    for (size_t i = 0; i < items.size(); ++i)
      entries.push_back({node.keys[i], std::move(items[i])});
    return Value::dict(std::move(entries));
  }

  /// A function over values, and those that take an expression.
  Result<Value> call(const Node& node, const Value& value);
  Result<Value> call_by(const Node& node, const Value& value);
};

/// The parameters of a function: `a` anything, `n` number, `s` text, `l` list, `d` dict, `t` text
/// or list, `c` text, list or dict; `*`: more of the last.
struct Function {
  std::string_view name, takes;
  Value (*run)(const Arguments& arguments);
};

bool takes(char wanted, const Value& value) {
  switch (wanted) {
    case 'n':
      return is_number(value);
    case 's':
      return value.is_text();
    case 'l':
      return value.is_list();
    case 'd':
      return value.is_dict();
    case 't':
      return value.is_text() || value.is_list();
    case 'c':
      return value.is_text() || value.is_list() || value.is_dict();
    default:
      return true;
  }
}

double sum_of(const Value& list) {
  double sum = 0;
  for (const Value& item : list.items())
    sum += number_of(item);
  return sum;
}

std::string_view type_of(const Value& value) {
  return value.is_null()   ? "null"
         : value.is_bool() ? "boolean"
         : value.is_text() ? "string"
         : value.is_list() ? "array"
         : value.is_dict() ? "object"
                           : "number";
}

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  for (const char c : text)
    if (characters.empty() || (static_cast<unsigned char>(c) & 0xc0) != 0x80)
      characters.emplace_back(1, c);
    else
      characters.back() += c;
  return characters;
}

Value reversed(const Value& value) {
  if (value.is_text()) {
    std::vector<std::string> characters = characters_of(value.text().view());
    std::ranges::reverse(characters);
    return join(characters, "");
  }
  return Value::list({value.items().rbegin(), value.items().rend()});
}

Value sorted(const Value& list) {
  std::vector<Value> items(list.items().begin(), list.items().end());
  std::ranges::stable_sort(items, is_before);
  return Value::list(std::move(items));
}

Value outermost(const Value& list, bool is_largest) {
  if (list.items().empty())
    return {};
  return is_largest ? *std::ranges::max_element(list.items(), is_before)
                    : *std::ranges::min_element(list.items(), is_before);
}

Value to_number(const Value& value) {
  if (!value.is_text())
    return is_number(value) ? value : Value();
  const Result<Value> read = read_json(value.text().view(), "");
  return read && is_number(*read) ? *read : Value();
}

Value joined(const Value& glue, const Value& list) {
  std::vector<std::string> texts;
  for (const Value& item : list.items())
    texts.push_back(item.text().str());
  return join(texts, glue.text().view());
}

Value keys_of(const Value& dict) {
  std::vector<Value> keys;
  for (const Entry& entry : dict.entries())
    keys.emplace_back(entry.key);
  return Value::list(std::move(keys));
}

Value merged(const Arguments& dicts) {
  std::vector<Entry> entries;
  for (const Value& dict : dicts)
    entries.insert(entries.end(), dict.entries().begin(), dict.entries().end());
  return Value::dict(std::move(entries));
}

size_t length_of(const Value& value) {
  return value.is_text()   ? characters_of(value.text().view()).size()
         : value.is_list() ? value.items().size()
                           : value.entries().size();
}

bool contains(const Value& where, const Value& what) {
  if (where.is_text())
    return what.is_text() && where.text().view().find(what.text().view()) != std::string_view::npos;
  return std::ranges::find(where.items(), what) != where.items().end();
}

const std::array functions{
    Function{"abs", "n", [](const Arguments& a) { return value_of(std::abs(number_of(a[0]))); }},
    Function{"avg", "l",
             [](const Arguments& a) {
               const size_t count = a[0].items().size();
               return count == 0 ? Value() : value_of(sum_of(a[0]) / static_cast<double>(count));
             }},
    Function{"ceil", "n", [](const Arguments& a) { return value_of(std::ceil(number_of(a[0]))); }},
    Function{"contains", "ta", [](const Arguments& a) { return Value(contains(a[0], a[1])); }},
    Function{
        "ends_with", "ss",
        [](const Arguments& a) { return Value(a[0].text().view().ends_with(a[1].text().view())); }},
    Function{"floor", "n",
             [](const Arguments& a) { return value_of(std::floor(number_of(a[0]))); }},
    Function{"join", "sl", [](const Arguments& a) { return joined(a[0], a[1]); }},
    Function{"keys", "d", [](const Arguments& a) { return keys_of(a[0]); }},
    Function{"length", "c", [](const Arguments& a) { return Value(length_of(a[0])); }},
    Function{"max", "l", [](const Arguments& a) { return outermost(a[0], true); }},
    Function{"merge", "d*", merged},
    Function{"min", "l", [](const Arguments& a) { return outermost(a[0], false); }},
    Function{"not_null", "a*",
             [](const Arguments& a) {
               const auto found =
                   std::ranges::find_if(a, [](const Value& one) { return !one.is_null(); });
               return found == a.end() ? Value() : *found;
             }},
    Function{"reverse", "t", [](const Arguments& a) { return reversed(a[0]); }},
    Function{"sort", "l", [](const Arguments& a) { return sorted(a[0]); }},
    Function{"starts_with", "ss",
             [](const Arguments& a) {
               return Value(a[0].text().view().starts_with(a[1].text().view()));
             }},
    Function{"sum", "l", [](const Arguments& a) { return value_of(sum_of(a[0])); }},
    Function{"to_array", "a",
             [](const Arguments& a) { return a[0].is_list() ? a[0] : Value::list({a[0]}); }},
    Function{"to_number", "a", [](const Arguments& a) { return to_number(a[0]); }},
    Function{"to_string", "a",
             [](const Arguments& a) { return a[0].is_text() ? a[0] : Value(write_json(a[0])); }},
    Function{"type", "a", [](const Arguments& a) { return Value(type_of(a[0])); }},
    Function{"values", "d", [](const Arguments& a) { return Value::list(values_of(a[0])); }},
};

/// Lists of some functions hold numbers, texts, or either.
bool has_right_items(std::string_view function, const Value& list) {
  const auto are_all = [&](const auto& is_so) { return std::ranges::all_of(list.items(), is_so); };
  const auto is_text = [](const Value& item) { return item.is_text(); };
  if (function == "avg" || function == "sum")
    return are_all(is_number);
  if (function == "join")
    return are_all(is_text);
  const bool orders = function == "max" || function == "min" || function == "sort";
  return !orders || are_all(is_number) || are_all(is_text);
}

Error misused(const Node& node, std::string_view what) {
  return user_error(cat("JMESPath: `", node.text, "` ", what));
}

Result<Value> Evaluator::call(const Node& node, const Value& value) {
  static constexpr std::array<std::string_view, 4> by{"map", "max_by", "min_by", "sort_by"};
  if (std::ranges::find(by, node.text) != by.end())
    return call_by(node, value);
  const auto function = std::ranges::find(functions, node.text, &Function::name);
  if (function == functions.end()) {
    std::vector<std::string_view> names(by.begin(), by.end());
    for (const Function& one : functions)
      names.push_back(one.name);
    return user_error(
        cat("JMESPath: there is no function `", node.text, "`", suggestion(node.text, names)));
  }
  const bool is_open = function->takes.ends_with('*');
  const size_t count = function->takes.size() - (is_open ? 1 : 0);
  if (is_open ? node.parts.size() < count : node.parts.size() != count)
    return misused(node, cat("takes ", is_open ? "at least " : "", count, " arguments, not ",
                             node.parts.size()));
  Arguments arguments;
  for (size_t i = 0; i < node.parts.size(); ++i) {
    arguments.push_back(TRY(evaluate(*node.parts[i], value)));
    const Value& given = arguments.back();
    if (!takes(function->takes[std::min(i, count - 1)], given) ||
        (given.is_list() && !has_right_items(node.text, given)))
      return misused(node, cat("does not take ", to_text(given).substr(0, 200)));
  }
  return function->run(arguments);
}

/// `map(&expression, list)`, `sort_by(list, &expression)` and its like.
Result<Value> Evaluator::call_by(const Node& node, const Value& value) {
  const bool is_map = node.text == "map";
  if (node.parts.size() != 2 || node.parts[is_map ? 0 : 1]->type != Node::Type::reference)
    return misused(node,
                   is_map ? "takes `&expression` and a list" : "takes a list and `&expression`");
  const Node& expression = *node.parts[is_map ? 0 : 1]->parts[0];
  const Value list = TRY(evaluate(*node.parts[is_map ? 1 : 0], value));
  if (!list.is_list())
    return misused(node, cat("does not take ", to_text(list).substr(0, 200)));
  std::vector<std::pair<Value, Value>> items;  // with what they are ordered by
  std::vector<Value> keys;
  for (const Value& item : list.items()) {
    items.emplace_back(TRY(evaluate(expression, item)), item);
    keys.push_back(items.back().first);
  }
  if (is_map)
    return Value::list(std::move(keys));
  if (!has_right_items("sort", Value::list(std::move(keys))))
    return misused(node, "orders by numbers, or by texts");
  const auto orders = [](const auto& a, const auto& b) { return is_before(a.first, b.first); };
  if (node.text != "sort_by") {
    if (items.empty())
      return Value();
    return node.text == "max_by" ? std::ranges::max_element(items, orders)->second
                                 : std::ranges::min_element(items, orders)->second;
  }
  std::ranges::stable_sort(items, orders);
  std::vector<Value> ordered;
  for (auto& [key, item] : items)
    ordered.push_back(std::move(item));
  return Value::list(std::move(ordered));
}

}  // namespace
}  // namespace jmespath

Result<JmesPath> JmesPath::read(std::string_view text) {
  JmesPath made;
  made.root_ = TRY(jmespath::parse(text));
  return made;
}

Result<Value> JmesPath::of(const Value& value) const {
  return jmespath::Evaluator().evaluate(*root_, value);
}

}  // namespace fettle

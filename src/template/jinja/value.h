#pragma once
/// The values of templates: those of Python. Lists and dicts are shared and can change, as in
/// Python; everything else is immutable. A host adds objects of its own (`Object`).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "value/value.h"

namespace fettle::jinja {

class Value;
struct Arguments;

using Items = std::vector<Value>;
struct List;
struct Dict;

/// A name or attribute that is not there. Only tests and `default` may look at it. A lenient one,
/// of an `if` expression without `else`, also prints as nothing, is false, and has no items.
struct Undefined {
  std::string message;  ///< `'x' is undefined`
  bool is_lenient = false;
};

/// Something of the host, or of the engine itself: functions, macros, `loop`, instances of a model.
class Object {
 public:
  virtual ~Object() = default;
  virtual std::string type_name() const { return "object"; }
  virtual std::string text() const { return "<" + type_name() + ">"; }
  /// Nothing: no such attribute.
  virtual Result<std::optional<Value>> attribute(std::string_view name);
  /// `object[key]`, asked before the attribute. Nothing: no such item.
  virtual Result<std::optional<Value>> item(const Value& key);
  virtual bool is_callable() const { return false; }
  virtual Result<Value> call(Arguments& arguments);
  /// Nothing: it is no sequence.
  virtual Result<std::optional<Items>> items();
  virtual bool set_attribute(std::string_view, const Value&) { return false; }
  virtual bool is_true() const { return true; }
  /// An error for what no template may look at, such as a value that nobody knows yet. It may lie
  /// in a list; the expression that takes it out fails.
  virtual Status readable() { return {}; }
  virtual bool equals(const Object& other) const { return this == &other; }
  /// Shared by equal objects, for dicts and everything that compares keys.
  virtual std::string key() const { return text(); }
};
using ObjectPtr = std::shared_ptr<Object>;

/// A text that counts as long as anybody has it.
struct CountedText : std::string {
  explicit CountedText(std::string text, bool is_mark_ = false);
  ~CountedText() { budget_.give_back(bytes_); }
  CountedText(const CountedText&) = delete;
  CountedText& operator=(const CountedText&) = delete;
  const bool is_mark;  ///< of what is not there: it prints, and is false

 private:
  Budget& budget_;
  const uint64_t bytes_;
};
using Text = std::shared_ptr<const CountedText>;

class Value {
 public:
  Value() : data_(nullptr) {}                  ///< None
  Value(bool value) : data_(value) {}          // NOLINT
  Value(int64_t value) : data_(value) {}       // NOLINT
  Value(int value) : data_(int64_t{value}) {}  // NOLINT
  Value(double value) : data_(value) {}        // NOLINT
  Value(std::string text)
      : data_(std::make_shared<const CountedText>(std::move(text))) {}  // NOLINT
  Value(std::string_view text) : Value(std::string(text)) {}            // NOLINT
  Value(const char* text) : Value(std::string(text)) {}                 // NOLINT
  Value(ObjectPtr object) : data_(std::move(object)) {}                 // NOLINT
  Value(std::shared_ptr<List> list) : data_(std::move(list)) {}         // NOLINT
  Value(std::shared_ptr<Dict> dict) : data_(std::move(dict)) {}         // NOLINT
  static Value list(Items items);
  static Value tuple(Items items);
  static Value dict();
  /// A text that prints and is false, for a host that puts something else in its place later.
  static Value mark(std::string_view text) {
    return Value(std::make_shared<const CountedText>(std::string(text), true));
  }
  static Value undefined(std::string message, bool is_lenient = false);
  /// A plain value; unknown, deferred and secret ones become their texts.
  static Value of(const fettle::Value& value);

  bool is_none() const { return std::holds_alternative<std::nullptr_t>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_integer() const { return std::holds_alternative<int64_t>(data_); }
  bool is_real() const { return std::holds_alternative<double>(data_); }
  bool is_number() const { return is_bool() || is_integer() || is_real(); }
  bool is_text() const { return std::holds_alternative<Text>(data_); }
  bool is_list() const { return std::holds_alternative<std::shared_ptr<List>>(data_); }
  bool is_dict() const { return std::holds_alternative<std::shared_ptr<Dict>>(data_); }
  bool is_object() const { return std::holds_alternative<ObjectPtr>(data_); }
  bool is_undefined() const { return std::holds_alternative<std::shared_ptr<Undefined>>(data_); }
  bool is_whole() const { return is_bool() || is_integer(); }

  bool boolean() const { return std::get<bool>(data_); }
  int64_t integer() const { return is_bool() ? boolean() : std::get<int64_t>(data_); }
  double real() const {
    return is_real() ? std::get<double>(data_) : static_cast<double>(integer());
  }
  const std::string& text() const { return *std::get<Text>(data_); }
  bool is_mark() const { return is_text() && std::get<Text>(data_)->is_mark; }
  List& list() const { return *std::get<std::shared_ptr<List>>(data_); }
  Dict& dict_data() const { return *std::get<std::shared_ptr<Dict>>(data_); }
  const ObjectPtr& object() const { return std::get<ObjectPtr>(data_); }
  const std::string& undefined_message() const {
    return std::get<std::shared_ptr<Undefined>>(data_)->message;
  }
  bool is_lenient() const {
    return is_undefined() && std::get<std::shared_ptr<Undefined>>(data_)->is_lenient;
  }
  bool is_strictly_undefined() const { return is_undefined() && !is_lenient(); }
  /// Whether it may hold values.
  bool can_nest() const { return is_list() || is_dict() || is_object(); }
  /// Whether both are the same list, dict or object.
  bool is_same(const Value& other) const { return data_ == other.data_; }

 private:
  friend class Circles;
  explicit Value(Text text) : data_(std::move(text)) {}
  std::variant<std::nullptr_t, bool, int64_t, double, Text, std::shared_ptr<List>,
               std::shared_ptr<Dict>, ObjectPtr, std::shared_ptr<Undefined>>
      data_;
};

/// Ends values without recursion, whatever lies between them (lists, dicts, objects that hold
/// them): what one of them drops waits until that one is gone.
void drop(Items values);

struct List {
  Items items;
  bool is_tuple = false;
  bool is_group = false;  ///< of `groupby`: its two items are also `grouper` and `list`
  bool is_known = false;  ///< to `Circles`
  /// What is none in it is written `null`: of a host whose values are written so. A copy is not.
  bool writes_null = false;
  List(Items items_, bool is_tuple_ = false) : items(std::move(items_)), is_tuple(is_tuple_) {
    count();
  }
  ~List();  ///< however deep it is nested
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  /// After the items became more or fewer.
  void count();

 private:
  Budget& budget_ = Budget::current();
  uint64_t bytes_ = 0;
};

/// A dict, in the order of insertion.
struct Dict {
  std::vector<std::pair<Value, Value>> entries;
  std::unordered_map<std::string, size_t> index;
  bool is_known = false;     ///< to `Circles`
  bool writes_null = false;  ///< as that of a list

  Dict() = default;
  ~Dict();
  Dict(const Dict&) = delete;
  Dict& operator=(const Dict&) = delete;
  const Value* find(const Value& key) const;
  void set(const Value& key, Value value);
  void remove(const Value& key);

 private:
  Budget& budget_ = Budget::current();
  uint64_t bytes_ = 0;
};

/// Knows the lists and dicts that a template may have put into themselves, and releases them.
/// Each is known to one: those that a host keeps, to the host's, and a template that ends leaves
/// them as they are.
class Circles {
 public:
  void add(const Value& value);
  /// Adds a value with all its parts, at any depth.
  void add_all(const Value& value);
  /// Empties those that are still there.
  void release();

 private:
  std::vector<std::weak_ptr<List>> lists_;
  std::vector<std::weak_ptr<Dict>> dicts_;
};

struct Arguments {
  Items positional;
  std::vector<std::pair<std::string, Value>> named;

  /// Takes a named argument out; none when it was not given.
  std::optional<Value> take(std::string_view name);
};

/// An error as Python would raise it: `TypeError: …`.
inline Error raise(std::string_view type, std::string message) {
  return user_error(std::string(type).append(": ").append(message));
}
Error undefined_error(const Value& value);
/// Costs in steps; `jinja.h` says what a step is.
namespace cost {
inline constexpr uint64_t statement = 4, expression = 6, scope = 14, template_of_its_own = 400;
inline constexpr uint64_t value = 2;  ///< written, compared or sorted
inline constexpr uint64_t open = 4;   ///< a list or dict that is written
}  // namespace cost

/// The error for what a budget refused.
Error budget_error(const Budget& budget);

std::string type_name(const Value& value);  ///< `int`, `str`
// What follows walks over values, however deep they are nested, and counts as work of the current
// budget. When that refuses, what it gave so far is the result, and the template fails.

/// `str(value)` and `repr(value)`. A list within itself is `[...]`.
std::string text_of(const Value& value);
std::string quoted(const Value& value);
/// `bool(value)`; undefined values are false.
bool is_true(const Value& value);
bool is_equal(const Value& a, const Value& b);
/// `a < b`; an error when the two have no order. It names `asked`: `>` and `<=` for `b > a` and
/// `b <= a`.
Result<bool> is_less(const Value& a, const Value& b, std::string_view asked = "<");
/// Whether it may be the key of a dict: an error for lists, dicts, and what is not there.
Status check_hashable(const Value& value);
/// The items of an iteration.
Result<Items> items_of(const Value& value);
/// The same for who reads them one by one.
Result<Items> unread_items_of(const Value& value);
Result<int64_t> length_of(const Value& value);

/// Before work on all of a text or list, which may need several times its room.
Status begin_work(const Value& value);
/// Appends to a text that is being made; an error when that gets too long.
Status add(std::string& made, std::string_view more);

/// The digits of an integer of any size; nothing for what is none.
std::optional<std::string> digits_of(const Value& value);
/// The integer with these digits.
Value whole_value(std::string digits);

/// Arithmetic by operator: `+ - * / // % **`.
Result<Value> operate(std::string_view op, const Value& a, const Value& b);
/// `text % values`.
Result<Value> format_percent(std::string_view format, const Value& values);

}  // namespace fettle::jinja

/// `range`, `dict`, `namespace`, `cycler`, `joiner`; the binding of arguments.

#include "base/text.h"
#include "template/jinja/objects.h"

namespace fettle::jinja {
namespace {

class Namespace : public Object {
 public:
  std::string type_name() const override { return "Namespace"; }
  std::string text() const override { return "<Namespace " + quoted(names) + ">"; }
  Result<std::optional<Value>> attribute(std::string_view name) override {
    const Value* found = names.dict_data().find(Value(name));
    return found == nullptr ? std::optional<Value>() : std::optional<Value>(*found);
  }
  bool set_attribute(std::string_view name, const Value& value) override {
    names.dict_data().set(Value(name), value);
    return true;
  }
  Value names = Value::dict();
};

class Cycler : public Object, public std::enable_shared_from_this<Cycler> {
 public:
  explicit Cycler(Items items) : items_(Value::list(std::move(items))) {}
  std::string type_name() const override { return "Cycler"; }
  Result<std::optional<Value>> attribute(std::string_view name) override {
    if (name == "current")
      return std::optional<Value>(items_.list().items[at_]);
    if (name != "next" && name != "reset")
      return std::optional<Value>();
    return std::optional<Value>(function_value(
        std::string(name),
        [kept = shared_from_this(), is_next = name == "next"](Arguments&) -> Result<Value> {
          const Items& items = kept->items_.list().items;
          const Value current = items[kept->at_];
          kept->at_ = is_next ? (kept->at_ + 1) % items.size() : 0;
          return is_next ? current : Value();
        }));
  }

 private:
  Value items_;
  size_t at_ = 0;
};

class Joiner : public Object {
 public:
  explicit Joiner(std::string between) : between_(std::move(between)) {}
  bool is_callable() const override { return true; }
  Result<Value> call(Arguments&) override {
    return Value(std::exchange(is_used_, true) ? between_ : std::string());
  }

 private:
  std::string between_;
  bool is_used_ = false;
};

Result<Value> range(Arguments& arguments, int64_t most) {
  const Items& given = arguments.positional;
  for (const Value& value : given) {
    if (value.is_undefined())
      return undefined_error(value);
    if (!value.is_whole())
      return raise("TypeError",
                   cat("'", type_name(value), "' object cannot be interpreted as an integer"));
  }
  if (given.empty() || given.size() > 3)
    return raise("TypeError", cat("range expected at ",
                                  given.empty() ? "least 1 argument, got 0"
                                                : cat("most 3 arguments, got ", given.size())));
  const int64_t start = given.size() > 1 ? given[0].integer() : 0;
  const int64_t stop = given.size() > 1 ? given[1].integer() : given[0].integer();
  const int64_t step = given.size() > 2 ? given[2].integer() : 1;
  if (step == 0)
    return raise("ValueError", "range() arg 3 must not be zero");
  Items items;
  for (int64_t at = start; step > 0 ? at < stop : at > stop;) {
    if (static_cast<int64_t>(items.size()) >= most)
      return raise(
          "OverflowError",
          cat("Range too big. The sandbox blocks ranges larger than MAX_RANGE (", most, ")."));
    items.emplace_back(at);
    if (__builtin_add_overflow(at, step, &at))
      break;
  }
  return Value::list(std::move(items));
}

Result<Value> make_dict(Arguments& arguments) {
  Value made = Value::dict();
  for (const Value& value : arguments.positional)
    if (value.is_dict())
      for (const auto& [key, item] : value.dict_data().entries)
        made.dict_data().set(key, item);
    else
      for (const Value& pair : TRY(items_of(value))) {
        const Items both = TRY(items_of(pair));
        if (both.size() != 2)
          return raise("ValueError", cat("dictionary update sequence element has length ",
                                         both.size(), "; 2 is required"));
        made.dict_data().set(both[0], both[1]);
      }
  for (const auto& [name, value] : arguments.named)
    made.dict_data().set(Value(name), value);
  return made;
}

}  // namespace

std::optional<Value> find_global(std::string_view name, const Limits& limits) {
  if (name == "range")
    return function_value(
        "range", [most = limits.range](Arguments& arguments) { return range(arguments, most); });
  if (name == "dict")
    return function_value("dict", make_dict);
  if (name == "namespace")
    return function_value("namespace", [](Arguments& arguments) -> Result<Value> {
      const auto made = std::make_shared<Namespace>();
      made->names = TRY(make_dict(arguments));
      return Value(ObjectPtr(made));
    });
  if (name == "cycler")
    return function_value("cycler", [](Arguments& arguments) -> Result<Value> {
      if (arguments.positional.empty())
        return raise("RuntimeError", "at least one item has to be provided");
      return Value(ObjectPtr(std::make_shared<Cycler>(arguments.positional)));
    });
  if (name == "joiner")
    return function_value("joiner", [](Arguments& arguments) -> Result<Value> {
      const Items given = TRY(bind_arguments("joiner", arguments, {"sep?"}));
      return Value(
          ObjectPtr(std::make_shared<Joiner>(given[0].is_undefined() ? ", " : text_of(given[0]))));
    });
  if (name == "lipsum")
    return function_value("lipsum",
                          [](Arguments&) -> Result<Value> { return not_repeatable("lipsum()"); });
  return std::nullopt;
}

Result<Items> bind_arguments(std::string_view function, Arguments& arguments,
                             std::initializer_list<std::string_view> parameters) {
  Items made;
  if (arguments.positional.size() > parameters.size())
    return raise("TypeError",
                 cat(function, "() takes ", parameters.size(), " positional arguments but ",
                     arguments.positional.size(), " were given"));
  for (std::string_view parameter : parameters) {
    const bool is_optional = parameter.ends_with('?');
    parameter.remove_suffix(is_optional);
    std::optional<Value> named = arguments.take(parameter);
    const bool is_given = made.size() < arguments.positional.size();
    if (named && is_given)
      return raise("TypeError",
                   cat(function, "() got multiple values for argument '", parameter, "'"));
    if (!named && !is_given && !is_optional)
      return raise("TypeError",
                   cat(function, "() missing 1 required positional argument: '", parameter, "'"));
    made.push_back(is_given ? arguments.positional[made.size()]
                   : named  ? *named
                            : Value::undefined(""));
  }
  if (!arguments.named.empty())
    return raise("TypeError", cat(function, "() got an unexpected keyword argument '",
                                  arguments.named[0].first, "'"));
  return made;
}

}  // namespace fettle::jinja

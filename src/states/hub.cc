#include "states/hub.h"

#include "base/text.h"
#include "states/reference.h"
#include "value/mask.h"

namespace fettle::states {
namespace {

constexpr int deepest = 100;

Result<Value> plain_at(const jinja::Value& value, int depth) {
  if (depth > deepest)
    return jinja::raise("RecursionError", "the value is nested too deep");
  if (value.is_none())
    return Value();
  if (value.is_bool())
    return Value(value.boolean());
  if (value.is_integer())
    return Value(value.integer());
  if (value.is_real())
    return Value(value.real());
  if (value.is_text())
    return Value(value.text());
  if (value.is_undefined())
    return jinja::undefined_error(value);
  if (value.is_dict()) {
    std::vector<Entry> entries;
    for (const auto& [key, item] : value.dict_data().entries)
      entries.push_back({jinja::text_of(key), TRY(plain_at(item, depth + 1))});
    return Value::dict(std::move(entries));
  }
  if (value.is_list()) {
    std::vector<Value> items;
    for (const jinja::Value& item : value.list().items)
      items.push_back(TRY(plain_at(item, depth + 1)));
    return Value::list(std::move(items));
  }
  return jinja::raise("TypeError", cat("a ", jinja::type_name(value), " is not a plain value"));
}

/// `hub.exec` and everything below it: only a call asks whether there is such a function.
class ExecPath : public jinja::Object {
 public:
  ExecPath(const Host& host, std::string path) : host_(host), path_(std::move(path)) {}
  std::string type_name() const override { return "Sub"; }
  std::string text() const override { return cat("<exec", path_.empty() ? "" : ".", path_, ">"); }
  Result<std::optional<jinja::Value>> attribute(std::string_view name) override {
    std::string path = path_.empty() ? std::string(name) : cat(path_, ".", name);
    return std::optional(
        jinja::Value(jinja::ObjectPtr(std::make_shared<ExecPath>(host_, std::move(path)))));
  }
  bool is_callable() const override { return true; }
  Result<jinja::Value> call(jinja::Arguments& arguments) override {
    if (!host_.exec)
      return user_error(cat("'exec' has no attribute '", path_, "'"));
    std::vector<Value> positional;
    std::vector<Entry> named;
    for (const jinja::Value& value : arguments.positional)
      positional.push_back(TRY(plain_value(value)));
    for (const auto& [name, value] : arguments.named)
      named.push_back({name, TRY(plain_value(value))});
    const Value made = TRY(host_.exec(path_, positional, named));
    if (made.find("result") == nullptr || made.find("ret") == nullptr)
      return user_error(cat("Exec module 'exec.", path_,
                            "' did not return a dictionary: \n{'result': True|False, 'comment': "
                            "Any, 'ret': Any}"));
    return jinja::Value::of(made);
  }

 private:
  const Host& host_;
  std::string path_;
};

/// `hub.idem.arg_bind.resolve(text)`
Result<jinja::Value> resolve(const Outcomes* outcomes, jinja::Arguments& arguments) {
  if (arguments.positional.size() != 1 || !arguments.named.empty() ||
      !arguments.positional[0].is_text())
    return jinja::raise("TypeError", "resolve() takes one string");
  const std::string& text = arguments.positional[0].text();
  std::string made;
  const std::vector<Piece> pieces = pieces_of(text);
  for (const Piece& piece : pieces) {
    if (!piece.reference) {
      made += piece.text;
      continue;
    }
    const Reference& reference = *piece.reference;
    const std::optional<Value> state =
        outcomes == nullptr
            ? std::nullopt
            : outcomes->new_state(reference.state, reference.id, reference.resource);
    if (!state)
      return user_error(cat("Arg_bind template '", text, "' could not be resolved to any value"));
    const Value found = TRY(value_at(*state, reference.path, reference.state));
    outcomes->secrets().add_marked(found);
    const Value value = reveal(found);
    if (pieces.size() == 1)
      return jinja::Value::of(value);
    made += jinja::text_of(jinja::Value::of(value));
  }
  return jinja::Value(std::move(made));
}

/// A name of the hub, with what is below it.
class Sub : public jinja::Object {
 public:
  explicit Sub(std::map<std::string, jinja::Value, std::less<>> names) : names_(std::move(names)) {}
  std::string type_name() const override { return "Hub"; }
  Result<std::optional<jinja::Value>> attribute(std::string_view name) override {
    const auto found = names_.find(name);
    return found == names_.end() ? std::optional<jinja::Value>() : std::optional(found->second);
  }

 private:
  std::map<std::string, jinja::Value, std::less<>> names_;
};

jinja::Value sub(std::map<std::string, jinja::Value, std::less<>> names) {
  return jinja::Value(jinja::ObjectPtr(std::make_shared<Sub>(std::move(names))));
}

}  // namespace

jinja::Value make_hub(const Host& host, const Outcomes* outcomes) {
  const jinja::Value resolver = jinja::function_value(
      "resolve", [outcomes](jinja::Arguments& arguments) { return resolve(outcomes, arguments); });
  return sub({{"exec", jinja::Value(jinja::ObjectPtr(std::make_shared<ExecPath>(host, "")))},
              {"idem", sub({{"arg_bind", sub({{"resolve", resolver}})}})}});
}

Result<Value> plain_value(const jinja::Value& value) { return plain_at(value, 0); }

}  // namespace fettle::states

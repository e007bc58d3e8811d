#include "states/params.h"

#include <charconv>

#include "base/text.h"
#include "states/hub.h"
#include "template/jinja/renderer.h"
#include "value/tree_fold.h"

namespace fettle::states {
namespace {

struct TemplateMaker {
  static jinja::Value scalar(const Value& value) { return jinja::Value::of(value); }
  static jinja::Value list(std::vector<jinja::Value> items) {
    return jinja::Value::list(std::move(items));
  }
  static jinja::Value dict(std::span<const TreeMember> members, std::vector<jinja::Value> values) {
    jinja::Value made = jinja::Value::dict();
    for (size_t i = 0; i < members.size(); ++i)
      made.dict_data().set(jinja::Value(members[i].key->text().view()), std::move(values[i]));
    return made;
  }
};

/// Prints as a mark that becomes null, and is false.
jinja::Value not_given() { return jinja::Value::mark(none_mark); }

jinja::Value marked(const jinja::Value& value) { return value.is_none() ? not_given() : value; }

/// The given parameters: a dictionary in which `get` answers `none_mark` for a missing key, so that
/// the resulting YAML has a null.
class ParamsObject : public jinja::Object {
 public:
  explicit ParamsObject(jinja::Value values) : values_(std::move(values)) {}
  std::string type_name() const override { return "params"; }
  std::string text() const override { return jinja::text_of(values_); }
  bool is_true() const override { return !values_.dict_data().entries.empty(); }
  Result<std::optional<jinja::Items>> items() override {
    return std::optional(TRY(jinja::items_of(values_)));
  }
  Result<std::optional<jinja::Value>> item(const jinja::Value& key) override {
    const jinja::Value* found = values_.dict_data().find(key);
    return found == nullptr ? std::optional<jinja::Value>() : std::optional(*found);
  }
  Result<std::optional<jinja::Value>> attribute(std::string_view name) override {
    if (name == "get")
      return std::optional(jinja::function_value(
          "get", [values = values_](jinja::Arguments& arguments) -> Result<jinja::Value> {
            const jinja::Items given =
                TRY(jinja::bind_arguments("get", arguments, {"key", "default?"}));
            if (const jinja::Value* found = values.dict_data().find(given[0]))
              return *found;
            return given[1].is_undefined() ? not_given() : marked(given[1]);
          }));
    if (std::optional<jinja::Value> method = jinja::find_method(values_, name))
      return method;
    return item(jinja::Value(name));
  }

 private:
  jinja::Value values_;
};

constexpr std::string_view mark_begin = "--PARAMETER-", mark_end = "--";
constexpr int deepest_params = 50;
constexpr size_t most_asked = 10'000;

/// The words by which a parameter was asked for, as `validate` prints them.
struct Words {
  std::string with_get;     ///< `params.get('a').get('b')`
  std::string in_brackets;  ///< `params['a']['b']`
};

/// A parameter that nobody gave: it prints as the words that ask for it, is false, and contains
/// only itself.
class Placeholder : public jinja::Object, public std::enable_shared_from_this<Placeholder> {
 public:
  Placeholder(std::shared_ptr<ParameterRequest> root, ParameterRequest* asked, Words words,
              int depth)
      : root_(std::move(root)), asked_(asked), words_(std::move(words)), depth_(depth) {}
  std::string type_name() const override { return "ParamObject"; }
  std::string text() const override {
    return is_root() ? "{}" : cat(mark_begin, asked_->number, mark_end);
  }
  bool is_true() const override { return false; }
  Result<std::optional<jinja::Items>> items() override {
    return std::optional(is_root() ? jinja::Items() : jinja::Items{self()});
  }
  Result<std::optional<jinja::Value>> item(const jinja::Value& key) override {
    if (key.is_whole())
      return std::optional(self());
    return std::optional(TRY(below(jinja::text_of(key), {}, false)));
  }
  Result<std::optional<jinja::Value>> attribute(std::string_view name) override {
    if (name == "get")
      return std::optional(jinja::function_value(
          "get", [kept = shared_from_this()](jinja::Arguments& arguments) -> Result<jinja::Value> {
            const jinja::Items given =
                TRY(jinja::bind_arguments("get", arguments, {"key", "default?"}));
            return kept->below(jinja::text_of(given[0]), given[1], true);
          }));
    if (name == "items" || name == "keys" || name == "values")
      return std::optional(parts(std::string(name)));
    if (!is_root() && jinja::find_method(jinja::Value(""), name))
      return std::optional(jinja::function_value(
          std::string(name),
          [kept = self()](jinja::Arguments&) -> Result<jinja::Value> { return kept; }));
    return std::optional(TRY(below(std::string(name), {}, false)));
  }

 private:
  bool is_root() const { return asked_ == root_.get(); }
  jinja::Value self() { return jinja::Value(jinja::ObjectPtr(shared_from_this())); }

  jinja::Value parts(std::string name) {
    jinja::Items items;
    if (!is_root())
      items.push_back(name == "items" ? jinja::Value::tuple({self(), self()}) : self());
    return jinja::function_value(
        std::move(name),
        [items](jinja::Arguments&) -> Result<jinja::Value> { return jinja::Value::list(items); });
  }

  /// The default of the first time counts. Below a certain depth, everything is one parameter.
  Result<jinja::Value> below(const std::string& key, const jinja::Value& otherwise, bool with_get) {
    if (depth_ >= deepest_params)
      return self();
    Words words{cat(words_.with_get, ".get('", key, "')"),
                cat(words_.in_brackets, "['", key, "']")};
    ParameterRequest*& known = asked_->known[key];
    if (known == nullptr) {
      if (root_->all.size() >= most_asked)
        return user_error(cat("templates use more than ", most_asked, " parameters"));
      auto made = std::make_unique<ParameterRequest>();
      known = made.get();
      known->number = root_->all.size();
      root_->all.push_back(known);
      made->otherwise = Value("");
      made->shown = cat("{{ ", with_get || is_root() ? words.with_get : words.in_brackets, " }}");
      if (with_get && !otherwise.is_undefined() && !otherwise.is_none()) {
        if (Result<Value> plain = plain_value(otherwise))
          made->otherwise = std::move(*plain);
        made->shown =
            cat("{{ ", words_.with_get, ".get('", key, "', '", jinja::text_of(otherwise), "') }}");
      }
      asked_->below.emplace_back(key, std::move(made));
    }
    return jinja::Value(jinja::ObjectPtr(
        std::make_shared<Placeholder>(root_, known, std::move(words), depth_ + 1)));
  }

  std::shared_ptr<ParameterRequest> root_;
  ParameterRequest* asked_;
  Words words_;
  int depth_;
};

}  // namespace

jinja::Value template_value(const TreeNode& node) {
  TemplateMaker maker;
  std::unordered_map<const TreeNode*, jinja::Value> shared;
  return fold_tree(node, maker, shared);
}

Params Params::of(std::span<const TreeNode* const> layers) {
  Params made;
  for (const TreeNode* layer : layers) {
    const jinja::Value values = template_value(*layer);
    for (const auto& [key, value] : values.dict_data().entries)
      if (!key.is_text() || key.text() != "include")
        made.values_.dict_data().set(key, marked(value));
  }
  made.keep();
  return made;
}

Params Params::of(const Value& values) {
  Params made;
  const jinja::Value given = jinja::Value::of(values);
  if (given.is_dict())
    for (const auto& [key, value] : given.dict_data().entries)
      made.values_.dict_data().set(key, marked(value));
  made.keep();
  return made;
}

void Params::keep() {
  kept_ = std::shared_ptr<jinja::Circles>(new jinja::Circles, [](jinja::Circles* circles) {
    circles->release();
    delete circles;
  });
  kept_->add_all(values_);
}

Params Params::asking() {
  Params made;
  made.asked_ = std::make_shared<ParameterRequest>();
  return made;
}

std::string Params::with_words(std::string_view text) const {
  std::string made;
  size_t at = 0;
  while (true) {
    const size_t begin = text.find(mark_begin, at);
    const size_t digits = begin + mark_begin.size();
    const size_t end = begin == text.npos ? text.npos : text.find(mark_end, digits);
    if (end == text.npos)
      return made.append(text.substr(at));
    size_t number = 0;
    const auto [stop, failure] = std::from_chars(text.data() + digits, text.data() + end, number);
    const bool is_known = failure == std::errc() && stop == text.data() + end &&
                          asked_ != nullptr && number < asked_->all.size();
    made += text.substr(at, begin - at);
    made += is_known ? std::string_view(asked_->all[number]->shown)
                     : text.substr(begin, end + mark_end.size() - begin);
    at = end + mark_end.size();
  }
}

jinja::Value Params::object() const {
  if (asked_ == nullptr)
    return jinja::Value(jinja::ObjectPtr(std::make_shared<ParamsObject>(values_)));
  return jinja::Value(jinja::ObjectPtr(
      std::make_shared<Placeholder>(asked_, asked_.get(), Words{"params", "params"}, 0)));
}

}  // namespace fettle::states

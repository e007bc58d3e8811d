#include "verbs/packages/package_arguments.h"

#include <algorithm>

#include "base/text.h"
#include "packages/arguments.h"
#include "value/json.h"
#include "value/yaml.h"

namespace fettle {
namespace {

Result<Value> mapping_of(const ArgumentsPart& part) {
  return read_json(TRY(arguments_as_json(part.text, part.from)), part.from, Duplicates::last_wins);
}

class Merger {
 public:
  explicit Merger(const std::function<void(const std::string&)>& notice) : notice_(notice) {}

  void add(const Value& part, std::string_view from) { made_ = merged(made_, part, Name(), from); }
  const Value& made() const { return made_; }

 private:
  Value merged(const Value& before, const Value& after, const Name& path, std::string_view from) {
    if (!before.is_dict() || !after.is_dict()) {
      if (before != after && notice_)
        notice_(cat("the argument `", path, "` is taken from ", from));
      return after;
    }
    std::vector<Entry> entries(before.entries().begin(), before.entries().end());
    for (const Entry& entry : after.entries()) {
      const auto known = std::ranges::find(entries, entry.key, &Entry::key);
      if (known == entries.end())
        entries.push_back(entry);
      else
        known->value = merged(known->value, entry.value,
                              path.empty() ? entry.key : Name(cat(path, ".", entry.key)), from);
    }
    return Value::dict(std::move(entries));
  }

  const std::function<void(const std::string&)>& notice_;
  Value made_ = Value::dict({});
};

/// `a.b=value` as `{"a": {"b": value}}`.
Result<Value> value_of_set(const std::string& set) {
  const size_t equals = set.find('=');
  if (equals == set.npos || equals == 0)
    return user_error(cat("`--set ", set, "` must be written `--set NAME=VALUE` or `a.b=VALUE`"));
  const std::string text = set.substr(equals + 1);
  Result<Value> read = read_yaml(text, "--set", YamlSchema::go_yaml_v2);
  Value value = read && !(read->is_null() && text != "null") ? *read : Value(text);
  const std::vector<std::string_view> path = split(std::string_view(set).substr(0, equals), '.');
  for (auto key = path.rbegin(); key != path.rend(); ++key) {
    if (key->empty())
      return user_error(cat("`--set ", set, "` has an empty name in its path"));
    value = Value::dict({{Name(*key), std::move(value)}});
  }
  return value;
}

}  // namespace

Result<std::string> merged_arguments(std::span<const ArgumentsPart> parts,
                                     std::span<const std::string> sets,
                                     const std::function<void(const std::string&)>& notice) {
  Merger merger(notice);
  for (const ArgumentsPart& part : parts)
    merger.add(TRY(mapping_of(part)),
               part.from.empty() ? std::string_view("the command line") : part.from);
  for (const std::string& set : sets)
    merger.add(TRY(value_of_set(set)), "--set");
  return write_json(merger.made());
}

}  // namespace fettle

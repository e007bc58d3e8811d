#include "packages/arguments.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "value/json.h"
#include "value/whole.h"
#include "value/yaml.h"

namespace fettle {
namespace {

/// Whether 64 bits of a real can hold every number, which is what Go asks of JSON.
bool is_within_reals(const Value& value) {
  switch (value.type()) {
    case Value::Type::real:
      return std::isfinite(value.real());
    case Value::Type::integer:
      return value.integer() || std::isfinite(whole::to_real(value.integer_digits()));
    case Value::Type::list:
      return std::ranges::all_of(value.items(), is_within_reals);
    case Value::Type::dict:
      return std::ranges::all_of(value.entries(), is_within_reals, &Entry::value);
    default:
      return true;
  }
}

/// `n=3` is what other tools take.
Error not_a_mapping(std::string_view text, std::string_view file) {
  const size_t equals = text.find('=');
  const bool is_pair = file.empty() && equals != text.npos && equals > 0 &&
                       text.find_first_of(" \n:{[\"") == text.npos;
  return user_error(cat("the arguments must be a mapping",
                        is_pair ? cat("; `--set ", text, "` sets one of them") : std::string()),
                    {std::string(file), 0, 0});
}

/// Whether a text was meant as JSON, so that the error says why it is none.
bool means_json(std::string_view text, std::string_view file) {
  const std::string_view begin = trim(text);
  return file.ends_with(".json") ||
         (begin.starts_with('{') && trim(begin.substr(1)).starts_with('"'));
}

/// Which tells more than a comma that is no JSON.
bool is_duplicate(const Error& error) {
  return error.message.find("occurs twice") != std::string::npos;
}

}  // namespace

Result<std::string> arguments_as_json(std::string_view text, std::string_view file) {
  const Result<Value> json = read_json(text, file, Duplicates::last_wins);
  // For Go, a text that begins with a byte order mark is no JSON.
  const bool is_marked = text.starts_with("\xEF\xBB\xBF");
  if (json && json->is_dict() && is_within_reals(*json) && !is_marked)
    return std::string(text);
  const Result<Value> yaml = read_yaml(text, file, YamlSchema::go_yaml_v2);
  if (yaml && yaml->is_dict())
    return write_json(*yaml);
  if (yaml && yaml->is_null())
    return std::string("{}");
  const bool tells_json =
      yaml ? file.ends_with(".json") : means_json(text, file) && !is_duplicate(yaml.error());
  if (!json && tells_json && !trim(text).empty())
    return Error(json.error()).context("reading the arguments");
  return yaml ? not_a_mapping(trim(text), file)
              : Error(yaml.error()).context("reading the arguments");
}

}  // namespace fettle

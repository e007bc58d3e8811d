#include "value/yaml.h"

#include "base/text.h"
#include "value/go_yaml.h"
#include "value/json.h"
#include "value/tree_fold.h"
#include "value/yaml_scalar.h"
#include "value/yaml_tree.h"

namespace fettle {
namespace {

/// Whether a text stands for itself when written without quotes.
bool is_plain(std::string_view text) {
  if (text.empty() || !(plain_scalar(text, YamlSchema::core) == Value(text)) ||
      !(plain_scalar(text, YamlSchema::go_yaml_v2) == Value(text)))
    return false;
  if (text.find_first_of("\n\t\"\\") != text.npos || text.find(": ") != text.npos ||
      text.find(" #") != text.npos)
    return false;
  return std::string_view("-?:,[]{}#&*!|>'\"%@` ").find(text.front()) == std::string_view::npos &&
         text.back() != ' ' && text.back() != ':' &&
         static_cast<unsigned char>(text.front()) >= 0x20;
}

void append_scalar(std::string& yaml, const Value& value) {
  if (value.is_text() && is_plain(value.text()))
    yaml += value.text().view();
  else
    yaml += write_json(value);
}

void append_yaml(std::string& yaml, const Value& value, size_t indent);

void append_below(std::string& yaml, const Value& value, size_t indent) {
  const bool block =
      (value.is_dict() && !value.entries().empty()) || (value.is_list() && !value.items().empty());
  yaml += block ? "\n" : " ";
  if (block) {
    append_yaml(yaml, value, indent);
  } else {
    append_scalar(yaml, value);
    yaml += "\n";
  }
}

void append_yaml(std::string& yaml, const Value& value, size_t indent) {
  if (value.is_dict() && !value.entries().empty()) {
    for (const Entry& entry : value.entries()) {
      yaml.append(indent, ' ');
      append_scalar(yaml, Value(entry.key));
      yaml += ":";
      append_below(yaml, entry.value, indent + 2);
    }
  } else if (value.is_list() && !value.items().empty()) {
    for (const Value& item : value.items()) {
      yaml.append(indent, ' ').append("-");
      append_below(yaml, item, indent + 2);
    }
  } else {
    yaml.append(indent, ' ');
    append_scalar(yaml, value);
    yaml += "\n";
  }
}

YamlOptions reading_of(YamlSchema schema) {
  const bool is_strict = schema == YamlSchema::core || schema == YamlSchema::go_yaml_v2;
  return {.schema = schema, .duplicates = is_strict ? Duplicates::error : Duplicates::last_wins};
}

/// Keeps what JSON can hold of a value.
struct JsonMaker : ValueMaker {
  Value scalar(const Value& value) {
    Result<Value> made = go_yaml::from_json(value);
    if (!made)
      failure = made.error();
    return made ? std::move(*made) : Value();
  }
  Status failure{};
};

Result<Value> value_by(YamlSchema schema, const TreeNode& root, std::string_view file) {
  if (schema != YamlSchema::go_yaml_v2)
    return value_of(root);
  JsonMaker maker;
  std::unordered_map<const TreeNode*, Value> shared;
  Value value = fold_tree(root, maker, shared);
  if (!maker.failure)
    return user_error(cat("invalid YAML: ", maker.failure.error().message),
                      {std::string(file), 0, 0});
  return value;
}

Result<std::vector<Value>> values(std::string_view text, std::string_view file,
                                  const YamlOptions& reading) {
  std::vector<Value> found;
  for (const Tree& tree : TRY(read_yaml_trees(text, file, reading)))
    found.push_back(TRY(value_by(reading.schema, tree.root(), file)));
  return found;
}

}  // namespace

Result<std::vector<Value>> read_yaml_documents(std::string_view text, std::string_view file,
                                               YamlSchema schema) {
  return values(text, file, reading_of(schema));
}

Result<Value> read_yaml(std::string_view text, std::string_view file, YamlSchema schema) {
  YamlOptions reading = reading_of(schema);
  reading.only_first = schema == YamlSchema::go_yaml_v2;
  std::vector<Value> found = TRY(values(text, file, reading));
  if (found.size() > 1)
    return user_error("invalid YAML: one document is expected, there are several",
                      {std::string(file), 0, 0});
  return found.empty() ? Value() : std::move(found.front());
}

std::string write_yaml(const Value& value) {
  std::string yaml;
  append_yaml(yaml, value, 0);
  return yaml;
}

}  // namespace fettle

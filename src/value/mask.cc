#include "value/mask.h"

#include <algorithm>
#include <cctype>

#include "base/http.h"
#include "base/text.h"
#include "value/json.h"
#include "value/quoted.h"
#include "value/yaml.h"

namespace fettle {
namespace {

constexpr size_t shortest = 4;       ///< that is looked for in text
constexpr size_t shortest_line = 8;  ///< of a secret of several lines

constexpr std::string_view words[] = {"password", "token", "secret", "key", "credential"};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }

/// `dbPassword` at `P`, `APIToken` at `T`.
bool begins_word(std::string_view name, size_t i) {
  if (i == 0 || !is_letter(name[i - 1]))
    return true;
  return is_upper(name[i]) &&
         (is_lower(name[i - 1]) || (i + 1 < name.size() && is_lower(name[i + 1])));
}

bool is_secret_word(std::string_view word) {
  const std::string plain = lower_case(word);
  return std::ranges::any_of(
      words, [&](std::string_view secret) { return plain == secret || plain == cat(secret, "s"); });
}

bool is_text_of_one(const Value& value) {
  return value.is_text() || value.is_integer() || value.is_real();
}

Value map_items(const Value& value, const std::function<Value(const Value&)>& change) {
  std::vector<Value> items;
  for (const Value& item : value.items())
    items.push_back(change(item));
  return Value::list(std::move(items));
}

Value map_entries(const Value& value,
                  const std::function<Value(std::string_view, const Value&)>& change) {
  std::vector<Entry> entries;
  for (const Entry& entry : value.entries())
    entries.push_back({entry.key, change(entry.key, entry.value)});
  return Value::dict(std::move(entries));
}

size_t skip_spaces(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t'))
    ++at;
  return at;
}

/// A line with the texts hidden that stand behind a quoted name and a colon.
std::string masked_pairs(std::string_view line) {
  std::string hidden;
  size_t done = 0;
  for (size_t open = line.find('"'); open != line.npos; open = line.find('"', open)) {
    const size_t end = end_of_quoted(line, open);
    if (end == line.npos)
      break;
    const size_t colon = skip_spaces(line, end);
    const size_t begin =
        colon < line.size() && line[colon] == ':' ? skip_spaces(line, colon + 1) : line.npos;
    const bool is_pair = begin < line.size() && line[begin] == '"';
    const size_t value_end = is_pair ? end_of_quoted(line, begin) : line.npos;
    if (value_end == line.npos || !is_secret_name(line.substr(open + 1, end - open - 2))) {
      open = end;
      continue;
    }
    hidden += cat(line.substr(done, begin + 1 - done), masked);
    done = value_end - 1;
    open = value_end;
  }
  return hidden + std::string(line.substr(done));
}

/// `  - db_password: x` as YAML has it, else pairs of quoted texts.
std::string masked_line(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == line.npos || colon == 0)
    return masked_pairs(line);
  const std::string_view before = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
  const size_t begin = before.find_first_not_of(" \t-'\"");
  const bool is_name =
      begin != before.npos && std::ranges::all_of(before.substr(begin), [](char c) {
        return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_' ||
               c == '-' || c == '.' || c == '\'' || c == '"';
      });
  if (is_name && is_secret_name(before) && !trim(line.substr(colon + 1)).empty())
    return cat(line.substr(0, colon + 1), " ", masked);
  return masked_pairs(line);
}

/// The word of a command: `NAME=VALUE`, or a document with names.
std::string masked_word(const std::string& word) {
  const size_t equals = word.find('=');
  const size_t document = word.find_first_of("{:\n");
  if (equals != word.npos && equals < document && is_secret_name(word.substr(0, equals)) &&
      !word.starts_with('-'))
    return cat(word.substr(0, equals + 1), masked);
  if (equals != word.npos && equals < document && word.starts_with('-'))
    return cat(word.substr(0, equals + 1), masked_word(word.substr(equals + 1)));
  if (document == word.npos)
    return word;
  const auto documents = read_yaml_documents(word, {}, YamlSchema::go_yaml_v2);
  if (!documents || documents->size() != 1 || !documents->front().is_dict())
    return mask_named_text(word);
  const Value hidden = mask_named(documents->front());
  return hidden == documents->front() ? word : write_json(hidden);
}

/// A URL, also as the value of an option, without what may hold a key to it.
std::string without_query(const std::string& word) {
  const size_t begin = word.starts_with("--") ? word.find('=') + 1 : 0;
  const std::string_view value = std::string_view(word).substr(begin);
  for (const char* scheme : {"http://", "https://", "postgres://", "postgresql://"})
    if (value.starts_with(scheme))
      return cat(word.substr(0, begin), shown_url(value));
  return word;
}

bool has_variables(const Value& value) {
  if (value.is_list())
    return std::ranges::any_of(value.items(), has_variables);
  return value.is_dict() && std::ranges::any_of(value.entries(), [](const Entry& entry) {
           return holds_variables(entry.key) || has_variables(entry.value);
         });
}

/// Whether it is one of a list of variables, as Kubernetes writes them: its name is a value.
bool is_variable(const Value& item) { return item.is_dict() && item.at("name").is_text(); }

/// A variable that refers to a value elsewhere has none to hide.
Value masked_variable(const Value& item) {
  if (!is_variable(item))
    return mask_named(item);
  const bool is_secret = is_secret_name(item.text_at("name"));
  return map_entries(item, [&](std::string_view name, const Value& inside) {
    return is_secret && name == "value" && !inside.is_null() ? Value(masked) : inside;
  });
}

/// Masks variables that users name, in a dict or in a list.
Value masked_variables(const Value& variables) {
  return variables.is_list() ? map_items(variables, masked_variable) : mask_named(variables);
}

Value with_masked_variables(const Value& value) {
  if (value.is_list())
    return map_items(value, with_masked_variables);
  if (!value.is_dict())
    return value;
  return map_entries(value, [](std::string_view name, const Value& inside) {
    return holds_variables(name) ? masked_variables(inside) : with_masked_variables(inside);
  });
}

}  // namespace

bool holds_variables(std::string_view name) {
  return name == "env" || name == "env_vars" || name == "environment" || name == "headers" ||
         name == "fields";
}

bool is_secret_name(std::string_view name) {
  for (size_t i = 0; i < name.size(); ++i) {
    if (!is_letter(name[i]) || !begins_word(name, i))
      continue;
    size_t end = i + 1;
    while (end < name.size() && is_letter(name[end]) && !begins_word(name, end))
      ++end;
    if (is_secret_word(name.substr(i, end - i)))
      return true;
  }
  return false;
}

Value mask_named(const Value& value) {
  if (value.is_list())
    return map_items(value, [](const Value& item) { return mask_named(item); });
  if (!value.is_dict())
    return value;
  return map_entries(value, [](std::string_view name, const Value& inside) {
    const bool is_nothing = inside.is_null() || inside.is_bool();
    return is_secret_name(name) && !is_nothing ? Value(masked) : mask_named(inside);
  });
}

Value mask_variables(const Value& value) {
  return has_variables(value) ? with_masked_variables(value) : value;
}

std::string mask_named_text(std::string_view text) {
  if (text.find(':') == text.npos)
    return std::string(text);
  std::string hidden;
  for (const std::string_view line : split(text, '\n'))
    hidden += cat(hidden.empty() && line.data() == text.data() ? "" : "\n", masked_line(line));
  return hidden;
}

std::string mask_command(const std::vector<std::string>& given) {
  std::vector<std::string> hidden;
  for (const std::string& word : given)
    hidden.push_back(masked_word(without_query(word)));
  return join(hidden, " ");
}

void Mask::add(std::string_view secret) {
  const std::string_view core = trim(secret);
  if (core.empty() || core == masked)
    return;
  if (core.size() < shortest || std::ranges::find(secrets_, core) != secrets_.end())
    return;
  secrets_.emplace_back(core);
  const auto add_form = [this](std::string form) {
    if (form.size() >= shortest && std::ranges::find(forms_, form) == forms_.end())
      forms_.push_back(std::move(form));
  };
  add_form(std::string(core));
  const std::string json = write_json(Value(core));
  add_form(json.substr(1, json.size() - 2));
  add_form(percent_encode(core));
  // A report of single lines may also contain single lines of a key.
  if (core.find('\n') != core.npos)
    for (const std::string_view line : split(core, '\n'))
      if (trim(line).size() >= shortest_line)
        add_form(std::string(trim(line)));
  std::ranges::stable_sort(forms_, std::greater<>(), &std::string::size);
}

void Mask::add_leaves(const Value& value) {
  if (value.is_secret())
    add_leaves(value.inside());
  else if (value.is_list())
    for (const Value& item : value.items())
      add_leaves(item);
  else if (value.is_dict())
    for (const Entry& entry : value.entries())
      add_leaves(entry.value);
  else if (value.is_deferred())
    for (const Part& part : value.parts())
      add(part.text);
  else if (is_text_of_one(value))
    add(to_text(value));
}

void Mask::add_named(const Value& value) {
  if (value.is_list())
    for (const Value& item : value.items())
      add_named(item);
  if (!value.is_dict())
    return;
  for (const Entry& entry : value.entries())
    if (is_secret_name(entry.key))
      add_leaves(entry.value);
    else
      add_named(entry.value);
}

void Mask::add_variables(const Value& value) {
  if (value.is_list())
    for (const Value& item : value.items())
      add_variables(item);
  if (!value.is_dict())
    return;
  for (const Entry& entry : value.entries()) {
    if (!holds_variables(entry.key) || !entry.value.is_list()) {
      add_variables(entry.value);
      continue;
    }
    for (const Value& item : entry.value.items())
      if (is_variable(item) && is_secret_name(item.text_at("name")))
        add_leaves(item.at("value"));
  }
}

void Mask::add_marked(const Value& value) {
  if (!value.has_secret())
    return;
  if (value.is_secret())
    add_leaves(value.inside());
  else if (value.is_list())
    for (const Value& item : value.items())
      add_marked(item);
  else if (value.is_dict())
    for (const Entry& entry : value.entries())
      add_marked(entry.value);
}

bool Mask::has_secret(std::string_view text) const {
  return std::ranges::any_of(forms_,
                             [&](const std::string& form) { return text.find(form) != text.npos; });
}

std::string Mask::text(std::string_view text) const {
  std::string hidden(text);
  for (const std::string& form : forms_)
    if (hidden.find(form) != hidden.npos)
      hidden = replace_all(hidden, form, masked);
  return hidden;
}

Value Mask::value(const Value& value) const {
  if (forms_.empty() && !value.has_secret())
    return value;
  if (value.is_secret())
    return Value(masked);
  if (value.is_text())
    return has_secret(value.text()) ? Value(text(value.text())) : value;
  if (is_text_of_one(value))
    return std::ranges::find(forms_, to_text(value)) == forms_.end() ? value : Value(masked);
  if (value.is_deferred()) {
    const std::string shown = read_json(write_json(value)).value_or(Value("")).text().str();
    return has_secret(shown) ? Value(text(shown)) : value;
  }
  if (value.is_list())
    return map_items(value, [this](const Value& item) { return this->value(item); });
  if (value.is_dict())
    return map_entries(
        value, [this](std::string_view, const Value& inside) { return this->value(inside); });
  return value;
}

Error Mask::error(Error error) const {
  error.message = text(error.message);
  error.excerpt = text(error.excerpt);
  for (std::string& doing : error.trace)
    doing = text(doing);
  return error;
}

Value reveal(const Value& value) {
  if (!value.has_secret())
    return value;
  if (value.is_secret())
    return reveal(value.inside());
  if (value.is_list())
    return map_items(value, reveal);
  return map_entries(value, [](std::string_view, const Value& inside) { return reveal(inside); });
}

}  // namespace fettle

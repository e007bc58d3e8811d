#include "model/export/references.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "model/export/attributes.h"
#include "model/plugins/python.h"
#include "model/program/text_form.h"
#include "model/std/json.h"
#include "value/python.h"

namespace fettle::model {
namespace {

/// An argument of a reference or of a mutator.
struct Part {
  std::string_view type, name;
  Value content;
  std::string json;  ///< of the content, as Python writes it

  std::string_view key() const { return type == "literal" ? "value" : "id"; }
};

Part text_part(std::string_view type, std::string_view name, const std::string& text) {
  return {type, name, text, python::json_text(text)};
}

Value value_of(std::string_view type, std::span<const Part> parts, std::string_view id) {
  std::vector<Value> arguments;
  for (const Part& part : parts)
    arguments.push_back(
        Value::dict({{"type", part.type}, {"name", part.name}, {part.key(), part.content}}));
  std::vector<Entry> entries{{"type", type}, {"args", Value::list(std::move(arguments))}};
  if (!id.empty())
    entries.push_back({"id", id});
  return Value::dict(std::move(entries));
}

/// The UUID of version 3 from the MD5 of the JSON with sorted keys.
std::string id_of_parts(std::string_view type, std::span<const Part> parts) {
  std::vector<std::string> arguments;
  for (const Part& part : parts) {
    const std::string content = cat("\"", part.key(), "\": ", part.json);
    const std::string name = cat("\"name\": \"", part.name, "\", \"type\": \"", part.type, "\"");
    arguments.push_back(part.key() == "id" ? cat("{", content, ", ", name, "}")
                                           : cat("{", name, ", ", content, "}"));
  }
  const auto bytes_of = [](std::string_view hex) {
    std::string bytes;
    for (size_t i = 0; i < hex.size(); i += 2)
      bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
    return bytes;
  };
  constexpr std::string_view object_ids = "6ba7b8129dad11d180b400c04fd430c8";
  const std::string digest =
      md5_hex(cat("{\"args\": [", join(arguments, ", "), "], \"type\": \"", type, "\"}"));
  std::string hex = md5_hex(cat(bytes_of(object_ids), bytes_of(digest)));
  hex[12] = '3';
  const int variant = std::stoi(hex.substr(16, 1), nullptr, 16);
  hex[16] = "89ab"[variant & 3];
  const std::string_view all = hex;
  return cat(all.substr(0, 8), "-", all.substr(8, 4), "-", all.substr(12, 4), "-",
             all.substr(16, 4), "-", all.substr(20));
}

Part null_part(std::string_view name) { return {"literal", name, Value(), "null"}; }

std::string key_path(std::string_view key) {
  std::string made = "'";
  for (const char c : key)
    made += c == '\'' ? "\\'" : std::string(1, c);
  return made + "'";
}

}  // namespace

bool has_reference(const Datum& datum) {
  if (datum.tag == Tag::list)
    return std::ranges::any_of(datum.list->items, has_reference);
  if (datum.tag == Tag::dict)
    return std::ranges::any_of(datum.dict->entries,
                               [](const DictEntry& entry) { return has_reference(entry.value); });
  return datum.tag == Tag::reference;
}

Result<Value> References::take(const Datum& datum, const std::string& path) {
  if (datum.tag == Tag::reference) {
    places_.emplace_back(TRY(add(*datum.reference)), path);
    return Value();
  }
  if (datum.tag == Tag::list) {
    std::vector<Value> items;
    for (const Datum& item : datum.list->items)
      items.push_back(TRY(take(item, cat(path, "[", items.size(), "]"))));
    return Value::list(std::move(items));
  }
  if (datum.tag == Tag::dict) {
    std::vector<Entry> entries;
    for (const DictEntry& entry : datum.dict->entries)
      entries.push_back({fettle::Name(entry.key->view),
                         TRY(take(entry.value, cat(path, ".", key_path(entry.key->view))))});
    return Value::dict(std::move(entries));
  }
  return attribute_value(datum);
}

void References::clear() {
  found_.clear();
  places_.clear();
}

/// Notes a reference of a class that a module defines: its Python knows what it is made of.
Result<std::string> References::add_of_python(const Reference& reference) {
  Python& python = *model_.program.python;
  const auto answer = [&](const Value& asked) -> Result<Value> {
    if (const Value* number = asked.find("reference"))
      return of_number(model_, id_of_, *number);
    return user_error("an export does not answer this");
  };
  const Value told = TRY(python.ask(Value::dict({{"serialize", reference.arguments[0].view()}}),
                                    model_.program.plugin_time_limit, answer));
  for (const Value& one : told.at("references").items())
    found_.try_emplace(to_text(one.at("id")), one);
  return to_text(told.at("made"));  // `id` is of the protocol
}

/// Notes a reference, after those from which it is made.
Result<std::string> References::add(const Reference& reference) {
  if (reference.is_of_python)
    return add_of_python(reference);
  const auto argument = [&](std::string_view name, const Datum& datum) -> Result<Part> {
    if (datum.tag == Tag::reference)
      return text_part("reference", name, TRY(add(*datum.reference)));
    std::string json, why;
    if (datum.tag == Tag::list || datum.tag == Tag::dict ||
        !write_python_json(model_.program, datum, json, why))
      return user_error(cat("Unable to serialize argument `", name, "` of `",
                            text_of(model_.program, Datum::of(&reference)), "` with value ",
                            text_of(model_.program, datum)));
    return Part{"literal", name, TRY(attribute_value(datum)), std::move(json)};
  };
  std::string_view type = "std::Environment";
  std::vector<Part> parts;
  if (reference.kind == "FactReference") {
    type = "std::FactReference";
    parts.push_back(text_part("literal", "environment", "None"));
    parts.push_back(
        text_part("literal", "resource_id", TRY(id_of_(*reference.arguments[0].instance))));
    parts.push_back(TRY(argument("fact_name", reference.arguments[1])));
    parts.push_back(null_part("mocked_facts"));
  } else if (reference.kind == "IntReference") {
    type = "std::IntReference";
    parts.push_back(TRY(argument("value", reference.arguments[0])));
  } else {
    parts.push_back(TRY(argument("name", reference.arguments[0])));
  }
  const std::string id = id_of_parts(type, parts);
  found_.try_emplace(id, value_of(type, parts, id));
  return id;
}

Result<Value> References::of_number(const Model& model, const IdOf& id_of, const Value& number) {
  const int64_t at = number.is_integer() ? number.integer().value_or(-1) : -1;
  const Datum* const found =
      at < 0 ? nullptr : model.program.python->reference(static_cast<size_t>(at));
  if (found == nullptr)
    return user_error("there is no such reference");
  References references(model, id_of);
  TRY(references.take(*found, "value"));
  return Value::dict(
      {{"id", references.places().front().first}, {"references", references.references()}});
}

Value References::references() const {
  std::vector<Value> made;
  for (const auto& [id, reference] : found_)
    made.push_back(reference);
  return Value::list(std::move(made));
}

Value References::mutators(std::string_view resource) const {
  constexpr std::string_view type = "core::Replace";
  std::map<std::string, Value> made;
  for (const auto& [id, path] : places_) {
    const Part parts[] = {text_part("resource", "resource", std::string(resource)),
                          text_part("reference", "value", id),
                          text_part("literal", "destination", path)};
    made.try_emplace(id_of_parts(type, parts), value_of(type, parts, {}));
  }
  std::vector<Value> in_order;
  for (auto& [id, mutator] : made)
    in_order.push_back(std::move(mutator));
  return Value::list(std::move(in_order));
}

}  // namespace fettle::model

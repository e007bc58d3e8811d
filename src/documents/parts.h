#pragma once
/// Documents: what verbs report, as a `Value`, which prints as JSON and as YAML.
///
/// Every face tells the same reports. A face that makes documents where it prints them sooner or
/// later spells a field in its own way, leaves out what another has, or shows what another hides,
/// and a program that reads them finds out. So a document is made here and nowhere else, between
/// the verbs and the faces: a face only prints or sends it, and knows none of its fields.
///
/// * Shapes are promises. `docs/json.md` has all of them; `docs/cli.md` says what each field means.
///   A field may be added; one that goes or changes its meaning raises `schema`, which a face adds.
/// * What is unknown, unset or does not apply is null, and not an empty text or a zero. A field is
///   left out only where a page says when it is there.
/// * There is no secret in a document unless the workplace shows them: attributes come through
///   `shown`, and texts as verbs have hidden them. A face hides once more what it knows as secret.
/// * A document depends on its report alone. Flags, colours and widths are the face's.
/// * Dicts are sorted: the order in which fields are written here means nothing.
///
/// `document_of` makes the whole document of a report, and `value_of` a part of others: an item of a
/// list, a line of `jsonl`. A new document is one of these functions, and a test runs the command
/// and compares its shape with the page.

#include <string>
#include <string_view>
#include <vector>

#include "core/key.h"
#include "value/value.h"

namespace fettle {

template <typename Text>
Value text_or_null(const Text& text) {
  return text.empty() ? Value() : Value(text);
}

inline Value value_of(const std::string& text) { return text; }
inline Value value_of(const Name& name) { return name; }
/// `KIND/NAME`, as `show` and `why` accept it.
inline Value value_of(const Key& key) { return to_string(key); }

/// A list of the values that `value_of` makes from each.
template <typename Items>
Value list_of(const Items& items) {
  std::vector<Value> values;
  values.reserve(items.size());
  for (const auto& item : items)
    values.push_back(value_of(item));
  return Value::list(std::move(values));
}

/// Several reports make a list.
template <typename Report>
Value document_of(const std::vector<Report>& reports) {
  return list_of(reports);
}

/// What has become of a named thing: `name`, `status`.
Value status_document(std::string_view name, std::string_view status);
/// A folder that was filled: `folder`, and `name`, that of the package in it, when there is one.
Value folder_document(const std::string& folder, const std::string& name = {});
/// Something that is only said: `note`.
Value note_document(std::string_view note);

}  // namespace fettle

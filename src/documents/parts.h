#pragma once
/// Documents: what verbs report, as a `Value`, which prints as JSON and as YAML.
///
/// Every face tells the same reports. A face that makes its documents where it prints them spells a
/// field in its own way sooner or later, leaves out what another has, or shows what another hides;
/// and a program that reads them finds out. So a document is made here and nowhere else, between
/// the verbs and the faces: a face only prints or sends it, and knows no field of it.
///
/// * Shapes are promises: `docs/json.md` has all of them, `docs/cli.md` says what their fields mean.
///   A field may be added; one that goes or changes its meaning raises `schema`, which a face adds.
/// * What is unknown, unset or does not apply is null, and not an empty text or a zero. Only what a
///   page says to be there at times is left out.
/// * No secret is in a document unless the workplace shows them: attributes come through `shown`,
///   texts as verbs have hidden them. A face hides once more what it knows to be secret.
/// * A document depends on its report alone. Flags, colours and widths are the face's.
/// * Dicts are sorted: the order in which fields are written here means nothing.
///
/// `document_of` makes the whole document of a report, `value_of` what stands in others: an item of
/// a list, a line of `jsonl`.

#include <string>
#include <vector>

#include "core/key.h"
#include "value/value.h"

namespace fettle {

Value text_or_null(const std::string& text);
Value names_value(const std::vector<Name>& names);
Value texts_value(const std::vector<std::string>& texts);
/// Each as `KIND/NAME`.
Value keys_value(const std::vector<Key>& keys);

}  // namespace fettle

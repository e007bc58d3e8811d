#pragma once
/// Values as expressions of CEL, the language of admission policies.
///
/// Whoever writes a workload chooses its texts, and a text must not end its literal: then it would
/// be code that a server runs. A list or dict of CEL has one type of items unless each of them says
/// that it may be anything (`dyn`), so they all do.

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/value.h"

namespace fettle::cluster {

/// A literal, in double quotes.
std::string cel_text(std::string_view text);
/// A list of texts.
std::string cel_texts(std::span<const Name> texts);
/// A literal of any JSON. Error (`Blame::user`): a number of more than 53 bits, since a server
/// passes the results of expressions on as floating-point numbers.
Result<std::string> cel_literal(const Value& value);

/// An expression of the JSON of a text: `expression` is evaluated to it.
std::string cel_json_text(std::string_view expression);

}  // namespace fettle::cluster

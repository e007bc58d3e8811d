#pragma once
/// Which path a state manages. One path has one owner: two states that both say what is to be there
/// would undo each other's work in every run.

#include <optional>
#include <string>

#include "core/key.h"
#include "value/value.h"

namespace fettle::states {

/// The path of a file, folder or link, or of what `data.write` writes, in one spelling (`/a//b/` is
/// `/a/b`), by the kind and the attributes of its resource. None: it manages none, or its path is a
/// reference that is not resolved yet.
std::optional<std::string> managed_path(const Key& key, const Value& attributes);

/// That another state manages a path, for people.
std::string manages_too(const Key& owner, std::string_view path);

}  // namespace fettle::states

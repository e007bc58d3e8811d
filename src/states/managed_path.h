#pragma once
/// The path that a state manages. Each path has one owner: two states that both say what has to be
/// there would undo each other's work in every run.

#include <optional>
#include <string>

#include "core/key.h"
#include "core/payload.h"
#include "value/value.h"

namespace fettle::states {

/// The path of a file, folder or link, or of the file that `data.write` writes, in one spelling
/// (`/a//b/` is `/a/b`), from the kind and the attributes of its resource. None: it manages no
/// path, or its path is a reference that is not resolved yet.
std::optional<std::string> managed_path(const Key& key, const Attributes& attributes);

/// Says that another state manages a path, for people.
std::string manages_too(const Key& owner, std::string_view path);

}  // namespace fettle::states

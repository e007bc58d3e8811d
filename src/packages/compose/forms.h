#pragma once
/// Compose accepts several forms for most keys: `ports: ["80:80"]` or a list of mappings,
/// `environment` as a list or a mapping. Files that use different forms are hard to merge, so each
/// is rewritten in the long forms first.

#include "packages/compose/node.h"

namespace fettle::compose {

/// Rewrites a document in the long forms. Paths become relative to the folder of the project;
/// `base` is the folder within it that they are written from (empty: the project's own). Errors: a
/// part in none of its forms, a key that compose does not know (with a suggestion).
Status bring_into_form(Node& document, const std::string& base);

/// A path of a file in `base` as one from the folder of the project: `./x`, `../x` or `.`. Absolute
/// paths, and those that begin with `~`, stay as they are.
std::string rebased(std::string_view path, std::string_view base);
bool is_relative_path(std::string_view path);

/// Why a key of a service has no effect, for the warning; empty: it has one.
std::string_view ineffective(std::string_view key);

}  // namespace fettle::compose

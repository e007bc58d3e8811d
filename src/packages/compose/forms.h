#pragma once
/// Compose has several forms for most of what it says: `ports: ["80:80"]` or a list of mappings,
/// `environment` as a list or a mapping. Merging files that use different ones is easy when all have
/// one form, so each file is brought into the long ones before it is merged.

#include "packages/compose/node.h"

namespace fettle::compose {

/// Brings a document into the long forms. Paths become relative to the folder of the project:
/// `base` is the folder that they are written from, within it (empty: itself). Errors: what has none
/// of the forms that it may have, keys that compose does not know (with a suggestion).
Status bring_into_form(Node& document, const std::string& base);

/// A path of a file in `base`, from the folder of the project: `./x`, `../x`, `.`, or an absolute
/// one, and what begins with `~` as it is.
std::string rebased(std::string_view path, std::string_view base);
bool is_relative_path(std::string_view path);

/// What a service may have, and of which one is warned that it has no effect; empty: it has one.
std::string_view ineffective(std::string_view key);

}  // namespace fettle::compose

#pragma once
/// Recognises something that was given as a package and is not one: what it seems to be, and which
/// command is for it.

#include "base/closed_folder.h"

namespace fettle {

/// The purpose of the call. A user who wants to see what would be done gets a command that shows
/// it, and none that does it.
enum class Purpose { act, preview };

/// Whether a file is one of compose: by its name, or by what it says.
bool looks_like_compose(const std::string& path);
/// The advice that follows "is not a package" for a file; empty: nothing is known about it.
std::string advice_on_file(const std::string& path, Purpose purpose);
/// The same for a folder without a `kurtosis.yml`: `inside` a tree that people know as `shown`.
std::string advice_on_folder(const ClosedFolder& tree, const std::string& inside,
                             std::string_view shown, Purpose purpose);
/// `; packages in it: …`, or nothing when there are none.
std::string packages_in(const ClosedFolder& tree, const std::string& inside, std::string_view shown,
                        Purpose purpose);

}  // namespace fettle

#pragma once
/// What is given as a package and is something else: what it seems to be, and the command for it.

#include "base/closed_folder.h"

namespace fettle {

/// What somebody wants to be done with it. Who wants to see what would be done is told a command
/// that shows it, and none that does it.
enum class Purpose { act, preview };

/// What to say behind "is not a package" of a file; empty: nothing is known about it.
std::string advice_on_file(const std::string& path, Purpose purpose);
/// The same of a folder without a `kurtosis.yml`: `inside` a tree, which people know as `shown`.
std::string advice_on_folder(const ClosedFolder& tree, const std::string& inside,
                             std::string_view shown, Purpose purpose);
/// `; packages in it: …`, or nothing when there are none.
std::string packages_in(const ClosedFolder& tree, const std::string& inside, std::string_view shown,
                        Purpose purpose);

}  // namespace fettle

#pragma once
/// Words for commands that are shown to be typed or pasted.

#include <string>
#include <string_view>

namespace fettle {

/// A word as a shell takes it: in quotes when it needs them.
std::string quoted_for_shell(std::string_view word);

}  // namespace fettle

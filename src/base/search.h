#pragma once
/// Finds texts in texts.
///
/// The standard library compares from each place where a text might begin. Somebody who chooses
/// both texts makes that quadratic: it takes a quarter of an hour to see that five million `x` and
/// a `y` are not among ten million `x`. These take a time that grows with the sum of both lengths.
/// Whoever looks for all places pays for the wanted text at each of them.

#include <string_view>

namespace fettle {

/// The first place at `from` or behind it; `npos`: there is none.
size_t find_text(std::string_view text, std::string_view wanted, size_t from = 0);
/// The last place.
size_t find_last_text(std::string_view text, std::string_view wanted);

}  // namespace fettle

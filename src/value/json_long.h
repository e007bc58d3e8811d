#pragma once
/// Reads JSON whose integers are too long for the library's reader: it refuses any number that a
/// double cannot hold, although it gives all of them out as text. After such a refusal, a text of
/// the same length in which those integers are cut is read once more, and their digits are looked
/// up.

#include <map>
#include <string>
#include <string_view>

namespace fettle {

/// The digits of integers, by where each number ends in the text that the library reads.
using LongIntegers = std::map<size_t, std::string_view>;

/// Cuts each integer of more than 300 digits: blanks stand in place of the rest, so that every
/// offset holds. `integers` refer to `text`.
std::string cut_long_integers(std::string_view text, LongIntegers& integers);

}  // namespace fettle

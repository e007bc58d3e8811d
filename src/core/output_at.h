#pragma once
/// What holes (`value/value.h`) read of what an act left. A path leads into the outputs of a
/// record; behind `@` it leads into what people are shown of a thing, which is what it was made
/// with and, where that says nothing, its outputs. A path may name more than one place
/// (`each_step`); then the answer is a list. Whoever asks for what is not there gets nothing, and
/// says so.

#include <functional>
#include <optional>
#include <string_view>

#include "core/record.h"

namespace fettle {

/// A step of a path that stands for each item of a list: what follows it is read of every item, and
/// the answer is the list of that. No key is written so.
inline constexpr std::string_view each_step = "/~*";

/// As `follow`, for paths that begin with `/`; `each_step` is each item of a list, and a key behind
/// a list is that key of each of its items. None: a step leads nowhere, or so many values would
/// come of it that nobody could keep them.
std::optional<Value> reach(const Value& value, std::string_view path);

/// None: there is no such output. Behind `@` stands the path of what people are shown of a thing:
/// of what it was made with, else of its outputs.
std::optional<Value> output_at(const Record& record, std::string_view path);

/// The same of what a thing is to be made with; `path` begins with `@`.
std::optional<Value> shown_at(const Attributes& attributes, std::string_view path);

/// `value` with its holes filled; `fill` answers the output, or nothing, and the hole stays.
Value fill_with(const Value& value, const std::function<std::optional<Value>(const Output&)>& fill);

}  // namespace fettle

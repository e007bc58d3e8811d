#pragma once
/// The values that holes (`value/value.h`) read from the results of an act. A path leads into the
/// outputs of a record; after `@` it leads into the data that people are shown of a thing: the
/// attributes it was made with and, where these say nothing, its outputs. A path may name more than
/// one place (`each_step`); then the answer is a list. A path to something missing gives nothing,
/// and the caller reports that.

#include <functional>
#include <optional>
#include <string_view>

#include "core/record.h"

namespace fettle {

/// A step of a path that stands for each item of a list: the rest of the path is read from every
/// item, and the answer is the list of the results. No key is written like this.
inline constexpr std::string_view each_step = "/~*";

/// Like `follow`, for paths that begin with `/`; `each_step` is each item of a list, and a key
/// after a list is that key of each of its items. None: a step leads nowhere, or the result would
/// have too many values to keep.
std::optional<Value> reach(const Value& value, std::string_view path);

/// None: there is no such output. After `@` comes a path into the data that people are shown of a
/// thing: the attributes it was made with, else its outputs.
std::optional<Value> output_at(const Record& record, std::string_view path);

/// The same for the wanted attributes; `path` begins with `@`.
std::optional<Value> shown_at(const Attributes& attributes, std::string_view path);

/// `value` with its holes filled; `fill` returns the output, or nothing, and then the hole stays.
Value fill_with(const Value& value, const std::function<std::optional<Value>(const Output&)>& fill);

}  // namespace fettle

#pragma once
/// The forms of answers: tables, colours, JSON documents.

#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/mask.h"

namespace fettle {

/// Everything that is printed from here on goes through the mask, but for `…_as_it_is`.
void hide_in_output(std::shared_ptr<const Mask> mask);

enum class Colour { plain, bold, green, red, yellow, grey, cyan };

/// `text` in a colour, when colours are on.
std::string in(Colour colour, std::string_view text, bool on);

/// Prints to stdout, with a newline. Control characters other than line ends and tabs, and bytes
/// that are no UTF-8, are written `\xNN`: names, comments and excerpts may come from anybody.
void print(std::string_view text);
void print_error(std::string_view text);  ///< the same to stderr
/// The output of a program of users, with whatever is in it.
void print_as_written(std::string_view text);
/// Why the last write to `stream` failed, by `errno`.
Error output_error(std::string_view stream);
/// Held while something is written to a standard stream.
std::mutex& output_mutex();
/// Called then before it is written: whoever draws at the bottom of the terminal takes it away.
void before_output(std::function<void()> hook);
/// Documents are printed as lines from here on: of a list each item, all else as one.
void print_json_in_lines();
/// Indented, to stdout. An object of ours says by `schema` which version of the contract it
/// follows; lists, their items and lines do not.
void print_json(const Value& document);
/// The same without `schema`: for a document whose form an original defines.
void print_json_of_original(const Value& document);
void print_json_line(const Value& document);
/// A dict as `print_json` prints it, without ever holding all of it: `next` gives one entry after
/// another, in the order of their keys.
void print_json_dict(const std::function<std::optional<Entry>()>& next);
void print_as_it_is(std::string_view text);
void print_part(std::string_view text);  ///< the same, without a newline
void print_json_as_it_is(const Value& document);
void print_json_line_as_it_is(const Value& document);
/// A text as it is printed.
std::string hidden(std::string_view text);

/// A text that stands behind something on its line: its further lines are indented by `depth`.
std::string hanging(std::string_view text, size_t depth);

/// Columns as wide as they need, two spaces between; the first row is the heading.
std::string table(const std::vector<std::vector<std::string>>& rows);

/// An error as people read it: place, message, excerpt, and what was being done.
std::string error_text(const Error& error, bool colour);

/// `1 error`, `2 errors`
std::string counted(size_t count, std::string_view what);

/// `1.24 s`, `35 ms`
std::string short_duration(int64_t nanoseconds);

}  // namespace fettle

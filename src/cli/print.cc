#include "cli/print.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/printable.h"
#include "base/text.h"
#include "cli/columns.h"
#include "documents/errors.h"
#include "value/json.h"

namespace fettle {
namespace {

bool is_in_lines = false;
/// The version of the documents in docs/json.md. It is raised when a field goes or changes its
/// meaning.
constexpr int schema_version = 1;
constexpr size_t printed_at_once = 64 * 1024;

std::function<void()> hook_of_output;

void write(std::FILE* file, std::string_view text) {
  const std::lock_guard lock(output_mutex());
  if (hook_of_output)
    hook_of_output();
  std::fwrite(text.data(), 1, text.size(), file);
  std::fputc('\n', file);
  std::fflush(file);
}

std::shared_ptr<const Mask> mask_of_output;

Value hidden_value(const Value& document) {
  return mask_of_output == nullptr ? document : mask_of_output->value(document);
}

/// Prints one document, or each item of a list on a line.
void print_document(const Value& document) {
  if (!is_in_lines)
    write(stdout, write_json(document, {.indent = 2}));
  else if (!document.is_list())
    print_json_line_as_it_is(document);
  else
    for (const Value& item : document.items())
      print_json_line_as_it_is(item);
}

}  // namespace

std::mutex& output_mutex() {
  static std::mutex mutex;
  return mutex;
}

void before_output(std::function<void()> hook) {
  const std::lock_guard lock(output_mutex());
  hook_of_output = std::move(hook);
}

void hide_in_output(std::shared_ptr<const Mask> mask) { mask_of_output = std::move(mask); }

std::string hidden(std::string_view text) {
  return mask_of_output == nullptr ? std::string(text) : mask_of_output->text(text);
}

namespace {

constexpr std::array<std::string_view, 7> colour_codes{
    "\033[0m", "\033[1m", "\033[32m", "\033[31m", "\033[33m", "\033[90m", "\033[36m"};
std::atomic<bool> has_colours = false;

/// The length of the code of one of our colours at the beginning of a text. 0: there is none.
size_t code_at(std::string_view text) {
  if (has_colours)
    for (const std::string_view code : colour_codes)
      if (text.starts_with(code))
        return code.size();
  return 0;
}

/// Texts of users may hold what a terminal obeys: of that only our colours are printed.
std::string shown(std::string_view text) {
  std::string made;
  for (size_t from = 0, at = text.find('\033');; at = text.find('\033', at + 1)) {
    const size_t code = at == text.npos ? 0 : code_at(text.substr(at));
    if (at != text.npos && code == 0)
      continue;
    made += printable_lines(text.substr(from, at == text.npos ? text.npos : at - from));
    if (at == text.npos)
      return made;
    made += text.substr(at, code);
    from = at + code;
  }
}

}  // namespace

std::string in(Colour colour, std::string_view text, bool on) {
  if (!on || colour == Colour::plain)
    return std::string(text);
  has_colours = true;
  return cat(colour_codes[static_cast<size_t>(colour)], text, colour_codes[0]);
}

void print(std::string_view text) { write(stdout, shown(hidden(text))); }
void print_as_written(std::string_view text) { write(stdout, hidden(text)); }
Error output_error(std::string_view stream) {
  const int error = errno;
  if (error == EPIPE)
    return world_error(cat("cannot write to ", stream));
  return world_error(cat("cannot write to ", stream, ": ",
                         error == EBADF ? "it is closed" : lower_case(std::strerror(error))));
}

void print_error(std::string_view text) { write(stderr, shown(hidden(text))); }
void print_json_in_lines() { is_in_lines = true; }
void print_json(const Value& document) { print_json_as_it_is(hidden_value(document)); }
void print_json_of_original(const Value& document) { print_document(hidden_value(document)); }
void print_json_line(const Value& document) { print_json_line_as_it_is(hidden_value(document)); }
void print_json_dict(const std::function<std::optional<Entry>()>& next) {
  std::string text = "{";
  for (bool is_first = true; const std::optional<Entry> entry = next(); is_first = false) {
    text += is_first ? "\n  " : ",\n  ";
    append_json_text(text, entry->key.view());
    text += ": ";
    for (const char c : write_json(hidden_value(entry->value), {.indent = 2})) {
      text += c;
      if (c == '\n')  // of the layout: one in a text is escaped
        text += "  ";
    }
    if (text.size() > printed_at_once) {
      print_part(text);
      text.clear();
    }
  }
  write(stdout, text + (text.size() == 1 ? "}" : "\n}"));
}
void print_as_it_is(std::string_view text) { write(stdout, text); }
void print_part(std::string_view text) {
  const std::lock_guard lock(output_mutex());
  if (hook_of_output)
    hook_of_output();
  std::fwrite(text.data(), 1, text.size(), stdout);
}
void print_json_as_it_is(const Value& document) {
  if (is_in_lines || !document.is_dict()) {
    print_document(document);
    return;
  }
  std::vector<Entry> entries(document.entries().begin(), document.entries().end());
  entries.push_back({"schema", schema_version});
  print_document(Value::dict(std::move(entries)));
}
void print_json_line_as_it_is(const Value& document) { write(stdout, write_json(document)); }

std::string hanging(std::string_view text, size_t depth) {
  return replace_all(std::string(text), "\n", cat("\n", std::string(depth, ' ')));
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += row[i] + std::string(i + 1 < row.size() ? widths[i] - width_of(row[i]) + 2 : 0, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    text += cat(text.empty() ? "" : "\n", line);
  }
  return text;
}

std::string error_text(const Error& error, bool colour) {
  std::string text = in(Colour::red, "error: ", colour);
  if (const std::string where = to_string(error.where); !where.empty())
    text += cat(where, ": ");
  text += error.message;
  if (!error.excerpt.empty())
    text += cat("\n", error.excerpt);
  for (const std::string& doing : trace_of(error))
    text += cat("\n  ", doing);
  if (error.blame == Blame::bug)
    text += "\nthis is a bug in fettle";
  return text;
}

std::string short_duration(int64_t nanoseconds) {
  const int64_t ms = nanoseconds / 1'000'000;
  if (ms < 1'000)
    return cat(ms, " ms");
  if (ms < 100'000)
    return cat(ms / 1'000, ".", ms % 1'000 / 100, " s");
  return cat(ms / 60'000, " min ", ms / 1'000 % 60, " s");
}

std::string counted(size_t count, std::string_view what) {
  return cat(count, " ", what, count == 1 ? "" : "s");
}

}  // namespace fettle

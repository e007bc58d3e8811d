#include "base/result.h"

#include <cstdlib>

namespace fettle {

std::string to_string(const Where& where) {
  std::string text = where.file;
  if (where.line > 0)
    text += (text.empty() ? "line " : ":") + std::to_string(where.line);
  if (where.line > 0 && where.column > 0)
    text += ":" + std::to_string(where.column);
  return text;
}

Where where_in(std::string_view text) {
  const size_t last = text.rfind(':'),
               line = last == text.npos || last == 0 ? text.npos : text.rfind(':', last - 1);
  if (line == text.npos)
    return {std::string(text), 0, 0};
  return {std::string(text.substr(0, line)),
          std::atoi(std::string(text.substr(line + 1, last - line - 1)).c_str()),
          std::atoi(std::string(text.substr(last + 1)).c_str())};
}

std::string to_string(const Error& error) {
  std::string text = to_string(error.where);
  if (!text.empty())
    text += ": ";
  for (auto doing = error.trace.rbegin(); doing != error.trace.rend(); ++doing)
    text += *doing + ": ";
  return text + error.message;
}

namespace {
constexpr std::string_view cancelled = "cancelled";
}

Error cancelled_error() { return world_error(std::string(cancelled)); }
bool is_cancelled(const Error& error) { return error.message == cancelled; }

}  // namespace fettle

#include "base/result.h"

namespace fettle {

std::string to_string(const Where& where) {
  std::string text = where.file;
  if (where.line > 0)
    text += (text.empty() ? "line " : ":") + std::to_string(where.line);
  if (where.line > 0 && where.column > 0)
    text += ":" + std::to_string(where.column);
  return text;
}

std::string to_string(const Error& error) {
  std::string text = to_string(error.where);
  if (!text.empty())
    text += ": ";
  for (auto doing = error.trace.rbegin(); doing != error.trace.rend(); ++doing)
    text += *doing + ": ";
  return text + error.message;
}

}  // namespace fettle

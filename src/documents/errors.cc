#include "documents/errors.h"

#include "base/text.h"

namespace fettle {

std::vector<std::string> trace_of(const Error& error) {
  std::vector<std::string> trace = error.trace;
  std::erase(trace, cat(to_string(error.where), ": ", error.message));
  return trace;
}

Value value_of(const Error& error) {
  constexpr std::array<std::string_view, 3> blames{"user", "world", "bug"};
  return Value::dict({{"message", error.message},
                      {"blame", blames[static_cast<size_t>(error.blame)]},
                      {"file", text_or_null(error.where.file)},
                      {"line", error.where.line == 0 ? Value() : Value(error.where.line)},
                      {"column", error.where.column == 0 ? Value() : Value(error.where.column)},
                      {"trace", list_of(trace_of(error))}});
}

Value document_of(const Error& error) {
  return Value::dict({{"success", false}, {"error", value_of(error)}});
}

Value value_of(const Failure& failure) {
  return Value::dict({{"key", value_of(failure.key)},
                      {"origin", failure.origin},
                      {"error", value_of(failure.error)}});
}

}  // namespace fettle

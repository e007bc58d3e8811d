#include "documents/errors.h"

#include "base/text.h"

namespace fettle {

std::vector<std::string> trace_of(const Error& error) {
  std::vector<std::string> trace = error.trace;
  std::erase(trace, cat(to_string(error.where), ": ", error.message));
  return trace;
}

Value error_value(const Error& error) {
  std::vector<Value> trace;
  for (const std::string& doing : trace_of(error))
    trace.emplace_back(doing);
  constexpr std::array<std::string_view, 3> blames{"user", "world", "bug"};
  return Value::dict({{"message", error.message},
                      {"blame", blames[static_cast<size_t>(error.blame)]},
                      {"file", error.where.file.empty() ? Value() : Value(error.where.file)},
                      {"line", error.where.line == 0 ? Value() : Value(error.where.line)},
                      {"column", error.where.column == 0 ? Value() : Value(error.where.column)},
                      {"trace", Value::list(std::move(trace))}});
}

Value failures_value(const Summary& summary) {
  std::vector<Value> failures;
  for (const Failure& failure : summary.failures)
    failures.push_back(Value::dict({{"key", to_string(failure.key)},
                                    {"origin", failure.origin},
                                    {"error", error_value(failure.error)}}));
  return Value::list(std::move(failures));
}

}  // namespace fettle

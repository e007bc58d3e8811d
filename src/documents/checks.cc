#include "documents/checks.h"

#include "documents/errors.h"

namespace fettle {

void append_values(const Checked& checked, const std::vector<Error>& findings,
                   std::string_view severity, std::vector<Value>& values) {
  for (const Error& finding : findings) {
    const Value told = error_value(finding);
    values.push_back(Value::dict({{"severity", severity},
                                  {"kind", checked.kind},
                                  {"path", checked.path},
                                  {"message", told.at("message")},
                                  {"file", told.at("file")},
                                  {"line", told.at("line")},
                                  {"column", told.at("column")}}));
  }
}

}  // namespace fettle

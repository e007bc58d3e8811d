#include "base/metrics_text.h"

#include <array>
#include <charconv>

#include "base/text.h"

namespace fettle {
namespace {

void append_label(std::string& text, std::string_view name, std::string_view value) {
  text += cat(name, "=\"");
  for (const char c : value)
    if (c == '\n')
      text += "\\n";
    else
      text += c == '"' || c == '\\' ? cat('\\', c) : std::string(1, c);
  text += '"';
}

}  // namespace

void MetricsText::begin(std::string_view name, Type type, std::string_view help) {
  name_ = name;
  text_ += cat("# HELP ", name, " ", help, "\n# TYPE ", name, " ",
               type == Type::counter ? "counter" : "gauge", "\n");
}

void MetricsText::add(const Labels& labels, double number) {
  text_ += name_;
  char before = '{';
  for (const auto& [name, value] : labels) {
    text_ += before;
    append_label(text_, name, value);
    before = ',';
  }
  std::array<char, 40> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  text_ += cat(labels.empty() ? " " : "} ", std::string_view(digits.data(), written.ptr), "\n");
}

}  // namespace fettle

#include "cli/formats.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/pretty.h"
#include "cli/print.h"
#include "value/yaml.h"

namespace fettle {
namespace {

using Kind = Format::Kind;

void print_nested(const Value& document) { print(trim(nested_text(document))); }
void print_yaml(const Value& document) { print(trim(write_yaml(document))); }
void print_raw(const Value& document) { print(python_text(document)); }
void print_pretty(const Value& document) { print(pretty_text(document)); }

constexpr std::array formats{
    Format{"text", Kind::text, true, false, print_nested},
    Format{"json", Kind::json, true, true, print_json_of_original},
    Format{"jsonl", Kind::json_lines, true, true, print_json_of_original},
    Format{"state", Kind::text, false, false, print_nested},
    Format{"yaml", Kind::document, false, true, print_yaml},
    Format{"nested", Kind::document, false, false, print_nested},
    Format{"pretty", Kind::document, false, false, print_pretty},
    Format{"raw", Kind::document, false, false, print_raw},
    Format{"name", Kind::text, false, false, nullptr},
    Format{"wide", Kind::text, false, false, nullptr},
};

template <typename Test>
std::vector<std::string> names_where(Test test) {
  std::vector<std::string> names;
  for (const Format& format : formats)
    if (test(format))
      names.emplace_back(format.name);
  return names;
}

}  // namespace

const Format& format_of(std::string_view name) {
  const auto found = std::ranges::find(formats, name, &Format::name);
  return found == formats.end() ? formats.front() : *found;
}

std::vector<std::string> common_formats() {
  return names_where([](const Format& format) { return format.is_of_all; });
}

std::vector<std::string> document_formats() {
  return names_where(
      [](const Format& format) { return !format.is_of_all && format.print != nullptr; });
}

}  // namespace fettle

#include "tests/scenarios/scenario.h"

#include <re2/re2.h>

#include <charconv>

#include "base/text.h"

namespace fettle {
namespace {

constexpr std::string_view mark = "--- ", any_lines = "...", any_text = "<any>";

/// The step that starts with a line `--- …`.
Result<ScenarioStep> begin_step(std::string_view heading, int line) {
  ScenarioStep step;
  step.line = line;
  if (!heading.starts_with('$')) {
    step.file = heading;
    return step;
  }
  const size_t space = heading.find(' ');
  const std::string_view code = heading.substr(1, space - 1);
  const char* const end = code.data() + code.size();
  if (space == heading.npos ||
      (!code.empty() && std::from_chars(code.data(), end, step.code).ptr != end))
    return user_error(cat("line ", line, ": expected `$ COMMAND` or `$CODE COMMAND`"));
  step.command = heading.substr(space + 1);
  return step;
}

/// A line as an expression: everything except `<any>` stands for itself.
std::string expression_of(std::string_view line) {
  std::string expression;
  for (size_t at = line.find(any_text); at != line.npos; at = line.find(any_text)) {
    expression += cat(RE2::QuoteMeta(std::string(line.substr(0, at))), "[^\\n]*");
    line.remove_prefix(at + any_text.size());
  }
  return expression + RE2::QuoteMeta(std::string(line)) + "\\n";
}

}  // namespace

Result<std::vector<ScenarioStep>> parse_scenario(const std::string& text) {
  std::vector<ScenarioStep> steps;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.starts_with(mark))
      steps.push_back(TRY(begin_step(line.substr(mark.size()), number)));
    else if (!steps.empty())
      steps.back().text += cat(line, "\n");
    else if (!line.empty() && !line.starts_with('#'))
      return user_error(cat("line ", number, ": this belongs to no section"));
  }
  // The file ends with its own newline.
  if (!steps.empty() && steps.back().text.ends_with('\n'))
    steps.back().text.pop_back();
  return steps;
}

bool fits(const std::string& expected, const std::string& output) {
  std::string expression;
  for (const std::string_view line : split(trim(expected), '\n'))
    expression += line == any_lines ? "(?:[^\\n]*\\n)*" : expression_of(line);
  RE2::Options options;
  options.set_max_mem(64 << 20);
  const RE2 compiled(expression, options);
  return compiled.ok() && RE2::FullMatch(cat(trim(output), "\n"), compiled);
}

}  // namespace fettle

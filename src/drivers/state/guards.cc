#include "drivers/state/guards.h"

#include <algorithm>
#include <set>
#include <span>

#include "base/process.h"
#include "base/text.h"
#include "value/changes.h"
#include "value/hidden.h"
#include "value/json.h"
#include "value/mask.h"

namespace fettle {
namespace {

/// Runs the command of a setting: a text for the shell, or words.
Result<ProcessResult> run_guard(const Value& given, const std::stop_token& stop) {
  const Value command = reveal(given);
  Invocation invocation;
  if (command.is_list()) {
    for (const Value& word : command.items())
      invocation.arguments.push_back(word.is_text() ? word.text().str() : write_json(word));
  } else {
    invocation.arguments = {"/bin/sh", "-c",
                            command.is_text() ? command.text().str() : write_json(command)};
  }
  return run_process(invocation, stop);
}

/// Splits a path such as `a:b[*]:c` into steps; `[*]` and `[3]` are steps of their own.
std::vector<std::string> steps_of_path(std::string_view path) {
  std::vector<std::string> steps;
  for (const std::string_view part : split(path, ':')) {
    const size_t bracket = part.find('[');
    if (bracket != 0)
      steps.emplace_back(part.substr(0, bracket));
    for (size_t at = bracket; at != part.npos; at = part.find('[', at + 1)) {
      const size_t end = part.find(']', at);
      if (end == part.npos)
        break;
      steps.emplace_back(part.substr(at, end - at + 1));
    }
  }
  return steps;
}

/// The value with null at a path, unless there is nothing.
Value with_null_at(const Value& value, std::span<const std::string> steps) {
  if (steps.empty())
    return {};
  const std::string& step = steps.front();
  if (value.is_dict() && value.find(step) != nullptr) {
    std::vector<Entry> entries(value.entries().begin(), value.entries().end());
    for (Entry& entry : entries)
      if (entry.key == step)
        entry.value = with_null_at(entry.value, steps.subspan(1));
    return Value::dict(std::move(entries));
  }
  if (value.is_list() && step.starts_with('[')) {
    std::vector<Value> items(value.items().begin(), value.items().end());
    const std::string index = step.substr(1, step.size() - 2);
    for (size_t i = 0; i < items.size(); ++i)
      if (index == "*" || index == std::to_string(i))
        items[i] = with_null_at(items[i], steps.subspan(1));
    return Value::list(std::move(items));
  }
  return value;
}

std::set<Name> names_in(const Value& names) {
  std::set<Name> found;
  if (names.is_list())
    for (const Value& name : names.items())
      if (name.is_text())
        found.insert(name.text());
  return found;
}

}  // namespace

Result<std::optional<std::string>> reason_to_leave_alone(const Value& settings,
                                                         std::stop_token stop) {
  const Value& onlyif = settings.at("onlyif");
  if (onlyif.is_list())
    for (const Value& command : onlyif.items())
      if (TRY(run_guard(command, stop)).code != 0)
        return std::optional<std::string>("onlyif condition is false");
  const Value& unless = settings.at("unless");
  if (!unless.is_list() || unless.items().empty())
    return std::optional<std::string>();
  for (const Value& command : unless.items())
    if (TRY(run_guard(command, stop)).code != 0)
      return std::optional<std::string>();
  return std::optional<std::string>("unless condition is true");
}

Result<std::optional<std::string>> complaint_of_checks(const Value& settings,
                                                       std::stop_token stop) {
  const Value& checks = settings.at("check_cmd");
  if (checks.is_list())
    for (const Value& command : checks.items())
      if (const ProcessResult done = TRY(run_guard(command, stop)); done.code != 0)
        return std::optional(cat("check_cmd failed with exit code ", done.code,
                                 trim(done.errors).empty() ? "" : ": ", trim(done.errors)));
  return std::optional<std::string>();
}

Value with_ignored(const Value& arguments, const Value& paths) {
  Value left = arguments;
  if (paths.is_list())
    for (const Value& path : paths.items())
      if (path.is_text())
        left = with_null_at(left, steps_of_path(path.text().view()));
  return left;
}

Value hidden_at(const Value& value, const Value& names) {
  const std::set<Name> sensitive = names_in(names);
  return sensitive.empty() ? value : hidden_at(value, sensitive);
}

Value with_hidden(const Value& ret, const Value& names) {
  const std::set<Name> sensitive = names_in(names);
  if (sensitive.empty())
    return ret;
  std::vector<Entry> entries;
  Mask mask;
  for (const Entry& entry : ret.entries())
    if (entry.key != "comment") {
      entries.push_back({entry.key, hidden_at(entry.value, sensitive)});
      mask.add_marked(entries.back().value);
    }
  if (const Value* comment = ret.find("comment"))
    entries.push_back({"comment", mask.value(*comment)});
  return Value::dict(std::move(entries));
}

Value without_unset(const Value& remembered, const Value& names) {
  if (!remembered.is_dict() || !names.is_list())
    return remembered;
  std::vector<Entry> entries;
  for (const Entry& entry : remembered.entries())
    if (std::ranges::none_of(names.items(), [&](const Value& name) {
          return name.is_text() && name.text() == entry.key;
        }))
      entries.push_back(entry);
  return Value::dict(std::move(entries));
}

}  // namespace fettle

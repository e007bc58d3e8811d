#include "cli/commands/state_print.h"

#include <algorithm>

#include "base/text.h"
#include "cli/pretty.h"
#include "cli/print.h"
#include "core/state_tag.h"
#include "documents/errors.h"
#include "documents/states.h"
#include "value/empty.h"
#include "value/json.h"
#include "value/yaml.h"

namespace fettle {
namespace {

std::string word_of(const Value& result) {
  return result.is_null() ? "None" : result == Value(true) ? "True" : "False";
}

std::string comment_text(const Value& comment) {
  if (!comment.is_list())
    return comment.is_null() ? "" : comment.is_text() ? comment.text().str() : to_text(comment);
  std::vector<std::string> lines;
  for (const Value& line : comment.items())
    lines.push_back(line.is_text() ? line.text().str() : to_text(line));
  return join(lines, "\n          ");
}

/// A value in lines, deeper ones indented; depth is limited by what a file may hold.
void nested(const Value& value, int depth, std::string& text) {
  const std::string indent(static_cast<size_t>(depth) * 2, ' ');
  if (depth > 100 || (!value.is_dict() && !value.is_list())) {
    const std::string shown = value.is_text()                      ? value.text().str()
                              : value.is_null() || value.is_bool() ? python_text(value)
                                                                   : to_text(value);
    text += cat(indent, hanging(shown, indent.size()), "\n");
    return;
  }
  if (value.is_list())
    for (const Value& item : value.items()) {
      text += cat(indent, "-\n");
      nested(item, depth + 1, text);
    }
  else
    for (const Entry& entry : value.entries()) {
      text += cat(indent, entry.key, ":\n");
      nested(entry.value, depth + 1, text);
    }
}

/// The result of a state in one word of the tally.
std::string_view verdict_of(const StateResult& result, std::string_view function) {
  const Value& entry = result.entry;
  if (result.is_unmet)
    return "not needed";
  if (result.is_interrupted)
    return "not run";
  if (entry.at("result") == Value(false))
    return "failed";
  const bool changes = !is_empty(entry.at("changes"));
  if (entry.at("result").is_null())
    return changes ? "would change" : "unknown";
  if (function.ends_with(".present") || function.ends_with(".managed"))
    return !changes ? "no-op" : is_empty(entry.at("old_state")) ? "created" : "updated";
  if (function.ends_with(".absent"))
    return changes ? "deleted" : "no-op";
  return "successful";
}

void print_as_state(const Face& face, const std::vector<const StateResult*>& results) {
  std::map<std::string, std::map<std::string_view, int>> tally;
  for (const StateResult* result : results) {
    const Value& entry = result->entry;
    const std::string word = word_of(entry.at("result"));
    const std::string function = StateTag::reference_in(result->tag.view());
    const Colour colour = result->is_unmet                ? Colour::grey
                          : word == "False"               ? Colour::red
                          : word == "None"                ? Colour::yellow
                          : is_empty(entry.at("changes")) ? Colour::green
                                                          : Colour::cyan;
    std::string text = cat("--------\n      ID: ", entry.text_at("__id__"),
                           "\nFunction: ", function, "\n  Result: ", word,
                           result->is_unmet     ? " (not needed)"
                           : result->is_pending ? " (pending)"
                                                : "",
                           "\n Comment: ", comment_text(entry.at("comment")));
    if (is_empty(entry.at("changes"))) {
      text += "\n Changes:";
    } else {
      std::string changes;
      nested(entry.at("changes"), 5, changes);
      text += cat("\n Changes:\n", changes.substr(0, changes.size() - 1));
    }
    if (!face.quiet || entry.at("result") == Value(false))
      print(in(colour, text, face.colour));
    ++tally[function][verdict_of(*result, function)];
  }
  if (!face.quiet)
    print("");
  for (const auto& [function, verdicts] : tally) {
    std::vector<std::string> words;
    for (const auto& [verdict, count] : verdicts)
      words.push_back(cat(count, " ", verdict));
    print(cat(function, ": ", join(words, ", ")));
  }
}

std::vector<const StateResult*> grouped(const Face& face, const StatesReport& report) {
  std::vector<const StateResult*> results;
  for (const StateResult& result : report.results)
    results.push_back(&result);
  for (const std::string_view group : split(face.parsed.text("group", "number"), '|')) {
    if (group == "sort")
      std::ranges::stable_sort(results, {}, &StateResult::tag);
    else if (group == "duration")
      std::ranges::stable_sort(results, {}, [](const StateResult* one) {
        const Value& seconds = one->entry.at("total_seconds");
        return seconds.is_real() ? seconds.real() : 0;
      });
    else if (group == "omit_noop")
      std::erase_if(results, [](const StateResult* one) {
        return one->entry.at("result") == Value(true) && is_empty(one->entry.at("changes"));
      });
  }
  return results;
}

}  // namespace

void print_document(const Face& face, const Value& document) {
  if (face.output == "yaml") {
    print(trim(write_yaml(document)));
  } else if (face.output == "nested" || face.output == "text" || face.output == "state") {
    std::string text;
    nested(document, 0, text);
    print(trim(text));
  } else if (face.output == "raw") {
    print(python_text(document));
  } else if (face.output == "pretty") {
    print(pretty_text(document));
  } else {
    print_json_of_original(document);
  }
}

int tell_state_errors(const Face& face, const std::vector<Error>& errors) {
  if (face.json || face.json_lines || face.output == "yaml") {
    Error told = errors.front();
    for (size_t i = 1; i < errors.size(); ++i)
      told.message += cat("\n", to_string(errors[i]));
    print_json(document_of(told));
  }
  for (const Error& error : errors)
    print_error(error_text(error, face.terminal));
  if (errors.size() > 1)
    print_error(cat("error: ", errors.size(), " errors; nothing was done"));
  return 2;
}

void print_states(const Face& face, const StatesReport& report, bool is_test) {
  std::vector<const StateResult*> results = grouped(face, report);
  if (face.output == "text" || face.output == "state") {
    print_as_state(face, results);
    if (report.requires_re_run || (report.re_runs > 0 && !face.quiet))
      print(cat("re-runs: ", report.re_runs,
                report.requires_re_run ? "; some states are still pending" : ""));
    if (is_test)
      print("test run: nothing was changed");
    return;
  }
  if (face.json_lines) {
    for (const StateResult* result : results)
      print_json_line(value_of(*result));
    print_json_line(last_line_of(report));
    return;
  }
  if (face.output == "json") {
    std::ranges::sort(results, {}, &StateResult::tag);
    size_t next = 0;
    print_json_dict([&]() -> std::optional<Entry> {
      if (next == results.size())
        return std::nullopt;
      const StateResult& result = *results[next++];
      return Entry{result.tag, value_of(result)};
    });
    return;
  }
  print_document(face, document_of(results));
}

std::string text_of_function(const Value& function, bool colour) {
  std::string text = in(Colour::bold, function.text_at("ref"), colour);
  if (const std::string_view told = function.text_at("doc"); !told.empty())
    text += cat("\n  ", told);
  for (const Value& parameter : function.at("parameters").items()) {
    text += cat("\n    ", parameter.text_at("name"));
    if (const Value* otherwise = parameter.find("default"))
      text += cat(" = ", write_json(*otherwise));
    if (const std::string_view told = parameter.text_at("doc"); !told.empty())
      text += cat("  ", told);
  }
  if (const std::string_view test = function.text_at("test"); !test.empty())
    text += cat("\n  with --test: ", test);
  return text;
}

int code_of_states(const Face& face, const StatesReport& report, bool is_test) {
  const int code = report.exit_code();
  if (code == interrupted_code)
    return code;
  if (face.parsed.flag("compat-exit-code"))
    return report.fault.empty() ? 0 : 1;
  if (!is_test)
    return code;
  const bool is_due = std::ranges::any_of(
      report.results, [](const StateResult& one) { return !is_empty(one.entry.at("changes")); });
  return is_due && face.parsed.flag("detailed-exitcode") ? 4 : 0;
}

}  // namespace fettle

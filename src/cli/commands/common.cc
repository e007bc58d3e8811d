#include <algorithm>

#include "base/file.h"
#include "base/shell_word.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/line_diff.h"
#include "cli/print.h"
#include "documents/errors.h"
#include "kinds/service.h"
#include "verbs/environments/environments.h"
#include "verbs/models/export_model.h"
#include "verbs/packages/secrets.h"
#include "workplace/shown_key.h"

namespace fettle {

CommandOption environment_option() {
  return {{"-e", "--enclave", "--environment"}, "NAME", "the environment, by name or uuid"};
}

CommandOption model_environment_option() {
  return {{"-e", "--enclave", "--environment"},
          "NAME",
          "the environment, by name or uuid (default: the project of this folder)"};
}

namespace {

Result<std::string> environment_asked(const Face& face, size_t argument) {
  std::string name = face.parsed.text("enclave");
  if (name.empty())
    name = face.parsed.argument(argument);
  if (name.empty())
    return user_error(
        "name the environment with `-e NAME`: `fettle enclave ls` lists environments");
  return name;
}

}  // namespace

CommandOption on_option() {
  return {
      {"--on"},
      "HOST",
      "the agent on whose machine files, commands, handlers and states are; an environment that "
      "has something there remembers it"};
}

Result<Environment> known_environment(Face& face, const std::string& name) {
  Workplace* place = TRY(face.workplace());
  Environment environment = TRY(find_environment(*place, name));
  TRY(recall_secrets(*place, environment.name));
  return environment;
}

Result<Environment> environment_of(Face& face, size_t argument) {
  return known_environment(face, TRY(environment_asked(face, argument)));
}

Result<Environment> environment_or_project(Face& face) {
  const bool is_named = face.parsed.has("enclave") || !face.parsed.arguments.empty();
  const Result<std::string> own =
      is_named ? Result<std::string>(user_error("")) : environment_of_export({});
  return own ? known_environment(face, *own) : environment_of(face, 0);
}

Result<std::string> model_environment_name(const Face& face, const std::string& otherwise) {
  ExportRequest asked;
  asked.environment = face.parsed.text("enclave");
  if (asked.environment.empty())
    asked.environment = otherwise;
  Result<std::string> found = environment_of_export(asked);
  if (!found && asked.environment.empty())
    found.error().trace.emplace_back("looking for the environment, which `-e NAME` names");
  return found;
}

Result<Environment> model_environment(Face& face, const std::string& otherwise) {
  return known_environment(face, TRY(model_environment_name(face, otherwise)));
}

std::string first_few(const std::vector<std::string>& texts) {
  constexpr size_t most = 3;
  std::string text;
  for (size_t i = 0; i < std::min(texts.size(), most); ++i)
    text += cat(i == 0 ? "" : ", ", texts[i]);
  return texts.size() > most ? cat(text, " and ", texts.size() - most, " more") : text;
}

std::string first_few(const std::vector<Key>& keys) {
  std::vector<std::string> texts;
  for (const Key& key : keys)
    texts.push_back(shown_key(key));
  return first_few(texts);
}

std::string placed_key(const Key& key, std::string_view origin) {
  constexpr size_t digits = 12;
  std::string_view name = key.name.view();
  name = name.substr(name.find('#') + 1);  // all of it when there is none
  const bool says_nothing =
      name.size() == digits && name.find_first_not_of("0123456789abcdef") == name.npos;
  return says_nothing && !origin.empty() ? cat(shown_key(key), " (", origin, ")") : shown_key(key);
}

void print_changes(const Face& face, const std::vector<FieldChange>& changes) {
  const bool has_content = std::ranges::any_of(
      changes, [](const FieldChange& change) { return change.field == "content"; });
  for (const FieldChange& change : changes)
    if (!has_content || change.field != "digest")  // the same, and of no use to people
      print(cat("    ", change.field, ":",
                changed_text(change.before, change.after, "      ", face.colour)));
}

namespace {

/// Says what `--prune` would do about orphans.
std::string prune_text(size_t orphans, size_t shared) {
  if (shared == orphans)
    return orphans == 1 ? "something else wants it" : "something else wants each of them";
  if (shared > 0)
    return "`--prune` removes what nothing else wants";
  return cat("`--prune` removes ", orphans == 1 ? "it" : "them");
}

}  // namespace

std::string orphans_text(size_t orphans, size_t shared, const std::vector<Key>& left,
                         std::string_view environment) {
  if (orphans == 0)
    return "";
  return cat(", ", orphans, orphans == 1 ? " orphan stays" : " orphans stay",
             left.empty() ? "" : cat(left.size() < orphans ? ", new: " : ": ", first_few(left)),
             " (see `fettle orphans ls", environment.empty() ? "" : " ", environment, "`; ",
             prune_text(orphans, shared), ")");
}

std::string shown_file(const std::string& path) { return path == "-" ? "<stdin>" : path; }

Result<std::string> read_given(const std::string& path) {
  Result<std::string> text = read_file(path == "-" ? "/dev/stdin" : path);
  if (!text)
    text.error().blame = Blame::user;
  return text;
}

int report_model_errors(const Face& face, const std::vector<Error>& errors) {
  std::string text = model::report(errors);
  while (text.ends_with('\n'))
    text.pop_back();
  if (face.json || face.json_lines) {
    Error told = errors.front();
    if (errors.size() > 1)
      told.message = text;
    print_json(document_of(told));
  }
  print_error(cat(in(Colour::red, "error: ", face.terminal), text));
  return 2;
}

void print_warning(const Face& face, std::string_view text) {
  if (!face.quiet)
    print_error(cat(in(Colour::yellow, "warning: ", face.terminal), text));
}

void warn_of_ends(const Face& face, const EnvironmentView& view,
                  const std::vector<std::string>& only) {
  constexpr int64_t killed_code = 137;
  for (const ServiceView& service : view.services) {
    if (!only.empty() && std::ranges::find(only, service.name) == only.end())
      continue;
    const std::string where =
        cat(quoted_for_shell(view.environment.name), " ", quoted_for_shell(service.name), "`");
    if (service.status == "failed")
      print_warning(face, cat("the service `", service.name, "` failed: ", service.error,
                              "; `fettle service rm ", where, " removes the rest of it"));
    else if (service.ended_with)
      print_warning(
          face, cat("the service `", service.name, "` ended with exit code ", *service.ended_with,
                    // Not every engine says so.
                    *service.ended_with == killed_code &&
                            read_one<&Service::memory_max>(service.attributes).get() > 0
                        ? " (probably out of memory)"
                        : "",
                    "; `fettle service logs ", where, " shows what it printed"));
  }
}

void warn_of_ends(const Face& face, const Workplace& place, const Name& environment,
                  const std::vector<std::string>& only) {
  if (face.quiet)
    return;
  if (const auto view = inspect_environment(place, environment.str()))
    warn_of_ends(face, *view, only);
}

namespace {

/// One line for each thing that was not done, with a word in front of it.
struct EndLine {
  std::string_view label;
  Colour colour;
  std::string text;
};

std::vector<EndLine> end_lines(const Summary& summary) {
  const std::string_view error = "error: ";
  std::vector<EndLine> lines;
  for (const Failure& failure : summary.failures)
    lines.push_back(
        {error, Colour::red, cat(shown_key(failure.key), ": ", to_string(failure.error))});
  for (const Skip& skip : summary.skips)
    lines.push_back(
        {"skipped until the next run: ", Colour::yellow, cat(shown_key(skip.key), ": ", skip.why)});
  // What is blocked by a failure is reported with that failure.
  if (summary.blocked > 0 && summary.failures.empty() && summary.skips.empty())
    lines.push_back({error, Colour::red,
                     cat(summary.blocked, summary.blocked == 1 ? " step is" : " steps are",
                         " blocked; `fettle events` shows why")});
  if (summary.stopped)
    lines.push_back({error, Colour::red, "interrupted; run the same command to continue"});
  return lines;
}

}  // namespace

int tell_end(const Face& face, const Summary& summary) {
  for (const EndLine& line : end_lines(summary))
    print_error(cat(in(line.colour, line.label, face.terminal), line.text));
  return exit_code(summary);
}

int tell_failed(const Face& face, const Summary& summary) {
  if (face.json || face.json_lines) {
    std::string text;
    for (const EndLine& line : end_lines(summary))
      text += cat(text.empty() ? "" : "\n", line.label == "error: " ? "" : line.label, line.text);
    Error told = summary.failures.empty() ? world_error("") : summary.failures.front().error;
    // Its place is in the text, as are those of the others.
    told.where = {};
    told.message = text;
    print_json(document_of(told));
  }
  return tell_end(face, summary);
}

Result<EditSession> begin_editing(Face& face) {
  Workplace* place = TRY(face.workplace());
  const std::string name = TRY(environment_asked(face, 0));
  Hold hold = TRY(hold_environment(*place, name, !face.parsed.flag("no-lease-wait")));
  TRY(recall_secrets(*place, hold.environment.name));
  return EditSession{place, std::move(hold.environment), std::move(hold.edit)};
}

}  // namespace fettle

#pragma once
/// The common part of the commands. Each is a function in a file of this folder, and a line and a
/// row in `src/app/commands.cc`.

#include "cli/command.h"
#include "workplace/edit.h"
#include "workplace/field_changes.h"

namespace fettle {

struct Cause;
struct EnvironmentView;

/// The group of commands that all four front ends have.
inline constexpr const char* around_runs = "before and after a run";

/// `--on HOST`, of commands that act on a machine.
CommandOption on_option();

/// An environment by name; what it was given in secret is hidden from here on.
Result<Environment> known_environment(Face& face, const std::string& name);
/// Prints the changes of an act, field by field, as lines.
void print_changes(const Face& face, const std::vector<FieldChange>& changes);

/// The environment of a command: `--enclave`, or the argument that names it.
Result<Environment> environment_of(Face& face, size_t argument);

/// The same; if nobody names an environment, that of the project in this folder.
Result<Environment> environment_or_project(Face& face);

/// The environment of a command about models: `--enclave`, else the argument `otherwise`, else the
/// project of this folder. The name is one that an environment may have.
Result<std::string> model_environment_name(const Face& face, const std::string& otherwise = "");
Result<Environment> model_environment(Face& face, const std::string& otherwise = "");

/// The environment of a command that changes it. Nobody else changes it meanwhile.
struct EditSession {
  Workplace* place;
  Environment environment;
  std::unique_ptr<Edit> edit;
};
Result<EditSession> begin_editing(Face& face);

/// Says what of an edit did not come about; the exit code, as that of a run. For commands that
/// print their document all the same.
int tell_end(const Face& face, const Summary& summary);
/// The same for a command without a document of its own: JSON gets the envelope of errors.
int tell_failed(const Face& face, const Summary& summary);

/// Prints what may stand in place of the last word, a line each; the exit code.
int complete(Face& face, const std::vector<Command>& commands, std::span<const std::string> words);

/// `service/a, service/b and 3 more`.
std::string first_few(const std::vector<Key>& keys);
std::string first_few(const std::vector<std::string>& texts);
/// A key as text; with the place in the source when its name is made of digits, as that of a
/// command in a service is.
std::string placed_key(const Key& key, std::string_view origin);
/// The end of a run's last line about orphans: `, 1 orphan stays: service/a (…)`; empty if there
/// are none. `left`: those that this run left. `shared`: how many others want, so that no `--prune`
/// removes them.
std::string orphans_text(size_t orphans, size_t shared, const std::vector<Key>& left,
                         std::string_view environment);

/// The text of a file that somebody names, `-` for standard input. Error (`Blame::user`): it cannot
/// be read.
Result<std::string> read_given(const std::string& path);
/// A path as errors tell it: `-` is `<stdin>`.
std::string shown_file(const std::string& path);

/// The chain of reasons as lines.
std::string why_text(const std::vector<Cause>& causes);

/// Tells what is wrong with a model; the exit code.
int report_model_errors(const Face& face, const std::vector<Error>& errors);

/// Tells what is doubtful, unless only errors and results are wanted.
void print_warning(const Face& face, std::string_view text);

/// Warns of services that ended with an error though they are wanted, and of what attempts that
/// failed have left; with names, of these only.
void warn_of_ends(const Face& face, const EnvironmentView& view,
                  const std::vector<std::string>& only = {});
/// The same, if the engine says so.
void warn_of_ends(const Face& face, const Workplace& place, const Name& environment,
                  const std::vector<std::string>& only = {});

/// The option for the environment.
CommandOption environment_option();
CommandOption model_environment_option();

}  // namespace fettle

#pragma once
/// `fettle run` and `fettle plan` of a package: interpret, look, plan, act, report.

#include "core/step.h"
#include "packages/interpret.h"
#include "packages/review.h"
#include "workplace/edit.h"
#include "workplace/field_changes.h"
#include "workplace/preview.h"

namespace fettle {

/// What is said of a compose file.
struct ComposeRequest {
  std::vector<std::string> files{};  ///< that are put over the first one
  std::vector<std::string> profiles{};
  std::vector<std::pair<std::string, std::string>> env_files{};  ///< name and text
  std::map<std::string, std::string, std::less<>> variables{};   ///< of this process
};

struct PackageRequest {
  /// What the package is read for.
  enum class Use : uint8_t {
    run,
    preview,  ///< somebody wants to see what would be done: advice does no more
    check,    ///< only the package is looked at: what its environment was used for is no matter
  };
  /// How the instructions of this run are matched with those of former ones.
  enum class Resolver : uint8_t {
    keys,
    overlap,  ///< lists are compared, as Kurtosis does
  };

  std::string package;                  ///< a folder, a `.star` file, `github.com/…`, or `-`
  std::optional<std::string> script{};  ///< the text of `-`
  std::string arguments;                ///< JSON or YAML text
  std::string arguments_file;           ///< the file they come from, for errors
  std::string environment;              ///< empty: the last path element of the package
  std::string mirror;                   ///< looked up before anything is fetched
  Fetch fetch;
  std::string main_file, main_function;
  ComposeRequest compose{};
  Use use = Use::run;
  Resolver resolver = Resolver::keys;
  Leftover leftover = Leftover::keep;  ///< what becomes of what is not wanted any more
  Redo redo = Redo::as_needed;         ///< `always` also replaces the list of the executed
  ScriptOrder order = ScriptOrder::written;
  ImagePull pull = ImagePull::missing;
  int parallelism = 4;
  bool is_production = false;  ///< services are restarted when they end
  bool allows_privileged = false;
  bool keeps_going = false;        ///< a failure stops only what needs it
  bool edits_in_place = false;     ///< a changed command runs in the service that is there
  bool replays = false;            ///< commands are repeated in services that were started again
  bool checks_room = true;         ///< whether the engine's machine has what services ask for
  bool waits = true;               ///< for another process that works on the environment
  std::optional<KeptPlan> plan{};  ///< refused when something else is to be done by now
};

enum class StatementStatus { ran, skipped, failed, not_reached };
std::string_view to_string(StatementStatus status);

struct StatementReport {
  const Statement* statement = nullptr;
  StatementStatus status = StatementStatus::not_reached;
  std::string result;  ///< the line for people, or the error of a failure
  std::string why;
  std::vector<FieldChange> changes;  ///< changes of things that were there before
  Duration took{0};
};

/// Is told what happens while a package runs, in the order of the script.
class PackageAudience {
 public:
  virtual ~PackageAudience() = default;
  virtual void interpreted(const Package& /*package*/) {}
  virtual void began(const Statement& /*statement*/, size_t /*number*/, size_t /*total*/) {}
  virtual void ended(const StatementReport& /*report*/) {}
  virtual void progress(const Key& /*key*/, const Progress& /*progress*/) {}
  virtual void event(const Event& /*event*/) {}
};

struct PackageReport {
  std::string environment;
  std::shared_ptr<const Intent> intent;
  Statements script;  ///< owns the statements that are reported
  std::vector<StatementReport> statements;
  std::vector<std::string> warnings;
  std::vector<Error> findings;  ///< findings of a dry run for which a real run would be refused
  std::vector<std::string> images, dependencies;  ///< image references, and other repositories
  Value output;                                   ///< the package's return value, with holes filled
  bool has_output = false;
  Summary summary;
  Known known;                       ///< the records as the run left them
  size_t orphans = 0;                ///< all of the environment: no longer wanted, and still there
  size_t shared = 0;                 ///< orphans that others want
  std::vector<Key> orphaned;         ///< those that this run left
  std::vector<Key> removed;          ///< no instruction wants them any more, and they are gone
  std::vector<Key> outlived;         ///< acts kept although their services were started again
  std::vector<std::string> unasked;  ///< warnings about downloads that stay as they are stored
  Seen seen;                         ///< what is there, if nothing was done
  Duration took{0};
};

/// Neither what the audience is told nor the report holds a secret, apart from what the package
/// itself prints and returns. Errors: `Blame::user` if the input is wrong, before anything is
/// changed; `Blame::world` if the engine or the store cannot be used at all. Failures in the world
/// are in the report.
Result<PackageReport> run_package(const Workplace& place, const PackageRequest& request,
                                  PackageAudience& audience);

/// Lists the instructions without running them. Needs no engine and starts none.
Result<PackageReport> dry_run_package(const Workplace& place, const PackageRequest& request);

/// The name that was asked for, else the last path element of the package.
Result<std::string> environment_of_package(const PackageRequest& request);

/// All that can be said about the package's files without running them.
Result<PackageReview> review_sources(const PackageRequest& request);

/// The Starlark program that a compose file is run as.
Result<compose::Program> program_of_compose(const PackageRequest& request);

/// All findings as one error, the first one in front, each with its line.
Error findings_error(const std::vector<Error>& findings);

/// The plan for a run. Looks at the world and changes nothing.
Result<Preview> preview_package(const Workplace& place, const PackageRequest& request);

}  // namespace fettle

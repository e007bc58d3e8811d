#include "verbs/packages/run_package.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/archive.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/user_path.h"
#include "core/environment_name.h"
#include "core/open_payload.h"
#include "packages/instructions/instruction.h"
#include "packages/names.h"
#include "plan/make_plan.h"
#include "verbs/packages/artifact_digest.h"
#include "verbs/packages/context_digest.h"
#include "verbs/packages/entries.h"
#include "verbs/packages/last_run.h"
#include "verbs/packages/package_run.h"
#include "verbs/packages/secrets.h"
#include "verbs/packages/unasked.h"
#include "workplace/known_services.h"
#include "workplace/orphans.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

struct OpenPackage {
  Sources sources;
  std::string main_file;
  std::string environment;
  compose::ProjectRequest compose{};
};

/// The names beside a path, for suggestions.
std::vector<std::string> neighbours(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code failure;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, failure))
    names.push_back(entry.path().filename().string());
  return names;
}

/// Kurtosis: a package may be named by its `kurtosis.yml`.
std::string folder_of_package_file(const std::string& path) {
  const fs::path file(path);
  if (file.filename() != "kurtosis.yml")
    return path;
  return file.has_parent_path() ? file.parent_path().string() : ".";
}

/// Error: something is said of a compose file, and none is run; it would have no effect.
Status check_no_compose(const PackageRequest& request) {
  const ComposeRequest& said = request.compose;
  const std::string_view option = !said.files.empty()       ? "--file"
                                  : !said.profiles.empty()  ? "--profile"
                                  : !said.env_files.empty() ? "--env-file"
                                                            : "";
  return option.empty() ? Status()
                        : user_error(cat("`", option, "` is for compose files, and `",
                                         printable(request.package), "` is a Starlark package"));
}

Result<compose::ProjectRequest> compose_request(const PackageRequest& request, bool is_own,
                                                const std::string& folder,
                                                const std::string& main_file) {
  compose::ProjectRequest made;
  if (!is_compose_path(main_file)) {
    TRY(check_no_compose(request));
    return made;
  }
  made.profiles = request.compose.profiles;
  made.takes_override = is_own && request.compose.files.empty();
  // Somebody else's project does not see the variables of this process.
  if (is_own)
    made.outside = request.compose.variables;
  const auto lookup = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = made.outside.find(name);
    return found == made.outside.end() ? std::nullopt : std::optional(found->second);
  };
  compose::Variables from_files;
  for (const auto& [name, text] : request.compose.env_files) {
    compose::Variables found = TRY(compose::read_env_file(text, name, lookup));
    for (auto& [variable, value] : found)
      from_files[variable] = std::move(value);
    made.has_env_file = true;
  }
  made.outside.insert(from_files.begin(), from_files.end());
  if (const auto named = made.outside.find("COMPOSE_PROFILES");
      named != made.outside.end() && made.profiles.empty())
    for (const std::string_view profile : split(named->second, ','))
      made.profiles.emplace_back(trim(profile));
  for (const std::string& file : request.compose.files) {
    std::error_code failure;
    const std::string near = fs::proximate(file, folder, failure).string();
    const bool is_inside = is_own && !failure && !near.starts_with("..");
    const std::string whole = fs::absolute(file, failure).string();
    made.files.push_back(is_inside ? compose::ProjectFile{near, {}}
                                   : compose::ProjectFile{whole, TRY(read_file(file))});
  }
  return made;
}

/// The name of an environment for a compose file: that of its project, else that of its folder.
std::string environment_of_compose(const std::string& file, const std::string& folder) {
  const Result<std::string> text = read_file(file);
  const std::string name = text ? compose::project_name(*text) : std::string();
  return environment_name_from(name.empty() ? folder : name);
}

Result<OpenPackage> open_package(const PackageRequest& given) {
  if (given.script) {
    TRY(check_no_compose(given));
    Sources sources = TRY(Sources::of_text(".", *given.script));
    sources.set_mirror(given.mirror);
    sources.set_fetch(given.fetch);
    const std::string name = environment_name_from(sources.folder());
    return OpenPackage{std::move(sources), std::string(Sources::name_of_text), name, {}};
  }
  PackageRequest request = given;
  request.package = folder_of_package_file(given.package);
  const Purpose purpose = given.use == PackageRequest::Use::run ? Purpose::act : Purpose::preview;
  std::error_code failure;
  if (is_absolute_locator(request.package)) {
    Sources sources =
        TRY(Sources::of_locator(request.package, request.mirror, request.fetch, purpose));
    const std::string main_file =
        request.main_file.empty() ? sources.main_file() : request.main_file;
    return OpenPackage{std::move(sources), main_file, environment_name_from(request.package),
                       TRY(compose_request(request, false, ".", main_file))};
  }
  if (fs::is_directory(request.package, failure)) {
    Sources sources = TRY(Sources::of_folder(request.package, purpose));
    sources.set_mirror(request.mirror);
    sources.set_fetch(request.fetch);
    const std::string main_file =
        request.main_file.empty() ? sources.main_file() : request.main_file;
    const std::string name =
        is_compose_path(main_file)
            ? environment_of_compose(cat(sources.folder(), "/", main_file), sources.folder())
            : environment_name_from(sources.folder());
    compose::ProjectRequest compose =
        TRY(compose_request(request, true, sources.folder(), main_file));
    return OpenPackage{std::move(sources), main_file, name, std::move(compose)};
  }
  const bool is_compose = looks_like_compose(request.package);
  if (fs::exists(request.package, failure) && !is_compose)
    if (const std::string advice = advice_on_file(request.package, purpose); !advice.empty())
      return user_error(cat("`", printable(request.package), "` is not a package: ", advice));
  if (!fs::exists(request.package, failure) && !request.package.ends_with(".star"))
    return user_error(cat(
        "`", printable(request.package),
        "` is neither a folder nor a file nor `github.com/AUTHOR/REPOSITORY`",
        suggestion(fs::path(request.package).filename().string(), neighbours(request.package))));
  Sources sources = TRY(Sources::of_script(request.package));
  sources.set_mirror(request.mirror);
  sources.set_fetch(request.fetch);
  // `main.star` may be another file in every folder.
  const std::string file = fs::path(request.package).filename().string();
  const std::string name =
      is_compose ? environment_of_compose(request.package, sources.folder())
                 : environment_name_from(file == "main.star" ? sources.folder() : request.package);
  compose::ProjectRequest compose = TRY(compose_request(request, true, sources.folder(), file));
  compose.takes_override = false;
  return OpenPackage{std::move(sources), file, name, std::move(compose)};
}

PackageOptions options_of(const Workplace& place, const PackageRequest& request,
                          const OpenPackage& opened, const Name& environment, bool is_production,
                          std::set<Key> gone, bool is_run) {
  PackageOptions options;
  options.draft.environment = environment;
  options.draft.owner = opened.sources.owner();
  options.draft.leftover = request.leftover;
  options.draft.order = request.order;
  options.draft.redo = request.redo;
  options.draft.pull = request.pull;
  options.draft.is_production = is_production;
  options.draft.allows_privileged = request.allows_privileged;
  options.draft.keeps_going = request.keeps_going;
  options.draft.gone = std::move(gone);
  // A run needs the content as well, so it is packed once for both purposes.
  options.draft.digest_of = [&place, is_run](const std::string& path) {
    return is_run ? put_artifact(place, path) : artifact_digest(place, path);
  };
  options.draft.packed = [&place, is_run](const BuildContext& context) {
    return is_run ? put_context(place, context) : context_digest(place, context);
  };
  options.main_file = opened.main_file;
  options.compose = opened.compose;
  if (!request.main_function.empty())
    options.main_function = request.main_function;
  options.arguments = request.arguments;
  options.arguments_file = request.arguments_file;
  options.stop = place.interrupt->acts_token();
  options.on_defaults = [&place](const Value& defaults) { place.mask->add_named(defaults); };
  return options;
}

/// The line that an error is about, if its file can be read.
std::string excerpt_of(const Error& error) {
  const Result<std::string> text =
      error.where.line > 0 ? read_file(error.where.file) : Result<std::string>(std::string());
  return text ? excerpt(*text, error.where.line, error.where.column) : std::string();
}

Error with_excerpt(Error error) {
  if (error.excerpt.empty())
    error.excerpt = excerpt_of(error);
  return error;
}

struct Preparation {
  std::string environment;
  Known known;
  Package package;
};

/// Warns of things that another package of the environment wants, too, and that are wanted
/// differently now.
void warn_of_overrides(Preparation& prepared) {
  const Intent& intent = *prepared.package.intent;
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources) {
      const auto known = prepared.known.find(resource.key);
      if (known == prepared.known.end() || !known->second->applied ||
          known->second->applied->attributes == resource.attributes)
        continue;
      for (const auto& [other, wish] : known->second->wanted_by)
        if (wish != Digest{} && !intent.resources.contains(other)) {
          prepared.package.warnings.push_back(cat(
              "this overrides `", shown_key(resource.key), "`, which ",
              other == by_hand
                  ? std::string("was changed by hand")
                  : cat("`", other, "` wants differently; `-e NAME` keeps two packages apart")));
          break;
        }
    }
}

Result<Preparation> prepare(const Workplace& place, const PackageRequest& request, bool is_run) {
  const Activity reading(place.doing, cat("reading ", request.package));
  OpenPackage opened = TRY(open_package(request));
  Preparation prepared;
  prepared.environment = request.environment.empty() ? opened.environment : request.environment;
  TRY(check_environment_name(prepared.environment));
  TRY(recall_secrets(place, prepared.environment));
  prepared.known = TRY(place.store->known(prepared.environment));
  const auto environment = TRY(place.store->environment(prepared.environment));
  const bool is_production =
      environment ? environment->detail.bool_at("production") : request.is_production;
  Result<Package> package =
      interpret_package(opened.sources,
                        options_of(place, request, opened, prepared.environment, is_production,
                                   removed_services(prepared.known, *place.kinds), is_run),
                        prepared.known);
  if (!package && is_compose_path(package.error().where.file))
    return with_excerpt(std::move(package).error());
  prepared.package = TRY(std::move(package));
  for (const std::string& text : prepared.package.hidden)
    place.mask->add(text);
  if (request.use == PackageRequest::Use::check)
    return prepared;
  if (const auto last = TRY(read_last_run(place, prepared.environment));
      request.environment.empty() && last && last->package != package_identity(request.package))
    prepared.package.warnings.push_back(cat("`", prepared.environment,
                                            "` was last run from another package, `", last->package,
                                            "`; `-e NAME` keeps them apart"));
  warn_of_overrides(prepared);
  if (request.is_production && !is_production)
    prepared.package.warnings.push_back(
        cat("`--production` applies only when an environment is created, and `",
            prepared.environment, "` was created without it"));
  return prepared;
}

Status put_uploads(const Workplace& place, const Package& package) {
  DigestSet digests;
  for (const auto& [digest, path] : package.uploads)
    digests.insert(digest);
  const DigestSet stored = TRY(place.blobs->find_all(digests));
  for (const auto& [digest, path] : package.uploads)
    if (!stored.contains(digest)) {
      const std::string put = TRY(put_artifact(place, path).context(cat("uploading `", path, "`")));
      if (put != digest)
        return world_error(
            cat("`", path, "` changed while it was being read; run the same command again"));
    }
  return {};
}

/// Follows a run statement by statement, in the order of the script.
class Reporter : public Audience {
 public:
  Reporter(const Workplace& place, Statements script, PackageAudience& audience)
      : place_(place), script_(std::move(script)), audience_(audience), reports_(script_->size()) {
    for (size_t i = 0; i < reports_.size(); ++i) {
      const Statement& statement = (*script_)[i];
      reports_[i].statement = &statement;
      told_.insert(statement.keys.begin(), statement.keys.end());
    }
  }

  void event(const Event& event) override {
    if (event.type == EventType::failed)
      errors_[event.key] = event.text;
    if (event.type == EventType::removed && event.verb == Verb::remove &&
        event.key.kind != "image" && event.key.kind != "build")
      removed_.push_back(event.key);
    audience_.event(event);
  }
  void progress(const Key& key, const Progress& progress) override {
    audience_.progress(key, progress);
  }
  void moved(const Run& run) override { report(run, false); }

  std::vector<Key> take_removed() { return std::move(removed_); }

  /// At the end, reports what was left over, and what a later pass changed.
  std::vector<StatementReport> finish(const Run& run) {
    report(run, true);
    for (size_t i = 0; i < reports_.size(); ++i) {
      const StatementReport before = reports_[i];
      judge(i, run);
      if (before.status != reports_[i].status)
        audience_.ended(reports_[i]);
    }
    return std::move(reports_);
  }

 private:
  bool is_open(const Statement& statement, const Run& run) const {
    return std::any_of(statement.keys.begin(), statement.keys.end(), [&](const Key& key) {
      const Standing standing = run.standing(key);
      const Step* step = run.step(key);
      return !is_settled(standing) || (step != nullptr && step->obstacle == Obstacle::host);
    });
  }

  bool is_acting(const Statement& statement, const Run& run) const {
    return std::any_of(statement.keys.begin(), statement.keys.end(), [&](const Key& key) {
      const Step* step = run.step(key);
      return run.is_under_way(key) || (step != nullptr && acts(step->verb));
    });
  }

  void report(const Run& run, bool ended) {
    for (; next_ < reports_.size(); ++next_) {
      const Statement& statement = (*script_)[next_];
      const bool open = is_open(statement, run);
      if (!begun_ && (!open || ended || is_acting(statement, run))) {
        begun_ = true;
        began_at_ = instant_from_clock();
        audience_.began(statement, next_ + 1, reports_.size());
      }
      if (open && !ended)
        return;
      judge(next_, run);
      reports_[next_].took = instant_from_clock() - began_at_;
      audience_.ended(reports_[next_]);
      begun_ = false;
    }
  }

  void judge(size_t i, const Run& run) {
    StatementReport& report = reports_[i];
    const Statement& statement = *report.statement;
    bool ran = false, failed = false, blocked = false;
    Novelty made = Novelty::anew;
    size_t created = 0;
    report.why.clear();
    report.changes.clear();
    std::string blocked_why;
    const Key* shared = nullptr;  // a failure of which no instruction speaks: an image, the network
    for (const Key& key : statement.keys) {
      const Standing standing = run.standing(key);
      const Step* step = run.step(key);
      ran |= standing == Standing::changed || standing == Standing::unchanged;
      if (step != nullptr && step->known != nullptr && step->known->applied && acts(step->verb))
        made = standing == Standing::unchanged ? Novelty::the_same : Novelty::changed;
      created += key.kind == "service" && step != nullptr && step->verb == Verb::create ? 1 : 0;
      failed |= standing == Standing::failed;
      blocked |=
          standing == Standing::blocked || standing == Standing::skipped || !is_settled(standing);
      if (!is_settled(standing) && run.is_under_way(key))
        blocked_why = "interrupted while it ran";
      if (step != nullptr && standing == Standing::blocked && blocked_why.empty())
        blocked_why = step->why.str();
      if (step != nullptr && errors_.contains(step->because) && !told_.contains(step->because))
        shared = &step->because;
      if (step != nullptr && (report.why.empty() || (acts(step->verb) && report.why == unchanged)))
        report.why = step->why.str();
      if (step != nullptr && acts(step->verb) && is_good(standing))
        for (FieldChange& change : changes_of(place_, *step))
          report.changes.push_back(std::move(change));
      if (standing == Standing::failed)
        report.result = errors_.contains(key) ? errors_[key] : std::string();
    }
    if (!failed && blocked && shared != nullptr) {
      failed = true;
      report.result = errors_[*shared];
    }
    if (failed)
      report.status = StatementStatus::failed;
    else if (blocked)
      report.status = StatementStatus::not_reached;
    else
      report.status = ran ? StatementStatus::ran : StatementStatus::skipped;
    if (report.status == StatementStatus::ran)
      report.result = result_line(statement, run.known(), made, created);
    else if (report.status == StatementStatus::skipped)
      report.result = "SKIPPED - This instruction has already been run in this enclave";
    else if (report.status == StatementStatus::not_reached)
      report.result = blocked_why.empty() ? "the run stopped before it" : blocked_why;
  }

  static constexpr std::string_view unchanged = "unchanged";

  const Workplace& place_;
  Statements script_;
  PackageAudience& audience_;
  std::vector<StatementReport> reports_;
  std::map<Key, std::string> errors_;
  std::vector<Key> removed_;
  std::set<Key> told_;  ///< keys of which an instruction speaks
  size_t next_ = 0;
  bool begun_ = false;
  Instant began_at_{};
};

Value filled(const Value& value, const Name& environment, const Known& known) {
  return fill_holes(value, [&](const Output& hole) -> const Value* {
    const auto found = known.find({environment, hole.kind, hole.name});
    return found == known.end() ? nullptr : follow(dict_of(found->second->outputs), hole.path);
  });
}

}  // namespace

std::string_view to_string(StatementStatus status) {
  constexpr std::array<std::string_view, 4> names{"ran", "skipped", "failed", "not_reached"};
  return names[static_cast<size_t>(status)];
}

namespace {

/// The list after a run: the kept part of the old list, then what is done of the submitted one.
std::vector<ListedInstruction> executed_after(std::vector<ListedInstruction> before,
                                              const std::vector<ListedInstruction>& submitted,
                                              const Resolution& resolution,
                                              const std::vector<StatementReport>& reports) {
  before.resize(std::min(resolution.start, before.size()));
  for (size_t i = 0; i < submitted.size(); ++i)
    if (reports[i].status == StatementStatus::ran || reports[i].status == StatementStatus::skipped)
      before.push_back(submitted[i]);
  return before;
}

/// An error that may be shown. If arguments cannot be read, their line is shown.
Error hidden_error(const Workplace& place, Error error) {
  if (place.shows_secrets)
    return error;
  error.excerpt = mask_named_text(error.excerpt);
  return place.mask->error(std::move(error));
}

/// Things that nobody could look at: one failure for each reason, with the first thing that it
/// concerns.
void add_unavailable(const Run& run, const Intent& intent, Summary& summary) {
  std::set<std::string> told;
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources) {
      const auto seen = run.seen().find(resource.key);
      if (run.standing(resource.key) == Standing::blocked && seen != run.seen().end() &&
          !seen->second.unavailable.empty() && told.insert(seen->second.unavailable).second)
        summary.failures.push_back(
            {resource.key, resource.origin, world_error(seen->second.unavailable)});
    }
}

/// The acts that are not repeated, in the order of the script.
std::vector<Key> outlived(const Run& run, const Intent& intent) {
  std::vector<Key> keys;
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources)
      if (const Step* const step = run.step(resource.key); step != nullptr && step->is_outlived)
        keys.push_back(resource.key);
  return keys;
}

/// A digest of what decides about a plan beside the package.
std::string digest_asked(const PackageRequest& request) {
  const bool removes = request.leftover == Leftover::remove;
  const bool is_overlap = request.resolver == PackageRequest::Resolver::overlap;
  return sha256_hex(
      cat(request.arguments, removes ? "\nprune" : "\n", is_overlap ? "overlap" : "default"));
}

/// Checks that what is due is what the plan says. If not, the error says why, as far as the request
/// tells.
Status check_plan_asked(const PackageRequest& request, const PreviewedPlan& now) {
  const KeptPlan& kept = *request.plan;
  Status checked = check_plan(now.plan, now.seen, kept);
  const std::string package = package_identity(request.package);
  if (!checked && !kept.package.empty() && kept.package != package)
    return user_error(
        cat("the plan is for the package `", kept.package, "`, not for `", package, "`"));
  if (!checked && !kept.asked.empty() && kept.asked != digest_asked(request))
    return user_error(
        "the plan was made with other arguments, or differs in `--prune`: use the arguments of "
        "`fettle plan`");
  return checked;
}

/// The package's list of instructions, and that of the environment.
struct ListPair {
  PackageRun before;
  std::vector<ListedInstruction> submitted;
  Resolution resolution;
  std::shared_ptr<const Intent> intent;  ///< as the resolver of the request wants it
};

Result<ListPair> resolve(const Workplace& place, const PackageRequest& request, const Name& name,
                         Package& package) {
  ListPair resolved;
  resolved.before = TRY(read_executed(place, name));
  resolved.submitted = listed(*package.intent, *package.statements, *place.kinds);
  resolved.resolution = resolve_overlap(resolved.before.list, resolved.submitted, overlap_rule);
  const bool is_overlap = request.resolver == PackageRequest::Resolver::overlap;
  const bool is_anew = request.redo == Redo::always;
  if (is_overlap && !is_anew) {
    name_by_entries(package, *place.kinds, resolved.before.list, resolved.resolution);
    resolved.submitted = listed(*package.intent, *package.statements, *place.kinds);
  }
  resolved.intent = package.intent;
  if (is_anew)
    resolved.resolution = {0, std::vector<Overlap>(resolved.submitted.size(), Overlap::added)};
  else if (is_overlap)
    resolved.intent = with_resolution(*package.intent, *package.statements, resolved.resolution);
  return resolved;
}

/// Adds what a run that has ended came to.
Status tell_run(const Workplace& place, Edit& edit, const Package& package, const Run& run,
                PackageReport& report) {
  report.environment = package.intent->environment.str();
  report.intent = package.intent;
  report.script = package.statements;
  report.known = run.known();
  add_unavailable(run, *package.intent, report.summary);
  report.outlived = outlived(run, *package.intent);
  report.unasked =
      unasked_downloads(*package.intent, run.seen(), [&](const Key& key) { return run.step(key); });
  Departures left = TRY(mark_orphans(place, edit, *package.intent, run.known(), false));
  report.orphans = left.orphans;
  report.shared = left.shared.size();
  report.orphaned = std::move(left.orphaned);
  if (report.summary.good() && report.summary.done == 0)
    report.seen = run.seen();
  report.warnings = package.warnings;
  report.images = package.images;
  report.dependencies = package.dependencies;
  report.has_output = package.has_output;
  report.output = filled(package.output, report.environment, run.known());
  return {};
}

Result<PackageReport> run_unmasked(const Workplace& place, const PackageRequest& request,
                                   PackageAudience& audience) {
  const Instant began = instant_from_clock();
  // Records must not change between their reading and the run, so the right to edit comes first.
  std::string name = request.environment;
  if (name.empty())
    name = TRY(open_package(request)).environment;
  TRY(check_environment_name(name));
  const std::unique_ptr<Edit> edit = TRY(begin_edit(place, name, request.waits));
  if (!TRY(place.store->environment(name)))
    TRY(adopt_environment(place, *edit));
  Preparation prepared = TRY(prepare(place, request, true));
  Package& package = prepared.package;
  audience.interpreted(package);
  if (!package.findings.empty())
    return findings_error(package.findings);
  const auto [before, submitted, resolution, intent] = TRY(resolve(place, request, name, package));
  const std::vector<ListedInstruction>& executed = before.list;
  RunRequest run_request;
  run_request.intent = intent;
  run_request.known = std::move(prepared.known);
  run_request.options.parallelism = std::max(1, request.parallelism);
  run_request.options.plan.edit_in_place = request.edits_in_place;
  run_request.options.plan.replay = request.replays;
  if (request.plan) {
    const PreviewedPlan now =
        TRY(look_and_plan(place, *run_request.intent, run_request.known, run_request.options.plan));
    TRY(check_plan_asked(request, now));
  }
  run_request.needs_room = request.checks_room;
  run_request.detail = Value::dict(
      {{"package", user_path(request.package)}, {"instructions", package.statements->size()}});
  run_request.begins = [&]() -> Status {
    TRY(ensure_environment(place, *edit, Value::dict({{"production", request.is_production}})));
    TRY(put_uploads(place, package));
    TRY(keep_secrets(place, *edit));
    TRY(write_last_run(
        place, *edit,
        {package_identity(request.package), request.arguments, request.arguments_file}));
    return begin_executed(*edit, executed, {*package.statements, submitted, resolution});
  };
  Reporter reporter(place, package.statements, audience);
  run_request.audience = &reporter;
  Result<RunResult> begun = carry_out(place, *edit, std::move(run_request));
  if (!begun)
    return with_excerpt(std::move(begun).error());
  RunResult& run_result = *begun;
  PackageReport report;
  report.statements = reporter.finish(run_result.run);
  report.removed = reporter.take_removed();
  const std::vector<ListedInstruction> after =
      executed_after(executed, submitted, resolution, report.statements);
  if (before.of_a_killed_run || after != executed)
    TRY(write_executed(*edit, after));
  report.summary = TRY(std::move(run_result.summary));
  TRY(tell_run(place, *edit, package, run_result.run, report));
  report.took = instant_from_clock() - began;
  return report;
}

Result<PackageReport> dry_run_unmasked(const Workplace& place, const PackageRequest& request) {
  Preparation prepared = TRY(prepare(place, request, false));
  PackageReport report;
  report.environment = prepared.environment;
  report.intent = prepared.package.intent;
  report.script = prepared.package.statements;
  report.warnings = std::move(prepared.package.warnings);
  for (Error& finding : prepared.package.findings)
    report.findings.push_back(with_excerpt(std::move(finding)));
  report.images = std::move(prepared.package.images);
  report.dependencies = std::move(prepared.package.dependencies);
  report.has_output = prepared.package.has_output;
  report.output = prepared.package.plain_output;
  const Plan plan = TRY(
      make_plan(*report.intent, prepared.known, {}, *place.kinds, {request.edits_in_place, {}}));
  std::map<Key, const Step*> steps;
  for (const Step& step : plan.steps)
    steps[step.key] = &step;
  for (const Statement& statement : *report.script) {
    StatementReport told;
    told.statement = &statement;
    for (const Key& key : statement.keys)
      if (const auto found = steps.find(key);
          found != steps.end() && (told.why.empty() || acts(found->second->verb)))
        told.why = found->second->why.str();
    report.statements.push_back(std::move(told));
  }
  return report;
}

const Step* step_of(const Plan& plan, const Key& key) {
  const auto found = std::ranges::find(plan.steps, key, &Step::key);
  return found == plan.steps.end() ? nullptr : &*found;
}

Result<Preview> preview_unmasked(const Workplace& place, const PackageRequest& request) {
  Preparation prepared = TRY(prepare(place, request, false));
  if (!prepared.package.findings.empty())
    return findings_error(prepared.package.findings);
  Preview preview;
  preview.environment = prepared.environment;
  preview.intent = TRY(resolve(place, request, preview.environment, prepared.package)).intent;
  preview.warnings = std::move(prepared.package.warnings);
  preview.at_work = TRY(place.store->holder(preview.environment));
  preview.edit_in_place = request.edits_in_place;
  preview.replay = request.replays;
  preview.package = package_identity(request.package);
  preview.asked = digest_asked(request);
  const PlanOptions options{request.edits_in_place,
                            preview.at_work ? to_string(*preview.at_work) : std::string(),
                            0,
                            0,
                            {},
                            request.replays,
                            {}};
  PreviewedPlan looked = TRY(look_and_plan(place, *preview.intent, prepared.known, options));
  preview.plan = std::move(looked.plan);
  preview.seen = std::move(looked.seen);
  std::ranges::move(unasked_downloads(*preview.intent, preview.seen,
                                      [&](const Key& key) { return step_of(preview.plan, key); }),
                    std::back_inserter(preview.warnings));
  preview.shared = std::move(looked.shared);
  return preview;
}

}  // namespace

Error findings_error(const std::vector<Error>& findings) {
  Error error = findings.front();
  error.excerpt = excerpt_of(error);
  for (size_t i = 1; i < findings.size(); ++i) {
    error.message +=
        cat(error.excerpt.empty() ? "" : "\n", error.excerpt, "\n", to_string(findings[i]));
    error.excerpt = excerpt_of(findings[i]);
  }
  return error;
}

Result<std::string> environment_of_package(const PackageRequest& request) {
  return request.environment.empty() ? TRY(open_package(request)).environment : request.environment;
}

Result<PackageReview> review_sources(const PackageRequest& request) {
  OpenPackage opened = TRY(open_package(request));
  return review_package(opened.sources, opened.main_file,
                        request.main_function.empty() ? "run" : request.main_function);
}

Result<compose::Program> program_of_compose(const PackageRequest& request) {
  OpenPackage opened = TRY(open_package(request));
  if (!is_compose_path(opened.main_file))
    return user_error(cat("`", printable(request.package), "` is no compose file"));
  compose::ProjectRequest compose = std::move(opened.compose);
  compose.allows_privileged = request.allows_privileged;
  Result<compose::Program> program =
      opened.sources.compose(opened.sources.root(opened.main_file), std::move(compose));
  return program ? std::move(program) : with_excerpt(std::move(program).error());
}

Result<PackageReport> run_package(const Workplace& place, const PackageRequest& request,
                                  PackageAudience& audience) {
  hide_arguments(place, request.arguments);
  if (place.shows_secrets)
    return run_unmasked(place, request, audience);
  MaskedAudience hidden(audience, *place.mask);
  Result<PackageReport> report = run_unmasked(place, request, hidden);
  if (!report)
    return hidden_error(place, std::move(report).error());
  return hidden.masked_report(std::move(*report));
}

Result<PackageReport> dry_run_package(const Workplace& place, const PackageRequest& request) {
  hide_arguments(place, request.arguments);
  Result<PackageReport> report = dry_run_unmasked(place, request);
  if (!report)
    return hidden_error(place, std::move(report).error());
  PackageAudience nobody;
  return place.shows_secrets
             ? std::move(*report)
             : MaskedAudience(nobody, *place.mask).masked_report(std::move(*report));
}

Result<Preview> preview_package(const Workplace& place, const PackageRequest& request) {
  hide_arguments(place, request.arguments);
  Result<Preview> preview = preview_unmasked(place, request);
  if (!preview)
    return hidden_error(place, std::move(preview).error());
  PackageAudience nobody;
  return place.shows_secrets
             ? std::move(*preview)
             : MaskedAudience(nobody, *place.mask).masked_preview(std::move(*preview));
}

}  // namespace fettle

#include <algorithm>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/compile_limits.h"
#include "cli/commands/deploy.h"
#include "cli/commands/package_options.h"
#include "cli/named_files.h"
#include "cli/output_file.h"
#include "cli/print.h"
#include "documents/plans.h"
#include "model/project/project.h"
#include "packages/elsewhere.h"
#include "value/json.h"
#include "verbs/models/plan_version.h"
#include "workplace/orphans.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

constexpr std::array groups{Verb::create, Verb::update, Verb::replace, Verb::start, Verb::stop,
                            Verb::run,    Verb::ensure, Verb::remove,  Verb::forget};

std::string key_text(const Step& step) {
  return placed_key(step.key,
                    step.wanted == nullptr ? std::string_view() : step.wanted->origin.view());
}

/// The reason behind the key of a step. If it has several lines, it gets a column of its own.
std::string reason_text(const Face& face, const Step& step) {
  return in(Colour::grey, cat(": ", hanging(step.why.view(), 6)), face.colour);
}

/// Commands that ran in services that were started again since.
void print_outlived(const Face& face, const Preview& preview) {
  bool headed = false;
  for (const Step& step : preview.plan.steps)
    if (step.is_outlived) {
      if (!std::exchange(headed, true))
        print(cat(in(Colour::bold, "keep, not repeated", face.colour),
                  " (`--replay` repeats what ran before a service was started again)"));
      print(cat("  ", key_text(step), reason_text(face, step)));
    }
}

constexpr size_t most_alike = 3;

/// Blocked steps, those that wait for the same thing in one line.
void print_blocked(const Face& face, const Workplace& place, const Preview& preview) {
  std::vector<std::vector<const Step*>> alike;
  std::map<Name, size_t> places;
  for (const Step& step : preview.plan.steps) {
    if (step.verb != Verb::blocked)
      continue;
    // The difference is shown for each.
    if (const auto known = places.find(step.why); known != places.end() && step.fields.empty()) {
      alike[known->second].push_back(&step);
      continue;
    }
    if (step.fields.empty())
      places.emplace(step.why, alike.size());
    alike.push_back({&step});
  }
  if (!alike.empty())
    print(in(Colour::bold, to_string(Verb::blocked), face.colour));
  for (const std::vector<const Step*>& those : alike) {
    std::vector<Key> keys;
    for (const Step* const step : those)
      keys.push_back(step->key);
    const std::string reason = reason_text(face, *those[0]);
    if (those.size() > most_alike) {
      print(cat("  ", first_few(keys), reason));
      continue;
    }
    for (const Step* const step : those) {
      print(cat("  ", key_text(*step), reason));
      print_changes(face, changes_of(place, preview, *step));
    }
  }
}

/// Prints things that are no longer wanted here and stay, whatever is pruned.
void print_shared(const Face& face, const Preview& preview) {
  if (!preview.shared.empty())
    print(in(Colour::bold, "no longer wanted, left to others", face.colour));
  for (const auto& [key, sharer] : preview.shared)
    print(cat("  ", shown_key(key), ": ", to_string(sharer, preview.environment)));
}

void print_plan(const Face& face, const Workplace& place, const Preview& preview) {
  size_t kept = 0;
  for (const Step& step : preview.plan.steps)
    kept += step.verb == Verb::keep && !step.is_shared ? 1 : 0;
  for (const Verb verb : groups) {
    bool headed = false;
    for (const Step& step : preview.plan.steps) {
      if (step.verb != verb)
        continue;
      if (!std::exchange(headed, true))
        print(in(Colour::bold, to_string(verb), face.colour));
      print(cat("  ", key_text(step), step.maybe ? " (maybe)" : "", reason_text(face, step)));
      print_changes(face, changes_of(place, preview, step));
    }
  }
  print_blocked(face, place, preview);
  print_outlived(face, preview);
  print_shared(face, preview);
  std::vector<Key> prunable = preview.plan.leftovers;
  std::erase_if(prunable, [&](const Key& key) {
    return preview.shared.contains(key) || is_surroundings(key);
  });
  print(cat("keep ", kept,
            prunable.empty() ? ""
                             : cat("; no longer wanted, kept: ", first_few(prunable),
                                   prunable.size() == 1 ? " (`--prune` removes it)"
                                                        : " (`--prune` removes them)")));
}

int code_of(const Face& face, const Preview& preview) {
  return face.parsed.flag("detailed-exitcode") && !preview.plan.converged() ? 4 : 0;
}

std::string file_of_plan(const Face& face) { return face.parsed.text("out"); }

/// `-f` names the main file of a model, or a compose file.
bool names_compose(const Face& face) {
  return face.parsed.has("file") &&
         std::ranges::all_of(face.parsed.all("file"), looks_like_compose);
}

/// Options that only the other sort of plan takes.
Status check_options(const Face& face, bool is_model) {
  const std::set<std::string> of_models{"version", "agent", "on", "file", "steps", "memory"};
  for (const auto& [name, values] : face.parsed.options)
    if (of_models.contains(name) && !is_model && !(name == "file" && names_compose(face)))
      return user_error(
          cat("`--", name, "` is for models, and `", face.parsed.argument(0), "` is a package"));
  for (const CommandOption& option : package_options())
    for (const std::string& name : option.names)
      if (const std::string bare = name.substr(2);
          name.starts_with("--") && is_model && bare != "enclave" && bare != "environment" &&
          bare != "prune" && bare != "parallelism" && face.parsed.has(bare))
        return user_error(cat("`", name, "` is for packages; name one"));
  return {};
}

Result<Preview> preview_of_model(Face& face) {
  Workplace* const place = TRY(face.workplace());
  ApplyRequest request;
  TRY(read_agents(face, request));
  request.prune = face.parsed.flag("prune");
  // Without a project, an environment stands for what was last stored.
  const bool is_of_store =
      face.parsed.has("enclave") && face.parsed.text("file").empty() && !model::is_in_project(".");
  if (face.parsed.has("version") || is_of_store) {
    const int64_t version = TRY(face.parsed.number("version", 0));
    if (version < 1 && face.parsed.has("version"))
      return user_error("`--version` must be the number of a version");
    request.environment = TRY(model_environment(face)).name;
    if (version > 0)
      request.version = static_cast<uint64_t>(version);
    return preview_version(*place, request);
  }
  ExportRequest project;
  project.environment = face.parsed.text("enclave");
  project.main_file = face.parsed.text("file");
  project.allows_undeclared = face.parsed.flag("allow-undeclared");
  model::CompileOptions options;
  TRY(read_limits(face, options));
  // The output of a model is no part of its plan.
  options.print = [](std::string_view line) { print_error(line); };
  options.warn = [&face](const Error& warning) { print_warning(face, to_string(warning)); };
  return preview_project(*place, project, request, options);
}

Result<Preview> preview_of_package(Face& face) {
  PackageRequest request = TRY(package_request(face));
  request.use = PackageRequest::Use::preview;
  return preview_package(*TRY(face.workplace()), request);
}

Result<int> run_plan(Face& face) {
  const bool is_model = face.parsed.arguments.empty() && !names_compose(face);
  TRY(check_options(face, is_model));
  Workplace* place = TRY(face.workplace());
  const Preview preview = is_model ? TRY(preview_of_model(face)) : TRY(preview_of_package(face));
  if (!preview.errors.empty())
    return report_model_errors(face, preview.errors);
  if (preview.at_work && !face.quiet)
    print_error(cat(to_string(*preview.at_work), " is working on `", preview.environment,
                    "`; its unfinished steps are shown as blocked"));
  if (const std::string file = file_of_plan(face); !file.empty()) {
    if (preview.at_work)
      return world_error(cat(to_string(*preview.at_work), " is working on `", preview.environment,
                             "`; a plan cannot be kept until it ends"));
    TRY(write_output(file, [&](const ByteSink& write) {
      return write(cat(write_json(plan_file_of(preview), {.indent = 2}), "\n"));
    }));
    note_plan_file(face, *place, file);
  }
  for (const std::string& warning : preview.warnings)
    print_warning(face, warning);
  if (is_standard_output(file_of_plan(face)))
    return code_of(face, preview);
  if (face.json) {
    print_json(document_of(*place, preview));
  } else {
    print_plan(face, *place, preview);
  }
  return code_of(face, preview);
}

}  // namespace

Command plan_command() {
  Command command = CommandGroup{around_runs, package_options()}.reader(
      "plan", "[PACKAGE [ARGUMENTS]]", 0, 2,
      "Shows what a run would do, and why. Pulls and changes nothing.\n"
      "Without a package, shows what a release of the model in this folder would do; outside of a\n"
      "project, with `-e NAME`, what a release of its newest version would do. For files of\n"
      "states, it is `fettle state --test`, with its options.",
      {"fettle plan examples/shop",
       "fettle plan examples/shop --args-file args.yml --detailed-exitcode",
       "fettle plan examples/homelab/site.sls",
       "fettle plan --version 3 -e networks --out due.plan"},
      run_plan,
      {{{"--detailed-exitcode"}, "", "exit code 4 when something is due"},
       {{"--out"},
        "FILE",
        "write the plan to FILE, for `--plan` of `run` and `versions release`; - is standard "
        "output",
        false,
        false,
        {},
        true},
       {{"--version"}, "N", "for models: a stored version instead of the model in this folder"},
       {{"-f", "--file"},
        "FILE",
        "for models: the main file (default: main.cf of the project); or another compose file, "
        "which counts before those named so far",
        true},
       {{"--steps"}, "N", "for models: stop after this much work"},
       {{"--memory"}, "BYTES", "for models: stop beyond this much memory"},
       agent_option(),
       on_option(),
       allow_undeclared_option()});
  command.name_files = [](const CommandLine& parsed, NamedFiles& named) {
    name_package(parsed, named);
    if (parsed.arguments.empty())
      name_project(parsed, named);
  };
  return command;
}

}  // namespace fettle

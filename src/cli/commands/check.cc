#include "verbs/check/check.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/compile_limits.h"
#include "cli/commands/package_options.h"
#include "cli/commands/state_options.h"
#include "cli/print.h"
#include "documents/checks.h"
#include "packages/elsewhere.h"
#include "packages/locator.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

/// The things to look at, by kind.
struct CheckQuery {
  std::vector<std::string> packages, models, states, manifests;
  size_t size() const { return packages.size() + models.size() + states.size() + manifests.size(); }
};

bool is_manifest(const std::string& name) {
  return name.ends_with(".yml") || name.ends_with(".yaml") || name.ends_with(".json");
}

/// Whether a file in a folder that was named says of itself that it is a manifest: others write
/// YAML and JSON, too.
bool says_it_is_a_manifest(const std::string& path) {
  constexpr size_t enough = 64 << 10;
  std::string text(enough, '\0');
  std::ifstream file(path);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text.find("apiVersion") != text.npos && text.find("kind") != text.npos;
}

struct Entries {
  std::vector<std::string> folders, files;
};

/// The entries of a folder, in order. Those that begin with a dot belong to somebody else, and
/// links are not followed.
Entries entries_of(const fs::path& folder) {
  Entries entries;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string path =
        folder == "." ? entry.path().filename().string() : entry.path().string();
    if (entry.path().filename().string().starts_with('.'))
      continue;
    if (entry.is_regular_file(failure))
      entries.files.push_back(path);
    else if (entry.is_directory(failure) && !entry.is_symlink(failure))
      entries.folders.push_back(path);
  }
  std::ranges::sort(entries.folders);
  std::ranges::sort(entries.files);
  return entries;
}

constexpr size_t most_folders = 10'000;

/// A folder is a package or a project, or it and those in it hold packages, projects, files of
/// states and manifests.
void sort_folder(const std::string& top, CheckQuery& asked) {
  std::vector<std::string> open{top};
  for (size_t seen = 0; !open.empty() && seen < most_folders; ++seen) {
    const std::string folder = std::move(open.back());
    open.pop_back();
    const auto has = [&](const char* name) {
      std::error_code failure;
      return fs::exists(fs::path(folder) / name, failure);
    };
    const bool is_package = has("kurtosis.yml"),
               is_project = has("project.yml") || (!is_package && has("main.cf"));
    if (is_package)
      asked.packages.push_back(folder);
    if (is_project)
      asked.models.push_back(folder);
    const bool is_compose =
        !is_package && !compose::compose_file_in(ClosedFolder(folder), "").empty();
    if (is_compose)
      asked.packages.push_back(folder);
    if (is_package || is_project || is_compose)
      continue;
    Entries entries = entries_of(folder);
    for (const std::string& path : entries.files) {
      if (path.ends_with(".star"))
        asked.packages.push_back(path);
      else if (path.ends_with(".cf"))
        asked.models.push_back(path);
      else if (path.ends_with(".sls"))
        asked.states.push_back(path);
      else if (is_manifest(path) && says_it_is_a_manifest(path))
        asked.manifests.push_back(path);
    }
    open.insert(open.end(), entries.folders.rbegin(), entries.folders.rend());
  }
}

/// The kind of standard input, and of files with other endings.
Status sort_as(const std::string& kind, const std::string& word, CheckQuery& asked) {
  if (kind == "package")
    asked.packages.push_back(word);
  else if (kind == "model")
    asked.models.push_back(word);
  else if (kind == "states")
    asked.states.push_back(word);
  else if (kind == "workloads")
    asked.manifests.push_back(word);
  else
    return user_error(
        cat("`--kind` must be package, model, states or workloads, not `", kind, "`"));
  return {};
}

Status sort_word(const std::string& word, const std::string& kind, CheckQuery& asked) {
  std::error_code failure;
  if (word == "-") {
    TRY(sort_as(kind.empty() ? "package" : kind, word, asked));
  } else if (is_absolute_locator(word)) {
    asked.packages.push_back(word);
  } else if (fs::is_directory(word, failure)) {
    const size_t before = asked.size();
    sort_folder(word, asked);
    if (asked.size() == before)
      return user_error(cat("there is nothing to check in `", word,
                            "`: no package, project, file of states or manifest"));
  } else if (!fs::exists(word, failure)) {
    return user_error(cat("`", word, "` does not exist"));
  } else if (const fs::path path(word); path.filename() == "kurtosis.yml") {
    asked.packages.push_back(word);
  } else if (path.filename() == "project.yml") {
    asked.models.push_back(path.has_parent_path() ? path.parent_path().string() : ".");
  } else if (word.ends_with(".star")) {
    asked.packages.push_back(word);
  } else if (word.ends_with(".cf")) {
    asked.models.push_back(word);
  } else if (word.ends_with(".sls")) {
    asked.states.push_back(word);
  } else if (looks_like_compose(word)) {
    asked.packages.push_back(word);
  } else if (is_manifest(word)) {
    asked.manifests.push_back(word);
  } else if (!kind.empty()) {
    TRY(sort_as(kind, word, asked));
  } else {
    return user_error(cat("the kind of `", word,
                          "` is unknown; known endings are .star, .cf, .sls, .yml, .yaml and "
                          ".json, `--kind` names it for others"));
  }
  return {};
}

Result<std::vector<CheckResult>> check_all(Face& face, const CheckQuery& asked) {
  Workplace* const place = TRY(face.workplace());
  std::vector<CheckResult> checked;
  for (const std::string& package : asked.packages) {
    face.parsed.arguments = {package};
    checked.push_back(check_package(*place, TRY(package_request(face))));
  }
  model::CompileOptions limits;
  TRY(read_limits(face, limits));
  for (const std::string& model : asked.models)
    checked.push_back(check_model(model, limits));
  if (!asked.states.empty()) {
    face.parsed.arguments = asked.states;
    checked.push_back(check_states(*place, TRY(read_states_request(face))));
  }
  for (const std::string& file : asked.manifests) {
    checked.push_back(check_manifests(shown_file(file), TRY(read_given(file))));
    checked.back().path = file;
  }
  return checked;
}

void print_findings(const Face& face, const std::vector<Error>& findings, bool are_errors) {
  for (const Error& finding : findings) {
    std::string text = error_text(finding, false).substr(std::string_view("error: ").size());
    print(cat(are_errors ? in(Colour::red, "error: ", face.colour)
                         : in(Colour::yellow, "warning: ", face.colour),
              text));
  }
}

void print_checked(const Face& face, const CheckResult& one) {
  print_findings(face, one.errors, true);
  if (face.quiet)
    return;
  print_findings(face, one.warnings, false);
  print(cat(one.kind, " ", one.path, ": ",
            one.errors.empty() && one.warnings.empty()
                ? "no findings"
                : cat(counted(one.errors.size(), "error"), ", ",
                      counted(one.warnings.size(), "warning"))));
}

Result<int> run_check(Face& face) {
  std::vector<std::string> words = face.parsed.arguments;
  if (words.empty())
    words.emplace_back(".");
  CheckQuery asked;
  for (const std::string& word : words)
    TRY(sort_word(word, face.parsed.text("kind"), asked));
  const std::vector<CheckResult> all = TRY(check_all(face, asked));
  const bool is_good =
      std::ranges::all_of(all, [](const CheckResult& one) { return one.errors.empty(); });
  if (face.json)
    print_json(document_of(all));
  else
    for (const CheckResult& one : all)
      print_checked(face, one);
  return is_good ? 0 : 2;
}

/// The options of packages and states that say what is read.
std::vector<CommandOption> options() {
  std::vector<CommandOption> chosen{
      environment_option(),
      {{"--kind"},
       "KIND",
       "kind of standard input or of a file without a known extension: "
       "package (default), model, states or workloads",
       false,
       false,
       {"model", "package", "states", "workloads"}}};
  const auto take = [&](const std::vector<CommandOption>& from,
                        std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (const CommandOption* option = find_option(from, name))
        chosen.push_back(*option);
  };
  take(package_options(), {"--args-file", "--set", "--package-mirror", "--main-file",
                           "--main-function-name", "--privileged"});
  take(state_options(), {"--sls-sources", "--params", "--param-sources", "--plugin-dir"});
  for (CommandOption& option : compile_limit_options())
    chosen.push_back(std::move(option));
  return chosen;
}

}  // namespace

Command check_command() {
  return without_state(CommandGroup{around_runs, {}, CommandPlace::here}.reader(
      "check", "[PACKAGE|PROJECT|FILE…]", 0, 1000,
      "Finds errors and doubtful code in packages, models, states and manifests, and runs "
      "nothing.\n"
      "Without an argument, checks this folder; `-` is standard input. Needs no engine;\n"
      "exit code 2 when there are errors.",
      {"fettle check examples/shop", "fettle check main.cf site.sls web.yaml -o json"}, run_check,
      options()));
}

}  // namespace fettle

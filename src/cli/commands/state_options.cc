#include "cli/commands/state_options.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/state_configuration.h"
#include "cli/formats.h"
#include "core/environment_name.h"
#include "value/json.h"

namespace fettle {
namespace {

/// A flag, a configuration or a variable.
std::string given(const Face& face, const std::string& flag, const char* variable) {
  const char* otherwise = std::getenv(variable);
  return face.parsed.text(flag, otherwise == nullptr ? "" : otherwise);
}

Result<std::string> environment_of_words(const Configuration& configuration, const Face& face) {
  for (const std::string flag : {"enclave", "run-name"}) {
    if (!face.parsed.has(flag))
      continue;
    const std::string name = face.parsed.text(flag);
    if (const Status good = check_environment_name(name); !good)
      return configuration.refused(flag, cat("`--", flag, "`: ", good.error().message));
    return name;
  }
  std::error_code failed;
  Path folder = std::filesystem::current_path(failed);
  if (const std::string first = face.parsed.argument(0);
      first.find('/') != first.npos && file_exists(first))
    folder = std::filesystem::weakly_canonical(first, failed).parent_path();
  std::string name;
  for (const char c : folder.filename().string())
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' ? c : '-';
  while (!name.empty() && (name.front() == '-'))
    name.erase(0, 1);
  return name.empty() ? "states" : name.substr(0, 60);
}

/// Folders with plugins: beside the sources, then those that are named.
std::vector<Path> plugin_folders(const Face& face, const std::vector<std::string>& sources) {
  std::vector<Path> folders;
  const auto add = [&](const Path& folder) {
    if (!folder.empty() && std::ranges::find(folders, folder) == folders.end())
      folders.push_back(folder);
  };
  for (const std::string& word : face.parsed.arguments)
    if (word.ends_with(".sls") && file_exists(word))
      add(Path(word).parent_path().empty() ? Path(".") : Path(word).parent_path());
  for (const std::string& source : sources)
    add(source.starts_with("file://") ? Path(source.substr(7)) : Path(source));
  if (folders.empty())
    add(".");
  for (const std::string& folder : face.parsed.all("plugin-dir"))
    add(folder);
  std::erase_if(folders, [](const Path& folder) { return !std::filesystem::is_directory(folder); });
  return folders;
}

Status read_credentials(const Face& face, StatesRequest& request) {
  const std::string file = given(face, "acct-file", "ACCT_FILE");
  const std::string key = given(face, "acct-key", "ACCT_KEY");
  request.functions.acct_profile = given(face, "acct-profile", "ACCT_PROFILE");
  // A variable that is set for other programs, too, does no harm where there are no credentials.
  request.functions.wants_profile = face.parsed.has("acct-profile") || !file.empty();
  if (file.empty())
    return {};
  request.functions.credentials = TRY(states::Credentials::read(TRY(read_given(file)), file, key));
  return {};
}

}  // namespace

std::vector<CommandOption> state_options() {
  const auto several = [](CommandOption option) {
    option.repeated = option.greedy = true;
    return option;
  };
  return {
      {{"-e", "--enclave", "--environment"},
       "NAME",
       "the environment (default: the folder's name)"},
      several({{"--sls-sources"}, "SOURCE…", "where files are: folders, archives and json://"}),
      several({{"--params"}, "FILE…", "files of parameters"}),
      several({{"--param-sources"}, "SOURCE…", "where files of parameters are"}),
      {{"-T", "--tree"}, "DIR", "a folder with files, searched before all sources"},
      {{"-t", "--test"}, "", "show what would be done, and do nothing"},
      {{"--invert"}, "", "swap present and absent"},
      {{"--target"}, "ID", "only this ID, and what it needs"},
      {{"-r", "-R", "--reconciler"},
       "NAME",
       "fettle (default), basic, none, or your own",
       false,
       false,
       {"basic", "fettle", "none"}},
      {{"-p", "-P", "--pending"},
       "NAME",
       "for basic: default, idem25, or your own",
       false,
       false,
       {"default", "idem25"}},
      {{"--max-pending-reruns"}, "N", "for basic: at most N reruns (600)"},
      {{"--deadline"}, "TIME", "give up after this time, such as `10m`"},
      {{"--fresh"}, "", "do not continue an interrupted run"},
      {{"--prune"}, "", "remove what is no longer in the files"},
      {{"--lenient"}, "", "unknown functions and targets fail only their own state"},
      {{"--runtime"}, "NAME", "parallel (default) or serial", false, false, {"parallel", "serial"}},
      {{"--batch-size"}, "N", "at most N at the same time (50)"},
      {{"--render"}, "PIPE", "jinja|yaml|replacements"},
      {{"--steps"}, "N", "stop a template after this much work (50,000,000)"},
      {{"--memory"}, "BYTES", "stop a template beyond this much memory"},
      {{"--group"},
       "NAME",
       "number (default), sort, duration, omit_noop",
       false,
       false,
       {"duration", "number", "omit_noop", "sort"}},
      {{"--run-name"}, "NAME", "Idem's name for the environment"},
      {{"--esm-plugin"}, "NAME", "local, or null: neither read nor write memory"},
      {{"--root-dir"}, "DIR", "the folder for all stored data"},
      {{"-c", "--config"}, "FILE", "defaults, as in Idem's configuration"},
      {{"--acct-file"}, "FILE", "credentials"},
      {{"--acct-key"}, "KEY", "the key of the credentials; without one the file is plain YAML"},
      {{"--acct-profile"}, "NAME", "the default profile"},
      several({{"--plugin-dir"}, "DIR…", "folders with plugins"}),
      {{"--detailed-exitcode"}, "", "with --test: exit code 4 when something is due"},
      {{"--compat-exit-code"}, "", "exit code 0 even when states failed, as with Idem"},
      // These have no meaning here; users of Idem may have them in scripts.
      {{"--cache-dir"}, "DIR", "ignored"},
      {{"--esm-profile"}, "NAME", "ignored"},
      {{"--upgrade-esm"}, "", "ignored"},
      {{"--get-resource-only-with-resource-id"}, "", "ignored"},
      {{"--extras"}, "FILE", "ignored"},
      {{"--overrides"}, "FILE", "ignored"},
      {{"--no-progress-bar"}, "", "ignored"},
      {{"--progress-plugin"}, "NAME", "ignored"},
      {{"--log-level"}, "LEVEL", "ignored"},
      {{"--log-file"}, "FILE", "ignored"},
      {{"--log-plugin"}, "NAME", "ignored"},
      {{"--log-datefmt"}, "FORMAT", "ignored"},
      {{"--log-fmt-console"}, "FORMAT", "ignored"},
      {{"--log-fmt-logfile"}, "FORMAT", "ignored"},
      several({{"--log-handler-options"}, "OPTION…", "ignored"}),
      {{"--serialize-plugin"}, "NAME", "ignored"},
      {{"--error-callback-ref"}, "REF", "ignored"},
      {{"--backend"}, "NAME", "ignored"},
      {{"--disable-jinja-sandbox"}, "", "ignored"},
      several({{"--jinja-sandbox-safe-hub-refs"}, "REF…", "ignored"}),
  };
}

namespace {

/// Checks that a flag has one of its words, or several of them between bars.
Status check_words(const Configuration& configuration, const Face& face, const std::string& flag,
                   const std::vector<std::string>& known) {
  const std::string said = face.parsed.text(flag);
  for (const std::string_view word : split(said, '|'))
    if (!said.empty() && std::ranges::find(known, word) == known.end())
      return configuration.refused(flag, cat("`--", flag, "` must be one of ", join(known, ", "),
                                             ", not `", word, "`", suggestion(word, known)));
  return {};
}

Status check_flags(const Configuration& configuration, const Face& face) {
  const auto check = [&](const std::string& flag, const std::vector<std::string>& known) {
    return check_words(configuration, face, flag, known);
  };
  TRY(check("group", {"number", "sort", "duration", "omit_noop"}));
  TRY(check("esm-plugin", {"local", "null"}));
  TRY(check("runtime", {"parallel", "serial"}));
  std::vector<std::string> formats = common_formats();
  std::ranges::move(document_formats(), std::back_inserter(formats));
  TRY(check("output", formats));
  for (const std::string& folder : face.parsed.all("plugin-dir"))
    if (std::error_code failure; !std::filesystem::is_directory(folder, failure))
      return configuration.refused("plugin-dir",
                                   cat("`--plugin-dir`: `", folder, "` is not a folder"));
  return {};
}

/// The count must be at least `least`.
Result<int64_t> count_of(const Configuration& configuration, const Face& face,
                         const std::string& flag, int64_t otherwise, int64_t least) {
  const int64_t count = TRY(face.parsed.number(flag, otherwise));
  if (count < least)
    return configuration.refused(flag,
                                 cat("`--", flag, "` must be at least ", least, ", not ", count));
  return count;
}

}  // namespace

Result<StatesRequest> read_states_request(Face& face) {
  const Configuration configuration = TRY(Configuration::apply(face, state_options()));
  TRY(check_flags(configuration, face));
  const CommandLine& parsed = face.parsed;
  face.output = parsed.text("output", face.output);
  face.json = face.json || format_of(face.output).kind == Format::Kind::json;
  StatesRequest request;
  for (const std::string& word : parsed.arguments)
    request.words.push_back(word);
  request.compile.sources = parsed.all("sls-sources");
  if (const std::string tree = parsed.text("tree"); !tree.empty())
    request.compile.sources.insert(request.compile.sources.begin(), tree);
  request.compile.params = parsed.all("params");
  request.compile.param_sources = parsed.all("param-sources");
  request.compile.pipe = parsed.text("render", request.compile.pipe);
  request.compile.run_name = parsed.text("run-name", "cli");
  request.compile.target = parsed.text("target");
  request.compile.is_inverted = parsed.flag("invert");
  request.compile.is_lenient = parsed.flag("lenient");
  if (parsed.has("steps"))
    request.compile.host.limits.steps =
        static_cast<uint64_t>(TRY(count_of(configuration, face, "steps", 0, 1)));
  if (parsed.has("memory"))
    request.compile.host.limits.memory =
        static_cast<uint64_t>(TRY(count_of(configuration, face, "memory", 0, 1)));
  request.environment = TRY(environment_of_words(configuration, face));
  request.functions.run_name = request.compile.run_name;
  request.functions.environment = request.environment;
  request.functions.folders = plugin_folders(face, request.compile.sources);
  if (const Path folder = configuration.folder(); !folder.empty())
    request.compile.sources.push_back(folder.string());
  request.is_test = parsed.flag("test");
  request.reconciler = parsed.text("reconciler", "fettle");
  request.pending = parsed.text("pending", "default");
  request.max_reruns = static_cast<int>(
      std::min<int64_t>(TRY(count_of(configuration, face, "max-pending-reruns", 600, 0)), 1 << 30));
  if (const std::string deadline = parsed.text("deadline"); !deadline.empty()) {
    const Result<Duration> read = parse_duration(deadline);
    if (!read)
      return configuration.refused("deadline", cat("`--deadline`: ", read.error().message));
    request.deadline = *read;
  }
  request.is_fresh = parsed.flag("fresh");
  request.prune = parsed.flag("prune");
  request.remembers = parsed.text("esm-plugin") != "null";
  request.waits = !parsed.flag("no-lease-wait");
  request.is_serial = parsed.text("runtime", "parallel") == "serial";
  const int64_t batch = TRY(parsed.number("batch-size", 50));
  request.parallelism = batch <= 0 ? 1000 : static_cast<int>(std::min<int64_t>(batch, 1000));
  TRY(read_credentials(face, request));
  return request;
}

Value value_of_word(const std::string& word) {
  Result<Value> read = read_json(word, "");
  return read ? *std::move(read) : Value(word);
}

}  // namespace fettle

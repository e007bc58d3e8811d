#include "cli/commands/state_options.h"

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "value/json.h"
#include "value/yaml.h"

namespace fettle {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Settings by the command line, the configuration file and the environment.
class Settings {
 public:
  explicit Settings(const Face& face) : face_(face) {}

  Status open() {
    const std::string file = face_.parsed.text("config", variable("IDEM_CONFIG"));
    if (file.empty())
      return {};
    Result<std::string> text = read_file(file);
    if (!text) {
      text.error().blame = Blame::user;
      return text.error();
    }
    folder_ = std::filesystem::absolute(file).parent_path();
    const Value document = TRY(read_yaml(*text, file, YamlSchema::pyyaml));
    if (!document.is_null() && !document.is_dict())
      return user_error(cat("`", file, "` must hold a dictionary"));
    // Idem has a section for each program of its family.
    for (const char* section : {"acct", "pop_config", "evbus", "rend", "idem"})
      if (const Value& part = document.at(section); part.is_dict())
        for (const Entry& entry : part.entries())
          config_.push_back(entry);
    return {};
  }

  /// Where the configuration file is: the last source. Empty: there is none.
  Path folder() const { return folder_; }

  std::string text(const std::string& name, const char* in_variable = nullptr,
                   const std::string& otherwise = {}) const {
    if (face_.parsed.has(name))
      return face_.parsed.text(name);
    if (const Value* value = find(name); value != nullptr && value->is_text())
      return value->text().str();
    const std::string given = in_variable == nullptr ? "" : variable(in_variable);
    return given.empty() ? otherwise : given;
  }

  std::vector<std::string> texts(const std::string& name) const {
    if (face_.parsed.has(name))
      return face_.parsed.all(name);
    std::vector<std::string> found;
    const Value* value = find(name);
    if (value != nullptr && value->is_list())
      for (const Value& item : value->items())
        if (item.is_text())
          found.push_back(item.text().str());
    if (value != nullptr && value->is_text())
      found.push_back(value->text().str());
    return found;
  }

  bool flag(const std::string& name) const {
    if (face_.parsed.has(name))
      return face_.parsed.flag(name);
    const Value* value = find(name);
    return value != nullptr && value->is_bool() && value->boolean();
  }

  Result<int64_t> number(const std::string& name, int64_t otherwise) const {
    if (face_.parsed.has(name))
      return face_.parsed.number(name, otherwise);
    const Value* value = find(name);
    return value == nullptr ? otherwise : value->integer().value_or(otherwise);
  }

 private:
  /// The last one counts; a configuration file writes `_` for `-`.
  const Value* find(const std::string& name) const {
    const std::string other = replace_all(name, "-", "_");
    const Value* found = nullptr;
    for (const Entry& entry : config_)
      if (entry.key == name || entry.key == other)
        found = &entry.value;
    return found;
  }

  const Face& face_;
  Path folder_;
  std::vector<Entry> config_;
};

Result<std::string> environment_of_words(const Settings& settings, const Face& face) {
  if (const std::string name = face.parsed.text("enclave"); !name.empty())
    return name;
  if (const std::string name = settings.text("run-name"); !name.empty())
    return name;
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
  return name.empty() ? "states" : name;
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

Status read_credentials(const Settings& settings, StatesRequest& request) {
  const std::string file = settings.text("acct-file", "ACCT_FILE");
  const std::string key = settings.text("acct-key", "ACCT_KEY");
  request.functions.acct_profile = settings.text("acct-profile", "ACCT_PROFILE");
  if (file.empty())
    return {};
  Result<std::string> bytes = read_file(file);
  if (!bytes) {
    bytes.error().blame = Blame::user;
    return bytes.error();
  }
  request.functions.credentials = TRY(states::Credentials::read(*bytes, file, key));
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
      {{"-r", "-R", "--reconciler"}, "NAME", "fettle (default), basic, none, or your own"},
      {{"-p", "-P", "--pending"}, "NAME", "for basic: default, idem25, or your own"},
      {{"--max-pending-reruns"}, "N", "for basic: at most N reruns (600)"},
      {{"--deadline"}, "TIME", "give up after this time, such as `10m`"},
      {{"--fresh"}, "", "do not continue an interrupted run"},
      {{"--prune"}, "", "remove what is no longer in the files"},
      {{"--lenient"}, "", "unknown functions and targets fail only their own state"},
      {{"--runtime"}, "NAME", "parallel (default) or serial"},
      {{"--batch-size"}, "N", "at most N at the same time (50)"},
      {{"--render"}, "PIPE", "jinja|yaml|replacements"},
      {{"--group"}, "NAME", "number (default), sort, duration, omit_noop"},
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
      // Without a meaning here; users of Idem may have them in scripts.
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

/// What a flag says is one of the words that it may say.
Status check_words(const Face& face, const std::string& flag,
                   const std::vector<std::string>& known) {
  const std::string given = face.parsed.text(flag);
  for (const std::string_view word : split(given, '|'))
    if (!given.empty() && std::ranges::find(known, word) == known.end())
      return user_error(cat("`--", flag, "` must be one of ", join(known, ", "), ", not `", word,
                            "`", suggestion(word, known)));
  return {};
}

/// The command line goes before the configuration.
Status choose_output(const Settings& settings, Face& face) {
  const std::string output = settings.text("output");
  if (face.parsed.has("output") || output.empty())
    return {};
  static const std::vector<std::string> known{"state", "json",   "yaml", "nested",
                                              "text",  "pretty", "raw"};
  if (std::ranges::find(known, output) == known.end())
    return user_error(cat("`output` of the configuration must be one of ", join(known, ", "),
                          ", not `", output, "`", suggestion(output, known)));
  face.output = output;
  face.json = output == "json";
  return {};
}

Status check_flags(const Face& face) {
  TRY(check_words(face, "group", {"number", "sort", "duration", "omit_noop"}));
  TRY(check_words(face, "esm-plugin", {"local", "null"}));
  for (const std::string& folder : face.parsed.all("plugin-dir"))
    if (std::error_code failure; !std::filesystem::is_directory(folder, failure))
      return user_error(cat("`--plugin-dir`: `", folder, "` is not a folder"));
  return {};
}

}  // namespace

Result<StatesRequest> read_states_request(Face& face, const Workplace&) {
  TRY(check_flags(face));
  Settings settings(face);
  TRY(settings.open());
  TRY(choose_output(settings, face));
  StatesRequest request;
  for (const std::string& word : face.parsed.arguments)
    request.words.push_back(word == "-" ? "/dev/stdin" : word);
  request.compile.sources = settings.texts("sls-sources");
  if (const std::string tree = settings.text("tree"); !tree.empty())
    request.compile.sources.insert(request.compile.sources.begin(), tree);
  request.compile.params = settings.texts("params");
  request.compile.param_sources = settings.texts("param-sources");
  request.compile.pipe = settings.text("render", nullptr, request.compile.pipe);
  request.compile.run_name = settings.text("run-name", nullptr, "cli");
  request.compile.target = settings.text("target");
  request.compile.is_inverted = settings.flag("invert");
  request.compile.is_lenient = settings.flag("lenient");
  request.environment = TRY(environment_of_words(settings, face));
  request.functions.run_name = request.compile.run_name;
  request.functions.environment = request.environment;
  request.functions.folders = plugin_folders(face, request.compile.sources);
  if (const Path folder = settings.folder(); !folder.empty())
    request.compile.sources.push_back(folder.string());
  request.is_test = settings.flag("test");
  request.reconciler = settings.text("reconciler", nullptr, "fettle");
  request.pending = settings.text("pending", nullptr, "default");
  request.max_reruns = static_cast<int>(
      std::clamp<int64_t>(TRY(settings.number("max-pending-reruns", 600)), 0, 1 << 30));
  if (const std::string deadline = settings.text("deadline"); !deadline.empty())
    request.deadline = TRY(parse_duration(deadline).context("reading `--deadline`"));
  request.is_fresh = settings.flag("fresh");
  request.prune = settings.flag("prune");
  request.remembers = settings.text("esm-plugin") != "null";
  request.waits = !face.parsed.flag("no-lease-wait");
  const std::string runtime = settings.text("runtime", nullptr, "parallel");
  if (runtime != "parallel" && runtime != "serial")
    return user_error(cat("`--runtime` must be parallel or serial, not `", runtime, "`"));
  request.is_serial = runtime == "serial";
  const int64_t batch = TRY(settings.number("batch-size", 50));
  request.parallelism = batch <= 0 ? 1000 : static_cast<int>(std::min<int64_t>(batch, 1000));
  TRY(read_credentials(settings, request));
  return request;
}

Value value_of_word(const std::string& word) {
  Result<Value> read = read_json(word, "");
  return read ? *std::move(read) : Value(word);
}

}  // namespace fettle

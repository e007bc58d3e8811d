#include "drivers/engine/logins.h"

#include <algorithm>
#include <cctype>

#include <unistd.h>

#include "base/process.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr Duration helper_limit = 20s;
constexpr size_t largest_file = 1 << 20, largest_answer = 64 << 10;  // bytes
constexpr std::string_view hub = "docker.io", hub_address = "https://index.docker.io/v1/";
constexpr std::string_view token_user = "<token>";  ///< what Docker calls nobody with a token

/// What a helper says when it works and has no login.
bool knows_none(const ProcessResult& asked) {
  const std::string said = lower_case(cat(asked.output, asked.errors));
  return said.find("credentials not found") != said.npos ||
         said.find("no credentials") != said.npos;
}

/// `docker-credential-NAME get`: the address goes in, JSON comes out. Errors: it failed.
Result<std::optional<RegistryLogin>> ask_helper(std::string_view name, std::string_view address) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  };
  if (!std::ranges::all_of(name, is_plain))
    return world_error("this is no name of a helper");
  Invocation command;
  command.arguments = {cat("docker-credential-", name), "get"};
  command.input = address;
  command.session = true;
  command.is_own = true;
  command.time_limit = helper_limit;
  command.output_limit = largest_answer;
  const ProcessResult asked = TRY(run_process(command, {}));
  if (asked.code != 0 && knows_none(asked))
    return std::nullopt;
  if (asked.code != 0) {
    const std::string_view said = trim(asked.errors.empty() ? asked.output : asked.errors);
    return world_error(cat("exit code ", asked.code, said.empty() ? "" : ", ",
                           printable(clipped(said.substr(0, said.find('\n')), 200))));
  }
  const Result<Value> answer = read_json(asked.output, {}, Duplicates::last_wins);
  if (!answer || !answer->is_dict())
    return world_error("it answered with no JSON object");
  if (answer->text_at("Secret").empty())
    return std::nullopt;
  RegistryLogin login{std::string(answer->text_at("Username")),
                      std::string(answer->text_at("Secret"))};
  login.is_token = login.username == token_user;
  return std::optional(login);
}

/// The same, with a failure told in `found`.
void ask_helper(std::string_view name, std::string_view address, const Path& file,
                StoredLogin& found) {
  Result<std::optional<RegistryLogin>> asked = ask_helper(name, address);
  if (asked)
    found.login = *asked;
  else if (found.failure.empty())
    found.failure = cat("`docker-credential-", printable(clipped(name, 80)), "`, which `",
                        file.string(), "` names, failed: ", asked.error().message);
}

void find_login(const std::string& text, const Path& file, std::string_view registry,
                StoredLogin& found) {
  const Result<Value> config = read_json(text, {}, Duplicates::last_wins);
  if (!config || !config->is_dict())
    return;
  const std::string_view address = registry == hub ? hub_address : registry;
  const Value& helpers = config->at("credHelpers");
  for (const std::string_view name : {registry, address})
    if (const std::string_view helper = helpers.text_at(name); !helper.empty())
      return ask_helper(helper, name, file, found);
  if (const std::string_view store = config->text_at("credsStore"); !store.empty())
    ask_helper(store, address, file, found);
  if (found.login)
    return;
  const std::vector<RegistryLogin> logins =
      logins_in(Value::dict({{".dockerconfigjson", text}}), registry);
  if (!logins.empty())
    found.login = logins.front();
}

}  // namespace

std::vector<Path> login_files(const VariableReader& variables) {
  std::vector<Path> files;
  const auto add = [&](const char* variable, std::string_view inside) {
    const auto value = variables(variable);
    if (value && !value->empty())
      files.push_back(inside.empty() ? Path(*value) : Path(*value) / inside);
    return value && !value->empty();
  };
  add("REGISTRY_AUTH_FILE", "");
  if (!add("DOCKER_CONFIG", "config.json"))
    add("HOME", ".docker/config.json");
  if (!add("XDG_RUNTIME_DIR", "containers/auth.json"))
    files.push_back(cat("/run/containers/", geteuid(), "/auth.json"));
  if (!add("XDG_CONFIG_HOME", "containers/auth.json"))
    add("HOME", ".config/containers/auth.json");
  return files;
}

StoredLogin stored_login(std::string_view registry, const VariableReader& variables) {
  StoredLogin found;
  for (const Path& file : login_files(variables)) {
    if (!file_exists(file))
      continue;
    const Result<ByteSource> source = source_of_file(file);
    const Result<std::string> text = source ? read_all(*source, largest_file) : source.error();
    if (text)
      find_login(*text, file, registry, found);
    if (found.login)
      break;
  }
  return found;
}

}  // namespace fettle

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

/// `docker-credential-NAME get`: the address goes in, JSON comes out.
std::optional<RegistryLogin> ask_helper(std::string_view name, std::string_view address) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  };
  if (name.empty() || !std::ranges::all_of(name, is_plain))
    return std::nullopt;
  Invocation command;
  command.arguments = {cat("docker-credential-", name), "get"};
  command.input = address;
  command.session = true;
  command.time_limit = helper_limit;
  command.output_limit = largest_answer;
  const Result<ProcessResult> asked = run_process(command, {});
  if (!asked || asked->code != 0)
    return std::nullopt;
  const Result<Value> answer = read_json(asked->output, {}, Duplicates::last_wins);
  if (!answer || answer->text_at("Secret").empty())
    return std::nullopt;
  RegistryLogin login{std::string(answer->text_at("Username")),
                      std::string(answer->text_at("Secret"))};
  login.is_token = login.username == token_user;
  return login;
}

std::optional<RegistryLogin> login_in(const std::string& text, std::string_view registry) {
  const Result<Value> config = read_json(text, {}, Duplicates::last_wins);
  if (!config || !config->is_dict())
    return std::nullopt;
  const std::string_view address = registry == hub ? hub_address : registry;
  const Value& helpers = config->at("credHelpers");
  for (const std::string_view name : {registry, address})
    if (const std::string_view helper = helpers.text_at(name); !helper.empty())
      return ask_helper(helper, name);
  if (const std::string_view store = config->text_at("credsStore"); !store.empty())
    if (auto login = ask_helper(store, address))
      return login;
  const std::vector<RegistryLogin> logins =
      logins_in(Value::dict({{".dockerconfigjson", text}}), registry);
  return logins.empty() ? std::nullopt : std::optional(logins.front());
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

std::optional<RegistryLogin> stored_login(std::string_view registry,
                                          const VariableReader& variables) {
  for (const Path& file : login_files(variables)) {
    if (!file_exists(file))
      continue;
    const Result<ByteSource> source = source_of_file(file);
    const Result<std::string> text = source ? read_all(*source, largest_file) : source.error();
    if (text)
      if (auto login = login_in(*text, registry))
        return login;
  }
  return std::nullopt;
}

}  // namespace fettle

#include "drivers/engine/address.h"

#include <cstdlib>

#include "base/file.h"
#include "base/node_name.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr std::string_view schemes =
    "`unix://`, `tcp://`, `http://`, `https://`, `ssh://` or `agent://`";

EngineAddress at_socket(const std::string& path) {
  return {.text = "unix://" + path, .unix_socket = path, .base = "http://engine", .ssh = {}};
}

}  // namespace

std::optional<std::string> process_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

Result<EngineAddress> parse_engine_address(std::string_view text, const Variables& variables) {
  const size_t colon = text.find("://");
  const std::string_view scheme = text.substr(0, std::min(colon, text.size()));
  std::string rest(colon == text.npos ? "" : text.substr(colon + 3));
  while (rest.ends_with('/'))
    rest.pop_back();
  if (rest.empty())
    return user_error(cat("invalid address of an engine `", text, "`, expected ", schemes));
  if (scheme == "unix") {
    if (!rest.starts_with('/'))
      return user_error(cat("the socket in `", text, "` must be an absolute path"));
    EngineAddress address = at_socket(rest);
    address.text = text;
    return address;
  }
  EngineAddress address{.text = std::string(text), .unix_socket = {}, .base = {}, .ssh = {}};
  if (scheme == "ssh") {
    address.ssh = rest;
    address.base = "http://engine";
    return address;
  }
  if (scheme == "agent") {
    TRY(check_node_name(rest, "an agent")
            .context(cat("reading the address `", printable(text), "`")));
    address.agent = rest;
    address.base = "http://engine";
    return address;
  }
  if (scheme != "tcp" && scheme != "http" && scheme != "https")
    return user_error(cat("unknown scheme in `", text, "`, expected ", schemes));
  const bool verify = variables("DOCKER_TLS_VERIFY").has_value();
  const bool secure = scheme == "https" || (scheme == "tcp" && verify);
  if (scheme == "tcp" && rest.rfind(':') == rest.npos)
    rest += secure ? ":2376" : ":2375";
  address.base = (secure ? "https://" : "http://") + rest;
  if (!secure)
    return address;
  Path folder = variables("DOCKER_CERT_PATH").value_or("");
  if (folder.empty())
    if (const auto home = variables("HOME"))
      folder = Path(*home) / ".docker";
  const auto file = [&](const char* name) {
    return file_exists(folder / name) ? (folder / name).string() : std::string();
  };
  address.tls = {
      .authorities = file("ca.pem"), .certificate = file("cert.pem"), .key = file("key.pem")};
  return address;
}

Result<std::vector<EngineAddress>> find_engines(std::string_view given,
                                                const Variables& variables) {
  if (given == private_engine)
    return std::vector<EngineAddress>();
  if (!given.empty())
    return std::vector{TRY(parse_engine_address(given, variables))};
  if (const auto host = variables("DOCKER_HOST"))
    return std::vector{
        TRY(parse_engine_address(*host, variables).context("reading `$DOCKER_HOST`"))};
  std::vector<std::string> paths{"/var/run/docker.sock", "/run/podman/podman.sock"};
  if (const auto folder = variables("XDG_RUNTIME_DIR")) {
    paths.push_back(*folder + "/docker.sock");
    paths.push_back(*folder + "/podman/podman.sock");
  }
  if (const auto home = variables("HOME")) {
    paths.push_back(*home + "/.docker/run/docker.sock");
    paths.push_back(*home + "/.colima/default/docker.sock");
  }
  std::vector<EngineAddress> found;
  for (const std::string& path : paths)
    if (file_exists(path))
      found.push_back(at_socket(path));
  return found;
}

}  // namespace fettle

#pragma once
/// Logins at registries that the tools of engines have stored: `docker login` and `podman login`.
///
/// An engine's API knows no logins: a client sends one with each pull. So whoever has logged in
/// with one of these tools expects that it counts here, too. The files are read for each pull: a
/// login may come while we run.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "kinds/registry_login.h"

namespace fettle {

using VariableReader = std::function<std::optional<std::string>(const char* name)>;

/// The files that may have logins, in the order in which they count: `$REGISTRY_AUTH_FILE`,
/// `config.json` of `$DOCKER_CONFIG` or `~/.docker`, Podman's `auth.json`.
std::vector<Path> login_files(const VariableReader& variables);

struct StoredLogin {
  std::optional<RegistryLogin> login{};
  /// The first helper that failed, the file that names it, and how it failed; empty: none did. One
  /// that has no login for the registry has not failed.
  std::string failure{};
};
using LoginSource = std::function<StoredLogin(std::string_view registry)>;

/// The login at a registry (`docker.io`, `host:5000`) by the first file that has one, asking the
/// helper that it names (`credHelpers`, `credsStore`). None: files that are not there or cannot be
/// read have none, and neither has a helper that fails or says nothing for 20 s.
StoredLogin stored_login(std::string_view registry, const VariableReader& variables);

}  // namespace fettle

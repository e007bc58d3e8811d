#pragma once
/// How to reach a cluster, and as whom: from kubeconfig files, or from what a pod is given.
///
///   const Config config = TRY(read_kubeconfig({"/home/me/.kube/config"}, ""));
///
/// A kubeconfig is written by many tools and by hand, so it is wrong often. The obvious reader
/// takes the members that it finds and lets the server refuse the rest: a misspelt
/// `certificate-authority` then ends as *certificate signed by unknown authority* an hour later. So
/// every error here has file, line and column, says what was expected, and a member that is one
/// letter away from a known one is an error; members that nobody knows are somebody else's and
/// ignored, as kubectl does.
///
/// Invariants:
/// * Of several files, the first that defines a cluster, a user, a context or the current context
///   counts, and a relative path is relative to the folder of the file that has it.
/// * Certificates and keys are read here, into memory. A token file is not: it changes while we run
///   (`credentials.h`).
/// * Nothing here runs a program or talks to a network.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/http.h"
#include "base/result.h"

namespace fettle::kubernetes {

/// A program that says who we are (`client.authentication.k8s.io`).
struct ExecPlugin {
  std::string command{};  ///< with its folder if it stands beside the kubeconfig
  std::vector<std::string> arguments{};
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string api_version{};
  std::string install_hint{};      ///< for whoever does not have the program
  bool gets_cluster_info = false;  ///< it is told which cluster it is for
};

/// What we show of ourselves, beside a certificate.
struct Identity {
  std::string token{};
  Path token_file{};  ///< counts before `token`
  std::string user{}, password{};
  std::optional<ExecPlugin> plugin{};
  std::vector<HttpHeader> impersonation{};  ///< as whom we act
};

struct Config {
  std::string server{};  ///< `https://10.0.0.1:6443`, without a slash at its end
  TlsSettings tls{};     ///< certificates and keys as texts
  Identity identity{};
  std::string space = "default";  ///< the namespace where none is given
  std::string context{};          ///< its name; empty in a pod
};

/// Environment variables.
using Variables = std::function<std::optional<std::string>(std::string_view name)>;

/// Files of a list that do not exist are skipped, but one has to. `context`: empty for the current
/// one.
Result<Config> read_kubeconfig(const std::vector<Path>& files, std::string_view context);

/// What a pod is given to talk with its own cluster: a folder, and two variables.
inline constexpr std::string_view service_account_folder =
    "/var/run/secrets/kubernetes.io/serviceaccount";
bool is_in_cluster(const Variables& variables);
Result<Config> read_in_cluster(const Variables& variables,
                               const Path& folder = Path(service_account_folder));

}  // namespace fettle::kubernetes

#include "kubernetes/config.h"

#include <map>

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/text.h"

namespace fettle::kubernetes {
namespace {

constexpr std::string_view whole = R"(apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: main
  cluster:
    server: https://10.0.0.1:6443/
    certificate-authority: ca.pem
    tls-server-name: api.example
contexts:
- name: dev
  context: {cluster: main, user: me, namespace: team}
- name: prod
  context: {cluster: main, user: robot}
users:
- name: me
  user:
    client-certificate-data: Y2VydA==
    client-key-data: a2V5
- name: robot
  user:
    token: abc
    as: boss
    as-groups: [a, b]
)";

class ConfigTest : public testing::Test {
 protected:
  Path write(const std::string& name, std::string_view text) {
    const Path path = folder_->path() / name;
    EXPECT_TRUE(make_directories(path.parent_path()));
    EXPECT_TRUE(write_file(path, text));
    return path;
  }
  /// `2:3: message`: the place in the file `k` and what is wrong, or that nothing is.
  std::string problem(std::string_view text, std::string_view context = {}) {
    const auto config = read_kubeconfig({write("k", text)}, context);
    if (config)
      return "fine";
    const Error& error = config.error();
    EXPECT_EQ(error.blame, Blame::user);
    EXPECT_TRUE(error.where.file.ends_with("/k"));
    EXPECT_EQ(error.excerpt, "") << "a line may hold a secret";
    return cat(error.where.line, ":", error.where.column, ": ", error.message);
  }
  /// The same of `whole` with a change.
  std::string problem_with(std::string_view from, std::string_view to,
                           std::string_view context = {}) {
    write("ca.pem", "CA");
    const std::string text = replace_all(whole, from, to);
    EXPECT_NE(text, whole);
    return problem(text, context);
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
};

TEST_F(ConfigTest, AContextNamesAClusterAndAUser) {
  write("ca.pem", "CA");
  const Path file = write("k", whole);
  const auto config = read_kubeconfig({file}, "");
  ASSERT_TRUE(config) << to_string(config.error());
  EXPECT_EQ(config->server, "https://10.0.0.1:6443");
  EXPECT_EQ(config->tls.authorities_text, "CA");
  EXPECT_EQ(config->tls.server_name, "api.example");
  EXPECT_EQ(config->tls.certificate_text, "cert");
  EXPECT_EQ(config->tls.key_text, "key");
  EXPECT_EQ(config->space, "team");
  EXPECT_EQ(config->context, "dev");
  const auto other = read_kubeconfig({file}, "prod");
  ASSERT_TRUE(other) << to_string(other.error());
  EXPECT_EQ(other->identity.token, "abc");
  EXPECT_EQ(other->space, "default");
  ASSERT_EQ(other->identity.impersonation.size(), 3u);
  EXPECT_EQ(other->identity.impersonation[0].name, "Impersonate-User");
  EXPECT_EQ(other->identity.impersonation[2].value, "b");
}

TEST_F(ConfigTest, OfSeveralFilesTheFirstCounts) {
  const Path one = write(
      "one/k", "current-context: x\ncontexts:\n- name: x\n  context: {cluster: c, user: u}\n");
  const Path two = write("two/k", R"(current-context: y
clusters: [{name: c, cluster: {server: "https://two", certificate-authority: ca}}]
users: [{name: u, user: {tokenFile: t}}])");
  const Path three =
      write("three/k", R"(clusters: [{name: c, cluster: {server: "https://three"}}])");
  write("two/ca", "CA of two");
  const auto config = read_kubeconfig({folder_->path() / "none", one, two, three}, "");
  ASSERT_TRUE(config) << to_string(config.error());
  EXPECT_EQ(config->context, "x");
  EXPECT_EQ(config->server, "https://two");
  EXPECT_EQ(config->tls.authorities_text, "CA of two");
  EXPECT_EQ(config->identity.token_file, two.parent_path() / "t");
}

TEST_F(ConfigTest, APlugInIsReadAndNotRun) {
  const auto config = read_kubeconfig({write("k", R"(current-context: x
clusters: [{name: c, cluster: {server: "https://two"}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
users:
- name: u
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/login
      args: [get, token]
      env: [{name: A, value: b}]
      provideClusterInfo: true
      interactiveMode: IfAvailable
)")},
                                      "");
  ASSERT_TRUE(config) << to_string(config.error());
  const ExecPlugin& plugin = config->identity.plugin.value();
  EXPECT_EQ(Path(plugin.command).lexically_normal(), folder_->path() / "bin/login");
  EXPECT_EQ(plugin.arguments, (std::vector<std::string>{"get", "token"}));
  EXPECT_EQ(plugin.environment[0].second, "b");
  EXPECT_TRUE(plugin.gets_cluster_info);
}

TEST_F(ConfigTest, ErrorsSayWhereAndWhatWasMeant) {
  EXPECT_EQ(problem_with("certificate-authority:", "certifcate-authority:"),
            "8:5: cluster `main`: unknown member `certifcate-authority`, did you mean "
            "`certificate-authority`?");
  EXPECT_EQ(problem_with("user: me", "user: mee"),
            "12:34: context `dev`: there is no user `mee`, did you mean `me`?");
  EXPECT_EQ(problem_with("Y2VydA==", "Y2V$$"),
            "18:30: user `me`: `client-certificate-data` is not base64");
  EXPECT_EQ(
      problem_with("    client-key-data: a2V5\n", ""),
      "18:5: user `me`: `client-certificate` and `client-key` (or both with `-data`) go together");
  EXPECT_EQ(problem_with("https://10.0.0.1:6443/", "ftp://x"),
            "7:13: cluster `main`: `server` must begin with `https://` or `http://`");
  EXPECT_EQ(problem_with("server: https://10.0.0.1:6443/", "server: [1]"),
            "7:13: cluster `main`: `server` must be a text, not a list");
  EXPECT_EQ(problem_with("tls-server-name: api.example", "proxy-url: http://p"),
            "9:16: cluster `main`: `proxy-url` is not supported; the variable `HTTPS_PROXY` is");
  EXPECT_EQ(problem_with("tls-server-name: api.example", "insecure-skip-tls-verify: true"),
            "9:31: cluster `main`: either `insecure-skip-tls-verify` or a "
            "`certificate-authority`, not both");
  EXPECT_EQ(
      problem_with("token: abc", "auth-provider: {name: gcp}", "prod"),
      "22:20: user `robot`: `auth-provider` is gone since Kubernetes 1.26: use an `exec` plugin");
  EXPECT_EQ(problem_with("kind: Config", "kind: [Config"),
            "3:16: invalid YAML: did not find expected ',' or ']' while parsing a flow sequence");
}

TEST_F(ConfigTest, WhatIsMissingIsNamed) {
  write("ca.pem", "CA");
  const auto none = read_kubeconfig({write("k", whole)}, "stage");
  EXPECT_EQ(none.error().message, "there is no context `stage`; there are `dev`, `prod`");
  const auto unset = read_kubeconfig({write("k", "clusters: []\n")}, "");
  EXPECT_EQ(unset.error().message, "no context is chosen: `current-context` is missing");
  EXPECT_FALSE(read_kubeconfig({}, ""));
  EXPECT_FALSE(read_kubeconfig({folder_->path() / "none"}, ""));
  EXPECT_FALSE(read_kubeconfig({folder_->path() / "none", folder_->path() / "other"}, ""));
}

TEST_F(ConfigTest, HostileFilesAreErrors) {
  EXPECT_NE(problem("[]"), "fine");
  EXPECT_NE(problem("clusters: 5"), "fine");
  EXPECT_NE(problem("clusters: [5, {name: x}]"), "fine");
  EXPECT_NE(problem("contexts: [{name: 3, context: {}}]"), "fine");
  EXPECT_NE(problem(std::string(5'000, '[')), "fine");
  EXPECT_NE(problem("current-context: \"\xff\""), "fine");
  EXPECT_NE(problem("a: &a [x, x]\nb: &b [*a, *a]\nclusters: *b"), "fine");
  EXPECT_NE(problem_with("token: abc",
                         "exec: {command: x, apiVersion: client.authentication.k8s.io/v1, args: 5}",
                         "prod"),
            "fine");
  EXPECT_NE(
      problem_with("token: abc",
                   "exec: {command: x, apiVersion: client.authentication.k8s.io/v1, env: [5]}",
                   "prod"),
      "fine");
  EXPECT_NE(problem_with("token: abc", "exec: {command: x, apiVersion: v7}", "prod"), "fine");
  EXPECT_NE(problem_with("token: abc", "token: \"a\\nb\"", "prod"), "fine");
  EXPECT_NE(problem_with("as: boss", "as: \"a\\nX-Evil: 1\"", "prod"), "fine");
}

TEST_F(ConfigTest, APodIsGivenWhatItNeeds) {
  write("ca.crt", "CA");
  write("token", "t");
  write("namespace", "team\n");
  std::map<std::string, std::string, std::less<>> set{{"KUBERNETES_SERVICE_HOST", "fd00::1"},
                                                      {"KUBERNETES_SERVICE_PORT", "443"}};
  const Variables variables = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = set.find(name);
    return found == set.end() ? std::optional<std::string>() : found->second;
  };
  EXPECT_TRUE(is_in_cluster(variables));
  const auto config = read_in_cluster(variables, folder_->path());
  ASSERT_TRUE(config) << to_string(config.error());
  EXPECT_EQ(config->server, "https://[fd00::1]:443");
  EXPECT_EQ(config->tls.authorities_text, "CA");
  EXPECT_EQ(config->space, "team");
  EXPECT_EQ(config->identity.token_file, folder_->path() / "token");
  set.clear();
  EXPECT_FALSE(is_in_cluster(variables));
  EXPECT_FALSE(read_in_cluster(variables, folder_->path()));
}

}  // namespace
}  // namespace fettle::kubernetes

#include "kubernetes/credentials.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/rfc3339.h"
#include "base/text.h"

namespace fettle::kubernetes {
namespace {

constexpr std::string_view v1 = "client.authentication.k8s.io/v1";

class CredentialsTest : public testing::Test {
 protected:
  Path path(const char* name) const { return folder_->path() / name; }
  /// The header `Authorization`, or the error.
  std::string shown(Credentials& credentials, Instant now = {}, Time wall = {}) {
    const auto proof = credentials.proof({now, wall}, {});
    if (!proof)
      return proof.error().message;
    last_ = *proof;
    return proof->headers.empty() ? "nothing" : proof->headers[0].value;
  }
  /// A plugin that counts its runs in its token.
  Config config_of_plugin(std::string_view status) const {
    Config config;
    config.server = "https://a";
    ExecPlugin plugin{.command = "sh", .api_version = std::string(v1), .gets_cluster_info = true};
    plugin.arguments = {
        "-c", cat("echo run >>", path("runs").string(), "; printf '%s' \"$KUBERNETES_EXEC_INFO\" >",
                  path("info").string(), "; n=$(wc -l <", path("runs").string(),
                  R"(); printf '{"kind":"ExecCredential","apiVersion":"%s","status":)", status,
                  "}' ", v1, " $n")};
    config.identity.plugin = plugin;
    return config;
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  Proof last_;
};

TEST_F(CredentialsTest, ATokenFileIsReadAgain) {
  Config config;
  config.identity.token_file = path("token");
  Credentials credentials(config);
  EXPECT_NE(shown(credentials).find(path("token").string()), std::string::npos);
  ASSERT_TRUE(write_file(path("token"), "one\n"));
  EXPECT_EQ(shown(credentials), "Bearer one");
  ASSERT_TRUE(write_file(path("token"), "two\n"));
  EXPECT_EQ(shown(credentials, Instant(59s)), "Bearer one");
  EXPECT_EQ(shown(credentials, Instant(60s)), "Bearer two");
  ASSERT_TRUE(write_file(path("token"), "three"));
  EXPECT_TRUE(credentials.refuse(last_, {}));
  EXPECT_EQ(shown(credentials, Instant(61s)), "Bearer three");
  ASSERT_TRUE(write_file(path("token"), ""));
  EXPECT_EQ(shown(credentials, Instant(200s)), "Bearer three") << "while it is being replaced";
}

TEST_F(CredentialsTest, ATokenThatIsNoLineIsRefused) {
  ASSERT_TRUE(write_file(path("token"), "a\r\nX-Evil: 1"));
  Config config;
  config.identity.token_file = path("token");
  Credentials credentials(config);
  EXPECT_TRUE(shown(credentials).ends_with("is no single line"));
}

TEST_F(CredentialsTest, APasswordIsShownAsBasic) {
  Config config;
  config.identity.user = "a";
  config.identity.password = "b";
  Credentials credentials(config);
  EXPECT_EQ(shown(credentials), "Basic YTpi");
  EXPECT_FALSE(credentials.refuse(last_, {})) << "there is no other one";
}

TEST_F(CredentialsTest, APluginRunsAgainWhenItsAnswerHasExpired) {
  Credentials credentials(
      config_of_plugin(R"({"token":"t%s","expirationTimestamp":"2026-01-01T00:10:00Z"})"));
  const Time zero = *read_moment("2026-01-01T00:00:00Z");
  EXPECT_EQ(shown(credentials, {}, zero), "Bearer t1");
  EXPECT_EQ(shown(credentials, {}, zero + 9min), "Bearer t1");
  EXPECT_EQ(shown(credentials, {}, zero + 9min + 50s), "Bearer t2") << "so near to its end";
  const std::string info = *read_file(path("info"));
  EXPECT_NE(info.find(R"("server":"https://a")"), std::string::npos) << info;
  EXPECT_NE(info.find(R"("interactive":false)"), std::string::npos) << info;
}

TEST_F(CredentialsTest, APluginRunsAgainWhenItsAnswerIsRefused) {
  Credentials credentials(config_of_plugin(R"({"token":"t%s"})"));
  EXPECT_EQ(shown(credentials), "Bearer t1");
  const Proof first = last_;
  EXPECT_FALSE(credentials.refuse(first, Instant(1s))) << "it would say the same";
  EXPECT_TRUE(credentials.refuse(first, Instant(1min)));
  EXPECT_EQ(shown(credentials, Instant(1min)), "Bearer t2");
  EXPECT_TRUE(credentials.refuse(first, Instant(1min))) << "somebody who was refused meanwhile";
  EXPECT_EQ(shown(credentials, Instant(1min)), "Bearer t2")
      << "which does not count against the new one";
}

TEST_F(CredentialsTest, APluginThatFailsIsNotRunByEverybodyInTurn) {
  Config config;
  config.identity.plugin = ExecPlugin{.command = "sh", .api_version = std::string(v1)};
  config.identity.plugin->arguments = {
      "-c", cat("echo run >>", path("runs").string(), "; sleep 0.2; exit 3")};
  Credentials credentials(config);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 5; ++i)
    threads.emplace_back([&] { EXPECT_FALSE(credentials.proof({}, {})); });
  threads.clear();
  EXPECT_FALSE(credentials.proof({Instant(1s), {}}, {}));
  EXPECT_EQ(*read_file(path("runs")), "run\n");
  EXPECT_FALSE(credentials.proof({Instant(10s), {}}, {}));
  EXPECT_EQ(*read_file(path("runs")), "run\nrun\n") << "it may be better by now";
}

TEST_F(CredentialsTest, WhoWaitsForAPluginCanBeStopped) {
  Config config;
  config.identity.plugin = ExecPlugin{.command = "sh", .api_version = std::string(v1)};
  config.identity.plugin->arguments = {"-c",
                                       cat("echo run >>", path("runs").string(), "; sleep 60")};
  Credentials credentials(config);
  const std::jthread other(
      [&](const std::stop_token& stop) { EXPECT_FALSE(credentials.proof({}, stop)); });
  while (!read_file(path("runs")))
    std::this_thread::sleep_for(1ms);
  std::stop_source stop;
  stop.request_stop();
  const auto proof = credentials.proof({}, stop.get_token());
  ASSERT_FALSE(proof);
  EXPECT_TRUE(is_cancelled(proof.error()));
}

TEST_F(CredentialsTest, APluginMayGiveACertificate) {
  Credentials credentials(
      config_of_plugin(R"({"clientCertificateData":"C%s","clientKeyData":"K"})"));
  EXPECT_EQ(shown(credentials), "nothing");
  EXPECT_EQ(last_.certificate_text, "C1");
  EXPECT_EQ(last_.key_text, "K");
}

TEST_F(CredentialsTest, APluginThatFailsIsNamed) {
  Config config;
  config.identity.plugin = ExecPlugin{
      .command = "no-such-plugin", .api_version = std::string(v1), .install_hint = "ask the team"};
  Credentials missing(config);
  EXPECT_EQ(shown(missing),
            "the plugin `no-such-plugin`, which signs in to the cluster, is not "
            "installed: ask the team");
  config.identity.plugin->command = "sh";
  config.identity.plugin->arguments = {"-c", "echo no luck >&2; exit 3"};
  Credentials failing(config);
  EXPECT_EQ(shown(failing),
            "the plugin `sh`, which signs in to the cluster, ended with 3: no luck");
}

TEST(PluginAnswers, AreCheckedAndNeverShown) {
  const ExecPlugin plugin{.command = "p", .api_version = std::string(v1)};
  const auto read = [&](std::string_view status) {
    const auto answer = read_plugin_answer(
        cat(R"({"kind":"ExecCredential","apiVersion":")", v1, R"(","status":)", status, "}"),
        plugin);
    return answer ? "fine" : answer.error().message;
  };
  EXPECT_EQ(read(R"({"token":"a"})"), "fine");
  EXPECT_EQ(read("{}"), "`p` wrote neither a `token` nor a certificate");
  EXPECT_EQ(read(R"({"token":"a\nb"})"), "the token of `p` is no single line");
  EXPECT_EQ(read(R"({"clientKeyData":"k"})"),
            "`p` wrote only one of `clientCertificateData` and `clientKeyData`");
  EXPECT_NE(read(R"({"token":"a","expirationTimestamp":"soon"})"), "fine");
  EXPECT_EQ(read_plugin_answer("secret", plugin).error().message,
            "`p` did not write JSON to its standard output");
  EXPECT_EQ(read_plugin_answer(std::string(100'000, '['), plugin).error().message,
            "`p` did not write JSON to its standard output");
  EXPECT_EQ(
      read_plugin_answer(R"({"kind":"X","apiVersion":"y"})", plugin).error().message,
      "`p` must write an `ExecCredential` of `client.authentication.k8s.io/v1`, not `X` of `y`");
}

}  // namespace
}  // namespace fettle::kubernetes

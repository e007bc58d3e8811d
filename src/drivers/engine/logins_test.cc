#include "drivers/engine/logins.h"

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/text.h"
#include "drivers/engine/driver.h"
#include "kinds/kinds.h"
#include "tests/fixtures/memory_blobs.h"
#include "tests/fixtures/test_server.h"

namespace fettle {
namespace {

class Logins : public testing::Test {
 protected:
  void write(const std::string& path, std::string_view text, unsigned mode = 0644) {
    std::filesystem::create_directories((root() / path).parent_path());
    ASSERT_TRUE(write_file(root() / path, text, mode));
  }
  Path root() const { return folder_->path(); }
  std::string login(std::string_view registry) const {
    const auto found = stored(registry).login;
    return found ? cat(found->username, ":", found->password, found->is_token ? " (token)" : "")
                 : "none";
  }
  StoredLogin stored(std::string_view registry) const {
    return stored_login(registry, [this](const char* name) {
      const auto value = variables_.find(name);
      return value == variables_.end() ? std::nullopt : std::optional(value->second);
    });
  }
  static std::string auths(std::string_view registry, std::string_view pair) {
    return cat(R"({"auths":{")", registry, R"(":{"auth":")", base64_encode(pair), R"("}}})");
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  std::map<std::string, std::string> variables_{{"HOME", folder_->path().string()},
                                                {"XDG_RUNTIME_DIR", folder_->path() / "run"}};
};

TEST_F(Logins, AreThoseOfDockerAndOfPodman) {
  EXPECT_EQ(login("r.test"), "none");
  write(".config/containers/auth.json", auths("r.test", "podman:late"));
  EXPECT_EQ(login("r.test"), "podman:late");
  write("run/containers/auth.json", auths("r.test", "podman:p"));
  EXPECT_EQ(login("r.test"), "podman:p");
  write(".docker/config.json", auths("https://index.docker.io/v1/", "hub:h"));
  EXPECT_EQ(login("docker.io"), "hub:h");
  EXPECT_EQ(login("r.test"), "podman:p");
  write(".docker/config.json",
        R"({"auths":{"r.test":{"auth":"bm9ib2R5Og==","identitytoken":"it"}}})");
  EXPECT_EQ(login("r.test"), "nobody:it (token)");
  variables_["DOCKER_CONFIG"] = root() / "elsewhere";
  EXPECT_EQ(login("docker.io"), "none");
  write("elsewhere/config.json", auths("r.test", "docker:d:with colon"));
  EXPECT_EQ(login("r.test"), "docker:d:with colon");
  variables_["REGISTRY_AUTH_FILE"] = root() / "mine";
  write("mine", auths("r.test", "mine:m"));
  EXPECT_EQ(login("r.test"), "mine:m");
}

TEST_F(Logins, AreAskedOfHelpers) {
  write("bin/docker-credential-test",
        "#!/bin/sh\nread -r address || true\n[ \"$1\" = get ] || exit 2\n"
        "case \"$address\" in\n"
        "  r.test) echo '{\"ServerURL\":\"r.test\",\"Username\":\"bob\",\"Secret\":\"s\"}' ;;\n"
        "  docker.io) echo '{\"Username\":\"eve\",\"Secret\":\"e\"}' ;;\n"
        "  https://index.docker.io/v1/) echo '{\"Username\":\"<token>\",\"Secret\":\"t\"}' ;;\n"
        "  *) echo credentials not found in native keychain; exit 1 ;;\nesac\n",
        0755);
  const std::string path = getenv("PATH");
  setenv("PATH", cat((root() / "bin").string(), ":", path).c_str(), 1);
  write(".docker/config.json", R"({"credHelpers":{"r.test":"test"},"auths":{}})");
  EXPECT_EQ(login("r.test"), "bob:s");
  EXPECT_EQ(login("docker.io"), "none");
  write(".docker/config.json", R"({"credsStore":"test","auths":{"r.test":{}}})");
  EXPECT_EQ(login("r.test"), "bob:s");
  EXPECT_EQ(login("docker.io"), "<token>:t (token)");
  EXPECT_EQ(login("other.test"), "none");
  EXPECT_EQ(stored("other.test").failure, "");
  // Podman's tools ask a helper for the name under which it stands.
  write(".docker/config.json", R"({"credHelpers":{"docker.io":"test"}})");
  EXPECT_EQ(login("docker.io"), "eve:e");
  for (const char* name : {"not-there", "../bin/x", ""}) {
    write(".docker/config.json", cat(R"({"credHelpers":{"r.test":")", name, R"("}})"));
    EXPECT_EQ(login("r.test"), "none") << name;
    EXPECT_EQ(stored("r.test").failure.empty(), *name == 0) << name;
  }
  setenv("PATH", path.c_str(), 1);
}

TEST_F(Logins, AHelperThatFailsIsNamed) {
  const std::string path = getenv("PATH");
  setenv("PATH", cat((root() / "bin").string(), ":", path).c_str(), 1);
  const std::string file = root() / ".docker/config.json";
  write(".docker/config.json", R"({"credsStore":"broken"})");
  const auto failure = [&](const char* program) {
    write("bin/docker-credential-broken", program, 0755);
    return stored("r.test").failure;
  };
  const std::string begin = cat("`docker-credential-broken`, which `", file, "` names, failed: ");
  EXPECT_EQ(failure("#!/bin/sh\necho no bus >&2; echo more >&2; exit 3\n"),
            begin + "exit code 3, no bus");
  EXPECT_EQ(failure("#!/bin/sh\nexit 1\n"), begin + "exit code 1");
  EXPECT_EQ(failure("#!/bin/sh\necho what\n"), begin + "it answered with no JSON object");
  // Another file may have a login all the same, and the failure is known.
  write(".config/containers/auth.json", auths("r.test", "podman:late"));
  EXPECT_EQ(login("r.test"), "podman:late");
  EXPECT_NE(stored("r.test").failure, "");
  setenv("PATH", path.c_str(), 1);
}

/// What stands in the header of a login, decoded.
std::string login_of(const std::string& head) {
  constexpr std::string_view name = "x-registry-auth: ";
  const size_t at = lower_case(head).find(name);
  if (at == head.npos)
    return "none";
  std::string text = head.substr(at + name.size());
  text = replace_all(replace_all(text.substr(0, text.find('\r')), "-", "+"), "_", "/");
  return base64_decode(text).value_or("none");
}

TEST_F(Logins, OfAPackageGoWithThePull) {
  std::mutex mutex;
  std::vector<std::string> logins;
  std::atomic<bool> is_there = false;
  const TestServer server([&](int socket, const std::string& head) {
    if (head.find("/images/create") != head.npos) {
      const std::lock_guard lock(mutex);
      logins.push_back(login_of(head));
      is_there = logins.back().find("right") != std::string::npos;
      return say(socket, is_there ? answer(200, "{\"status\":\"done\"}\n")
                                  : answer(500, "{\"message\":\"unauthorized\"}"));
    }
    say(socket, is_there || head.find("/json") == head.npos
                    ? answer(200, "{\"Id\":\"sha256:0123456789\"}")
                    : answer(404, "{\"message\":\"no such image\"}"));
  });
  EngineAddress address;
  address.text = address.unix_socket = server.path().string();
  address.base = "http://engine";
  HttpClient http;
  MemoryBlobs blobs;
  EngineDriver driver(http, blobs, [&](bool, std::stop_token) -> Result<EngineLink> {
    return EngineLink{.address = address};
  });
  const auto login = [](std::string_view password) {
    return Value::dict({{"r.test", Value::dict({{"username", "bob"},
                                                {"password", Value::secret(Value(password))}})}});
  };
  Act act;
  act.key = {Name("e"), "image", "r.test/a:1"};
  act.attributes = *image_kind().normalise(
      Value::dict({{"reference", "r.test/a:1"},
                   {"credentials", Value::list({login("wrong"), login("right")})}}));
  const auto pulled = driver.apply(act, {}, {});
  ASSERT_TRUE(pulled) << to_string(pulled.error());
  ASSERT_EQ(logins.size(), 2u);
  EXPECT_NE(logins[0].find("wrong"), std::string::npos) << logins[0];
  EXPECT_NE(logins[1].find("\"bob\""), std::string::npos) << logins[1];
}

TEST_F(Logins, WhatCannotBeReadHasNone) {
  for (const char* text : {"", "{", "[]", R"({"auths":[]})", R"({"auths":{"r.test":{"auth":"!"}}})",
                           R"({"credHelpers":3,"credsStore":[]})"}) {
    write(".docker/config.json", text);
    EXPECT_EQ(login("r.test"), "none") << text;
  }
  std::filesystem::remove(root() / ".docker/config.json");
  std::filesystem::create_directories(root() / ".docker/config.json");
  EXPECT_EQ(login("r.test"), "none");
}

}  // namespace
}  // namespace fettle

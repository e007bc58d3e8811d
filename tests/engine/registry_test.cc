/// Real registries that want a login, for a real Podman and a real Docker.

#include <gtest/gtest.h>

#include "base/text.h"
#include "core/open_payload.h"
#include "drivers/engine/images.h"
#include "tests/engine/tls_relay.h"
#include "tests/engine/world.h"

namespace fettle {
namespace {

class RegistryTest : public testing::TestWithParam<TestEngine::Sort> {
 protected:
  /// A registry with an image that the engine does not have.
  void serve(bool is_with_tls) {
    TestRegistry::Rules rules{.login = true};
    if (is_with_tls) {
      rules.tls_folder = folder_->path();
      ASSERT_TRUE(write_server_identity(folder_->path(), "127.0.0.1"));
    }
    auto started = TestRegistry::start(folder_->path(), registry_port(), rules);
    ASSERT_TRUE(started) << to_string(started.error());
    registry_ = std::move(*started);
    HttpClient http;
    Engine engine(http, running_engine(GetParam()));
    ASSERT_TRUE(tag_image(engine, "localhost/fettle/busybox:1", reference, {}));
    const Status pushed = push_image(engine, reference, {}, RegistryLogin{"bob", "secret-word"});
    ASSERT_TRUE(pushed) << to_string(pushed.error());
    ASSERT_TRUE(remove_image(engine, reference, {}));
  }

  /// Pulls with a login of ours and one that is given. Empty ones are none.
  std::string pull(const std::string& name, const std::string& ours, const std::string& given) {
    EngineDriverOptions options;
    if (!ours.empty())
      options.login = [&](std::string_view) { return StoredLogin{RegistryLogin{"bob", ours}, {}}; };
    World world(running_engine(GetParam()), "registry", options);
    std::vector<Entry> entries{{"reference", name}};
    if (!given.empty())
      entries.push_back(
          {"credentials",
           Value::list(
               {Value::dict({{host, Value::dict({{"username", "bob"},
                                                 {"password", Value::secret(Value(given))}})}})})});
    const auto pulled = world.apply(Verb::create, "image", name, Value::dict(std::move(entries)));
    if (!pulled)
      return to_string(pulled.error());
    EXPECT_TRUE(remove_image(world.engine(), name, {}));
    return "pulled";
  }
  static bool ends(std::string_view text, std::string_view end) { return text.ends_with(end); }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  std::unique_ptr<TestRegistry> registry_;
  const std::string host = cat("127.0.0.1:", registry_port());
  const std::string reference = cat(host, "/private/image:1");
};

TEST_P(RegistryTest, RefusesWhoHasNoLoginAndTellsAMissingImageApart) {
  serve(false);
  EXPECT_EQ(pull(reference, "", "secret-word"), "pulled");
  EXPECT_EQ(pull(reference, "secret-word", ""), "pulled");
  // What is given comes first, and what the tools of the engine have stored after it.
  EXPECT_EQ(pull(reference, "secret-word", "wrong"), "pulled");
  const std::string none = pull(reference, "", "");
  EXPECT_TRUE(ends(none, cat("; `", host,
                             "` wants a login: give `ImageSpec` a user and a password, "
                             "or use `docker login ",
                             host, "`")))
      << none;
  const std::string wrong = pull(reference, "", "wrong");
  EXPECT_TRUE(ends(wrong, cat("; `", host, "` refuses the user `bob`, or has no such image")))
      << wrong;
  EXPECT_EQ(wrong.find("secret"), std::string::npos);
  const std::string missing = pull(cat(host, "/private/image:2"), "", "secret-word");
  EXPECT_TRUE(ends(missing, cat("; `", host, "` has no such image"))) << missing;
  EXPECT_EQ(missing.find("refuses"), std::string::npos) << missing;
}

TEST_P(RegistryTest, IsReachedOverTls) {
  serve(true);
  EXPECT_EQ(pull(reference, "", "secret-word"), "pulled");
  EXPECT_NE(pull(reference, "", "wrong"), "pulled");
}

INSTANTIATE_TEST_SUITE_P(Engines, RegistryTest,
                         testing::Values(TestEngine::Sort::podman, TestEngine::Sort::docker),
                         [](const auto& each) { return std::string(to_string(each.param)); });

}  // namespace
}  // namespace fettle

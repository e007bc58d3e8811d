/// Builds on a real Podman and a real Docker.

#include <gtest/gtest.h>

#include "base/archive.h"
#include "base/process.h"
#include "base/text.h"
#include "core/open_payload.h"
#include "drivers/engine/images.h"
#include "kinds/build.h"
#include "tests/engine/world.h"
#include "value/json.h"

namespace fettle {
namespace {

class BuildTest : public testing::TestWithParam<TestEngine::Sort> {
 protected:
  BuildTest()
      : world(running_engine(GetParam()),
              lower_case(testing::UnitTest::GetInstance()->current_test_info()->name())) {}
  ~BuildTest() override {
    world.clear();
    for (const ListedImage& each : built())
      EXPECT_TRUE(world.driver().remove_built_image(each, {}).value_or(false));
  }

  std::vector<ListedImage> built() {
    return world.driver().built_images({}).value_or(std::vector<ListedImage>());
  }
  /// A build of these files, with more attributes.
  Result<Record> build(const std::map<std::string, std::string>& files,
                       std::vector<Entry> more = {}) {
    std::vector<Entry> entries{{"image", image},
                               {"context", *world.blobs().put(*pack_files(files))}};
    entries.insert(entries.end(), more.begin(), more.end());
    return world.apply(Verb::create, "build", image, Value::dict(std::move(entries)));
  }
  static std::string id_of(const Result<Record>& record) {
    return record ? std::string(dict_of(record->outputs).text_at("id")) : to_string(record.error());
  }
  /// All layers and settings of the image, as a tar; they are not compressed.
  std::string saved() {
    std::string bytes;
    EngineCall call{.path = cat("/images/", image, "/get")};
    call.sink = sink_to(bytes, SIZE_MAX);
    const auto answer = world.engine().ask(std::move(call), {});
    EXPECT_TRUE(answer && answer->ok());
    return bytes;
  }
  static bool has(std::string_view text, std::string_view part) {
    return text.find(part) != text.npos;
  }

  World world;
  const std::string image = "fettle-build-test";
};

TEST_P(BuildTest, BuildsAStageWithArgumentsAndRunsIt) {
  const auto made = build(
      {{"sub/File",
        "ARG BASE=nothing\nFROM $BASE AS first\nARG WORD=none\n"
        "RUN --mount=type=cache,target=/cache echo \"$WORD\" > /word\n"
        "FROM localhost/fettle/busybox:1 AS second\nCOPY --from=first /word /word\n"
        "COPY text /text\nCMD [\"sleep\", \"1000\"]\nFROM scratch\n"},
       {"text", "from the context"}},
      {{"file", "sub/File"},
       {"target", "second"},
       {"arguments", Value::dict({{"WORD", "given"}, {"BASE", "localhost/fettle/busybox:1"}})}});
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_TRUE(id_of(made).starts_with("sha256:")) << id_of(made);
  EXPECT_EQ(id_of(made), image_id(world.engine(), image, {}).value_or("none"));
  ASSERT_FALSE(world.progress.empty());
  EXPECT_TRUE(has(world.progress.back().text, cat("building ", image, ": ")))
      << world.progress.back().text;
  const auto service = world.service(
      "web", Value::dict({{"image", image}, {"cmd", Value::list({"sleep", "1000"})}}));
  ASSERT_TRUE(service) << to_string(service.error());
  EXPECT_EQ(world.run("web", {"cat", "/word", "/text"}), "given\nfrom the context");
}

TEST_P(BuildTest, AnUnchangedBuildIsTheSameImageAndAChangedOneAnother) {
  const std::map<std::string, std::string> files{
      {"Dockerfile", "FROM localhost/fettle/busybox:1\nCOPY a /a\n"}, {"a", "1"}};
  const auto first = build(files);
  ASSERT_TRUE(first) << to_string(first.error());
  EXPECT_EQ(id_of(build(files)), id_of(first));
  auto other = files;
  other["a"] = "2";
  const auto second = build(other);
  ASSERT_TRUE(second) << to_string(second.error());
  EXPECT_NE(id_of(second), id_of(first));
  // The first one is kept until somebody cleans up, although its name is gone.
  EXPECT_EQ(built().size(), 2u);
}

TEST_P(BuildTest, AnImageIsKnownByItsIdAndGoesWithItsNames) {
  const auto made = build({{"Dockerfile", "FROM localhost/fettle/busybox:1\nENV A=1\n"}});
  ASSERT_TRUE(made) << to_string(made.error());
  ASSERT_TRUE(remove_image(world.engine(), image, {}));
  const auto seen = world.observe("build", image);
  ASSERT_TRUE(seen && seen->state) << "its own name keeps it";
  ASSERT_EQ(built().size(), 1u);
  EXPECT_TRUE(world.driver().remove_built_image(built().front(), {}).value_or(false));
  const auto gone = world.observe("build", image);
  ASSERT_TRUE(gone) << to_string(gone.error());
  EXPECT_FALSE(gone->state);
  EXPECT_TRUE(built().empty());
}

TEST_P(BuildTest, WhatSomebodyElseCallsByANameStays) {
  const auto made = build({{"Dockerfile", "FROM localhost/fettle/busybox:1\nENV A=2\n"}});
  ASSERT_TRUE(made) << to_string(made.error());
  ASSERT_TRUE(tag_image(world.engine(), image, "localhost/somebody/keeps:1", {}));
  EXPECT_TRUE(world.driver().remove_built_image(built().front(), {}).value_or(false));
  EXPECT_EQ(image_id(world.engine(), "localhost/somebody/keeps:1", {}).value_or(""), id_of(made));
  EXPECT_EQ(image_id(world.engine(), image, {}).value_or("error"), "");
  EXPECT_TRUE(remove_image(world.engine(), "localhost/somebody/keeps:1", {}));
}

TEST_P(BuildTest, WhatAContainerUsesKeepsItsName) {
  const auto made = build({{"Dockerfile", "FROM localhost/fettle/busybox:1\nENV A=3\n"}});
  ASSERT_TRUE(made) << to_string(made.error());
  const auto service = world.service(
      "web", Value::dict({{"image", image}, {"cmd", Value::list({"sleep", "1000"})}}));
  ASSERT_TRUE(service) << to_string(service.error());
  ASSERT_EQ(built().size(), 1u);
  const auto gone = world.driver().remove_built_image(built().front(), {});
  ASSERT_TRUE(gone) << to_string(gone.error());
  EXPECT_FALSE(*gone);
  EXPECT_EQ(image_id(world.engine(), image, {}).value_or("error"), id_of(made));
}

TEST_P(BuildTest, AStepThatFailsIsNamedWithItsLastLines) {
  const auto made =
      build({{"Dockerfile",
              "FROM localhost/fettle/busybox:1\nRUN true\nRUN echo what it says; false\n"}});
  ASSERT_FALSE(made);
  const std::string said = to_string(made.error());
  EXPECT_TRUE(has(said, "cannot build `fettle-build-test`: step `")) << said;
  EXPECT_TRUE(has(said, "RUN echo what it says; false` failed: ")) << said;
  EXPECT_TRUE(has(said, "\n  what it says")) << said;
}

TEST_P(BuildTest, ASecretIsSeenByItsCommandAndIsInNoLayer) {
  const std::map<std::string, std::string> files{
      {"Dockerfile",
       "FROM localhost/fettle/busybox:1\n"
       "RUN --mount=type=secret,id=token --mount=type=secret,id=none tr a-z b-za < "
       "/run/secrets/token > /turned && ! test -e /run/secrets/none\n"
       "RUN --mount=type=secret,id=other,target=/etc/other,mode=0444 wc -c < /etc/other > /length\n"
       "COPY . /all\n"}};
  const auto with = [&](std::string_view token) {
    return build(files, {{"secrets", Value::dict({{"none", Value()},
                                                  {"other", std::string(200'000, 'y')},
                                                  {"token", Value::secret(Value(token))}})}});
  };
  const auto made = with("a-word-for-this-build");
  ASSERT_TRUE(made) << to_string(made.error());
  const std::string layers = saved();
  EXPECT_TRUE(has(layers, "b-xpse-gps-uijt-cvjme")) << "the command has read it";
  EXPECT_TRUE(has(layers, "200000\n"));
  EXPECT_FALSE(has(layers, "a-word-for-this-build"));
  EXPECT_FALSE(has(layers, ".secret-"));
  EXPECT_FALSE(has(layers, "yyyyyyyy"));
  // Another secret is no reason to run the command again, as with every client of these builders.
  EXPECT_EQ(id_of(with("another-word")), id_of(made));
}

TEST_P(BuildTest, NixBuildsAnOutputOfAFlakeAndItsImageIsLoaded) {
  if (find_program("nix").empty())
    GTEST_SKIP() << "there is no nix on this machine";
  // Without a network, a daemon and users of its own.
  setenv("NIX_CONFIG", "build-users-group =\nsubstitute = false", 1);
  const std::string busybox = read_file("/bin/busybox").value_or("");
  ASSERT_FALSE(busybox.empty());
  const auto flake = [](std::string_view script) {
    return cat(
        "{ outputs = { self }: { packages.x86_64-linux.image = derivation { name = "
        "\"image.tar\"; system = \"x86_64-linux\"; builder = \"${./bin}/busybox\"; args = "
        "[ \"sh\" \"${./bin}/",
        script, "\" \"${./bin}/busybox\" ]; }; }; }\n");
  };
  const std::string script =
      "set -e\nb=$1\n$b mkdir -p root/bin l\n$b cp $b root/bin/busybox\n"
      "echo built here > root/word\n$b tar -C root -cf l/layer.tar bin word\n"
      "sum=$($b sha256sum l/layer.tar)\nsum=${sum%% *}\n"
      "echo "
      "\"{\\\"architecture\\\":\\\"amd64\\\",\\\"os\\\":\\\"linux\\\",\\\"config\\\":{\\\"Cmd\\\":"
      "[\\\"/bin/"
      "busybox\\\",\\\"sleep\\\",\\\"1000\\\"]},\\\"rootfs\\\":{\\\"type\\\":\\\"layers\\\","
      "\\\"diff_ids\\\":[\\\"sha256:$sum\\\"]}}\" > config.json\n"
      "echo '[{\"Config\":\"config.json\",\"RepoTags\":[\"localhost/from-nix:1\"],\"Layers\":"
      "[\"l/layer.tar\"]}]' > manifest.json\n$b tar -cf $out config.json manifest.json l\n";
  std::map<std::string, std::string> files{{"flake.nix", flake("make.sh")},
                                           {"bin/busybox", busybox},
                                           {"bin/make.sh", script},
                                           {"bin/fail.sh", "echo what it says; false\n"}};
  const auto by_nix = [&] {
    std::string tar;
    ArchiveWriter writer(sink_to(tar, SIZE_MAX));
    for (const auto& [path, text] : files)
      EXPECT_TRUE(writer.add_file(path, text, 0755));
    EXPECT_TRUE(writer.finish());
    return world.apply(Verb::create, "build", image,
                       Value::dict({{"image", image},
                                    {"context", *world.blobs().put(tar)},
                                    {"file", "flake.nix"},
                                    {"nix_output", "image"}}));
  };
  const auto made = by_nix();
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(id_of(made), image_id(world.engine(), image, {}).value_or("none"));
  EXPECT_EQ(built().size(), 1u);
  EXPECT_TRUE(has(saved(), "built here"));
  EXPECT_EQ(id_of(by_nix()), id_of(made));
  files["flake.nix"] = flake("fail.sh");
  const auto failed = by_nix();
  ASSERT_FALSE(failed);
  const std::string said = to_string(failed.error());
  EXPECT_TRUE(has(said, "cannot build `fettle-build-test`: `nix build` ended with code 1")) << said;
  EXPECT_TRUE(has(said, "what it says")) << said;
  EXPECT_TRUE(remove_image(world.engine(), "localhost/from-nix:1", {}));
}

TEST_P(BuildTest, AnOldBuilderIsNotGivenAHereDocument) {
  const auto made =
      build({{"Dockerfile", "FROM localhost/fettle/busybox:1\nRUN <<EOF\ntrue\nEOF\n"}},
            {{"heredoc", 2}});
  // Debian's builders are too old; newer ones build it.
  if (made)
    return;
  EXPECT_TRUE(has(to_string(made.error()), "line 2 of `Dockerfile` has a here-document, which "))
      << to_string(made.error());
  EXPECT_EQ(made.error().blame, Blame::user);
}

TEST_P(BuildTest, AStopEndsABuild) {
  std::stop_source stop;
  world.before_call = [&](const EngineCall& call) {
    if (call.path == "/build")
      stop.request_stop();
  };
  std::vector<Entry> entries{
      {"image", image},
      {"context", *world.blobs().put(*pack_files(
                      {{"Dockerfile", "FROM localhost/fettle/busybox:1\nRUN sleep 1000\n"}}))}};
  const auto made = world.apply(Verb::create, "build", image, Value::dict(std::move(entries)), {},
                                stop.get_token());
  ASSERT_FALSE(made);
  EXPECT_TRUE(is_cancelled(made.error())) << to_string(made.error());
}

INSTANTIATE_TEST_SUITE_P(Engines, BuildTest,
                         testing::Values(TestEngine::Sort::podman, TestEngine::Sort::docker),
                         [](const auto& each) { return std::string(to_string(each.param)); });

}  // namespace
}  // namespace fettle

/// Dumps: what is in them, what cannot be had, and names that want to lead out.

#include "verbs/environments/dump.h"

#include <gtest/gtest.h>

#include "tests/fixtures/logs_only.h"
#include "tests/fixtures/package_fixture.h"
#include "tests/fixtures/small_disk.h"

namespace fettle {
namespace {

/// An engine whose services have printed their name, and which may be away.
class PrintingEngine : public FakeEngine, public LogsOnly {
 public:
  using FakeEngine::FakeEngine;
  bool is_away = false;
  bool breaks_off = false;  ///< in the middle of a log

  ContainerEngine* container_engine() override { return this; }
  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token stop) override {
    if (is_away)
      return world_error("no container engine answers");
    return FakeEngine::observe(subjects, stop);
  }

  Status logs(const std::string& container, const LogOptions&, bool, const StreamSink& sink,
              std::stop_token) override {
    TRY(sink(OutputStream::out, cat("from ", container, "\n")));
    if (breaks_off)
      return world_error("the connection broke");
    return sink(OutputStream::errors, "the end\n");
  }
};

class DumpTest : public RunPackageTest {
 protected:
  void SetUp() override {
    RunPackageTest::SetUp();
    place_.driver = [this](const Name& name) -> Driver* {
      return name == "host" ? static_cast<Driver*>(&host_) : &printing_;
    };
    texts_.spec = [](const ServiceView& service) -> Result<std::string> {
      return cat(service.name, " ", service.status, "\n");
    };
    texts_.beside["plan.json"] = []() -> Result<std::string> { return std::string("[]\n"); };
  }

  Result<DumpReport> dump(const std::string& folder = "dump") {
    return dump_environment(place_, *find_environment(place_, "e"), home_.path(folder), texts_,
                            stop_.get_token());
  }
  std::string text_of_dump(const std::string& file) {
    const Result<std::string> text = read_file(home_.path("dump/" + file));
    return text ? *text : to_string(text.error());
  }
  std::vector<std::string> files_of_dump() {
    std::vector<std::string> files;
    const auto tree = list_tree(home_.path("dump"));
    EXPECT_TRUE(tree);
    for (const TreeEntry& entry : *tree)
      if (entry.type == TreeEntry::Type::file)
        files.push_back(entry.path);
    return files;
  }

  PrintingEngine printing_{home_.blobs()};
  DumpTexts texts_;
  std::stop_source stop_;
  const std::string a_ = "a--" + uuid_of("a"), b_ = "b--" + uuid_of("b");
};

TEST_F(DumpTest, HasASpecAndALogOfEachServiceAndTheFilesOfEachArtifact) {
  ASSERT_EQ(run("  plan.render_templates(name = \"page\", config = {\"in/a.txt\": struct(template "
                "= \"hello\", data = {})})\n" +
                add("a") + add("b")),
            "RRR");
  ASSERT_TRUE(transit("b", Verb::stop));
  const Result<DumpReport> report = dump();
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(report->services, 2u);
  EXPECT_EQ(report->artifacts, 1u);
  EXPECT_EQ(report->missing, std::vector<std::string>());
  EXPECT_EQ(files_of_dump(),
            (std::vector<std::string>{a_ + "/output.log", a_ + "/spec.json", b_ + "/output.log",
                                      b_ + "/spec.json", "files/page/in/a.txt", "plan.json"}));
  EXPECT_EQ(text_of_dump(a_ + "/spec.json"), "a running\n");
  EXPECT_EQ(text_of_dump(b_ + "/spec.json"), "b stopped\n");
  EXPECT_EQ(text_of_dump(a_ + "/output.log"), "from container 1\nthe end\n");
  EXPECT_EQ(text_of_dump("files/page/in/a.txt"), "hello");
}

TEST_F(DumpTest, OfAnEngineThatIsAwayHasWhatIsKnown) {
  ASSERT_EQ(run(add("a")), "R");
  printing_.is_away = true;
  const Result<DumpReport> report = dump();
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(report->missing,
            (std::vector<std::string>{"the state of the services: no container engine answers",
                                      a_ + "/output.log: the engine does not answer"}));
  EXPECT_EQ(text_of_dump(a_ + "/spec.json"), "a unknown\n");
  EXPECT_EQ(text_of_dump("missing.txt"), cat(join(report->missing, "\n"), "\n"));
}

TEST_F(DumpTest, NamesWhatCannotBeHadAndKeepsTheRest) {
  ASSERT_EQ(run("  plan.render_templates(name = \"page\", config = {\"a.txt\": struct(template = "
                "\"hello\", data = {})})\n" +
                add("a") + add("b")),
            "RRR");
  printing_.containers.erase("b");
  printing_.breaks_off = true;
  std::filesystem::remove_all(home_.path("blobs"));
  texts_.beside["why.txt"] = []() -> Result<std::string> { return world_error("nobody knows"); };
  const Result<DumpReport> report = dump();
  ASSERT_TRUE(report) << to_string(report.error());
  ASSERT_EQ(report->missing.size(), 4u) << join(report->missing, "\n");
  EXPECT_EQ(report->missing[0], "why.txt: nobody knows");
  EXPECT_EQ(report->missing[1], a_ + "/output.log: the connection broke");
  EXPECT_TRUE(report->missing[2].starts_with(b_ + "/output.log: the container of `b`"));
  EXPECT_TRUE(report->missing[3].starts_with("files/page: ")) << report->missing[3];
  EXPECT_EQ(text_of_dump(a_ + "/output.log"), "from container 1\n");
  EXPECT_FALSE(file_exists(home_.path("dump/files/page")));
  EXPECT_FALSE(file_exists(home_.path("dump/" + b_ + "/output.log")));
}

TEST_F(DumpTest, SaysNoSecretInWhatIsMissing) {
  ASSERT_EQ(run(add("a")), "R");
  place_.mask->add("hunter2");
  texts_.beside["why.txt"] = []() -> Result<std::string> { return world_error("not hunter2"); };
  EXPECT_EQ(dump()->missing, std::vector<std::string>{"why.txt: not ********"});
  place_.shows_secrets = true;
  EXPECT_EQ(dump("other")->missing, std::vector<std::string>{"why.txt: not hunter2"});
}

TEST_F(DumpTest, EndsWithAStop) {
  ASSERT_EQ(run(add("a")), "R");
  stop_.request_stop();
  const Result<DumpReport> report = dump();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "interrupted; nothing was dumped");
}

TEST_F(DumpTest, WithoutRoomSaysWhatHasNone) {
  ASSERT_EQ(run(add("a")), "R");
  const std::string folder = home_.path("small");
  ASSERT_TRUE(make_directories(folder));
  texts_.beside["plan.json"] = []() -> Result<std::string> { return std::string(1 << 20, 'x'); };
  const int code = on_a_small_disk(folder, 64, [&] {
    const Result<DumpReport> report = dump("small/dump");
    if (!report || report->missing.size() != 1 || !report->missing[0].starts_with("plan.json: "))
      return 1;
    return file_exists(folder + "/dump/" + a_ + "/spec.json") &&
                   file_exists(folder + "/dump/missing.txt") &&
                   !file_exists(folder + "/dump/plan.json")
               ? 0
               : 2;
  });
  EXPECT_EQ(code, 0);
}

TEST(DumpNames, AreOneComponentOfAPath) {
  EXPECT_EQ(component_of("web-1.a_b"), "web-1.a_b");
  EXPECT_EQ(component_of(".."), "%2E.");
  EXPECT_EQ(component_of("."), "%2E");
  EXPECT_EQ(component_of(""), "%");
  EXPECT_EQ(component_of("../../etc/passwd"), "%2E.%2F..%2Fetc%2Fpasswd");
  EXPECT_EQ(component_of("a\nb%\x7f"), "a%0Ab%25%7F");
  EXPECT_EQ(component_of("größe"), "größe");
  EXPECT_NE(component_of(std::string(300, 'a')), component_of(std::string(300, 'a') + "b"));
  EXPECT_LT(component_of(std::string(5000, '/')).size(), 255u);
  EXPECT_EQ(dump_name("shop", "123"), "shop--123");
  EXPECT_EQ(dump_name("a/b", ""), "a%2Fb");
}

}  // namespace
}  // namespace fettle

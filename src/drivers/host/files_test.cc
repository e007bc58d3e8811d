/// The contract of the driver for files, folders and links of this machine, on real ones.

#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "core/open_payload.h"
#include "drivers/host/host_driver.h"
#include "kinds/kinds.h"
#include "tests/fixtures/host_acts.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

class FilesTest : public testing::Test {
 protected:
  Path at(const std::string& name) const { return folder_->path() / name; }
  Value with(const std::string& name, std::vector<Entry> more = {}) const {
    more.push_back({"path", at(name).string()});
    return Value::dict(std::move(more));
  }
  static mode_t mode_of(const Path& path) {
    struct stat there{};
    EXPECT_EQ(lstat(path.c_str(), &there), 0) << path;
    return there.st_mode & 07777;
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_->path()), {}));
  }
  static std::string said(const Result<Done>& result) {
    return result ? "done" : to_string(result.error());
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  HttpClient http_;
  MemoryBlobs blobs_;
  HostDriver driver_{http_, blobs_, [] { return uint64_t{1}; }};
  Acts acts_{driver_};
};

TEST_F(FilesTest, AFileIsMadeOnceAndSeenAsWanted) {
  const Value wanted = with("motd", {{"content", "hello\n"}, {"mode", 640}});
  const auto made = acts_.apply(file_kind(), wanted);
  ASSERT_TRUE(made) << said(made);
  EXPECT_TRUE(made->changed);
  EXPECT_EQ(*read_file(at("motd")), "hello\n");
  EXPECT_EQ(mode_of(at("motd")), 0640u);
  EXPECT_EQ(acts_.drift(file_kind()).verb, Verb::keep);
  const auto again = acts_.apply(file_kind(), wanted);
  EXPECT_FALSE(again->changed);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FilesTest, WhatWasFilledInIsWhatIsCompared) {
  const Value hole = Value::deferred({Part(Output{"command", "who", "stdout"})});
  // A run records what was wanted, and applies what it was filled to.
  const auto apply = [&](const Kind& kind, const Value& wanted, const Value& filled) {
    ASSERT_TRUE(acts_.apply(kind, filled));
    auto record = std::make_shared<Record>(*acts_.known);
    record->applied.edit().attributes = *kind.normalise(wanted);
    acts_.known = record;
  };
  apply(file_kind(), with("motd", {{"content", hole}, {"mode", hole}}),
        with("motd", {{"content", "hello"}, {"mode", "0640"}}));
  EXPECT_EQ(acts_.drift(file_kind()).verb, Verb::keep);
  ASSERT_TRUE(write_file(at("motd"), "edited", 0640));
  EXPECT_EQ(acts_.drift(file_kind()).fields, std::vector<std::string>{"content"});
  ASSERT_TRUE(write_file(at("motd"), "hello", 0600));
  EXPECT_EQ(acts_.drift(file_kind()).fields, std::vector<std::string>{"mode"});
  // A record of an earlier version does not say with what it was filled.
  auto earlier = std::make_shared<Record>(*acts_.known);
  earlier->outputs = Value::dict({{"path", at("motd").string()}});
  acts_.known = earlier;
  EXPECT_EQ(acts_.drift(file_kind()).fields, std::vector<std::string>{"content"});

  apply(folder_kind(), with("site", {{"mode", hole}}), with("site", {{"mode", "0750"}}));
  EXPECT_EQ(acts_.drift(folder_kind()).verb, Verb::keep);
  chmod(at("site").c_str(), 0700);
  EXPECT_EQ(acts_.drift(folder_kind()).fields, std::vector<std::string>{"mode"});

  apply(link_kind(), with("www", {{"leads_to", hole}}), with("www", {{"leads_to", "site"}}));
  EXPECT_EQ(acts_.drift(link_kind()).verb, Verb::keep);
  fs::remove(at("www"));
  fs::create_symlink("elsewhere", at("www"));
  EXPECT_EQ(acts_.drift(link_kind()).fields, std::vector<std::string>{"leads_to"});
}

TEST_F(FilesTest, AnExistingFileIsComparedBeforeItIsWritten) {
  ASSERT_TRUE(write_file(at("motd"), "hello\n", 0600));
  struct stat before{}, after{};
  stat(at("motd").c_str(), &before);
  const auto same = acts_.apply(file_kind(), with("motd", {{"content", "hello\n"}}));
  ASSERT_TRUE(same) << said(same);
  EXPECT_FALSE(same->changed);
  stat(at("motd").c_str(), &after);
  EXPECT_EQ(before.st_ino, after.st_ino);
  // Another content: its mode stays, as nobody said otherwise.
  EXPECT_TRUE(acts_.apply(file_kind(), with("motd", {{"content", "other"}}))->changed);
  EXPECT_EQ(*read_file(at("motd")), "other");
  EXPECT_EQ(mode_of(at("motd")), 0600u);
  // Only the mode: the file stays the same one.
  stat(at("motd").c_str(), &before);
  EXPECT_TRUE(
      acts_.apply(file_kind(), with("motd", {{"content", "other"}, {"mode", "0644"}}))->changed);
  stat(at("motd").c_str(), &after);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(mode_of(at("motd")), 0644u);
  // Without a content only the rest is looked after.
  EXPECT_FALSE(acts_.apply(file_kind(), with("motd"))->changed);
  EXPECT_EQ(*read_file(at("motd")), "other");
}

TEST_F(FilesTest, DriftOfContentModeAndOwnerIsSeen) {
  ASSERT_TRUE(acts_.apply(
      file_kind(), with("f", {{"content", "x"}, {"mode", 644}, {"owner", "root"}, {"group", 0}})));
  EXPECT_EQ(acts_.drift(file_kind()).verb, Verb::keep);
  ASSERT_TRUE(write_file(at("f"), "y"));
  EXPECT_EQ(acts_.drift(file_kind()).fields, std::vector<std::string>{"content"});
  ASSERT_TRUE(write_file(at("f"), "x", 0600));
  EXPECT_EQ(acts_.drift(file_kind()).fields, std::vector<std::string>{"mode"});
  ASSERT_EQ(chown(at("f").c_str(), 65534, 65534), 0);
  EXPECT_EQ(acts_.drift(file_kind()).fields, (std::vector<std::string>{"mode", "owner", "group"}));
  ASSERT_TRUE(acts_.apply(
      file_kind(), with("f", {{"content", "x"}, {"mode", 644}, {"owner", "root"}, {"group", 0}}),
      Verb::update));
  EXPECT_EQ(acts_.drift(file_kind()).verb, Verb::keep);
  fs::remove(at("f"));
  EXPECT_EQ(acts_.drift(file_kind()).verb, Verb::create);
  fs::create_directory(at("f"));
  EXPECT_EQ(acts_.drift(file_kind()).why, "there is a folder in its place");
  EXPECT_EQ(acts_.apply(file_kind(), with("f", {{"content", "x"}})).error().message,
            cat("there is a folder at `", at("f").string(), "`"));
}

TEST_F(FilesTest, ContentComesFromABlob) {
  const std::string digest = *blobs_.put(std::string(300'000, 'b'));
  ASSERT_TRUE(acts_.apply(file_kind(), with("big", {{"digest", digest}})));
  EXPECT_EQ(sha256_hex(*read_file(at("big"))), digest);
  EXPECT_EQ(acts_.drift(file_kind()).verb, Verb::keep);
  EXPECT_EQ(dict_of(acts_.known->outputs).text_at("digest"), digest);
}

TEST_F(FilesTest, PurgedRemovesAndIsSeenWhenItComesBack) {
  ASSERT_TRUE(write_file(at("f"), "x"));
  EXPECT_TRUE(acts_.apply(file_kind(), with("f", {{"purged", true}}))->changed);
  EXPECT_FALSE(file_exists(at("f")));
  EXPECT_FALSE(acts_.apply(file_kind(), with("f", {{"purged", true}}))->changed);
  EXPECT_EQ(acts_.drift(file_kind()).verb, Verb::keep);
  ASSERT_TRUE(write_file(at("f"), "x"));
  EXPECT_EQ(acts_.drift(file_kind()).verb, Verb::update);
}

TEST_F(FilesTest, ALinkInTheLastPartOfAPathIsNeverFollowed) {
  ASSERT_TRUE(write_file(at("precious"), "keep me"));
  fs::create_symlink(at("precious"), at("f"));
  ASSERT_TRUE(acts_.apply(file_kind(), with("f", {{"content", "x"}, {"mode", 600}})));
  EXPECT_EQ(*read_file(at("precious")), "keep me");
  EXPECT_EQ(*read_file(at("f")), "x");
  EXPECT_FALSE(fs::is_symlink(at("f")));
}

TEST_F(FilesTest, WhatIsKilledInTheMiddleIsWholeOrNotThere) {
  const std::string content(32 << 20, 'c');
  const Value wanted = with("f", {{"content", content}});
  size_t cut = 0;
  for (int round = 0; round < 12; ++round) {
    fs::remove(at("f"));
    const pid_t child = fork();
    if (child == 0) {
      Acts theirs(driver_);
      static_cast<void>(theirs.apply(file_kind(), wanted));
      _exit(0);
    }
    // From within the hashing to behind the end, whatever this machine's speed.
    usleep(static_cast<useconds_t>(round * 12'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    if (file_exists(at("f"))) {
      EXPECT_EQ(fs::file_size(at("f")), content.size());
    }
    cut += entries() - (file_exists(at("f")) ? 1 : 0);
    acts_.known = nullptr;
    const auto made = acts_.apply(file_kind(), wanted);
    ASSERT_TRUE(made) << said(made);
    EXPECT_EQ(acts_.drift(file_kind()).verb, Verb::keep);
    EXPECT_EQ(entries(), 1u) << "something was left behind";
  }
  RecordProperty("acts_cut", static_cast<int>(cut));
}

TEST_F(FilesTest, WhatNobodyWantsAnyMoreIsRemovedAsItWasMade) {
  ASSERT_TRUE(acts_.apply(file_kind(), with("f", {{"content", "x"}})));
  const Value file = dict_of(acts_.known->applied->attributes);
  EXPECT_TRUE(acts_.apply(file_kind(), file, Verb::remove)->changed);
  EXPECT_FALSE(file_exists(at("f")));
  EXPECT_FALSE(acts_.apply(file_kind(), file, Verb::remove)->changed);
  // Something else stands there now: it is not ours.
  fs::create_directory(at("f"));
  EXPECT_FALSE(acts_.apply(file_kind(), file, Verb::remove)->changed);
  EXPECT_TRUE(file_exists(at("f")));
  // A folder goes when it is empty.
  ASSERT_TRUE(acts_.apply(folder_kind(), with("d")));
  ASSERT_TRUE(write_file(at("d") / "theirs", ""));
  const auto kept = acts_.apply(folder_kind(), with("d"), Verb::remove);
  EXPECT_NE(said(kept).find("is not empty"), std::string::npos) << said(kept);
  fs::remove(at("d") / "theirs");
  EXPECT_TRUE(acts_.apply(folder_kind(), with("d"), Verb::remove)->changed);
  EXPECT_FALSE(file_exists(at("d")));
}

TEST_F(FilesTest, AFolderHasItsRightsAndPurgedTakesEverythingAway) {
  ASSERT_TRUE(acts_.apply(folder_kind(), with("d", {{"mode", 750}, {"group", "65534"}})));
  EXPECT_EQ(mode_of(at("d")), 0750u);
  EXPECT_EQ(acts_.drift(folder_kind()).verb, Verb::keep);
  EXPECT_FALSE(acts_.apply(folder_kind(), with("d", {{"mode", 750}, {"group", "65534"}}))->changed);
  fs::permissions(at("d"), fs::perms(0700));
  EXPECT_EQ(acts_.drift(folder_kind()).fields, std::vector<std::string>{"mode"});
  ASSERT_TRUE(write_file(at("d") / "inside", ""));
  ASSERT_TRUE(acts_.apply(folder_kind(), with("d", {{"purged", true}})));
  EXPECT_FALSE(file_exists(at("d")));
  const auto deep = acts_.apply(folder_kind(), with("no/such"));
  EXPECT_NE(said(deep).find("cannot create the folder"), std::string::npos) << said(deep);
}

TEST_F(FilesTest, ALinkLeadsWhereItShould) {
  const Value wanted = with("l", {{"leads_to", "/etc/hosts"}});
  EXPECT_TRUE(acts_.apply(link_kind(), wanted)->changed);
  EXPECT_FALSE(acts_.apply(link_kind(), wanted)->changed);
  EXPECT_EQ(fs::read_symlink(at("l")), "/etc/hosts");
  fs::remove(at("l"));
  fs::create_symlink("/elsewhere", at("l"));
  EXPECT_EQ(acts_.drift(link_kind()).fields, std::vector<std::string>{"leads_to"});
  EXPECT_TRUE(acts_.apply(link_kind(), wanted)->changed);
  EXPECT_EQ(acts_.drift(link_kind()).verb, Verb::keep);
  EXPECT_EQ(entries(), 1u);
  EXPECT_TRUE(acts_.apply(link_kind(), with("l", {{"leads_to", "x"}, {"purged", true}}))->changed);
  EXPECT_EQ(entries(), 0u);
  ASSERT_TRUE(write_file(at("l"), "data"));
  const auto refused = acts_.apply(link_kind(), wanted);
  EXPECT_NE(said(refused).find("there is a file at"), std::string::npos) << said(refused);
  EXPECT_EQ(*read_file(at("l")), "data");
}

TEST_F(FilesTest, AStopIsHonoured) {
  std::stop_source stop;
  stop.request_stop();
  const auto stopped =
      acts_.apply(file_kind(), with("f", {{"content", "x"}}), Verb::create, {}, stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_TRUE(is_cancelled(stopped.error()));
  EXPECT_EQ(entries(), 0u);
}

TEST_F(FilesTest, WhatCannotBeMeantIsRefused) {
  const auto refusal = [&](const Kind& kind, const Value& attributes) {
    const auto normal = kind.normalise(attributes);
    return normal ? "" : normal.error().message;
  };
  EXPECT_EQ(refusal(file_kind(), Value::dict({{"path", "etc/motd"}})),
            "`path` must be an absolute path, not `etc/motd`");
  EXPECT_EQ(refusal(file_kind(), Value::dict({{"path", std::string("/a\0b", 4)}})).substr(0, 6),
            "`path`");
  EXPECT_EQ(refusal(file_kind(), with("f", {{"mode", 888}})),
            "`mode` must be octal digits such as 644, not `888`");
  EXPECT_EQ(refusal(file_kind(), with("f", {{"mode", "77777"}})),
            "`mode` must be octal digits such as 644, not `77777`");
  EXPECT_EQ(refusal(file_kind(), with("f", {{"mode", Value::big_integer(std::string(40, '7'))}}))
                .substr(0, 6),
            "`mode`");
  EXPECT_EQ(refusal(file_kind(), with("f", {{"content", 5}})), "`content` must be a string");
  EXPECT_EQ(refusal(file_kind(), with("f", {{"ower", "root"}})),
            "unknown attribute `ower`, did you mean `owner`?");
  EXPECT_EQ(refusal(folder_kind(), Value::dict({{"path", "//"}})),
            "the root folder cannot be managed");
  EXPECT_EQ(said(acts_.apply(file_kind(), with("f", {{"owner", "nobody-of-that-name"}}))),
            "there is no user `nobody-of-that-name`");
}

}  // namespace
}  // namespace fettle

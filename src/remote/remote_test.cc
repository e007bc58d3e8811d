/// The parts of the way to a server and back: frames, requests, mirrors, parcels, runs, contexts.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "remote/contexts.h"
#include "remote/frames.h"
#include "remote/mirror.h"
#include "remote/parcel.h"
#include "remote/path_filter.h"
#include "remote/run_log.h"
#include "remote/tokens.h"
#include "remote/upgrade.h"
#include "tests/fixtures/certificates.h"
#include "tests/fixtures/small_disk.h"

namespace fettle {
namespace {

TEST(Frames, ComeInPiecesOfAnySize) {
  const std::string bytes = packed(FrameType::output, "hello") + packed(FrameType::stop);
  FrameReader reader;
  std::vector<std::string> told;
  for (const char byte : bytes) {
    reader.add({&byte, 1});
    while (const auto frame = *reader.next())
      told.push_back(static_cast<char>(frame->type) + frame->payload);
  }
  EXPECT_EQ(told, (std::vector<std::string>{"1hello", "s"}));
}

TEST(Frames, WhatIsNoFrameOrTooLargeIsRefused) {
  FrameReader reader;
  reader.add("GET / HTTP/1.1\r\n");
  EXPECT_FALSE(reader.next());
  FrameReader small(100);
  small.add(packed(FrameType::input, std::string(101, 'x')).substr(0, 5));
  EXPECT_FALSE(small.next());
}

TEST(PathFilter, TakesTheMirrorOutOfPathsHoweverTheyAreCut) {
  const std::string text =
      "at /h/mirrors/3/root/home/me/a.star:1, /h/mirrors/x, /h/mirrors/12/rooty and "
      "/h/mirrors/0/root";
  const std::string told = "at /home/me/a.star:1, /h/mirrors/x, y and ";
  for (const size_t size : {1U, 2U, 7U, 1'000U}) {
    PathFilter filter("/h/mirrors");
    std::string all;
    for (size_t at = 0; at < text.size(); at += size)
      all += filter.pass(std::string_view(text).substr(at, size));
    EXPECT_EQ(all + filter.rest(), told) << size;
  }
  PathFilter filter("/h/mirrors");
  EXPECT_EQ(filter.pass("a /h"), "a ");
  EXPECT_TRUE(filter.holds());
  EXPECT_EQ(filter.pass("ome"), "/home");
}

TEST(Requests, OnlyPlainAbsolutePathsCount) {
  EXPECT_TRUE(is_plain_path("/home/me/a b"));
  for (const std::string_view path : {"", "/", "a", "/a/../b", "/a/./b", "/a//b", "/a/", "/.."})
    EXPECT_FALSE(is_plain_path(path)) << path;
  EXPECT_FALSE(is_plain_path(std::string_view("/a\0b", 4)));
  for (const char* const json :
       {"", "[]", "{", R"({"words":["x"],"paths":[],"writes":["/a/../b"],"folder":"/"})",
        R"({"words":["x"],"paths":[],"writes":[],"folder":"here"})",
        R"({"words":[1],"paths":[],"writes":[],"folder":"/"})",
        R"({"words":["x"],"paths":[],"writes":[],"folder":"/","files":[{"path":"/../etc/x"}]})",
        R"({"words":["x"],"paths":[],"writes":[],"folder":"/","environment":{"A=B":"c"}})"})
    EXPECT_FALSE(command_request_of(json)) << json;
}

class MirrorTest : public testing::Test {
 protected:
  static FileEntry file(const std::string& path, std::string_view text, unsigned mode = 0644) {
    return {path, FileEntry::Type::file, mode, text.size(), sha256_hex(text)};
  }
  static FileEntry folder(const std::string& path) {
    return {path, FileEntry::Type::folder, 0755, 0};
  }
  /// How many contents were asked for.
  size_t place(Mirror& mirror, const std::vector<FileEntry>& entries,
               const std::map<std::string, std::string>& texts = {}) {
    const auto unknown = mirror.place(entries);
    EXPECT_TRUE(unknown) << to_string(unknown.error());
    for (const size_t entry : *unknown) {
      EXPECT_TRUE(mirror.begin_content(entry));
      EXPECT_TRUE(mirror.add_content(texts.at(mirror.path_of(entry))));
      const auto ended = mirror.end_content();
      EXPECT_TRUE(ended && *ended);
    }
    EXPECT_TRUE(mirror.finish());
    return unknown->size();
  }
  Mirror take() { return std::move(**Mirror::take(home_.path())); }
  TemporaryDirectory home_ = *TemporaryDirectory::make();
};

TEST_F(MirrorTest, WhatTheServerHasIsNotAskedForAgain) {
  const std::vector<FileEntry> entries{folder("/home/me"), file("/home/me/a", "one", 0755),
                                       file("/home/me/b", "two")};
  std::string root;
  struct stat before{}, after{};
  {
    Mirror mirror = take();
    root = mirror.root();
    EXPECT_EQ(place(mirror, entries, {{"/home/me/a", "one"}, {"/home/me/b", "two"}}), 2U);
    EXPECT_EQ(*read_file(root + "/home/me/a"), "one");
    ASSERT_EQ(stat((root + "/home/me/a").c_str(), &before), 0);
    EXPECT_EQ(before.st_mode & 0777U, 0755U);
    // Another command has another mirror meanwhile, and the same contents.
    Mirror second = take();
    EXPECT_NE(second.root(), root);
    EXPECT_EQ(place(second, entries), 0U);
  }
  Mirror mirror = take();
  EXPECT_EQ(mirror.root(), root);
  EXPECT_EQ(place(mirror, {folder("/home/me"), file("/home/me/a", "one", 0755)}), 0U);
  ASSERT_EQ(stat((root + "/home/me/a").c_str(), &after), 0);
  EXPECT_EQ(after.st_ino, before.st_ino) << "it was written again";
  EXPECT_FALSE(file_exists(root + "/home/me/b"));
}

TEST_F(MirrorTest, AFileThatACommandHasChangedIsMadeAnew) {
  {
    Mirror mirror = take();
    place(mirror, {file("/a", "one")}, {{"/a", "one"}});
    EXPECT_TRUE(write_file(mirror.root() + "/a", "bad"));
  }
  Mirror mirror = take();
  EXPECT_EQ(place(mirror, {file("/a", "one")}), 0U);
  EXPECT_EQ(*read_file(mirror.root() + "/a"), "one");
}

TEST_F(MirrorTest, NothingIsWrittenThroughALinkOrTwice) {
  Mirror mirror = take();
  FileEntry link{"/a", FileEntry::Type::link, 0777, 0, {}, "/etc"};
  EXPECT_FALSE(mirror.place({link, file("/a/passwd", "x")}));
  EXPECT_FALSE(mirror.place({file("/a", "x"), file("/a/b", "y")}));
  EXPECT_FALSE(mirror.place({file("/a", "x"), file("/a", "y")}));
  EXPECT_EQ(place(mirror, {link}), 0U);
  // The link of before goes before anything is written there.
  EXPECT_EQ(place(mirror, {folder("/a"), file("/a/fettle-test", "y")}, {{"/a/fettle-test", "y"}}),
            1U);
  EXPECT_FALSE(file_exists("/etc/fettle-test"));
}

TEST_F(MirrorTest, AContentThatIsNotWhatWasAnnouncedIsRefused) {
  Mirror mirror = take();
  ASSERT_EQ(mirror.place({file("/a", "one")})->size(), 1U);
  ASSERT_TRUE(mirror.begin_content(0));
  EXPECT_FALSE(mirror.add_content("more than that"));
  ASSERT_TRUE(mirror.begin_content(0));
  EXPECT_TRUE(mirror.add_content("On"));
  EXPECT_FALSE(*mirror.end_content());
  EXPECT_TRUE(mirror.add_content("e"));
  EXPECT_FALSE(mirror.end_content());
}

TEST_F(MirrorTest, TellsWhatACommandHasWritten) {
  Mirror mirror = take();
  const FileEntry place_of_file{"/w/old", FileEntry::Type::place, 0600, 0};
  place(mirror, {folder("/w"), place_of_file, file("/w/kept", "k"), folder("/other")},
        {{"/w/kept", "k"}});
  EXPECT_TRUE(mirror.changed({"/w"})->empty());
  EXPECT_TRUE(write_file(mirror.root() + "/w/old", "new"));
  EXPECT_TRUE(make_directories(mirror.root() + "/w/sub"));
  EXPECT_TRUE(write_file(mirror.root() + "/w/sub/x", "x"));
  EXPECT_TRUE(write_file(mirror.root() + "/other/y", "y"));
  std::vector<std::string> paths;
  const std::vector<FileEntry> changed = *mirror.changed({"/w"});
  for (const FileEntry& entry : changed)
    paths.push_back(entry.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"/w/old", "/w/sub", "/w/sub/x"}));
}

TEST_F(MirrorTest, ThereAreNoMoreThanSixteen) {
  std::vector<Mirror> all;
  for (int i = 0; i < most_commands; ++i)
    all.push_back(take());
  EXPECT_FALSE(Mirror::take(home_.path())->has_value());
}

TEST_F(MirrorTest, ADamagedContentIsFetchedAgain) {
  const std::vector<FileEntry> entries{file("/a", "whole")};
  {
    Mirror mirror = take();
    EXPECT_EQ(place(mirror, entries, {{"/a", "whole"}}), 1U);
  }
  // As after a power cut.
  ASSERT_TRUE(write_file(home_.path() / "contents" / sha256_hex("whole"), "who"));
  Mirror first = take();  // its own copy is as it was
  EXPECT_EQ(place(first, entries), 0U);
  Mirror second = take();
  ASSERT_TRUE(second.place(entries));
  const Status refused = second.finish();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("start the command again"), std::string::npos);
  Mirror third = take();
  EXPECT_EQ(place(third, entries, {{"/a", "whole"}}), 1U);
}

TEST_F(MirrorTest, APipeIsThereAndHoldsNobody) {
  const FileEntry pipe{"/p/pipe", FileEntry::Type::other, 0644, 0};
  for (int i = 0; i < 2; ++i) {
    Mirror mirror = take();
    EXPECT_EQ(place(mirror, {folder("/p"), pipe, file("/p/a", "one")}, {{"/p/a", "one"}}),
              i == 0 ? 1U : 0U);
    struct stat about{};
    ASSERT_EQ(stat((mirror.root() + "/p/pipe").c_str(), &about), 0);
    EXPECT_TRUE(S_ISFIFO(about.st_mode));
    EXPECT_EQ(*read_file(mirror.root() + "/p/a"), "one");
  }
}

class ParcelTest : public testing::Test {
 protected:
  std::string at(std::string_view path) const { return cat(here_.path().string(), "/", path); }
  static std::vector<std::string> paths_of(const Parcel& parcel) {
    std::vector<std::string> paths;
    for (const FileEntry& entry : parcel.files)
      paths.push_back(entry.path);
    return paths;
  }
  TemporaryDirectory here_ = *TemporaryDirectory::make();
};

TEST_F(ParcelTest, HasWhatIsNamedAndNothingElse) {
  ASSERT_TRUE(make_directories(at("pkg/lib")));
  ASSERT_TRUE(write_file(at("pkg/main.star"), "uses ${FETTLE_TEST_TAG} in $PATH and $FETTLE_HOME"));
  ASSERT_TRUE(write_file(at("secret"), "s"));
  ASSERT_EQ(symlink("../secret", at("pkg/lib/link").c_str()), 0);
  setenv("FETTLE_TEST_TAG", "v1", 1);
  setenv("FETTLE_TEST_OTHER", "v2", 1);
  setenv("FETTLE_HOME", "/nowhere", 1);  // a script may name the folder of our state
  const auto parcel = pack_parcel({{"./pkg"}, {"out"}}, here_.path().string());
  ASSERT_TRUE(parcel) << to_string(parcel.error());
  EXPECT_EQ(paths_of(*parcel),
            (std::vector<std::string>{here_.path().string(), at("pkg"), at("pkg/lib"),
                                      at("pkg/lib/link"), at("pkg/main.star")}));
  EXPECT_EQ(parcel->files[3].target, "../secret");
  EXPECT_EQ(parcel->writes, (WrittenPaths{{at("out"), "out"}}));
  EXPECT_TRUE(parcel->paths.empty());
  EXPECT_EQ(parcel->variables, (std::map<std::string, std::string>{{"FETTLE_TEST_TAG", "v1"}}));
  unsetenv("FETTLE_HOME");
}

TEST_F(ParcelTest, NamesBesideWhatIsMissingTravelAndThatThereArePipes) {
  ASSERT_TRUE(make_directories(at("shop")));
  ASSERT_EQ(mkfifo(at("shop/pipe").c_str(), 0600), 0);
  ASSERT_TRUE(write_file(at("shop/file"), "x"));
  const auto missing = pack_parcel({{"shopp"}, {}}, here_.path().string());
  ASSERT_TRUE(missing) << to_string(missing.error());
  EXPECT_EQ(paths_of(*missing), (std::vector<std::string>{here_.path().string(), at("shop")}));
  const auto folder = pack_parcel({{"shop"}, {}}, here_.path().string());
  ASSERT_TRUE(folder) << to_string(folder.error());
  EXPECT_EQ(paths_of(*folder),
            (std::vector<std::string>{at("shop"), at("shop/file"), at("shop/pipe")}));
  EXPECT_EQ(folder->files[2].type, FileEntry::Type::other);
}

TEST_F(ParcelTest, ALinkThatLeadsNowhereIsThere) {
  ASSERT_EQ(symlink("/nowhere/at/all", at("link").c_str()), 0);
  const auto parcel = pack_parcel({{}, {"link"}}, here_.path().string());
  ASSERT_TRUE(parcel) << to_string(parcel.error());
  ASSERT_EQ(paths_of(*parcel), (std::vector<std::string>{here_.path().string(), at("link")}));
  EXPECT_EQ(parcel->files[1].type, FileEntry::Type::link);
  EXPECT_EQ(parcel->files[1].target.find("nowhere/"), std::string::npos);
}

TEST_F(ParcelTest, APipeIsReadOnceAndTravels) {
  const std::string pipe = at("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] {
    const Descriptor file(::open(pipe.c_str(), O_WRONLY | O_CLOEXEC));
    EXPECT_EQ(::write(file.get(), "piped", 5), 5);
  });
  const auto parcel = pack_parcel({{pipe}, {}}, "/");
  writer.join();
  ASSERT_TRUE(parcel) << to_string(parcel.error());
  EXPECT_EQ(parcel->held.at(pipe), "piped");
  EXPECT_EQ(parcel->paths, std::vector<std::string>{pipe});
}

TEST_F(ParcelTest, AServerWritesOnlyWhereTheCommandMay) {
  const WrittenPaths writes{{at("out"), "out"}};
  EXPECT_TRUE(may_write(writes, at("out/a/b")));
  for (const std::string& path : {at("outside"), at("out/../x"), at("out/"), std::string("/etc/x")})
    EXPECT_FALSE(may_write(writes, path)) << path;
  const FileEntry outside{at("x"), FileEntry::Type::file, 0644, 1};
  EXPECT_FALSE(ArrivingFile::begin(writes, outside));
  EXPECT_TRUE(ArrivingFile::begin(writes, {at("out"), FileEntry::Type::folder, 0755, 0}));
  EXPECT_TRUE(ArrivingFile::begin(
      writes, {at("out/link"), FileEntry::Type::link, 0777, 0, {}, here_.path().string()}));
  EXPECT_FALSE(ArrivingFile::begin(writes, {at("out/link/x"), FileEntry::Type::file, 0644, 0}));
  // Neither is one written through, nor does a link stand where the command's own file would.
  ASSERT_TRUE(write_file(at("mine"), "mine", 0600));
  ASSERT_TRUE(make_directories(at("folder")));
  ASSERT_EQ(chmod(at("folder").c_str(), 0700), 0);
  for (const auto& [name, target] : {std::pair("out/to_mine", "mine"), {"out/to_folder", "folder"}})
    ASSERT_TRUE(
        ArrivingFile::begin(writes, {at(name), FileEntry::Type::link, 0777, 0, {}, at(target)}));
  auto replacing = ArrivingFile::begin(writes, {at("out/to_mine"), FileEntry::Type::file, 0644, 3});
  ASSERT_TRUE(replacing) << to_string(replacing.error());
  EXPECT_TRUE(replacing->add("bad"));
  EXPECT_EQ(*read_file(at("mine")), "mine");
  EXPECT_EQ(*read_file(at("out/to_mine")), "bad");
  EXPECT_FALSE(
      ArrivingFile::begin(writes, {at("out/to_folder"), FileEntry::Type::folder, 0777, 0}));
  struct stat about{};
  ASSERT_EQ(stat(at("folder").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0700U);
  EXPECT_FALSE(ArrivingFile::begin({{at("one"), "one"}},
                                   {at("one"), FileEntry::Type::link, 0777, 0, {}, at("mine")}));
  // A link of the user's own is followed.
  ASSERT_EQ(symlink("mine", at("named").c_str()), 0);
  auto followed =
      ArrivingFile::begin({{at("named"), "named"}}, {at("named"), FileEntry::Type::file, 0644, 3});
  ASSERT_TRUE(followed && followed->add("new"));
  EXPECT_EQ(*read_file(at("mine")), "new");
  auto file = ArrivingFile::begin(writes, {at("out/file"), FileEntry::Type::file, 0640, 3});
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_TRUE(file->add("ab"));
  EXPECT_FALSE(file_exists(at("out/file")));
  EXPECT_TRUE(file->add("c"));
  EXPECT_EQ(*read_file(at("out/file")), "abc");
}

TEST(Runs, AreFoundByTheirNumbersAndForgottenInTheEnd) {
  const TemporaryDirectory home = *TemporaryDirectory::make();
  const Path runs = home.path() / "runs";
  EXPECT_FALSE(find_run(runs, 0));
  auto first = RunLog::begin(runs, {"fettle run a"}, Time{});
  ASSERT_TRUE(first) << to_string(first.error());
  EXPECT_TRUE(first->add(FrameType::output, "hello"));
  EXPECT_EQ(*first->read(0), packed(FrameType::output, "hello"));
  EXPECT_TRUE(find_run(runs, 0)->is_running);
  EXPECT_TRUE(ask_to_stop(runs, 1));
  EXPECT_TRUE(first->end(3));
  EXPECT_EQ(find_run(runs, 1)->code, 3);
  EXPECT_FALSE(ask_to_stop(runs, 1));
  EXPECT_FALSE(find_run(runs, 2));
  {
    const auto killed = RunLog::begin(runs, {"fettle run b"}, Time{});
    EXPECT_EQ(status_of(*find_run(runs, 2)), "running");
  }
  EXPECT_EQ(status_of(*find_run(runs, 2)), "killed");
  for (int i = 0; i < 101; ++i)
    ASSERT_TRUE(RunLog::begin(runs, {"fettle run c"}, Time{})->end(0));
  EXPECT_LE(list_runs(runs).size(), 101U);
  EXPECT_TRUE(find_run(runs, 1)) << "its lock is held";
}

TEST(Runs, OnAFullDiskHaveWholeFramesOnly) {
  const TemporaryDirectory home = *TemporaryDirectory::make();
  const int code = on_a_small_disk(home.path().string(), 256, [&] {
    auto log = RunLog::begin(home.path() / "runs", {"fettle run a"}, Time{});
    const std::string filler = (home.path() / "filler").string();
    // Not as long as a page of the disk, so that the last one fits in part.
    const std::string piece(3'000, 'x');
    if (!log || !log->add(FrameType::output, piece) ||
        !write_file(filler, std::string(100'000, 'x')))
      return 1;
    size_t frames = 1;
    while (log->add(FrameType::output, piece))
      ++frames;
    if (!remove_tree(filler) || !log->add(FrameType::output, "after"))
      return 2;
    FrameReader reader;
    for (uint64_t at = 0; at < log->size();) {
      const auto bytes = log->read(at);
      if (!bytes)
        return 3;
      reader.add(*bytes);
      at += bytes->size();
    }
    for (size_t i = 0; i < frames; ++i)
      if (const auto frame = reader.next(); !frame || !*frame || (*frame)->payload != piece)
        return 4;
    const auto last = reader.next();
    return last && *last && (*last)->payload == "after" && !*reader.next() ? 0 : 5;
  });
  EXPECT_EQ(code, 0);
}

TEST(Contexts, ChooseAServer) {
  const TemporaryDirectory home = *TemporaryDirectory::make();
  const Path file = home.path() / "contexts.json";
  EXPECT_FALSE(*choose_server({}, file));
  const Contexts contexts{{{"team", "http://127.0.0.1:9790", "t1"}}, "team"};
  ASSERT_TRUE(write_contexts(file, contexts));
  struct stat about{};
  ASSERT_EQ(stat(file.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  EXPECT_EQ((*choose_server({}, file))->token, "t1");
  EXPECT_EQ((*choose_server({"", "http://127.0.0.1:9790", ""}, file))->token, "t1");
  EXPECT_EQ((*choose_server({"team", "", "t2"}, file))->token, "t2");
  EXPECT_EQ((*choose_server({"", "team", "t2"}, file))->token, "t2");
  EXPECT_EQ((*choose_server({"team", "http://127.0.0.1:1", "t2"}, file))->token, "t1");
  EXPECT_EQ((*choose_server({"http://127.0.0.1:2", "http://127.0.0.1:1", "t2"}, file))->token, "t2")
      << "no other is known";
  EXPECT_FALSE(*choose_server({"local", "team", ""}, file));
  EXPECT_FALSE(choose_server({"tean", "", ""}, file));
  EXPECT_FALSE(choose_server({"http://127.0.0.1:1", "", ""}, file)) << "no token";
  for (const char* const token : {"a b", "a\n", "\xC3\xA4"})
    EXPECT_FALSE(choose_server({"team", "", token}, file)) << token;
  for (const char* const url : {"http://example.org", "ftp://127.0.0.1:1", "http://127.0.0.1:x"})
    EXPECT_FALSE(choose_server({url, "", "t"}, file)) << url;
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  EXPECT_FALSE(read_contexts(file));
}

TEST(Contexts, ServersInClearTextAreOnThisMachine) {
  for (const char* const url :
       {"http://127.0.0.1:1", "http://localhost", "https://10.0.0.1:443", "https://fettle.example/",
        "https://[::1]:9790", "https://[fe80::1]"})
    EXPECT_TRUE(parse_server_url(url)) << url;
  EXPECT_EQ(parse_server_url("https://[::1]:1")->text(), "[::1]:1");
  EXPECT_EQ(parse_server_url("https://fettle.example")->text(), "fettle.example:9790");
  EXPECT_EQ(parse_server_url("https://fettle.example/")->path, "");
  EXPECT_EQ(parse_server_url("https://fettle.example:443/a/fettle/")->path, "/a/fettle");
  EXPECT_EQ(parse_server_url("https://fettle.example:443/a/fettle/")->text(), "fettle.example:443");
  for (const char* const url :
       {"http://10.0.0.1:1", "http://fettle.example", "http://[::1]:1", "http://0.0.0.0:1",
        "http://127.0.0.1.example:1", "http://127.0.0.1@example:1"}) {
    const auto refused = parse_server_url(url);
    ASSERT_FALSE(refused) << url;
    EXPECT_EQ(refused.error().blame, Blame::user);
  }
  EXPECT_NE(parse_server_url("http://10.0.0.1").error().message.find("in clear text"),
            std::string::npos);
  for (const char* const url :
       {"https://", "https://:1", "https://[]:1", "https://[::1", "https://::1:1", "https://a//b",
        "https://a/../b", "https://a/b c", "https://a/%2e", "https:///a", "https://a:0",
        "https://a:65536", "https://a:1:2", "https://user@a", "https://a?b", "https://a b",
        "fettle.example:9790", "HTTPS://a", "https://a\n"})
    EXPECT_FALSE(parse_server_url(url)) << url;
}

TEST(Contexts, KeepTheAuthoritiesOfTheirServer) {
  const TemporaryDirectory home = *TemporaryDirectory::make();
  const Path file = home.path() / "contexts.json", pem = home.path() / "ca.pem";
  const SelfSigned kept("kept"), named("named");
  ASSERT_TRUE(write_file(pem, named.key + named.certificate));
  const Contexts contexts{{{"plain", "http://127.0.0.1:1", "t"},
                           {"team", "https://team.example:1", "t", kept.certificate},
                           {"world", "https://world.example", "t"}},
                          "team"};
  ASSERT_TRUE(write_contexts(file, contexts));
  const auto authorities = [&](const ServerWords& words) {
    return (*choose_server(words, file))->authorities;
  };
  const std::string of_variable = pem.string();
  EXPECT_EQ(authorities({}), kept.certificate);
  EXPECT_EQ(authorities({"https://team.example:1", "", ""}), kept.certificate);
  EXPECT_EQ(authorities({"world", "", ""}), "");
  EXPECT_EQ(authorities({"", "https://one.example", "t", of_variable}), named.certificate)
      << "no key is kept";
  EXPECT_EQ(authorities({"https://one.example", "", "t", of_variable}), named.certificate);
  EXPECT_EQ(authorities({"", "team", "", of_variable}), named.certificate);
  EXPECT_EQ(authorities({"team", "https://one.example", "", of_variable}), kept.certificate);
  EXPECT_EQ(authorities({"world", "https://one.example", "", of_variable}), "");
  EXPECT_EQ(authorities({"plain", "", "", "/nowhere"}), "");
  EXPECT_EQ(choose_server({"world", "", "", "/nowhere"}, file).error().blame, Blame::user);
}

TEST(Contexts, AreChangedByOneAfterAnother) {
  const TemporaryDirectory home = *TemporaryDirectory::make();
  const Path file = home.path() / "contexts.json";
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        for (int j = 0; j < 5; ++j)
          EXPECT_TRUE(change_contexts(file, [&](Contexts& contexts) -> Status {
            contexts.all.push_back({cat(i, "-", j), "http://127.0.0.1:1", "t"});
            return {};
          }));
      });
  }
  EXPECT_EQ(read_contexts(file)->all.size(), 40U);
  EXPECT_FALSE(change_contexts(file, [](Contexts& contexts) -> Status {
    contexts.all.clear();
    return user_error("no");
  }));
  EXPECT_EQ(read_contexts(file)->all.size(), 40U);
}

/// `refusal_of` what these bytes ask for; 0: nothing is refused; -1: it is not whole.
int status_of_request(std::string_view bytes) {
  size_t used = 0;
  const auto request = read_upgrade(bytes, used);
  if (!request)
    return 400;
  if (!*request)
    return -1;
  const Result<Grant> known =
      TokenBook("/nowhere", "/nowhere")
          .grant_of((*request)->token, "token-of-the-server", now_from_clock());
  const auto refusal =
      refusal_of(**request, {9'790}, known ? Status() : Status(known.error()), "1.0");
  return refusal ? refusal->status : 0;
}

TEST(Upgrade, WithTlsAnyNameIsOursAndSomeIsSaid) {
  const auto refusal = [](std::string_view host) {
    size_t used = 0;
    const auto request = read_upgrade(upgrade_request(host, "t", "1.0"), used);
    return refusal_of(**request, {std::nullopt}, {}, "1.0");
  };
  EXPECT_FALSE(refusal("fettle.example"));
  EXPECT_FALSE(refusal("10.0.0.1:443"));
  EXPECT_EQ(refusal("")->status, 421);
}

TEST(Upgrade, IsForThoseWhoHaveTheToken) {
  const std::string good = upgrade_request("127.0.0.1:9790", "token-of-the-server", "1.0");
  EXPECT_EQ(status_of_request(good), 0);
  EXPECT_EQ(status_of_request(good.substr(0, good.size() - 1)), -1);
  EXPECT_EQ(status_of_request(upgrade_request("localhost:9790", "token-of-the-server", "1.0")), 0);
  EXPECT_EQ(status_of_request(upgrade_request("127.0.0.1:9790", "token-of-the-serves", "1.0")),
            401);
  EXPECT_EQ(status_of_request(upgrade_request("127.0.0.1:9790", "", "1.0")), 401);
  EXPECT_EQ(status_of_request(upgrade_request("127.0.0.1:9791", "token-of-the-server", "1.0")),
            421);
  EXPECT_EQ(status_of_request(upgrade_request("evil.example:9790", "token-of-the-server", "1.0")),
            421);
  EXPECT_EQ(status_of_request(upgrade_request("127.0.0.1:9790", "token-of-the-server", "2.0")),
            409);
}

TEST(Upgrade, WhatBrowsersSendAndWhatCanBeReadInTwoWaysIsRefused) {
  const std::string good = upgrade_request("127.0.0.1:9790", "token-of-the-server", "1.0");
  const auto with = [&](std::string_view fields) {
    return good.substr(0, good.size() - 2) + std::string(fields) + "\r\n";
  };
  EXPECT_EQ(status_of_request(with("Origin: http://127.0.0.1:9790\r\n")), 403);
  EXPECT_EQ(status_of_request(with("Sec-Fetch-Site: none\r\n")), 403);
  EXPECT_EQ(status_of_request(with("Host: evil.example\r\n")), 421);
  EXPECT_EQ(status_of_request(with("Authorization: Bearer x\r\n")), 401);
  EXPECT_EQ(status_of_request(with("Content-Length: 5\r\n")), 400);
  EXPECT_EQ(status_of_request(with("Content-Length: 5\r\nContent-Length: 6\r\n")), 400);
  EXPECT_EQ(status_of_request(with("Transfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(status_of_request(with("no field\r\n")), 400);
  EXPECT_EQ(status_of_request(std::string("\x16\x03\x01", 3) + std::string(200, '\0')), 400);
  size_t used = 0;
  const auto huge = read_upgrade("GET / HTTP/1.1\r\nA: " + std::string(20'000, 'x'), used);
  ASSERT_FALSE(huge);
  EXPECT_NE(huge.error().message.find("too large"), std::string::npos);
}

}  // namespace
}  // namespace fettle

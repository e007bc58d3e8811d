#include "packages/git_cache.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/lock_file.h"
#include "base/process.h"
#include "base/text.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

/// Repositories in a folder that the user's settings name instead of GitHub.
class GitCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    write("gitconfig",
          cat("[user]\n\tname = nobody\n\temail = nobody@example.com\n",
              "[init]\n\tdefaultBranch = main\n", "[protocol \"file\"]\n\tallow = always\n",
              "[url \"file://", at("work"), "/\"]\n\tinsteadOf = https://github.com/\n"));
    setenv("GIT_CONFIG_GLOBAL", at("gitconfig").c_str(), 1);
    cache_.folder = at("cache");
    cache_.limits.whole = 1min;
    sh("mkdir -p work/a/b.git && cd work/a/b.git && git init -q && git config "
       "uploadpack.allowAnySHA1InWant true && echo one > file && git add -A && git commit -qm one "
       "&& "
       "git tag v1");
  }
  void TearDown() override { unsetenv("GIT_CONFIG_GLOBAL"); }

  std::string at(const std::string& name) const { return (folder_->path() / name).string(); }
  void write(const std::string& name, const std::string& text, unsigned mode = 0644) {
    ASSERT_TRUE(make_directories(Path(at(name)).parent_path()));
    ASSERT_TRUE(write_file(at(name), text, mode));
  }
  std::string sh(const std::string& script) {
    Invocation call{.arguments = {"bash", "-ec", script}};
    call.directory = folder_->path();
    const auto done = run_process(call, {});
    EXPECT_TRUE(done && done->code == 0) << script << "\n" << (done ? done->errors : "");
    return done ? std::string(trim(done->output)) : "";
  }
  std::string in_repository(const std::string& script) { return sh("cd work/a/b.git; " + script); }
  std::string commit() { return in_repository("git rev-parse HEAD"); }
  Result<std::string> checkout(const std::string& ref = {}) {
    return cache_.checkout("github.com/a/b", ref);
  }
  /// A file of a checkout, or the error.
  std::string read(const std::string& ref = {}, const std::string& file = "file") {
    const auto place = checkout(ref);
    return place ? read_file(Path(*place) / file).value_or("-") : place.error().message;
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  GitCache cache_;
};

TEST_F(GitCacheTest, RefsAreTagsBranchesAndCommits) {
  const std::string first = commit();
  in_repository("echo two > file; git commit -qam two; git branch v2");
  EXPECT_EQ(read(), "two\n");
  EXPECT_EQ(read("v1"), "one\n");
  EXPECT_EQ(read("v2"), "two\n");
  EXPECT_EQ(read(first), "one\n");
  EXPECT_NE(read("nothing").find("couldn't find remote ref nothing"), std::string::npos);
  EXPECT_NE(cache_.checkout("github.com/a/missing", "")
                .error()
                .message.find("cannot fetch `github.com/a/missing`"),
            std::string::npos);
  EXPECT_EQ(sh("ls -d cache/github.com/a/b@* | wc -l"), "2") << "one folder a commit";
}

TEST_F(GitCacheTest, ACommitThatIsThereNeedsNoNetwork) {
  const std::string first = commit();
  EXPECT_EQ(read(first), "one\n");
  sh("mv work away");
  EXPECT_EQ(read(first), "one\n");
  EXPECT_NE(read("v1"), "one\n") << "nobody knows what a tag means now";
}

TEST_F(GitCacheTest, ACheckoutThatWasCutOffIsMadeAnew) {
  const std::string first = commit(), beside = cat("cache/github.com/a/b/", first, ".new");
  write(beside + "/git/HEAD", "broken");
  write(beside + "/files/file", "half");
  EXPECT_EQ(read(first), "one\n");
  EXPECT_FALSE(file_exists(at(beside)));
}

TEST_F(GitCacheTest, NothingOfARepositoryOrOfTheUsersSettingsIsRun) {
  write("templates/hooks/post-checkout", cat("#!/bin/sh\ntouch ", at("hooked"), "\n"), 0755);
  write("hooks/post-checkout", cat("#!/bin/sh\ntouch ", at("hooked"), "\n"), 0755);
  sh(cat("export GIT_CONFIG_GLOBAL=", at("gitconfig"),
         "; git config --global filter.evil.smudge 'touch ", at("filtered"), "; cat'",
         "; git config --global filter.evil.required true",
         "; git config --global core.fsmonitor '", "touch ", at("monitored"), "'",
         "; git config --global init.templateDir ", at("templates"),
         "; git config --global core.hooksPath ", at("hooks"),
         "; git config --global core.autocrlf true"));
  in_repository(
      "printf '* filter=evil ident\\n*.txt text eol=crlf\\n' > .gitattributes; echo '$Id$' > file; "
      "printf 'a\\n' > a.txt; git -c filter.evil.smudge= -c filter.evil.required=false -c "
      "core.fsmonitor=false -c core.hooksPath=/dev/null add -A; git -c filter.evil.smudge= -c "
      "filter.evil.required=false -c core.fsmonitor=false -c core.hooksPath=/dev/null commit -qm "
      "x");
  sh("rm -f hooked filtered monitored");
  EXPECT_EQ(read(), "$Id$\n");
  EXPECT_EQ(read({}, "a.txt"), "a\n");
  EXPECT_EQ(sh("ls hooked filtered monitored 2>/dev/null | wc -l"), "0");
}

TEST_F(GitCacheTest, SubmodulesAreNotFollowed) {
  sh("git init -q other && cd other && echo secret > secret && git add -A && git commit -qm x");
  in_repository(cat("git submodule -q add file://", at("other"), " sub; git commit -qm sub"));
  EXPECT_EQ(read(), "one\n");
  EXPECT_EQ(read({}, "sub/secret"), "-");
}

TEST_F(GitCacheTest, OnlyTheUsersOwnSettingsMakeAFileASource) {
  sh(cat("export GIT_CONFIG_GLOBAL=", at("gitconfig"),
         "; git config --global --unset protocol.file.allow"));
  EXPECT_NE(read().find("transport 'file' not allowed"), std::string::npos) << read();
}

TEST_F(GitCacheTest, AUrlThatItsUserNamesMayBeThatOfAFile) {
  write("gitconfig", "[user]\n\tname = nobody\n\temail = nobody@example.com\n");
  in_repository("git branch v1; echo two > file; git commit -qam two");
  cache_.url = cat("file://", at("work"), "/a/b.git");
  const auto file_of = [&](const std::string& ref) {
    const auto place = cache_.checkout("checkout", ref);
    return place ? read_file(Path(*place) / "file").value_or("-") : place.error().message;
  };
  EXPECT_EQ(file_of(""), "two\n");
  EXPECT_EQ(file_of("refs/heads/v1"), "one\n");
  EXPECT_EQ(Path(*cache_.checkout("checkout", "")).filename(), cat("checkout@", commit()));
  EXPECT_TRUE(file_of("refs/heads/v9").starts_with(cat("cannot fetch `", cache_.url, "`")))
      << file_of("refs/heads/v9");
  cache_.url = cat("ext::touch ", at("ran"));
  EXPECT_TRUE(file_of("").starts_with("cannot fetch"));
  EXPECT_FALSE(file_exists(at("ran")));
}

TEST_F(GitCacheTest, AnotherRepositoryOfOursIsLeftAlone) {
  sh("git init -q mine && cd mine && echo x > x && git add -A && git commit -qm mine");
  const std::string before = sh("cd mine && git rev-parse HEAD && git status --porcelain");
  setenv("GIT_DIR", at("mine/.git").c_str(), 1);
  setenv("GIT_INDEX_FILE", at("mine/.git/index").c_str(), 1);
  const std::string text = read();
  unsetenv("GIT_DIR");
  unsetenv("GIT_INDEX_FILE");
  EXPECT_EQ(text, "one\n");
  EXPECT_EQ(sh("cd mine && git rev-parse HEAD && git status --porcelain"), before);
}

TEST_F(GitCacheTest, ManyAtOnceGetTheSame) {
  std::vector<std::string> texts(6);
  {
    std::vector<std::jthread> threads;
    for (std::string& text : texts)
      threads.emplace_back([&] { text = read("v1"); });
  }
  EXPECT_EQ(texts, std::vector<std::string>(6, "one\n"));
  EXPECT_EQ(sh("ls -d cache/github.com/a/b@* | wc -l"), "1");
}

TEST_F(GitCacheTest, WaitingForAnotherOneEndsWithAStopAndHasALimit) {
  const std::string first = commit();
  ASSERT_TRUE(make_directories(at("cache/github.com/a/b")));
  const auto held = LockFile::await(at(cat("cache/github.com/a/b/", first, ".lock")), 0s, {});
  ASSERT_TRUE(held);
  std::stop_source stop;
  cache_.stop = stop.get_token();
  cache_.notice = [&](const std::string& text) {
    EXPECT_EQ(text, "waiting for another process that fetches `github.com/a/b`");
    stop.request_stop();
  };
  EXPECT_TRUE(is_cancelled(checkout(first).error()));
  cache_.stop = {};
  cache_.notice = {};
  cache_.limits.whole = 1ms;
  EXPECT_FALSE(checkout(first));
}

}  // namespace
}  // namespace fettle

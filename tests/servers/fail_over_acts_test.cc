/// The program itself on a real engine, while the store of the team is failed over to a standby that
/// lacks the last commits: nothing is lost, made twice or left behind.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <thread>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "tests/engine/test_engines.h"
#include "tests/fixtures/postgres_server.h"
#include "value/json.h"

namespace fettle {
namespace {

class FailOverActsTest : public testing::Test {
 protected:
  void SetUp() override {
    const Path images = Path(FETTLE_SOURCE_DIR) / "build/images";
    const auto made = run_process(
        {.arguments = {FETTLE_SOURCE_DIR "/tests/engine/make_images.sh", images.string()}}, {});
    ASSERT_TRUE(made && made->code == 0) << (made ? made->errors : to_string(made.error()));
    const Result<EngineAddress> started = engine_.start();
    ASSERT_TRUE(started) << to_string(started.error());
    engine_at_ = *started;
    ASSERT_TRUE(engine_.import(images, {"busybox"}));
    write_package("one.star", {{"web", "one"}, {"gone", "one"}});
    write_package("two.star", {{"web", "two"}, {"api", "two"}});
    write_package("other.star", {{"web", "other"}});
  }
  void TearDown() override { EXPECT_TRUE(engine_.stop(true)); }

  /// A package of services that say what they are told.
  void write_package(const std::string& name,
                     const std::vector<std::pair<std::string, std::string>>& services) const {
    std::string text = "def run(plan):\n";
    for (const auto& [service, says] : services)
      text +=
          cat("    plan.add_service(\"", service,
              "\", ServiceConfig(image = \"localhost/fettle/busybox:1\", cmd = [\"sh\", \"-c\", "
              "\"echo ",
              says, "; exec sleep 1000\"]))\n");
    ASSERT_TRUE(write_file(folder_->path() / name, text));
  }

  Invocation call(std::vector<std::string> words, const std::string& store = {}) const {
    words.insert(words.begin(), FETTLE_BINARY_DIR "/fettle");
    Invocation invocation;
    invocation.arguments = std::move(words);
    invocation.directory = folder_->path();
    invocation.environment = {{"FETTLE_HOME", (folder_->path() / "home").string()},
                              {"FETTLE_STORE", store.empty() ? address_ : store},
                              {"DOCKER_HOST", engine_at_.text}};
    invocation.time_limit = 100s;
    return invocation;
  }
  ProcessResult fettle(std::vector<std::string> words, const std::string& store = {}) const {
    const auto done = run_process(call(std::move(words), store), {});
    return done ? *done
                : ProcessResult{.code = -1, .output = {}, .errors = to_string(done.error())};
  }
  ProcessResult succeeds(std::vector<std::string> words, const std::string& store = {}) const {
    const std::string shown = join(words, " ");
    ProcessResult done = fettle(std::move(words), store);
    EXPECT_EQ(done.code, 0) << shown << ": " << done.output << done.errors;
    return done;
  }

  /// What the engine has of us: `ENVIRONMENT/SERVICE` and the ids of its containers.
  std::multimap<std::string, std::string> containers() const {
    const auto told =
        run_process({.arguments = {"curl", "-s", "--unix-socket", engine_at_.unix_socket,
                                   "http://engine/containers/json?all=true"}},
                    {});
    EXPECT_TRUE(told);
    std::multimap<std::string, std::string> found;
    const Result<Value> list = read_json(told ? told->output : "");
    EXPECT_TRUE(list) << (told ? told->output : "");
    const Value all = list ? *list : Value();
    for (const Value& container : items_of(all)) {
      const Value labels = container.at("Labels");
      found.emplace(cat(labels.text_at("fettle.environment"), "/", labels.text_at("fettle.key")),
                    container.text_at("Id"));
    }
    return found;
  }
  static std::string names_of(const std::multimap<std::string, std::string>& all) {
    std::string names;
    for (const auto& [name, id] : all)
      names += cat(names.empty() ? "" : " ", name);
    return names;
  }
  static std::string id_of(const std::multimap<std::string, std::string>& all,
                           const std::string& name) {
    const auto found = all.find(name);
    return found == all.end() ? "none" : found->second;
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make("fettle-fail-over-");
  TestEngine engine_{TestEngine::Sort::podman,
                     Path(FETTLE_BINARY_DIR) / "engines" / cat("fail-over-", getpid())};
  EngineAddress engine_at_;
  PostgresServer primary_;
  std::unique_ptr<PostgresServer> standby_ = PostgresServer::standby_of(primary_);
  std::string address_ = cat("postgres://fettle@/postgres?host=", primary_.folder(), ",",
                             standby_->folder(), "&target_session_attrs=read-write&schema=team");
};

TEST_F(FailOverActsTest, NothingIsLostMadeTwiceOrLeft) {
  constexpr const char* made = "made a new store in the schema `team` of `postgres://fettle@";
  EXPECT_NE(succeeds({"run", "one.star", "-e", "shop"}).errors.find(made), std::string::npos);
  EXPECT_EQ(succeeds({"run", "one.star", "-e", "shop"}).errors.find(made), std::string::npos);
  ASSERT_TRUE(standby_->has_all_of(primary_));
  standby_->cut_off();
  // None of this is known after the fail-over: one is changed, one made, one made by hand, one
  // removed, and a whole environment made.
  succeeds({"run", "two.star", "-e", "shop"});
  succeeds(
      {"service", "add", "shop", "extra", "localhost/fettle/busybox:1", "--cmd", "sleep 1000"});
  succeeds({"service", "rm", "shop", "gone"});
  succeeds({"run", "other.star", "-e", "lost"});
  const auto before = containers();
  ASSERT_EQ(names_of(before), "lost/web shop/api shop/extra shop/web");
  primary_.stop(SIGQUIT);
  standby_->promote();

  const ProcessResult run = succeeds({"run", "two.star", "-e", "shop"});
  EXPECT_NE(run.errors.find("warning: the store may lack its last records: its server was failed "
                            "over, or put back (timeline 2 after 1); looking at what `shop` has"),
            std::string::npos)
      << run.errors;
  for (const char* const name : {"api", "extra"})
    EXPECT_NE(run.errors.find(cat("found `service/", name, "`, of which the store has no record")),
              std::string::npos)
        << run.errors;
  const auto after = containers();
  EXPECT_EQ(names_of(after), names_of(before));
  for (const char* const name : {"lost/web", "shop/api", "shop/extra"})
    EXPECT_EQ(id_of(after, name), id_of(before, name)) << name << " was made anew";
  // What is at hand now stays so, and the warning is not repeated.
  const ProcessResult again = succeeds({"run", "two.star", "-e", "shop"});
  EXPECT_EQ(again.errors.find("last records"), std::string::npos) << again.errors;
  EXPECT_EQ(containers(), after);
  const ProcessResult logs = succeeds({"service", "logs", "shop", "web"});
  EXPECT_NE(logs.output.find("two"), std::string::npos) << logs.output;
  const ProcessResult events = succeeds({"events", "shop", "-n", "0"});
  EXPECT_NE(events.output.find("failed_over"), std::string::npos) << events.output;

  // What nobody wants is an orphan, and goes when somebody says so.
  EXPECT_NE(succeeds({"orphans", "ls", "shop"}).output.find("service/extra"), std::string::npos);
  succeeds({"orphans", "rm", "shop", "service/extra"});
  const ProcessResult whole = succeeds({"run", "other.star", "-e", "lost"});
  EXPECT_NE(whole.errors.find("adopted `lost`"), std::string::npos) << whole.errors;
  const auto kept = containers();
  EXPECT_EQ(names_of(kept), "lost/web shop/api shop/web");
  EXPECT_EQ(id_of(kept, "lost/web"), id_of(before, "lost/web"));
  for (const char* const environment : {"shop", "lost"})
    succeeds({"enclave", "rm", "-f", environment});
  EXPECT_EQ(names_of(containers()), "");
}

TEST_F(FailOverActsTest, ARunThatIsUnderWayEndsAndTheNextOneFinishesIt) {
  std::vector<std::pair<std::string, std::string>> services;
  std::string all;
  for (int i = 0; i < 8; ++i) {
    services.emplace_back(cat("s", i), "many");
    all += cat(i == 0 ? "" : " ", "shop/s", i);
  }
  write_package("many.star", services);
  succeeds({"store", "copy", "file", address_});
  ASSERT_TRUE(standby_->has_all_of(primary_));
  standby_->cut_off();
  const std::string said = (folder_->path() / "said").string();
  const auto begun = start_detached(call({"run", "many.star", "-e", "shop"}), said);
  ASSERT_TRUE(begun) << to_string(begun.error());
  for (int i = 0; i < 2'000 && containers().size() < 3; ++i)
    std::this_thread::sleep_for(10ms);
  primary_.stop(SIGQUIT);
  standby_->promote();
  int status = 0;
  ASSERT_EQ(waitpid(*begun, &status, 0), *begun);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 1) << read_file(said).value_or("");
  EXPECT_NE(read_file(said).value_or("").find("error: "), std::string::npos);
  EXPECT_LT(containers().size(), services.size()) << "it should have been under way";
  succeeds({"run", "many.star", "-e", "shop"});
  EXPECT_EQ(names_of(containers()), all);
  succeeds({"enclave", "rm", "-f", "shop"});
  EXPECT_EQ(names_of(containers()), "");
}

TEST_F(FailOverActsTest, WhatACopiedStoreHasMadeIsItsOwn) {
  succeeds({"run", "one.star", "-e", "shop"}, "file");
  const auto before = containers();
  ASSERT_EQ(names_of(before), "shop/gone shop/web");
  succeeds({"store", "copy", "file", address_});
  succeeds({"run", "one.star", "-e", "shop"});
  EXPECT_EQ(containers(), before) << "what a file has made was made anew in PostgreSQL";
  const Path home = folder_->path() / "home";
  for (const char* const name : {"fettle.db", "fettle.db-wal", "fettle.db-shm", "id"})
    std::filesystem::remove(home / name);
  succeeds({"store", "copy", address_, "file"});
  succeeds({"run", "one.star", "-e", "shop"}, "file");
  EXPECT_EQ(containers(), before) << "and the other way round";
  succeeds({"enclave", "rm", "-f", "shop"}, "file");
  EXPECT_EQ(names_of(containers()), "");
}

}  // namespace
}  // namespace fettle

/// Two servers of commands, each with a home of its own, on one store in PostgreSQL: the program
/// itself, its clients, and kills. Nothing here needs an engine.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "tests/fixtures/postgres_server.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr int artifacts = 1'200;

/// What becomes true in a while; the machine may have much to do.
bool comes(const std::function<bool()>& is_so) {
  for (int i = 0; i < 6'000 && !is_so(); ++i)
    std::this_thread::sleep_for(10ms);
  return is_so();
}

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> all;
  std::ifstream listed(cat("/proc/", process, "/task/", process, "/children"));
  for (pid_t child = 0; listed >> child;)
    all.push_back(child);
  return all;
}

/// Sends a signal to a process and all below it, the upper ones first.
void signal_all(pid_t process, int number) {
  const std::vector<pid_t> children = children_of(process);
  kill(process, number);
  for (const pid_t child : children)
    signal_all(child, number);
}

class SharedServersTest : public testing::Test {
 protected:
  struct Server {
    std::string home;
    pid_t process = 0;
    std::string url{};
  };

  void SetUp() override {
    write_script("many.star", artifacts);
    // The first home that uses the store makes its key, which the other one needs.
    const auto none =
        run_process(call({"enclave", "ls", "--store", store_.address("team")}, first_.home), {});
    ASSERT_TRUE(none);
    EXPECT_EQ(none->code, 2);
    EXPECT_NE(none->errors.find("there is no store in the schema `team` of `"), std::string::npos)
        << none->errors;
    const auto made =
        run_process(call({"store", "copy", "file", store_.address("team")}, first_.home), {});
    ASSERT_TRUE(made && made->code == 0) << (made ? made->errors : to_string(made.error()));
    std::filesystem::create_directories(second_.home);
    ASSERT_EQ(chmod(second_.home.c_str(), 0700), 0);
    std::filesystem::copy_file(first_.home + "/key", second_.home + "/key");
    start(first_);
    start(second_);
  }
  void TearDown() override {
    for (Server* const server : {&first_, &second_})
      stop(*server);
    for (const pid_t client : clients_)
      waitpid(client, nullptr, 0);
  }

  std::string at(const std::string& name) const { return (folder_->path() / name).string(); }
  void write_script(const std::string& name, int count) const {
    ASSERT_TRUE(write_file(
        at(name), cat("def run(plan):\n    for i in range(", count,
                      "):\n        plan.render_templates(config = {\"f\": struct(template = \"n "
                      "{{.n}}\", data = {\"n\": i})}, name = \"a\" + str(i))\n")));
  }

  Invocation call(std::vector<std::string> words, const std::string& home) const {
    words.insert(words.begin(), FETTLE_BINARY_DIR "/fettle");
    Invocation invocation;
    invocation.arguments = std::move(words);
    invocation.directory = folder_->path();
    invocation.environment = {{"FETTLE_HOME", home}, {"DOCKER_HOST", "unix:///nowhere"}};
    return invocation;
  }

  void start(Server& server) {
    const std::string said = server.home + ".said";
    std::filesystem::remove(said);
    const auto process =
        start_detached(call({"serve", "--store", store_.address("team"), "--listen", "127.0.0.1:0",
                             "--token-file", server.home + ".token"},
                            server.home),
                       said);
    ASSERT_TRUE(process) << to_string(process.error());
    server.process = *process;
    ASSERT_TRUE(comes([&] { return !url_in(read_file(said).value_or("")).empty(); }))
        << read_file(said).value_or("");
    server.url = url_in(*read_file(said));
  }
  static std::string url_in(const std::string& text) {
    const size_t begin = text.find("http://127.0.0.1:");
    if (begin == text.npos)
      return "";
    const size_t end = text.find_first_of("\n `", begin);
    return end == text.npos ? "" : text.substr(begin, end - begin);
  }
  static void stop(Server& server, int number = SIGTERM) {
    if (server.process <= 0)
      return;
    number == SIGTERM ? static_cast<void>(kill(server.process, number))
                      : signal_all(server.process, number);
    waitpid(std::exchange(server.process, 0), nullptr, 0);
  }

  /// A command of a client without a home of its own.
  Invocation client(const Server& server, std::vector<std::string> words) const {
    Invocation invocation = call(std::move(words), at("client"));
    invocation.environment.emplace_back("FETTLE_SERVER", server.url);
    invocation.environment.emplace_back("FETTLE_TOKEN",
                                        trim(read_file(server.home + ".token").value_or("")));
    return invocation;
  }
  ProcessResult told(const Server& server, std::vector<std::string> words) const {
    Invocation invocation = client(server, std::move(words));
    invocation.time_limit = 100s;
    const auto done = run_process(invocation, {});
    return done ? *done
                : ProcessResult{.code = -1, .output = {}, .errors = to_string(done.error())};
  }
  /// The same without waiting for its end; what it says is in a file.
  pid_t begin(const Server& server, std::vector<std::string> words, const std::string& said) {
    const auto process = start_detached(client(server, std::move(words)), at(said));
    EXPECT_TRUE(process) << to_string(process.error());
    clients_.push_back(process.value_or(-1));
    return clients_.back();
  }
  int end_of(pid_t process) {
    std::erase(clients_, process);
    int status = 0;
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string said(const std::string& name) const { return read_file(at(name)).value_or(""); }

  int count(const std::string& what) const {
    return std::atoi(
        store_.sql(cat("SET search_path TO team; SELECT count(*) FROM ", what)).c_str());
  }
  /// Runs at a server until some of what it makes is recorded.
  pid_t run_halfway(const Server& server) {
    const pid_t process = begin(server, {"run", "many.star", "-e", "shop"}, "first.said");
    EXPECT_TRUE(comes([&] { return count("records") >= 20; })) << said("first.said");
    return process;
  }
  /// All is there, and each act was recorded as done once.
  void expect_whole() const {
    EXPECT_EQ(count("records WHERE kind='artifact'"), artifacts);
    EXPECT_EQ(
        count("(SELECT 1 FROM events WHERE type=4 AND kind='artifact' GROUP BY name) AS done"),
        artifacts);
    EXPECT_EQ(count("(SELECT 1 FROM events WHERE type=4 AND kind='artifact' GROUP BY name HAVING "
                    "count(*)>1) AS twice"),
              0);
  }
  std::string commands_of(const Server& server) const {
    const ProcessResult listed = told(server, {"runs", "-o", "json"});
    const Result<Value> runs = read_json(listed.output);
    EXPECT_TRUE(runs) << listed.output << listed.errors;
    const Value list = runs ? *runs : Value();
    std::string all;
    for (const Value& run : items_of(list))
      all += cat(run.text_at("command"), " ", run.text_at("status"), "\n");
    return all;
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make("fettle-servers-");
  PostgresServer store_;
  Server first_{at("first")}, second_{at("second")};
  std::vector<pid_t> clients_;
};

TEST_F(SharedServersTest, OneGoesOnWithWhatTheOtherBeganWhenItIsKilled) {
  const pid_t begun = run_halfway(first_);
  // As two processes of one machine: the one is told, the other waits.
  const ProcessResult refused =
      told(second_, {"run", "many.star", "-e", "shop", "--no-lease-wait"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(
      refused.errors.find("the environment `shop` is in use by `fettle run many.star -e shop`"),
      std::string::npos)
      << refused.errors;
  const pid_t waiting = begin(second_, {"run", "many.star", "-e", "shop"}, "second.said");
  ASSERT_TRUE(comes([&] {
    return said("second.said").find("waiting for `fettle run") != std::string::npos;
  })) << said("second.said");
  ASSERT_LT(count("records"), artifacts) << "it should be under way";
  stop(first_, SIGKILL);
  EXPECT_EQ(end_of(waiting), 0) << said("second.said");
  EXPECT_EQ(end_of(begun), 1) << said("first.said");
  expect_whole();
  // Runs are those of a server, what was made is everybody's.
  start(first_);
  EXPECT_EQ(commands_of(first_), "fettle run many.star -e shop killed\n");
  EXPECT_EQ(
      commands_of(second_),
      "fettle run many.star -e shop --no-lease-wait ended\nfettle run many.star -e shop ended\n");
  const ProcessResult again = told(first_, {"run", "many.star", "-e", "shop"});
  EXPECT_EQ(again.code, 0) << again.errors;
  expect_whole();
}

TEST_F(SharedServersTest, TheRightOfARunThatStandsStillIsTakenAwayAtTheOther) {
  const pid_t begun = run_halfway(first_);
  const std::vector<pid_t> commands = children_of(first_.process);
  ASSERT_FALSE(commands.empty());
  for (const pid_t command : commands)
    signal_all(command, SIGSTOP);
  ASSERT_LT(count("records"), artifacts) << "it should be under way";
  const ProcessResult unsure = told(second_, {"force-unlock", "shop"});
  EXPECT_EQ(unsure.code, 2);
  EXPECT_NE(unsure.errors.find("`shop` is in use by `fettle run many.star -e shop` (process "),
            std::string::npos)
      << unsure.errors;
  EXPECT_NE(unsure.errors.find("`--yes` takes the right to act from it"), std::string::npos)
      << unsure.errors;
  const ProcessResult taken = told(second_, {"force-unlock", "shop", "--yes", "-o", "json"});
  EXPECT_EQ(taken.code, 0) << taken.errors;
  EXPECT_NE(taken.output.find("\"taken_from\": \"`fettle run many.star -e shop` (process "),
            std::string::npos)
      << taken.output;
  const ProcessResult nobody = told(second_, {"force-unlock", "shop"});
  EXPECT_EQ(nobody.code, 0);
  EXPECT_EQ(nobody.errors, "nobody acts on `shop`: there is nothing to unlock\n");
  const ProcessResult run = told(second_, {"run", "many.star", "-e", "shop"});
  EXPECT_EQ(run.code, 0) << run.errors;
  for (const pid_t command : commands)
    signal_all(command, SIGCONT);
  EXPECT_EQ(end_of(begun), 1);
  EXPECT_NE(said("first.said").find("the lock on `shop` was lost"), std::string::npos)
      << said("first.said");
  expect_whole();
  const ProcessResult events = told(second_, {"events", "shop", "-n", "0"});
  EXPECT_NE(
      events.output.find(
          "unlocked: the right to act was taken from `fettle run many.star -e shop` (process "),
      std::string::npos);
  EXPECT_NE(told(second_, {"audit"}).output.find("fettle force-unlock shop --yes"),
            std::string::npos);
}

TEST_F(SharedServersTest, UnlockingIsForThoseWhoKeepTheServer) {
  const ProcessResult made = told(first_, {"token", "create", "team", "--right", "act", "-q"});
  ASSERT_EQ(made.code, 0) << made.errors;
  Invocation invocation = client(first_, {"force-unlock", "shop", "--yes"});
  invocation.environment.emplace_back("FETTLE_TOKEN", trim(made.output));
  const auto refused = run_process(invocation, {});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, 2);
  EXPECT_NE(refused->errors.find("needs the right `admin`"), std::string::npos) << refused->errors;
  const ProcessResult unknown = told(first_, {"force-unlock", "shpo", "--yes"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.errors.find("there is no environment `shpo`"), std::string::npos)
      << unknown.errors;
}

}  // namespace
}  // namespace fettle

// Engines that stop answering in the middle.

#include <gtest/gtest.h>

#include "base/shutdown_hold.h"
#include "base/wait.h"
#include "drivers/engine/archives.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/driver.h"
#include "drivers/engine/exec.h"
#include "drivers/engine/images.h"
#include "kinds/kinds.h"
#include "tests/fixtures/memory_blobs.h"
#include "tests/fixtures/test_server.h"

namespace fettle {
namespace {

/// An engine of which a test says what is answered to a request by its first line; an empty text
/// is no answer.
class StalledEngine : public testing::Test {
 protected:
  using Says = std::function<std::string(const std::string& line)>;

  void serve(Says says) {
    says_ = std::move(says);
    server_.emplace([this](int socket, const std::string& head) {
      const std::string line = head.substr(0, head.find(" HTTP/"));
      if (line.find("/_ping") != line.npos && pings_ < 0)
        return;
      if (line.find("/_ping") != line.npos) {
        ++pings_;
        return say(socket, answer(200, "OK"));
      }
      if (const std::string said = says_(line); !said.empty())
        say(socket, said);
    });
    EngineAddress address;
    address.text = address.unix_socket = server_->path().string();
    address.base = "http://engine";
    engine_ = std::make_unique<Engine>(http_, address, CallObserver(), limits_);
  }
  static std::string json(const std::string& text) { return answer(200, text); }
  static bool has(const std::string& line, std::string_view part) {
    return line.find(part) != line.npos;
  }

  WaitLimits limits_{.connect = 1s, .silence = 500ms, .whole = 10s};
  HttpClient http_;
  Says says_;
  std::optional<TestServer> server_;
  std::unique_ptr<Engine> engine_;
  std::atomic<int> pings_ = 0;  ///< negative: not answered
};

constexpr std::string_view begun = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST_F(StalledEngine, AnInspectionThatFailsIsAskedAgain) {
  limits_.silence = 10s;
  std::atomic<int> asked = 0, failing = 2;
  serve([&](const std::string&) {
    return ++asked <= failing ? answer(500, R"({"message":"read /proc/7/cgroup: no such process"})")
                              : json(R"({"Id":"c","State":{"Status":"exited","ExitCode":3}})");
  });
  const auto state = inspect_container(*engine_, "c", {});
  ASSERT_TRUE(state && *state);
  EXPECT_EQ((*state)->exit_code, 3);
  failing = 1'000;
  const auto refused = inspect_container(*engine_, "c", {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("no such process"), std::string::npos);
}

TEST_F(StalledEngine, ACommandIsLookedForIfNobodyHasHeardThatItBegan) {
  limits_.silence = 10s;
  std::stop_source stop;
  std::atomic<int> looks = 0;
  serve([&](const std::string& line) -> std::string {
    if (has(line, "/containers/"))
      return answer(201, R"({"Id":"e"})");
    if (has(line, "/start")) {
      stop.request_stop();
      return "";
    }
    return json(++looks < 3 ? R"({"Running":false,"ExitCode":0,"CanRemove":false})"
                            : R"({"Running":false,"ExitCode":125,"CanRemove":true})");
  });
  ExecOptions options;
  options.command = {"sh"};
  options.input = true;
  EXPECT_FALSE(open_exec(*engine_, std::string(64, 'c'), options, stop.get_token()));
  EXPECT_GE(looks, 3);
}

TEST_F(StalledEngine, ACommandIsLookedForAgainIfALookFails) {
  limits_.silence = 10s;
  std::stop_source stop;
  std::atomic<int> looks = 0;
  serve([&](const std::string& line) -> std::string {
    if (has(line, "/containers/"))
      return answer(201, R"({"Id":"e"})");
    if (has(line, "/start"))
      stop.request_stop();
    if (has(line, "/start"))
      return "";
    return ++looks < 3 ? answer(500, R"({"message":"no such process"})")
                       : json(R"({"Running":false,"ExitCode":0,"CanRemove":true})");
  });
  ExecOptions options;
  options.command = {"sh"};
  options.input = true;
  EXPECT_FALSE(open_exec(*engine_, std::string(64, 'c'), options, stop.get_token()));
  EXPECT_GE(looks, 3);
}

// Output arrives before Podman has noted the process that writes it.
TEST_F(StalledEngine, ACommandIsLookedForUntilItsEndIsNoted) {
  const std::string not_noted = R"({"Running":false,"ExitCode":0,"CanRemove":false,"Pid":0})";
  const std::string podman_says = R"({"Running":false,"ExitCode":0,"CanRemove":true,"Pid":0})";
  const std::string docker_says = R"({"Running":false,"ExitCode":0,"CanRemove":false,"Pid":7})";
  std::atomic<int> looks = 0;
  std::string ended;
  serve([&](const std::string&) { return json(++looks < 3 ? not_noted : ended); });
  for (const std::string& end : {podman_says, docker_says}) {
    looks = 0;
    ended = end;
    end_exec(*engine_, std::string(64, 'c'), "e");
    EXPECT_EQ(looks, 3);
  }
}

// An interface of somebody else's goes while Podman lists them.
TEST_F(StalledEngine, AStartThatFailsForWhatPassesIsTriedAFewTimes) {
  limits_.silence = 10s;
  std::atomic<int> asked = 0, failing = 2;
  serve([&](const std::string& line) {
    if (!has(line, "/start"))
      return json(R"({"Id":"c","State":{"Status":"created"}})");
    return ++asked <= failing
               ? answer(500, R"({"message":"route ip+net: no such network interface"})")
               : answer(204, "");
  });
  EXPECT_TRUE(start_container(*engine_, "c", {}));
  EXPECT_EQ(asked, 3);
  asked = 0;
  failing = 1'000;
  const auto refused = start_container(*engine_, "c", {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("no such network interface"), std::string::npos);
  EXPECT_EQ(asked, 5);
}

TEST_F(StalledEngine, ABuildWhoseStepPodmanKillsIsTriedAFewTimes) {
  limits_.silence = 10s;
  std::atomic<int> asked = 0, failing = 2;
  serve([&](const std::string& line) -> std::string {
    if (has(line, "/tag?"))
      return answer(201, "");
    if (has(line, "/build?"))
      return ++asked <= failing
                 ? json("{\"error\":\"at STEP: while running runtime: signal: killed\"}\n")
                 : json("{\"stream\":\"Successfully built\"}\n");
    return has(line, "GET ") ? json(R"({"Id":"sha256:0123456789abcdef0123456789"})") : "";
  });
  MemoryBlobs blobs;
  EngineAddress address;
  address.text = address.unix_socket = server_->path().string();
  address.base = "http://engine";
  EngineDriver driver(
      http_, blobs,
      [&](bool, std::stop_token) -> Result<EngineLink> { return EngineLink{.address = address}; },
      {.limits = limits_});
  Act act;
  act.key = {Name("e"), "build", "mine"};
  act.attributes = *build_kind().normalise(
      Value::dict({{"image", "mine"}, {"context", *blobs.put("a context")}}));
  const auto made = driver.apply(act, {}, {});
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(asked, 3);
  asked = 0;
  failing = 1'000;
  const auto killed = driver.apply(act, {}, {});
  ASSERT_FALSE(killed);
  EXPECT_NE(killed.error().message.find("signal: killed"), std::string::npos);
  EXPECT_EQ(asked, 3);
}

TEST_F(StalledEngine, ACallIsGivenUp) {
  serve([](const std::string&) { return ""; });
  const auto listed = list_containers(*engine_, {}, {});
  ASSERT_FALSE(listed);
  EXPECT_NE(listed.error().message.find("nothing was received for 500ms"), std::string::npos)
      << listed.error().message;
}

TEST_F(StalledEngine, ACommandMayBeSilentWhileItRuns) {
  std::atomic<int> asked = 0;
  std::atomic<bool> runs = true;
  serve([&](const std::string& line) -> std::string {
    if (has(line, "/start"))
      return std::string(begun);
    if (has(line, "/json"))
      return ++asked < 4 && runs ? json(R"({"Running":true})")
                                 : json(R"({"Running":false,"ExitCode":0})");
    return json(R"({"Id":"x"})");
  });
  const auto code = run_exec(*engine_, "c", {.command = {"sleep"}},
                             [](OutputStream, std::string_view) { return Status(); }, {});
  ASSERT_FALSE(code);
  EXPECT_GE(asked, 4) << "it was asked again and again";
  EXPECT_EQ(code.error().message, "the engine does not end the output of the command");
  EXPECT_TRUE(code.error().unknown_outcome);
}

/// Whoever leaves waits for the thread that must end the command, also before it has begun to.
TEST_F(StalledEngine, ACommandThatRunsIsNotLeftAlone) {
  std::atomic<bool> was_held = false;
  serve([&](const std::string& line) -> std::string {
    if (has(line, "/start"))
      was_held = ShutdownHold::is_under_way();
    return has(line, "/start")  ? std::string(begun)
           : has(line, "/json") ? json(R"({"Running":false,"ExitCode":0})")
                                : json(R"({"Id":"x"})");
  });
  EXPECT_FALSE(run_exec(*engine_, "c", {.command = {"yes"}},
                        [](OutputStream, std::string_view) { return Status(); }, {}));
  EXPECT_TRUE(was_held);
  EXPECT_FALSE(ShutdownHold::is_under_way());
}

TEST_F(StalledEngine, ACommandHasALimitWhenItIsGivenOne) {
  limits_.command = 50ms;
  serve([](const std::string& line) {
    return has(line, "/start")  ? std::string(begun)
           : has(line, "/json") ? json(R"({"Running":true})")
                                : json(R"({"Id":"x"})");
  });
  const auto code = run_exec(*engine_, "c", {.command = {"sleep"}},
                             [](OutputStream, std::string_view) { return Status(); }, {});
  ASSERT_FALSE(code);
  EXPECT_NE(code.error().message.find("took longer than"), std::string::npos)
      << code.error().message;
}

TEST_F(StalledEngine, AnArchiveIsGivenUpBothWays) {
  serve([](const std::string& line) { return has(line, "GET") ? std::string(begun) : ""; });
  std::string bytes;
  EXPECT_FALSE(get_archive(*engine_, "c", "/x", sink_to(bytes, 100), {}));
  EXPECT_FALSE(put_archive(*engine_, "c", "/x", source_of(std::string(100'000, 'x')), {}));
}

TEST_F(StalledEngine, APullThatSaysNothingGoesOnUntilItsLimit) {
  limits_.whole = 3s;
  serve([](const std::string&) { return std::string(begun); });
  const Status pulled = pull_image(*engine_, "localhost/a:1", {}, {}, {});
  ASSERT_FALSE(pulled);
  EXPECT_NE(to_string(pulled.error()).find("pulling `"), std::string::npos)
      << to_string(pulled.error());
  EXPECT_NE(pulled.error().message.find("it took longer than `--transfer-timeout` ("),
            std::string::npos)
      << pulled.error().message;
  EXPECT_GE(pings_, 1);
}

TEST_F(StalledEngine, APullOfAnEngineThatIsGoneIsGivenUp) {
  limits_.connect = 50ms;
  pings_ = -1;
  serve([](const std::string&) { return std::string(begun); });
  const Status pulled = pull_image(*engine_, "localhost/a:1", {}, {}, {});
  ASSERT_FALSE(pulled);
  EXPECT_NE(to_string(pulled.error()).find("nothing was received for 500ms"), std::string::npos)
      << to_string(pulled.error());
}

TEST_F(StalledEngine, ADeniedPullMayBeOfANameThatDoesNotExist) {
  limits_.silence = 10s;
  serve([](const std::string&) {
    return answer(404, R"({"message":"pull access denied for x, repository does not exist"})");
  });
  const Status pulled = pull_image(*engine_, "x", {}, {}, {});
  ASSERT_FALSE(pulled);
  EXPECT_NE(pulled.error().message.find("; `docker.io` has no such image, or wants a login: "),
            std::string::npos)
      << pulled.error().message;
}

TEST_F(StalledEngine, OurLoginIsAskedForWhenThoseGivenAreRefused) {
  limits_.silence = 10s;
  std::atomic<bool> refuses = false;
  serve([&](const std::string&) {
    return refuses ? answer(500, R"({"message":"unauthorized"})") : json("{}");
  });
  int asked = 0;
  std::string failure;
  const auto pull = [&] {
    return pull_with_logins(*engine_, "r.test/a", {{"bob", "word"}},
                            [&](std::string_view registry) -> StoredLogin {
                              asked += registry == "r.test" ? 1 : 100;
                              return {{}, failure};
                            },
                            {}, {});
  };
  EXPECT_TRUE(pull());
  EXPECT_EQ(asked, 0);
  refuses = true;
  const Status pulled = pull();
  EXPECT_EQ(asked, 1);
  ASSERT_FALSE(pulled);
  EXPECT_NE(pulled.error().message.find("refuses the user `bob`"), std::string::npos)
      << pulled.error().message;
  failure = "`docker-credential-x` failed";
  const Status with_helper = pull();
  ASSERT_FALSE(with_helper);
  EXPECT_TRUE(with_helper.error().message.ends_with("; `docker-credential-x` failed"))
      << with_helper.error().message;
}

TEST_F(StalledEngine, LogsAreFollowedWhileTheEngineAnswers) {
  serve([](const std::string&) { return std::string(begun); });
  std::stop_source stop;
  const std::jthread stopper([&] {
    while (pings_ < 3)
      std::this_thread::sleep_for(1ms);
    stop.request_stop();
  });
  const Status read = read_logs(
      *engine_, "c", {.follow = true}, false,
      [](OutputStream, std::string_view) { return Status(); }, stop.get_token());
  EXPECT_TRUE(is_cancelled(read.error()));
}

TEST_F(StalledEngine, TheEndOfAContainerIsAwaitedWhileItRuns) {
  std::atomic<int> asked = 0;
  serve([&](const std::string& line) -> std::string {
    if (has(line, "/wait"))
      return "";
    return json(++asked < 3 ? R"({"Id":"c","State":{"Status":"running"}})"
                            : R"({"Id":"c","State":{"Status":"exited","ExitCode":0}})");
  });
  EXPECT_EQ(wait_container(*engine_, "c", for_ever, {}).error().message,
            "the engine does not report how the container ended");
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace fettle

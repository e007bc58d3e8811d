/// Real programs, in sh and Python: some answer once, some are kept, some fail.

#include "programs/program.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

#include "base/http.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

class ProgramTest : public testing::Test {
 protected:
  std::string file(const std::string& text) {
    const std::string path = (folder_->path() / cat("program", ++files_)).string();
    EXPECT_TRUE(write_file(path, text, 0755));
    return path;
  }
  std::unique_ptr<Program> shell(const std::string& body, ServeMode serving = ServeMode::once) {
    return std::make_unique<Program>(Invocation{.arguments = {file("#!/bin/sh\n" + body + "\n")}},
                                     serving);
  }
  std::unique_ptr<Program> python(const std::string& body, ServeMode serving = ServeMode::once) {
    return std::make_unique<Program>(
        Invocation{.arguments = {"python3", file("import json, os, sys, threading\n"
                                                 "def say(**line):\n"
                                                 "    print(json.dumps(line), flush=True)\n" +
                                                 body)}},
        serving);
  }
  static ProgramCall ask(const char* what, Duration limit = 60s) {
    return {.request = Value::dict({{"call", what}}), .time_limit = limit};
  }
  static std::string said(const Result<Value>& answer) {
    return answer ? write_json(*answer) : to_string(answer.error());
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  int files_ = 0;
};

/// Answers with its number of the call and its process.
constexpr const char* counting = R"py(
calls = 0
for line in sys.stdin:
    calls += 1
    request = json.loads(line)
    if request["call"] == "crash":
        sys.stderr.write("dying words\n")
        os._exit(3)
    if request["call"] == "hang":
        threading.Event().wait()
    say(serves="many", calls=calls, pid=os.getpid())
    if request["call"] == "leave":
        os._exit(0)
)py";

TEST_F(ProgramTest, OneThatReadsToTheEndIsStartedForEachCall) {
  const auto program = shell("cat > /dev/null; echo '{\"log\": \"working\"}'; echo '{\"a\": 1}'");
  std::string told;
  ProgramCall call = ask("read");
  call.on_log = [&](std::string_view text) { told += text; };
  EXPECT_EQ(said(program->call(call, {})), R"({"a":1})");
  EXPECT_EQ(said(program->call(call, {})), R"({"a":1})");
  EXPECT_EQ(told, "workingworking");
}

TEST_F(ProgramTest, WhatIsAskedArrivesWithSecrets) {
  const auto program = shell("read line; printf '{\"got\": %s}\\n' \"$line\"");
  EXPECT_EQ(said(program->call({.request = Value::dict({{"key", Value::secret("s3")}})}, {})),
            R"({"got":{"key":"s3"}})");
}

TEST_F(ProgramTest, OneThatSaysSoIsKept) {
  const auto program = python(counting);
  EXPECT_EQ(program->call(ask("a"), {})->integer_at("calls"), 1);
  const Value second = *program->call(ask("b"), {});
  const Value third = *program->call(ask("c"), {});
  EXPECT_EQ(second.integer_at("calls"), 1);  // the first child's input had ended
  EXPECT_EQ(third.integer_at("calls"), 2);
  EXPECT_EQ(second.at("pid"), third.at("pid"));
}

TEST_F(ProgramTest, OneThatLeftAfterItsAnswerIsStartedAnew) {
  const auto program = python(counting, ServeMode::many);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(program->call(ask("leave"), {})->integer_at("calls"), 1);
}

TEST_F(ProgramTest, ACrashIsAnErrorWithItsLastWordsAndTheNextCallHasANewChild) {
  const auto program = python(counting, ServeMode::many);
  EXPECT_EQ(program->call(ask("a"), {})->integer_at("calls"), 1);
  EXPECT_EQ(said(program->call(ask("crash"), {})),
            "it exited with code 3 and no answer; its last lines:\ndying words");
  EXPECT_EQ(program->call(ask("a"), {})->integer_at("calls"), 1);
}

TEST_F(ProgramTest, CallsAtOnceToOneThatServesManyHaveAChildEach) {
  const auto program = python(counting, ServeMode::many);
  std::barrier together(2);
  std::atomic<int64_t> first = 0, second = 0;
  {
    // Each answers after the other asked: a question is a place where both wait.
    const auto asking = python(
        "for line in sys.stdin:\n"
        "    say(ask=1)\n"
        "    sys.stdin.readline()\n"
        "    say(pid=os.getpid())\n",
        ServeMode::many);
    const auto run = [&](std::atomic<int64_t>& pid) {
      ProgramCall call = ask("a");
      call.on_ask = [&](const Value&) -> Result<Value> {
        together.arrive_and_wait();
        return Value();
      };
      pid = asking->call(call, {})->integer_at("pid");
    };
    const std::jthread other([&] { run(first); });
    run(second);
  }
  EXPECT_NE(first.load(), 0);
  EXPECT_NE(first.load(), second.load());
}

/// Answers when a call named `go` came, the last first.
constexpr const char* holding = R"py(
held = []
for line in sys.stdin:
    request = json.loads(line)
    if "cancel" in request:
        held = [one for one in held if one["id"] != request["cancel"]]
        say(id=request["cancel"], error="cancelled")
    elif request["call"] == "go":
        for one in reversed(held):
            say(id=one["id"], name=one["call"], pid=os.getpid())
        say(id=request["id"], pid=os.getpid())
        held = []
    elif request["call"] == "twice":
        say(id=request["id"], ask=1, what="a")
        say(id=request["id"], log="asked")
        say(id=request["id"], ask=2, what="b")
        answers = [json.loads(sys.stdin.readline()) for _ in range(2)]
        say(id=request["id"], answers=answers)
    else:
        held.append(request)
        print("held", len(held), file=sys.stderr, flush=True)
)py";

TEST_F(ProgramTest, CallsAtOnceShareAChildAndGetTheirOwnAnswers) {
  const auto program = python(holding, ServeMode::together);
  std::vector<std::string> names(8);
  std::vector<std::jthread> threads;
  std::atomic<int> answered = 0;
  for (size_t i = 0; i < names.size(); ++i)
    threads.emplace_back([&, i] {
      names[i] = program->call(ask(cat("call", i).c_str()), {})->text_at("name");
      ++answered;
    });
  while (answered < 8)
    EXPECT_TRUE(program->call(ask("go"), {}));
  threads.clear();
  for (size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(names[i], cat("call", i));
}

TEST_F(ProgramTest, WhatItAsksIsAnsweredOnTheThreadOfTheCall) {
  const auto program = python(holding, ServeMode::together);
  std::string told;
  ProgramCall call = ask("twice");
  call.on_log = [&](std::string_view text) { told += text; };
  call.on_ask = [&, here = std::this_thread::get_id()](const Value& asked) -> Result<Value> {
    EXPECT_EQ(std::this_thread::get_id(), here);
    if (asked.text_at("what") == "b")
      return world_error("no b here");
    return Value(cat("answer to ", asked.text_at("what")));
  };
  EXPECT_EQ(said(program->call(call, {})->at("answers")),
            R"([{"answer":1,"result":"answer to a"},{"answer":2,"error":"no b here"}])");
  EXPECT_EQ(told, "asked");
}

TEST_F(ProgramTest, ACallThatTakesTooLongIsCancelledAndTheChildGoesOn) {
  const auto program = python(holding, ServeMode::together);
  const int64_t pid = program->call(ask("go"), {})->integer_at("pid");
  const std::string late = said(program->call(ask("held", 100ms), {}));
  EXPECT_TRUE(late.starts_with("it did not answer within 100ms")) << late;
  EXPECT_EQ(program->call(ask("go"), {})->integer_at("pid"), pid);
}

/// Holds calls until its process has been ended once.
constexpr const char* dying = R"py(
for line in sys.stdin:
    request = json.loads(line)
    if request["call"] == "die":
        open(sys.argv[0] + ".died", "w").close()
        os._exit(3)
    say(id=request["id"], log="begun")
    if os.path.exists(sys.argv[0] + ".died"):
        say(id=request["id"], name=request["call"])
)py";

TEST_F(ProgramTest, OnlyTheCallThatEndsASharedChildFails) {
  const auto program = python(dying, ServeMode::together);
  std::latch begun(3);
  std::vector<std::string> answers(3);
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < answers.size(); ++i)
    threads.emplace_back([&, i] {
      ProgramCall call = ask(cat("call", i).c_str());
      call.may_repeat = i != 2;
      call.on_log = [&, is_first = true](std::string_view) mutable {
        if (std::exchange(is_first, false))
          begun.count_down();
      };
      answers[i] = said(program->call(call, {}));
    });
  begun.wait();
  ProgramCall deadly = ask("die");
  deadly.may_repeat = true;
  EXPECT_EQ(said(program->call(deadly, {})), "it exited with code 3 and no answer");
  threads.clear();
  EXPECT_EQ(answers[0].substr(answers[0].find("\"name")), R"("name":"call0"})");
  EXPECT_EQ(answers[1].substr(answers[1].find("\"name")), R"("name":"call1"})");
  EXPECT_EQ(answers[2],
            "it exited with code 3 and no answer; 4 calls were under way; its last lines:\n"
            "begun\nbegun\nbegun");
}

TEST_F(ProgramTest, ACallThatHangsEndsNoOther) {
  // It answers nothing, not even a `cancel`, until it was ended once.
  const auto program = python(
      "for line in sys.stdin:\n"
      "    request = json.loads(line)\n"
      "    if request.get('call') == 'hang':\n"
      "        open(sys.argv[0] + '.hung', 'w').close()\n"
      "        threading.Event().wait()\n"
      "    say(id=request['id'], log='begun')\n"
      "    if os.path.exists(sys.argv[0] + '.hung'):\n"
      "        say(id=request['id'], name=request['call'])\n",
      ServeMode::together);
  std::latch begun(1);
  std::string answer;
  std::jthread other([&] {
    ProgramCall call = ask("other");
    call.may_repeat = true;
    call.on_log = [&, is_first = true](std::string_view) mutable {
      if (std::exchange(is_first, false))
        begun.count_down();
    };
    answer = said(program->call(call, {}));
  });
  begun.wait();
  EXPECT_EQ(said(program->call(ask("hang", 50ms), {})),
            "it did not answer within 50ms");  // nothing of what the other call logged
  other.join();
  EXPECT_NE(answer.find(R"("name":"other")"), std::string::npos) << answer;
}

TEST_F(ProgramTest, OneThatHangsIsEnded) {
  const auto program = python(counting, ServeMode::many);
  EXPECT_EQ(said(program->call(ask("hang", 100ms), {})), "it did not answer within 100ms");
  EXPECT_EQ(program->call(ask("a"), {})->integer_at("calls"), 1);
}

TEST_F(ProgramTest, AStopEndsTheCall) {
  for (const ServeMode serving : {ServeMode::once, ServeMode::many, ServeMode::together}) {
    const auto program = shell("read line; exec sleep 100000", serving);
    std::stop_source stop;
    stop.request_stop();
    const Result<Value> answer = program->call(ask("a"), stop.get_token());
    ASSERT_FALSE(answer);
    EXPECT_TRUE(is_cancelled(answer.error())) << to_string(answer.error());
  }
}

TEST_F(ProgramTest, NonsenseIsAnErrorThatShowsIt) {
  const std::string no_object = "its output is not a line with a JSON object; its last lines:\n";
  for (const ServeMode serving : {ServeMode::once, ServeMode::many}) {
    EXPECT_EQ(said(shell("read l; echo hello", serving)->call(ask("a"), {})), no_object + "hello");
    EXPECT_EQ(said(shell("read l; echo [1]", serving)->call(ask("a"), {})), no_object + "[1]");
  }
  EXPECT_EQ(said(shell("read l")->call(ask("a"), {})), "its output has no answer");
  EXPECT_EQ(said(shell("read l", ServeMode::many)->call(ask("a"), {})),
            "it exited with code 0 and no answer");
  EXPECT_EQ(said(shell("read l; echo '{}'; echo '{}'")->call(ask("a"), {})),
            "its output has more than one answer; its last lines:\n{}\n{}");
  EXPECT_EQ(said(Program({.arguments = {"/no/such/program"}}, ServeMode::many).call(ask("a"), {})),
            "the program `/no/such/program` is not found");
  EXPECT_EQ(
      said(good_answer(shell("read l; echo '{\"error\": \"own words\"}'")->call(ask("a"), {}))),
      "own words");
}

TEST_F(ProgramTest, OneThatDoesNotReadWhatItIsAskedIsEnded) {
  const auto program = shell("exec sleep 100000", ServeMode::many);
  const ProgramCall call{.request = Value::dict({{"much", std::string(4 << 20, 'x')}}),
                         .time_limit = 100ms};
  const std::string late = said(program->call(call, {}));
  EXPECT_TRUE(late.starts_with("it did not answer within") || late.starts_with("it does not read"))
      << late;
}

TEST_F(ProgramTest, AKeptChildAndWhatItStartedEndWithTheProgram) {
  const std::string path = (folder_->path() / "fifo").string();
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const Descriptor fifo(open(path.c_str(), O_RDWR | O_CLOEXEC));
  // A lock is held by what the child started until that ends.
  const std::string lock = (folder_->path() / "lock").string();
  ASSERT_TRUE(write_file(lock, ""));
  const Descriptor held(open(lock.c_str(), O_RDONLY | O_CLOEXEC));
  {
    const auto program = shell(cat("while read line; do { flock 9; echo > ", path,
                                   "; exec sleep 100000; } 9> ", lock, " & echo '{}'; done"),
                               ServeMode::many);
    EXPECT_EQ(said(program->call(ask("a"), {})), "{}");
    char byte = 0;
    ASSERT_EQ(read(fifo.get(), &byte, 1), 1);
    EXPECT_NE(flock(held.get(), LOCK_EX | LOCK_NB), 0);
  }
  EXPECT_EQ(flock(held.get(), LOCK_EX), 0);  // or it waits for ever
}

}  // namespace
}  // namespace fettle

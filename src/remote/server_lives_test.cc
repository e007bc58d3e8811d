/// A server of commands in a process of its own, and clients in others, over real sockets.

#include "tests/fixtures/command_server_fixture.h"

namespace fettle {
namespace {

TEST_F(ServerOfCommandsTest, ACommandIsAsIfItRanHere) {
  serve();
  const Report hello = told({"hello"});
  EXPECT_EQ(hello.output, "out\n");
  EXPECT_EQ(hello.errors, "err\n");
  EXPECT_EQ(hello.code, 7);
  const Report refused = told({"state"});
  EXPECT_EQ(refused.errors, "error: acts on a machine\n");
  EXPECT_EQ(refused.code, 2);
}

TEST_F(ServerOfCommandsTest, FilesTravelThereAndBack) {
  serve();
  const TemporaryDirectory here = *TemporaryDirectory::make();
  ASSERT_TRUE(write_file(here.path() / "given", "text"));
  for (int i = 0; i < 2; ++i) {
    Client client([&](const ClientPlace& place) {
      setenv("TZ", "Europe/Berlin", 1);
      EXPECT_EQ(chdir(here.path().c_str()), 0);
      return command({"where"}, {{"given"}, {"made"}})(place);
    });
    const Report where = client.end();
    EXPECT_EQ(where.code, 0) << where.errors;
    EXPECT_EQ(where.output, cat("text ", here.path().string(), " Europe/Berlin"));
    EXPECT_EQ(*read_file(here.path() / "made"), "written");
    EXPECT_TRUE(remove_tree(here.path() / "made"));
  }
}

TEST_F(ServerOfCommandsTest, VariablesOfTheMachineAreTheServersOwn) {
  serve();
  CommandRequest request;
  request.words = {"variables"};
  request.folder = "/home/me";
  request.environment = {{"FETTLE_HOME", "/nowhere"}, {"PATH", "/nowhere"}, {"FETTLE_TAG", "v1"}};
  EXPECT_EQ(output_of(request), "v1 /home/me\n");
}

TEST_F(ServerOfCommandsTest, StandardInputTravelsOnlyWhenItIsRead) {
  serve();
  Client echo(command({"echo"}, {{}, {}, true}), "typed");
  EXPECT_EQ(echo.end().output, "typed");
  Client none(command({"echo"}), "typed");
  EXPECT_EQ(none.end().output, "");
}

TEST_F(ServerOfCommandsTest, InputWaitsUntilItIsReadAndHoldsNoCtrlC) {
  serve();
  const std::string file = (home_.path() / "input").string();
  const Descriptor made(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(ftruncate(made.get(), 40'000'000), 0);
  const auto with_input = [&](Client::Work work) {
    return [work = std::move(work), file](const ClientPlace& place) {
      const Descriptor input(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
      dup2(input.get(), STDIN_FILENO);
      return work(place);
    };
  };
  Client client(with_input(command({"counts", flag()}, {{}, {}, true})));
  client.await("waiting\n");
  usleep(200'000);  // more would have been sent by now than anybody keeps
  raise_flag();
  const Report told = client.end();
  EXPECT_EQ(told.output, "waiting\n40000000\n") << told.errors;
  Client stopped_client(with_input(command({"wait", flag() + "2"}, {{}, {}, true})));
  stopped_client.await("waiting\n");
  stopped_client.send(SIGINT);
  EXPECT_EQ(stopped_client.end().output, "waiting\nstopped\n");
}

TEST_F(ServerOfCommandsTest, OutputAndErrorsKeepTheirOrderInOneFile) {
  serve();
  Client client([this](const ClientPlace& place) {
    dup2(STDOUT_FILENO, STDERR_FILENO);
    return command({"both"})(place);
  });
  std::string expected;
  for (int i = 0; i < 50; ++i)
    expected += cat("o", i, "\ne", i, "\n");
  EXPECT_EQ(client.end().output, expected);
}

TEST_F(ServerOfCommandsTest, ALotOfOutputArrives) {
  serve();
  EXPECT_EQ(told({"much"}).output.size(), 2'000'000U);
  EXPECT_EQ(told({"much", "reader"}).output.size(), 2'000'000U);
}

TEST_F(ServerOfCommandsTest, OutputThatNoDiskTakesIsAnErrorInTheEnd) {
  serve();
  const auto fill = [this](const std::string& word) {
    Client client([this, word](const ClientPlace& place) {
      const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
      dup2(full.get(), STDOUT_FILENO);
      return command({word})(place);
    });
    return client.end();
  };
  const Report much = fill("much");
  EXPECT_EQ(much.code, 1);
  EXPECT_EQ(much.errors, "error: cannot write to standard output: no space left on device\n");
  EXPECT_EQ(fill("hello").code, 1) << "as here";
}

TEST_F(ServerOfCommandsTest, ATerminalIsATerminalThere) {
  serve();
  expect_a_terminal_there();
  EXPECT_EQ(told({"terminal"}).output, "000 0x0\n");
}

TEST_F(ServerOfCommandsTest, ARunGoesOnWithoutItsClientAndIsFollowedAgain) {
  serve();
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  client.end(SIGKILL);
  ASSERT_EQ(runs().size(), 1U);
  EXPECT_EQ(status_of(runs()[0]), "running");
  Client follower(attach(0));
  follower.await("waiting\n");
  raise_flag();
  const Report end = follower.end();
  EXPECT_EQ(end.output, "waiting\ndone\n");
  EXPECT_EQ(end.code, 5);
  // And once more, when it has long ended.
  EXPECT_EQ(Client(attach(1)).end().output, "waiting\ndone\n");
  EXPECT_EQ(runs()[0].code, 5);
  EXPECT_EQ(Client(attach(9)).end().code, 2);
}

TEST_F(ServerOfCommandsTest, AReaderEndsWithItsClient) {
  serve();
  Client client(command({"wait", flag(), "reader"}, {}, true));
  client.await("waiting\n");
  client.end(SIGKILL);
  EXPECT_TRUE(comes([&] { return file_exists(flag() + ".stopped"); }));
  EXPECT_TRUE(runs().empty());
  Client second(command({"wait", flag(), "reader"}, {}, true));
  second.await("waiting\n");
  second.close_output();
  EXPECT_EQ(second.end().code, 141);
}

TEST_F(ServerOfCommandsTest, CtrlCOnceAsksAndTwiceLeaves) {
  serve();
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  client.send(SIGINT);
  const Report asked = client.end();
  EXPECT_EQ(asked.output, "waiting\nstopped\n");
  EXPECT_EQ(asked.code, 130);
  // One that does not stop at once.
  Client stubborn(command({"ignore", flag()}));
  stubborn.await("waiting\n");
  const Report left = stubborn.end_by(SIGINT);
  EXPECT_EQ(left.code, 130);
  EXPECT_NE(left.errors.find("leaving; run 2 goes on at the server"), std::string::npos)
      << left.errors;
  // A terminal that is closed.
  Client third(command({"wait", flag()}));
  third.await("waiting\n");
  EXPECT_EQ(third.end(SIGHUP).code, 130);
  for (const RunView& run : runs())
    EXPECT_EQ(status_of(run), run.number == 1 ? "ended" : "running");
  raise_flag();
}

TEST_F(ServerOfCommandsTest, ARunIsCancelledFromElsewhere) {
  serve();
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  EXPECT_EQ(cancel_run(server_, 1, {"1.0", {}})->number, 1);
  EXPECT_EQ(client.end().code, 130);
  EXPECT_FALSE(cancel_run(server_, 1, {"1.0", {}}));
}

TEST_F(ServerOfCommandsTest, AServerThatIsKilledTakesItsCommandsAlongAndTheClientSaysSo) {
  serve();
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  stop(SIGKILL);
  const Report lost = client.end();
  EXPECT_TRUE(comes([&] { return file_exists(flag() + ".stopped"); }));
  EXPECT_NE(lost.code, 0);
  serve();
  EXPECT_NE(status_of(runs()[0]), "running");
}

TEST_F(ServerOfCommandsTest, WhoeverFollowsARunHearsThatItsServerWasKilled) {
  serve();
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  Client follower(attach(0));
  follower.await("waiting\n");
  stop(SIGKILL);
  const Report lost = follower.end();
  EXPECT_EQ(lost.code, 1);
  EXPECT_NE(lost.errors.find("unless the server was killed, run 1 goes on"), std::string::npos)
      << lost.errors;
  EXPECT_TRUE(comes([&] { return file_exists(flag() + ".stopped"); }));
}

TEST_F(ServerOfCommandsTest, ARunWaitsForNobodyWhoReadsSlowly) {
  serve();
  Client client(command({"much"}));
  // Nobody reads more than a pipe holds, and the run is over.
  EXPECT_TRUE(comes([&] {
    const std::vector<RunView> all = runs();
    return all.size() == 1 && all[0].code == 0;
  }));
  EXPECT_EQ(client.end().output.size(), 2'000'000U);
}

TEST_F(ServerOfCommandsTest, CtrlCIsHeardWhileNobodyTakesTheOutput) {
  serve();
  for (const int number : {SIGINT, SIGTERM}) {
    Client client(command({"much"}));
    client.await("x");  // it follows
    EXPECT_TRUE(comes([&] { return !runs().empty() && runs().back().code == 0; }));
    const Report left = client.end_by(number);
    EXPECT_EQ(left.code, 130);
    EXPECT_LT(left.output.size(), 2'000'000U);
  }
}

TEST_F(ServerOfCommandsTest, WhoeverFollowsMayTakeItsTime) {
  serve({.write_limit = 100ms});
  ASSERT_EQ(told({"flood"}).code, 0);
  Line line = open_line(4'096);
  line.send(FrameType::attach, R"({"run":1})");
  ASSERT_TRUE(line.push_all(20s));
  usleep(500'000);
  size_t size = 0;
  std::optional<Frame> frame;
  while ((frame = line.await(20s)) && frame->type != FrameType::end)
    size += frame->type == FrameType::output ? frame->payload.size() : 0;
  EXPECT_TRUE(frame);
  EXPECT_EQ(size, 12'000'000U);
}

TEST_F(ServerOfCommandsTest, WhatACommandLeavesRunningHoldsNobody) {
  serve();
  for (const char* const word : {"run", "reader"}) {
    const Report left = told({"leaves", word});
    EXPECT_EQ(left.code, 3);
    EXPECT_TRUE(left.output.starts_with("leaving\n"));
  }
}

TEST_F(ServerOfCommandsTest, AClosedOutputIsAnErrorAsHere) {
  serve();
  for (const bool is_reader : {false, true}) {
    Client client([&](const ClientPlace& place) {
      const Descriptor nobody(::open("/", O_PATH | O_CLOEXEC));
      dup2(nobody.get(), STDOUT_FILENO);
      return command({"hello", is_reader ? "reader" : "x"}, {}, is_reader)(place);
    });
    const Report closed = client.end();
    EXPECT_EQ(closed.code, 1);
    EXPECT_EQ(closed.errors, "err\nerror: cannot write to standard output: it is closed\n");
  }
}

TEST_F(ServerOfCommandsTest, AProperEndAsksCommandsToStop) {
  serve();
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  EXPECT_EQ(stop(SIGTERM), 0);
  const Report ended = client.end();
  EXPECT_EQ(ended.output, "waiting\nstopped\n");
  EXPECT_EQ(ended.code, 130);
  // It could have ended without a word, as after Ctrl-C.
  EXPECT_EQ(ended.errors, "error: the server ended, and interrupted the command\n");
}

TEST_F(ServerOfCommandsTest, TooManyConnectionsAreToldSo) {
  serve({.connections = 1});
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  const Report refused = told({"hello"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.errors.find("connections already"), std::string::npos) << refused.errors;
  raise_flag();
  EXPECT_EQ(client.end().code, 5);
  EXPECT_TRUE(comes([&] { return told({"hello"}).code == 7; }));
}

TEST_F(ServerOfCommandsTest, AConnectionServesOneCommandAfterAnother) {
  serve();
  Line line = open_line();
  for (int i = 0; i < 3; ++i) {
    CommandRequest request;
    request.words = {"hello", "reader"};
    request.folder = "/";
    line.send(FrameType::command, write_json(value_of(request)));
    // What was typed before it was known that the command had ended.
    line.send(FrameType::input, "late");
    std::string output;
    std::optional<Frame> frame;
    ASSERT_TRUE(line.push_all(20s));
    while ((frame = line.await(20s)) && frame->type != FrameType::end)
      if (frame->type == FrameType::output)
        output += frame->payload;
    ASSERT_TRUE(frame) << i;
    EXPECT_EQ(frame->payload, R"({"code":7})");
    EXPECT_EQ(output, "out\n");
    line.send(FrameType::runs);
    ASSERT_TRUE(line.push_all(20s));
    frame = line.await(20s);
    while (frame && frame->type != FrameType::document)
      frame = line.await(20s);
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->payload, "[]");
  }
  // After a mistake nobody knows what the rest means.
  line.send(FrameType::command, "{");
  ASSERT_TRUE(line.push_all(20s));
  const std::optional<Frame> refused = line.await(20s);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->type, FrameType::error);
  EXPECT_FALSE(line.await(20s));
  EXPECT_TRUE(line.is_gone());
}

TEST_F(ServerOfCommandsTest, AnIdleConnectionIsClosed) {
  serve({.idle_limit = 100ms});
  Line line = open_line();
  line.send(FrameType::runs);
  ASSERT_TRUE(line.push_all(20s));
  EXPECT_TRUE(line.await(20s));
  EXPECT_FALSE(line.await(20s));
  EXPECT_TRUE(line.is_gone());
}

TEST_F(ServerOfCommandsTest, ACommandMayEndSomethingBeforeItsReaderIsTold) {
  serve();
  Client client(command({"finishes", flag(), "reader"}, {}, true));
  client.await("waiting\n");
  client.close_output();
  EXPECT_EQ(client.end().code, 141);
  EXPECT_TRUE(file_exists(flag())) << "it had ended when its client did";
}

TEST_F(ServerOfCommandsTest, NobodyComesInWithoutTheToken) {
  serve();
  const ServerChoice good = server_;
  server_.token = "another-token-of-the-same-length";
  const Report refused = told({"hello"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.errors.find("does not know this token"), std::string::npos) << refused.errors;
  EXPECT_TRUE(sent("GET / HTTP/1.1\r\nHost: evil\r\n\r\n").starts_with("HTTP/1.1 421 "));
  EXPECT_TRUE(sent("\x16\x03\x01 no request\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(
      sent(cat("GET / HTTP/1.1\r\nA: ", std::string(17'000, 'x'))).starts_with("HTTP/1.1 431 "));
  server_ = good;
  EXPECT_EQ(told({"hello"}).code, 7);
}

TEST_F(ServerOfCommandsTest, GarbageEndsItsOwnConnectionOnly) {
  serve();
  const std::string hello = greeting();
  EXPECT_NE(sent(hello + "no frame at all").find("101 Switching"), std::string::npos);
  EXPECT_NE(sent(hello + packed(FrameType::command, "{")).find("\"message\""), std::string::npos);
  EXPECT_NE(sent(hello + packed(FrameType::input, "x")).find("begins with what it wants"),
            std::string::npos);
  const std::string outside =
      R"({"words":["hello"],"paths":[],"writes":[],"folder":"/","files":[{"path":"/a/../../x"}]})";
  EXPECT_NE(sent(hello + packed(FrameType::command, outside)).find("no absolute path"),
            std::string::npos);
  EXPECT_EQ(sent(hello + std::string("c\xff\xff\xff\xff", 5)).find("\"code\""), std::string::npos);
  EXPECT_EQ(told({"hello"}).code, 7);
}

TEST_F(ServerOfCommandsTest, AnUploadThatBreaksOffRunsNothing) {
  serve();
  const std::string digest = sha256_hex("whole");
  const std::string request =
      cat(R"({"words":["wait",")", flag(), R"("],"paths":[],"writes":[],"folder":"/",)",
          R"("files":[{"path":"/a","type":"file","size":5,"digest":")", digest, R"("}]})");
  sent(greeting() + packed(FrameType::command, request) + packed(FrameType::content, "who"), false);
  // Other bytes than those that were announced.
  const std::string refused =
      sent(greeting() + packed(FrameType::command, request) + packed(FrameType::content, "wrong"));
  EXPECT_NE(refused.find("has changed while it was sent"), std::string::npos) << refused;
  const std::string longer = sent(greeting() + packed(FrameType::command, request) +
                                  packed(FrameType::content, "whole and more"));
  EXPECT_NE(longer.find("more bytes than were announced"), std::string::npos) << longer;
  EXPECT_TRUE(runs().empty());
}

TEST_F(ServerOfCommandsTest, ASlowRequestEnds) {
  serve({.header_limit = 1s});
  EXPECT_EQ(sent("GET / HTTP/1.1\r\nHost: "), "");
  EXPECT_EQ(told({"hello"}).code, 7);
}

/// A server that somebody else has put in the place of ours: it says this after the greeting.
Report with_server_that_says(std::string_view bytes, const NamedFiles& named, std::string& heard) {
  const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(listener.get(), 1), 0);
  EXPECT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int port = ntohs(address.sin_port);
  const ServerChoice server{cat("http://127.0.0.1:", port), "token", {"127.0.0.1", port}};
  Client client([&](const ClientPlace& place) {
    CommandRequest request;
    request.words = {"run"};
    return run_at_server(server, request, named, false, place);
  });
  {
    const Descriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::string reply = upgrade_reply() + std::string(bytes);
    EXPECT_GT(::send(socket.get(), reply.data(), reply.size(), MSG_NOSIGNAL), 0);
    ::shutdown(socket.get(), SHUT_WR);
    heard = all_of(socket.get());
  }
  return client.end();
}

TEST(ForeignServer, AClientSendsAndWritesOnlyWhatItsCommandNames) {
  const TemporaryDirectory here = *TemporaryDirectory::make();
  const std::string named = (here.path() / "named").string(),
                    other = (here.path() / "other").string();
  ASSERT_TRUE(write_file(named, "this may go"));
  ASSERT_TRUE(write_file(other, "this is a secret"));
  std::string heard;
  const Report asked = with_server_that_says(
      packed(FrameType::need, write_json(Value::list({Value(other)}))), {{named}, {}}, heard);
  EXPECT_EQ(asked.code, 1);
  EXPECT_NE(asked.errors.find("which the command does not name"), std::string::npos)
      << asked.errors;
  EXPECT_EQ(heard.find("this is a secret"), std::string::npos);
  FileEntry entry{other, FileEntry::Type::file, 0644, 3, std::string(64, '0')};
  const Report written = with_server_that_says(
      packed(FrameType::file, write_json(value_of(entry))) + packed(FrameType::file_bytes, "bad"),
      {{}, {named}}, heard);
  EXPECT_NE(written.errors.find("which the command does not write"), std::string::npos)
      << written.errors;
  EXPECT_EQ(*read_file(other), "this is a secret");
  const Report garbage = with_server_that_says("no frame", {}, heard);
  EXPECT_EQ(garbage.code, 1);
  EXPECT_NE(garbage.errors.find("was lost"), std::string::npos) << garbage.errors;
}

TEST_F(ServerOfCommandsTest, ACommandThatASignalEndsIsToldOf) {
  serve();
  const Report died = told({"dies"});
  EXPECT_EQ(died.code, 128 + SIGKILL);
  EXPECT_EQ(died.errors, "error: the command was ended at the server by signal 9\n");
}

}  // namespace
}  // namespace fettle

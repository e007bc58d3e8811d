/// A server of commands with TLS, over real sockets: its clients, strangers, and those who are slow.

#include <sys/resource.h>

#include "base/tls.h"
#include "remote/tls_side.h"
#include "tests/fixtures/certificates.h"
#include "tests/fixtures/command_server_fixture.h"
#include "tests/fixtures/sanitized.h"

namespace fettle {
namespace {

const CertificateWithKey& authority() {
  static const SelfSigned one("Authority");
  return one;
}

CertificateWithKey new_identity(const std::string& name = "localhost",
                                const CertificateWithKey& signer = authority()) {
  return CertificateWithKey({name, cat("DNS:", name, ",IP:127.0.0.1")}, &signer);
}

class TlsServerTest : public ServerOfCommandsTest {
 protected:
  TlsServerTest() { signal(SIGPIPE, SIG_IGN); }
  void serve_tls_with(const CertificateWithKey& identity, ServeSettings settings = {}) {
    put(identity);
    settings.tls = files();
    serve(settings);
    server_.authorities = authority().certificate;
  }
  TlsFiles files() const { return {home_.path() / "cert.pem", home_.path() / "key.pem"}; }
  void put(const CertificateWithKey& identity) const {
    EXPECT_TRUE(write_file(files().certificate, identity.certificate));
    EXPECT_TRUE(write_file(files().key, identity.key, 0600));
  }
  /// The processes of connections.
  std::vector<pid_t> children() const {
    std::vector<pid_t> all;
    const std::string text =
        read_file(cat("/proc/", process_, "/task/", process_, "/children")).value_or("");
    for (const std::string_view child : split(text, ' '))
      if (!child.empty())
        all.push_back(std::stoi(std::string(child)));
    return all;
  }
};

TEST_F(TlsServerTest, ACommandIsAsWithoutTls) {
  serve_tls_with(new_identity());
  EXPECT_EQ(server_.url, cat("https://127.0.0.1:", server_.address.port));
  const Report hello = told({"hello"});
  EXPECT_EQ(hello.output, "out\n");
  EXPECT_EQ(hello.errors, "err\n");
  EXPECT_EQ(hello.code, 7);
  EXPECT_EQ(told({"much"}).output.size(), 2'000'000U);
  EXPECT_EQ(told({"flood", "reader"}).output.size(), 12'000'000U);
  Client echo(command({"echo"}, {{}, {}, true}), "typed");
  EXPECT_EQ(echo.end().output, "typed");
  const TemporaryDirectory here = *TemporaryDirectory::make();
  const std::string large(3'000'000, 'x');
  ASSERT_TRUE(write_file(here.path() / "given", large));
  Client client([&](const ClientPlace& place) {
    EXPECT_EQ(chdir(here.path().c_str()), 0);
    return command({"where"}, {{"given"}, {"made"}})(place);
  });
  const Report where = client.end();
  EXPECT_EQ(where.code, 0) << where.errors;
  EXPECT_TRUE(where.output.starts_with(large));
  EXPECT_EQ(*read_file(here.path() / "made"), "written");
  EXPECT_EQ(runs().size(), 4U);
  const std::string audit = *read_file(home_.path() / "serve/audit/acts.jsonl");
  EXPECT_NE(audit.find("\"from\":\"127.0.0.1:"), std::string::npos) << audit.substr(0, 400);
  EXPECT_TRUE(comes([&] { return children().empty(); }));
  EXPECT_EQ(stop(SIGTERM), 0);
  EXPECT_EQ(said(), "");
}

TEST_F(TlsServerTest, CtrlCIsHeardAndARunIsFollowedAgain) {
  serve_tls_with(new_identity());
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  client.send(SIGINT);
  EXPECT_EQ(client.end().output, "waiting\nstopped\n");
  Client second(command({"wait", flag()}));
  second.await("waiting\n");
  second.end(SIGKILL);
  Client follower(attach(0));
  follower.await("waiting\n");
  raise_flag();
  EXPECT_EQ(follower.end().output, "waiting\ndone\n");
  EXPECT_TRUE(comes([&] { return children().empty(); }));
}

TEST_F(TlsServerTest, ASideThatDiesTakesItsConnectionAlone) {
  serve_tls_with(new_identity());
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  const std::vector<pid_t> both = children();
  ASSERT_EQ(both.size(), 2U);
  kill(both[0], SIGKILL);  // the first one is that of TLS
  const Report lost = client.end();
  EXPECT_EQ(lost.code, 1);
  EXPECT_NE(lost.errors.find("was lost"), std::string::npos) << lost.errors;
  ASSERT_EQ(runs().size(), 1U);
  EXPECT_EQ(status_of(runs()[0]), "running");
  raise_flag();
  EXPECT_EQ(Client(attach(1)).end().code, 5);
}

TEST_F(TlsServerTest, AServerThatIsStoppedStillTellsWhatIsFinished) {
  serve_tls_with(new_identity());
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  EXPECT_EQ(stop(SIGTERM), 0);
  const Report end = client.end();
  EXPECT_EQ(end.output, "waiting\nstopped\n") << end.errors;
  EXPECT_EQ(end.code, 130);
}

TEST_F(TlsServerTest, AServerThatIsKilledTakesItsConnectionsAlong) {
  serve_tls_with(new_identity());
  Client client(command({"wait", flag()}));
  client.await("waiting\n");
  const std::vector<pid_t> both = children();
  stop(SIGKILL);
  EXPECT_EQ(client.end().output, "waiting\nstopped\n");
  for (const pid_t process : both)
    EXPECT_TRUE(comes([&] {
      const std::string about = read_file(cat("/proc/", process, "/stat")).value_or("");
      return about.empty() || about.find(") Z ") != about.npos;
    }));
}

TEST_F(TlsServerTest, ATerminalIsATerminalThere) {
  serve_tls_with(new_identity());
  expect_a_terminal_there();
}

TEST_F(TlsServerTest, ARenewedCertificateCountsForTheNextConnection) {
  serve_tls_with(new_identity());
  Client before(command({"wait", flag()}));
  before.await("waiting\n");
  const SelfSigned other("Other Authority");
  const CertificateWithKey renewed = new_identity("localhost", other);
  // Half of it is there: the old one goes on.
  ASSERT_TRUE(write_file(files().certificate, renewed.certificate));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(told({"hello"}).code, 7);
  const std::string complaint = said();
  EXPECT_TRUE(complaint.starts_with("the certificate that was read before stays: ")) << complaint;
  EXPECT_EQ(std::ranges::count(complaint, '\n'), 1);
  put(renewed);
  const Report refused = told({"hello"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.errors.find("`/CN=Other Authority`, which is no authority"), std::string::npos)
      << refused.errors;
  server_.authorities = other.certificate;
  EXPECT_EQ(told({"hello"}).code, 7);
  raise_flag();
  EXPECT_EQ(before.end().output, "waiting\ndone\n");
  EXPECT_EQ(said(), complaint);
}

TEST_F(TlsServerTest, NoTokenIsToldToAServerThatIsNotBelieved) {
  serve_tls_with(new_identity("elsewhere.example"));
  EXPECT_EQ(told({"hello"}).code, 7);
  server_.address.host = "localhost";
  Report refused = told({"hello"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(
      refused.errors,
      cat("error: the server at `", server_.url,
          "` is not trusted: its certificate is for `elsewhere.example`, `127.0.0.1`, not for "
          "`localhost`; call it by a name that it has\n"));
  server_.address.host = "127.0.0.1";
  server_.authorities.clear();
  refused = told({"hello"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.errors.ends_with(
      "is no authority that is known here; if you trust it, name its certificate: `fettle context "
      "add NAME URL --tls-ca FILE`, or $FETTLE_TLS_CA\n"))
      << refused.errors;
  EXPECT_EQ(read_file(home_.path() / "serve/audit/refused.jsonl").value_or(""), "");
}

TEST_F(TlsServerTest, WhoMissesTlsOrMeantNoneIsToldSo) {
  serve_tls_with(new_identity());
  const std::string url = server_.url;
  server_.address.is_secured = false;
  const Report plain = told({"hello"});
  EXPECT_EQ(plain.code, 2);
  EXPECT_EQ(plain.errors,
            cat("error: the server at `", url,
                "` refuses: it speaks TLS alone: its address begins with `https://`\n"));
  EXPECT_EQ(sent("GET / HTTP/1.1\r\n\r\n").substr(0, 12), "HTTP/1.1 400");
  stop(SIGTERM);
  serve();
  server_.address.is_secured = true;
  const Report secured = told({"hello"});
  EXPECT_EQ(secured.code, 2);
  EXPECT_NE(
      secured.errors.find("speaks no TLS: it was started without `--tls-cert` and `--tls-key`"),
      std::string::npos)
      << secured.errors;
  EXPECT_NE(sent(std::string_view("\x16\x03\x01\x00", 4)).find("it speaks no TLS"),
            std::string::npos);
}

TEST_F(TlsServerTest, StrangersBytesEndTheirOwnConnectionOnly) {
  serve_tls_with(new_identity());
  std::string random(40'000, 'x');
  uint32_t state = 7;
  for (char& each : random)
    each = static_cast<char>((state = state * 1'664'525U + 1'013'904'223U) >> 24U);
  for (const std::string& head :
       {std::string("\x16\x03\x01\xff\xff", 5), std::string("\x16\x03\x01\x00\x00", 5),
        std::string("\x16\x03\x03\x40\x00\x01\x00\xff\xff\xff", 10), std::string("\x16", 1),
        std::string("\x80\x2e\x01\x03\x01", 5), std::string("\x15\x03\x03\x00\x02\x02\x28", 7)})
    EXPECT_LT(sent(head + random).size(), 1'000U);
  // One that begins well and goes on with garbage.
  const Descriptor socket = connected();
  fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  TlsStream tls = *TlsStream::connect(socket.get(), {"127.0.0.1", authority().certificate});
  TlsStep step = tls.shake_hands();
  for (; events_of(step) != 0; step = tls.shake_hands())
    ASSERT_TRUE(await_events(socket.get(), events_of(step), 20s));
  ASSERT_EQ(step, TlsStep::done) << tls.failure();
  EXPECT_GT(::send(socket.get(), random.data(), random.size(), MSG_NOSIGNAL), 0);
  EXPECT_EQ(told({"hello"}).code, 7);
  EXPECT_TRUE(comes([&] { return children().empty(); }));
}

TEST_F(TlsServerTest, AHandshakeThatStallsEndsAndTakesNoPlaceOfACommand) {
  serve_tls_with(new_identity(), {.connections = 1, .header_limit = 1s});
  const Descriptor silent = connected();
  EXPECT_EQ(told({"hello"}).code, 7);
  std::array<char, 10> buffer{};
  EXPECT_EQ(read_soon(silent.get(), buffer), 0);
  const Descriptor slow = connected();
  EXPECT_EQ(::send(slow.get(), "\x16\x03\x01", 3, MSG_NOSIGNAL), 3);
  EXPECT_EQ(read_soon(slow.get(), buffer), 0);
  EXPECT_TRUE(comes([&] { return told({"hello"}).code == 7; }));
}

/// Both ends of the side of TLS: a client that is this process, and its session.
class TlsSideTest : public testing::Test {
 protected:
  void SetUp() override {
    signal(SIGPIPE, SIG_IGN);
    std::array<int, 2> outer{}, inner{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, outer.data()), 0);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, inner.data()), 0);
    const TemporaryDirectory folder = *TemporaryDirectory::make();
    const CertificateWithKey identity = new_identity();
    const TlsFiles files{folder.path() / "cert.pem", folder.path() / "key.pem"};
    ASSERT_TRUE(write_file(files.certificate, identity.certificate));
    ASSERT_TRUE(write_file(files.key, identity.key, 0600));
    const TlsIdentity read = *TlsIdentity::read(files);
    std::fflush(nullptr);
    side_ = fork();
    if (side_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(outer[0]);
      ::close(inner[1]);
      _exit(serve_tls(Descriptor(outer[1]), Descriptor(inner[0]), read, {10s, 1s}));
    }
    ::close(outer[1]);
    ::close(inner[0]);
    client_ = Descriptor(outer[0]);
    session_ = Descriptor(inner[1]);
    for (const Descriptor* each : {&client_, &session_})
      fcntl(each->get(), F_SETFL, O_NONBLOCK);
    tls_.emplace(*TlsStream::connect(client_.get(), {"localhost", authority().certificate}));
    TlsStep step = tls_->shake_hands();
    for (; events_of(step) != 0; step = tls_->shake_hands())
      ASSERT_TRUE(await_events(client_.get(), events_of(step), 20s));
    ASSERT_EQ(step, TlsStep::done) << tls_->failure();
  }
  void TearDown() override {
    if (side_ > 0)
      end(SIGKILL);
  }
  int end(int number = 0) {
    if (number != 0)
      kill(side_, number);
    int status = 0;
    waitpid(std::exchange(side_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// What the client hears until the other side ends; how that was.
  std::pair<std::string, TlsStep> heard() {
    std::string all;
    std::array<char, largest_record> buffer{};
    while (true) {
      size_t count = 0;
      const TlsStep step = tls_->read(buffer, count);
      all.append(buffer.data(), count);
      if (step != TlsStep::done && events_of(step) == 0)
        return {all, step};
      if (step != TlsStep::done && !await_events(client_.get(), events_of(step), 20s))
        return {all, step};
    }
  }
  /// Bytes until nobody takes more.
  template <typename Send>
  static size_t fill(Send send) {
    size_t total = 0, idle = 0;
    while (idle < 20 && total < (64U << 20)) {
      const size_t count = send();
      total += count;
      idle = count > 0 ? 0 : idle + 1;
      if (count == 0)
        usleep(10'000);
    }
    return total;
  }

  Descriptor client_, session_;
  std::optional<TlsStream> tls_;
  pid_t side_ = -1;
  const std::string page_ = std::string(65'536, 'x');
};

TEST_F(TlsSideTest, WhoHasSaidAllStillHearsTheRest) {
  size_t count = 0;
  EXPECT_EQ(tls_->write("asked", count), TlsStep::done);
  EXPECT_EQ(tls_->finish_writing(), TlsStep::done);
  EXPECT_EQ(all_of(session_.get()), "asked");
  EXPECT_EQ(::send(session_.get(), "late", 4, MSG_NOSIGNAL), 4);
  session_.close();
  EXPECT_EQ(heard(), std::pair(std::string("late"), TlsStep::ended));
  tls_.reset();
  client_.close();
  EXPECT_EQ(end(), 0);
}

TEST_F(TlsSideTest, ASessionThatHasGoneIsHeardToItsEnd) {
  const size_t said = fill([&] {
    return static_cast<size_t>(
        std::max<ssize_t>(::send(session_.get(), page_.data(), page_.size(), MSG_NOSIGNAL), 0));
  });
  EXPECT_GT(said, 100'000U);
  EXPECT_LT(said, 4U << 20) << "nobody has taken it";
  session_.close();
  usleep(100'000);
  const auto [all, step] = heard();
  EXPECT_EQ(all.size(), said);
  EXPECT_EQ(step, TlsStep::ended);
  tls_.reset();
  client_.close();
  EXPECT_EQ(end(), 0);
}

TEST_F(TlsSideTest, AClientThatTakesNothingIsLetGoWhenItsSessionHasGone) {
  fill([&] {
    return static_cast<size_t>(
        std::max<ssize_t>(::send(session_.get(), page_.data(), page_.size(), MSG_NOSIGNAL), 0));
  });
  session_.close();
  const auto used = [] {
    rusage children{};
    getrusage(RUSAGE_CHILDREN, &children);
    const auto span = [](const timeval& time) {
      return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
    };
    return span(children.ru_utime) + span(children.ru_stime);
  };
  const auto before = used();
  EXPECT_EQ(end(), 0) << "after its limit, of one second";
  EXPECT_LT(used() - before, 700ms) << "it waits without turning around";
}

TEST_F(TlsSideTest, ASessionThatReadsNothingMakesItsClientWait) {
  size_t said = fill([&] {
    size_t count = 0;
    return tls_->write(page_, count) == TlsStep::done ? count : 0;
  });
  EXPECT_GT(said, 100'000U);
  EXPECT_LT(said, 4U << 20);
  const std::string pages = *read_file(cat("/proc/", side_, "/statm"));
  if (!is_sanitized) {
    EXPECT_LT(std::stoi(std::string(split(pages, ' ')[1])), 40'000);
  }
  // It goes on when somebody reads.
  size_t taken = 0, last = 0;
  std::array<char, 65'536> buffer{};
  const auto take = [&] {
    EXPECT_TRUE(await_events(session_.get(), POLLIN, 20s));
    taken += static_cast<size_t>(
        std::max<ssize_t>(::recv(session_.get(), buffer.data(), buffer.size(), 0), 0));
  };
  while (tls_->write(page_, last) == TlsStep::wants_to_write)
    take();
  // Of a call that waits, a part may have gone.
  said += last;
  while (taken < said)
    take();
  EXPECT_EQ(taken, said);
  ::shutdown(client_.get(), SHUT_RDWR);
  EXPECT_EQ(end(), 0) << "a client that goes without a word";
  EXPECT_EQ(::recv(session_.get(), buffer.data(), buffer.size(), 0), 0);
}

}  // namespace
}  // namespace fettle

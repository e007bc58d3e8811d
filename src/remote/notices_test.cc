/// What is told of the runs of schedules, to a receiver in a process of its own, over real sockets.

#include "remote/notices.h"

#include "base/hmac.h"
#include "base/rfc3339.h"
#include "remote/tls_side.h"
#include "tests/fixtures/certificates.h"
#include "tests/fixtures/command_server_fixture.h"

namespace fettle {
namespace {

const std::string notice_secret = std::string(64, '7');

TEST(NoticeEvents, FollowFromTheLastEndAndTheCode) {
  using Event = NoticeEvent;
  EXPECT_EQ(event_of_run("", {}, 0), Event::succeeded);
  EXPECT_EQ(event_of_run("succeeded", {}, 0), Event::succeeded);
  EXPECT_EQ(event_of_run("failed", {}, 0), Event::recovered);
  EXPECT_EQ(event_of_run("drifted", 4, 0), Event::recovered);
  EXPECT_EQ(event_of_run("succeeded", 4, 4), Event::drifted);
  EXPECT_EQ(event_of_run("succeeded", {}, 4), Event::failed) << "it does not say so";
  EXPECT_EQ(event_of_run("succeeded", 4, 1), Event::failed);
  EXPECT_EQ(event_of_run("succeeded", 4, {}), Event::failed) << "it was killed";
}

TEST(NoticeEvents, AreAskedForByName) {
  EXPECT_EQ(notice_events_in("failed, drifted").value(),
            (std::vector{NoticeEvent::failed, NoticeEvent::drifted}));
  for (const char* const text : {"", "fail", "failed,", "failed;drifted", "FAILED"})
    EXPECT_EQ(notice_events_in(text).error().blame, Blame::user) << text;
  EXPECT_NE(notice_events_in("faild").error().message.find("did you mean `failed`?"),
            std::string::npos);
  const ScheduleNotify all{"", {NoticeEvent::succeeded}};
  EXPECT_TRUE(is_wanted(all, NoticeEvent::recovered));
  EXPECT_FALSE(is_wanted(all, NoticeEvent::failed));
  EXPECT_FALSE(is_wanted({}, NoticeEvent::failed));
}

TEST(NoticeUrls, AreOfHttpAndShownWithoutWhatMayBeSecret) {
  for (const char* const url : {"https://hooks.example/a?b=c", "http://127.0.0.1:80/", "http://h"})
    EXPECT_TRUE(check_notice_url(url)) << url;
  for (const char* const url :
       {"", "ftp://h/", "file:///etc/passwd", "hooks.example", "http://", "https:///x",
        "http://h/a b", "http://h/\n", "http://h/#x", "gopher://h", "HTTP+UNIX://x"})
    EXPECT_EQ(check_notice_url(url).error().blame, Blame::user) << url;
  EXPECT_EQ(origin_of("https://me:sesame@hooks.example:80/T0/B0/key?token=x"),
            "https://hooks.example:80");
}

TEST(NoticePauses, GrowUpToADay) {
  EXPECT_EQ(pause_of_notices(1), 5s);
  EXPECT_EQ(pause_of_notices(2), 10s);
  EXPECT_EQ(pause_of_notices(5), 80s);
  EXPECT_EQ(pause_of_notices(60), 24h);
  EXPECT_EQ(pause_of_notices(1'000'000'000), 24h);
  WaitingNotices view;
  const Time now = *read_moment("2026-01-01T00:00:00Z");
  EXPECT_FALSE(is_due(view, now));
  view.waiting = 1;
  EXPECT_TRUE(is_due(view, now));
  view.failures = 1;
  view.next = now + 5s;
  EXPECT_FALSE(is_due(view, now));
  EXPECT_TRUE(is_due(view, now + 5s));
  EXPECT_TRUE(is_due(view, now - 1h)) << "the clock was put back";
}

TEST(NoticeSignatures, AreOfTheTimeAndTheBody) {
  EXPECT_EQ(notice_signature("key", "1", "body"), hmac_sha256_hex("key", "1.body"));
  EXPECT_NE(notice_signature("key", "1", "body"), notice_signature("key", "2", "body"));
}

class NoticeQueueTest : public testing::Test {
 protected:
  void add(const std::string& id) const {
    ASSERT_TRUE(queue_.add(id, NoticeEvent::failed, Value::dict({{"id", id}})));
  }
  TemporaryDirectory folder_ = *TemporaryDirectory::make();
  const NoticeQueue queue_{folder_.path() / "notices"};
};

TEST_F(NoticeQueueTest, KeepsTheirOrderAndEachOnce) {
  EXPECT_FALSE(queue_.first());
  for (const char* const id : {"a", "b", "a", "c"})
    add(id);
  std::string order;
  while (const auto first = queue_.first()) {
    order += first->id;
    EXPECT_EQ(first->body, cat(R"({"id":")", first->id, "\"}"));
    ASSERT_TRUE(queue_.remove(*first, queue_.view()));
  }
  EXPECT_EQ(order, "abc");
}

TEST_F(NoticeQueueTest, BeyondAHundredTheOldestGo) {
  for (size_t i = 0; i < most_notices + 7; ++i)
    add(std::to_string(i));
  EXPECT_EQ(queue_.view().waiting, most_notices);
  EXPECT_EQ(queue_.view().dropped, 7);
  EXPECT_EQ(queue_.first()->id, "7");
}

TEST_F(NoticeQueueTest, AFailureIsKeptUntilOneGetsThrough) {
  const Time now = *read_moment("2026-01-01T00:00:00Z");
  add("a");
  ASSERT_TRUE(queue_.note_failure("nobody there", now));
  ASSERT_TRUE(queue_.note_failure("nobody there", now));
  EXPECT_EQ(queue_.view().failures, 2);
  EXPECT_EQ(queue_.view().next, now + 10s);
  EXPECT_EQ(queue_.view().why, "nobody there");
  ASSERT_TRUE(queue_.remove(*queue_.first(), queue_.view()));
  EXPECT_EQ(queue_.view().failures, 0);
  EXPECT_EQ(queue_.view().why, "");
}

TEST_F(NoticeQueueTest, WhatIsBrokenOrHalfWrittenIsPassedOver) {
  add("a");
  ASSERT_TRUE(write_file(folder_.path() / "notices/000000000000", "{"));
  ASSERT_TRUE(write_file(folder_.path() / "notices/.000000000000.new", "{"));
  EXPECT_EQ(queue_.first()->id, "a");
}

/// A schedule that was removed meanwhile does not come back as an empty one.
TEST_F(NoticeQueueTest, NeedsItsSchedule) {
  const NoticeQueue gone(folder_.path() / "gone/notices");
  EXPECT_FALSE(gone.add("a", NoticeEvent::failed, Value::dict({})));
  EXPECT_FALSE(gone.take());
  EXPECT_FALSE(file_exists(folder_.path() / "gone"));
}

class NoticesTest : public ServerOfCommandsTest {
 protected:
  ~NoticesTest() override { end_receiver(); }

  /// Answers by the statuses in the file `answers`, the last of which counts on, and keeps what it
  /// got in `got`.
  void receive(const std::string& statuses, int port = 0) {
    answer(statuses);
    std::filesystem::create_directories(home_.path() / "got");
    const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;
    setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(listener.get(), 16), 0);
    socklen_t size = sizeof address;
    ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
    receiver_port_ = ntohs(address.sin_port);
    std::fflush(nullptr);
    receiver_ = fork();
    if (receiver_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (true)
        answer_one(Descriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)));
    }
  }
  void answer(const std::string& statuses) const {
    ASSERT_TRUE(write_file(home_.path() / "answers", statuses));
  }
  void end_receiver() {
    if (receiver_ <= 0)
      return;
    kill(receiver_, SIGKILL);
    waitpid(std::exchange(receiver_, -1), nullptr, 0);
  }
  void answer_one(const Descriptor& socket) const {
    std::string text;
    std::array<char, 65'536> buffer{};
    const auto is_whole = [&] {
      const size_t end = text.find("\r\n\r\n"), field = text.find("Content-Length: ");
      return end != text.npos && field != text.npos &&
             text.size() >= end + 4 + std::strtoul(text.c_str() + field + 16, nullptr, 10);
    };
    while (!is_whole()) {
      const ssize_t count = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
      if (count <= 0)
        return;
      text.append(buffer.data(), static_cast<size_t>(count));
    }
    const size_t number = got().size();
    const std::string all = read_file(home_.path() / "answers").value_or("200");
    const auto statuses = split(all, ' ');
    const std::string status(statuses[std::min(number, statuses.size() - 1)]);
    EXPECT_TRUE(write_file(home_.path() / "got" / cat(1'000 + number), text));
    const std::string reply =
        cat("HTTP/1.1 ", status, " x\r\nLocation: http://127.0.0.1:", receiver_port_,
            "/other\r\nContent-Length: 0\r\n\r\n");
    ::send(socket.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
  }
  /// The requests, in their order.
  std::vector<std::string> got() const {
    std::vector<Path> files;
    for (const auto& entry : std::filesystem::directory_iterator(home_.path() / "got"))
      if (entry.path().filename().string()[0] == '1')
        files.push_back(entry.path());
    std::ranges::sort(files);
    std::vector<std::string> texts;
    for (const Path& file : files)
      texts.push_back(read_file(file).value_or(""));
    return texts;
  }
  static std::string body_of(const std::string& request) {
    return request.substr(request.find("\r\n\r\n") + 4);
  }
  static Value document_of(const std::string& request) { return *read_json(body_of(request)); }
  static std::string field_of(const std::string& request, std::string_view name) {
    const size_t at = request.find(cat("\r\n", name, ": "));
    return at == request.npos ? ""
                              : request.substr(at + name.size() + 4,
                                               request.find("\r\n", at + 2) - at - name.size() - 4);
  }
  /// The events that were told, in their order.
  std::string events() const {
    std::string all;
    for (const std::string& request : got())
      all += cat(all.empty() ? "" : " ", document_of(request).text_at("event"));
    return all;
  }
  void add(const std::string& name, std::vector<std::string> words, std::vector<NoticeEvent> events,
           std::string url = {}, bool tells_drift = false) const {
    Schedule made;
    made.name = name;
    made.request.words = std::move(words);
    made.request.folder = "/home/me";
    made.shown = made.request.words[0];
    made.token = own_token_name;
    made.right = Right::act;
    made.environments = {"shop"};
    made.added = now_from_clock();
    made.tells_drift = tells_drift;
    ScheduleSecrets secrets;
    secrets.notify = notice_secret;
    secrets.notify_url =
        url.empty() ? cat("http://127.0.0.1:", receiver_port_, "/path?key=sesame") : url;
    made.notify = {origin_of(secrets.notify_url), std::move(events)};
    const Status added = book_.add(made, "/", secrets);
    ASSERT_TRUE(added) << to_string(added.error());
    book_.wake();
  }
  /// Runs it, until it has ended.
  void run(const std::string& name) const {
    const int64_t before = state(name).run;
    ASSERT_TRUE(book_.change(name, [](ScheduleState& asked) { asked.is_asked = true; }));
    book_.wake();
    ASSERT_TRUE(comes([&] {
      const ScheduleState now = state(name);
      return now.run > before && now.code && now.told == now.run;
    }));
  }
  ScheduleState state(const std::string& name) const { return *book_.state(name); }
  WaitingNotices view(const std::string& name) const { return notice_queue(book_, name).view(); }

  const std::vector<NoticeEvent> all_{NoticeEvent::failed, NoticeEvent::drifted,
                                      NoticeEvent::succeeded, NoticeEvent::refused};
  const ScheduleBook book_{schedule_book(home_.path())};
  pid_t receiver_ = -1;
  int receiver_port_ = 0;
};

TEST_F(NoticesTest, ARunThatFailedIsToldWithItsEnd) {
  receive("204");
  serve();
  add("one", {"hello"}, {NoticeEvent::failed});
  run("one");
  ASSERT_TRUE(comes([&] { return got().size() == 1; }));
  const std::string request = got()[0];
  EXPECT_TRUE(request.starts_with("POST /path?key=sesame HTTP/1.1\r\n")) << request;
  EXPECT_EQ(field_of(request, "Content-Type"), "application/json");
  EXPECT_EQ(field_of(request, "X-Fettle-Event"), "failed");
  EXPECT_EQ(field_of(request, "X-Fettle-Delivery"), "one-1-failed");
  const std::string timestamp = field_of(request, "X-Fettle-Timestamp");
  EXPECT_EQ(field_of(request, "X-Fettle-Signature"),
            cat("sha256=", hmac_sha256_hex(notice_secret, cat(timestamp, ".", body_of(request)))));
  const int64_t now =
      std::chrono::duration_cast<std::chrono::seconds>(now_from_clock().time_since_epoch()).count();
  EXPECT_NEAR(std::stod(timestamp), static_cast<double>(now), 60);
  const Value document = document_of(request);
  EXPECT_EQ(document.text_at("id"), "one-1-failed");
  EXPECT_EQ(document.text_at("schedule"), "one");
  EXPECT_EQ(document.text_at("command"), "hello");
  EXPECT_EQ(write_json(document.at("environments")), R"(["shop"])");
  EXPECT_EQ(document.integer_at("run"), 1);
  EXPECT_EQ(document.integer_at("code"), 7);
  EXPECT_EQ(document.text_at("status"), "ended");
  const std::string output(document.text_at("output"));  // two pipes: either may be read first
  EXPECT_TRUE(output == "out\nerr\n" || output == "err\nout\n") << output;
  EXPECT_TRUE(read_moment(document.text_at("at")));
  EXPECT_TRUE(read_moment(document.text_at("began")));
  ASSERT_TRUE(comes([&] { return view("one").waiting == 0; }));
}

TEST_F(NoticesTest, WhatIsNotWantedIsNotTold) {
  receive("200");
  serve();
  add("fails", {"hello"}, {NoticeEvent::succeeded, NoticeEvent::drifted});
  run("fails");
  add("well", {"acts"}, {NoticeEvent::failed});
  run("well");
  add("told", {"acts"}, {NoticeEvent::succeeded});
  run("told");
  ASSERT_TRUE(comes([&] { return got().size() == 1; }));
  EXPECT_EQ(document_of(got()[0]).text_at("schedule"), "told");
}

TEST_F(NoticesTest, OneThatDriftedAndIsWellAgain) {
  receive("200");
  const std::string code = (home_.path() / "code").string();
  serve({}, [code](const CommandRequest&, const std::string&) {
    return std::stoi(read_file(code).value_or("9"));
  });
  add("check", {"acts"}, {NoticeEvent::failed, NoticeEvent::drifted, NoticeEvent::recovered}, {},
      true);
  for (const char* const one : {"0", "4", "1", "0", "0"}) {
    ASSERT_TRUE(write_file(code, one));
    run("check");
  }
  ASSERT_TRUE(comes([&] { return got().size() == 3; }));
  EXPECT_EQ(events(), "drifted failed recovered");
}

TEST_F(NoticesTest, OneThatDoesNotGetThroughHoldsUpTheNextOnesAndNoRun) {
  receive("302 200");
  serve();
  add("one", {"acts"}, {NoticeEvent::succeeded});
  run("one");
  ASSERT_TRUE(comes([&] { return view("one").failures == 1; }));
  EXPECT_EQ(view("one").why, "the receiver answered with status 302");
  run("one");
  run("one");
  EXPECT_EQ(view("one").waiting, 3u);
  EXPECT_EQ(got().size(), 1u);
  ASSERT_TRUE(comes([&] { return got().size() == 4; }));
  std::string ids;
  for (const std::string& request : got())
    ids += cat(document_of(request).text_at("id"), " ");
  EXPECT_EQ(ids, "one-1-succeeded one-1-succeeded one-2-succeeded one-3-succeeded ");
  EXPECT_TRUE(got()[1].starts_with("POST /path")) << "a redirect is not followed";
  ASSERT_TRUE(comes([&] { return view("one").waiting == 0; }));
  EXPECT_EQ(view("one").failures, 0);
}

TEST_F(NoticesTest, AServerThatIsKilledLosesNone) {
  receive("200");
  end_receiver();
  serve();
  add("one", {"acts"}, {NoticeEvent::succeeded});
  run("one");
  ASSERT_TRUE(comes([&] { return view("one").failures == 1; }));
  EXPECT_EQ(view("one").why.find("sesame"), std::string::npos) << view("one").why;
  kill_all();
  receive("200", receiver_port_);
  serve();
  ASSERT_TRUE(comes([&] { return got().size() == 1; }));
  EXPECT_EQ(document_of(got()[0]).text_at("id"), "one-1-succeeded");
}

TEST_F(NoticesTest, ARunThatWasKilledWithItsServerIsTold) {
  receive("200");
  serve();
  add("long", {"wait", flag()}, all_);
  ASSERT_TRUE(book_.change("long", [](ScheduleState& asked) { asked.is_asked = true; }));
  book_.wake();
  ASSERT_TRUE(comes([&] { return state("long").run == 1 && runs()[0].is_running; }));
  kill_all();
  EXPECT_TRUE(got().empty());
  serve();
  ASSERT_TRUE(comes([&] { return got().size() == 1; }));
  const Value document = document_of(got()[0]);
  EXPECT_EQ(cat(document.text_at("event"), " ", document.text_at("status")), "failed killed");
  EXPECT_EQ(write_json(document.at("code")), "null");
  ASSERT_TRUE(comes([&] { return state("long").told == 1; }));
}

TEST_F(NoticesTest, KilledAtAnyMomentEachRunIsTold) {
  receive("200");
  add("one", {"acts"}, {NoticeEvent::succeeded, NoticeEvent::failed});
  std::set<int64_t> begun;
  // On a busy machine the first ones are killed before anything has begun.
  for (int i = 0; i < 8 || (state("one").run < 2 && i < 100); ++i) {
    ASSERT_TRUE(book_.change("one", [](ScheduleState& asked) { asked.is_asked = true; }));
    server_.address.port = 0;
    serve();
    usleep(static_cast<useconds_t>(i * 7'000));
    kill_all();
    begun.insert(state("one").run);
  }
  server_.address.port = 0;
  serve();
  ASSERT_TRUE(comes([&] {
    return !state("one").is_asked && state("one").told == state("one").run &&
           view("one").waiting == 0 && !book_.is_running("one");
  }));
  std::set<int64_t> told;
  for (const std::string& request : got())
    told.insert(document_of(request).integer_at("run"));
  begun.insert(state("one").run);
  begun.erase(0);
  EXPECT_GT(begun.size(), 1u);
  EXPECT_EQ(told, begun) << "each once, or twice with one id";
}

TEST_F(NoticesTest, ARefusalIsToldOnceAsLongAsItIsTheSame) {
  receive("200");
  serve();
  Schedule made;
  made.name = "one";
  made.request.words = {"acts"};
  made.request.folder = "/";
  made.shown = "acts";
  made.token = "gone";
  made.token_id = "0";
  made.added = now_from_clock();
  made.times.every = 1s;
  ScheduleSecrets secrets;
  secrets.notify = notice_secret;
  secrets.notify_url = cat("http://127.0.0.1:", receiver_port_, "/");
  made.notify = {origin_of(secrets.notify_url), all_};
  ASSERT_TRUE(book_.add(made, "/", secrets));
  book_.wake();
  ASSERT_TRUE(comes([&] { return got().size() == 1; }));
  usleep(2'500'000);
  EXPECT_EQ(events(), "refused");
  EXPECT_EQ(document_of(got()[0]).text_at("why"),
            "the token `gone`, which added it, was taken away");
}

TEST_F(NoticesTest, TheEndOfALongOutputIsTold) {
  receive("200");
  serve({}, [](const CommandRequest&, const std::string&) {
    for (int i = 0; i < 3'000; ++i)
      say(cat("line ", i, "\n"));
    say("\x1b[31mred \xff\n");
    return 1;
  });
  add("one", {"acts"}, {NoticeEvent::failed});
  run("one");
  ASSERT_TRUE(comes([&] { return got().size() == 1; }));
  const std::string output(document_of(got()[0]).text_at("output"));
  EXPECT_LE(output.size(), 4'200u);
  EXPECT_TRUE(output.starts_with("line ")) << output.substr(0, 20);
  EXPECT_TRUE(output.ends_with("line 2999\n\\x1b[31mred \\xff\n")) << output;
}

TEST_F(NoticesTest, AReceiverWhoseCertificateIsNotTrustedIsToldNothing) {
  const SelfSigned stranger("127.0.0.1");
  EXPECT_TRUE(write_file(home_.path() / "cert.pem", stranger.certificate));
  EXPECT_TRUE(write_file(home_.path() / "key.pem", stranger.key, 0600));
  ServeSettings settings;
  settings.tls = TlsFiles{home_.path() / "cert.pem", home_.path() / "key.pem"};
  serve(settings);
  add("one", {"acts"}, {NoticeEvent::succeeded}, cat(server_.url, "/hooks/one"));
  ASSERT_TRUE(book_.change("one", [](ScheduleState& asked) { asked.is_asked = true; }));
  book_.wake();
  ASSERT_TRUE(comes([&] { return view("one").failures == 1; }));
  EXPECT_NE(view("one").why.find("certificate"), std::string::npos) << view("one").why;
}

TEST_F(NoticesTest, NoSecretIsWrittenAnywhere) {
  receive("500");
  serve();
  add("one", {"acts"}, {NoticeEvent::succeeded});
  run("one");
  ASSERT_TRUE(comes([&] { return view("one").failures == 1; }));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(home_.path() / "serve")) {
    if (!entry.is_regular_file())
      continue;
    const std::string text = read_file(entry.path()).value_or("");
    EXPECT_EQ(text.find(notice_secret), std::string::npos) << entry.path();
    EXPECT_EQ(text.find("sesame"), std::string::npos) << entry.path();
  }
}

TEST_F(NoticesTest, OneThatIsRemovedTellsNothingMoreAndItsNameIsFree) {
  receive("500");
  serve();
  add("one", {"acts"}, {NoticeEvent::succeeded});
  run("one");
  ASSERT_TRUE(comes([&] { return view("one").failures == 1; }));
  ASSERT_TRUE(book_.remove("one"));
  book_.wake();
  add("one", {"hello"}, {NoticeEvent::succeeded});
  EXPECT_EQ(view("one").waiting, 0u);
  run("one");
  EXPECT_EQ(got().size(), 1u);
}

}  // namespace
}  // namespace fettle

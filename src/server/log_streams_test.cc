/// Logs that are followed over a real socket, of an engine whose log the test writes.

#include "server/log_streams.h"

#include <gtest/gtest.h>

#include "server/log_position.h"
#include "tests/fixtures/logs_only.h"
#include "tests/fixtures/server_fixture.h"

namespace fettle {
namespace {

/// A log that grows, as engines keep it: asked for since when, it leaves out what is older.
class LogEngine : public FakeEngine, public LogsOnly {
 public:
  using FakeEngine::FakeEngine;

  /// Of this many nanoseconds after the first second of 2026.
  void add(int64_t ns, const std::string& text, OutputStream stream = OutputStream::out) {
    const std::lock_guard lock(mutex_);
    lines_.push_back({Time(Duration(first_ns + ns)), stream, text});
    changed_.notify_all();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_all();
  }
  /// The container is another one, with a log of its own.
  void forget() {
    const std::lock_guard lock(mutex_);
    lines_.clear();
  }
  size_t handed_over() const { return handed_over_; }

  ContainerEngine* container_engine() override { return this; }
  Status logs(const std::string&, const LogOptions& options, bool, const StreamSink& sink,
              std::stop_token stop) override {
    const int64_t since = options.since.empty() ? 0 : std::atoll(options.since.c_str());
    std::unique_lock lock(mutex_);
    size_t at = options.tail >= 0 && lines_.size() > static_cast<size_t>(options.tail)
                    ? lines_.size() - static_cast<size_t>(options.tail)
                    : 0;
    for (;; ++at) {
      if (at >= lines_.size() && (!options.follow || !changed_.wait(lock, stop, [&] {
            return at < lines_.size() || has_ended_;
          }) || at >= lines_.size()))
        return stop.stop_requested() ? Status(cancelled_error()) : Status();
      const Line line = lines_[at];
      if (line.time.time_since_epoch() < std::chrono::seconds(since))
        continue;
      lock.unlock();
      TRY(sink(line.stream, cat(text_of(line.time), " ", line.text, "\n")));
      handed_over_ += options.follow ? 1 : 0;
      lock.lock();
    }
  }

 private:
  struct Line {
    Time time;
    OutputStream stream;
    std::string text;
  };
  static constexpr int64_t first_ns = 1'767'225'600'000'000'000;
  static std::string text_of(Time time) {
    const std::string fraction =
        std::to_string(time.time_since_epoch().count() % 1'000'000'000 + 1'000'000'000);
    return cat(to_string(time).substr(0, 20), fraction.substr(1), "Z");
  }

  std::mutex mutex_;
  Condition changed_;
  std::vector<Line> lines_;
  bool has_ended_ = false;
  std::atomic<size_t> handed_over_ = 0;
};

class LogStreamsTest : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    place_.driver = [this](const Name& name) -> Driver* {
      return name == "host" ? static_cast<Driver*>(&this->RunPackageTest::host_) : &log_;
    };
    ASSERT_EQ(run(add("web")), "R");
    serve();
    enter();
  }
  void TearDown() override {
    stop();
    ServerTest::TearDown();
  }

  static constexpr const char* target = "/api/environments/e/services/web/logs/stream";
  std::string asked_for(const std::string& query, const std::string& last_seen = {}) const {
    return request(cat(target, query),
                   cat("Cookie: ", cookie_, "\r\n",
                       last_seen.empty() ? "" : cat("Last-Event-ID: ", last_seen, "\r\n")));
  }
  static std::vector<std::string> after(const std::string& stream, const std::string& mark) {
    std::vector<std::string> found;
    for (const std::string_view line : split(stream, '\n'))
      if (line.starts_with(mark))
        found.emplace_back(line.substr(mark.size()));
    return found;
  }
  /// All that comes until the end of the line with this text.
  static std::string heard(const Wire& wire, const std::string& text) {
    std::string all = wire.until(text);
    while (all.find("\n\n", all.rfind(text)) == all.npos && wire.hear(all)) {
    }
    return all;
  }
  static std::string texts(const std::string& stream) {
    std::string all;
    for (const std::string& data : after(stream, "data: "))
      if (const Result<Value> line = read_json(data); line && !line->text_at("text").empty())
        all += cat(all.empty() ? "" : " ", line->text_at("text"));
    return all;
  }

  LogEngine log_{home_.blobs()};
};

TEST_F(LogStreamsTest, LinesComeAsTheyAreWrittenAfterTheLastOnes) {
  for (int i = 0; i < 10; ++i)
    log_.add(i * 1'000, cat("old", i));
  const Wire stream(server_->port());
  ASSERT_TRUE(stream.say(asked_for("?tail=2")));
  const std::string first = heard(stream, "old9");
  EXPECT_NE(first.find("Content-Type: text/event-stream\r\n"), std::string::npos) << first;
  EXPECT_EQ(texts(first), "old8 old9");
  log_.add(20'000, "new", OutputStream::errors);
  const std::string second = heard(stream, "new");
  EXPECT_NE(second.find("\"stream\":\"stderr\""), std::string::npos) << second;
  EXPECT_EQ(texts(second), "new");
  log_.end();
  EXPECT_NE(stream.until("ended\ndata: ").find("event: ended\n"), std::string::npos);
}

TEST_F(LogStreamsTest, WhoeverComesBackGetsEachLineOnce) {
  // Many in one moment, and one that is older than the one before.
  for (int i = 0; i < 5; ++i)
    log_.add(500, cat("a", i));
  const Wire before(server_->port());
  ASSERT_TRUE(before.say(asked_for("")));
  const std::vector<std::string> ids = after(heard(before, "a4"), "id: ");
  ASSERT_EQ(ids.size(), 5u);
  log_.add(500, "b0");
  log_.add(499, "b1");
  log_.add(3'000'000'000, "b2");
  for (size_t seen = 1; seen <= ids.size(); ++seen) {
    const Wire again(server_->port());
    ASSERT_TRUE(again.say(asked_for("", ids[seen - 1])));
    std::string wanted;
    for (size_t i = seen; i < ids.size(); ++i)
      wanted += cat("a", i, " ");
    EXPECT_EQ(texts(heard(again, "b2")), wanted + "b0 b1 b2") << seen;
  }
  // The page itself says where it was.
  const Wire page(server_->port());
  ASSERT_TRUE(page.say(asked_for(cat("?after=", ids[3]))));
  EXPECT_EQ(texts(heard(page, "b2")), "a4 b0 b1 b2");
}

TEST_F(LogStreamsTest, ANewContainerTellsAllItsLines) {
  log_.add(0, "old0");
  log_.add(1, "old1");
  const Wire before(server_->port());
  ASSERT_TRUE(before.say(asked_for("")));
  const std::vector<std::string> ids = after(heard(before, "old1"), "id: ");
  ASSERT_EQ(ids.size(), 2u);
  log_.forget();
  log_.add(5'000'000'000, "new0");
  log_.add(5'000'000'000, "new1");
  const Wire again(server_->port());
  ASSERT_TRUE(again.say(asked_for("", ids.back())));
  EXPECT_EQ(texts(heard(again, "new1")), "new0 new1");
}

TEST_F(LogStreamsTest, AViewerThatDoesNotReadMakesItsEngineWait) {
  constexpr int count = 2'000;
  for (int i = 0; i < count; ++i)
    log_.add(i, cat(i, " ", std::string(10'000, 'x')));
  const Wire stream(server_->port());
  ASSERT_TRUE(stream.say(asked_for("?tail=5000")));
  // What sockets of the system hold is some MB; 20 MB are more than those and the room of a viewer.
  EXPECT_NE(stream.until("id: ").find("event-stream"), std::string::npos);
  EXPECT_EQ(status_of(told("/api/environments")), "200");
  EXPECT_LT(log_.handed_over(), static_cast<size_t>(count));
  const std::string all = stream.until(cat("\"text\":\"", count - 1, " "));
  EXPECT_GT(all.size(), size_t{15'000'000});
}

TEST_F(LogStreamsTest, AViewerThatHasGoneIsLetGo) {
  for (int i = 0; i < 40; ++i) {  // more than may follow at once
    const Wire stream(server_->port());
    ASSERT_TRUE(stream.say(asked_for("")));
    // Whether one has gone is known when its socket says so, which takes a moment.
    std::string head = stream.until("\r\n\r\n");
    for (int tries = 0; !head.starts_with("HTTP/1.1 200") && tries < 200; ++tries) {
      std::this_thread::sleep_for(10ms);
      const Wire again(server_->port());
      ASSERT_TRUE(again.say(asked_for("")));
      head = again.until("\r\n\r\n");
    }
    ASSERT_TRUE(head.starts_with("HTTP/1.1 200")) << i << ": " << head;
  }
}

TEST_F(LogStreamsTest, WhatCannotBeFollowedIsRefused) {
  EXPECT_EQ(status_of(told("/api/environments/e/services/nope/logs/stream")), "404");
  EXPECT_EQ(status_of(told(cat(target, "?tail=0"))), "400");
  EXPECT_EQ(status_of(told(cat(target, "?since=1"))), "400");
  for (const char* place : {"x", "1.2", "1.2.3.4", "-5.1.1", "1.-1.1", "1..1",
                            "99999999999999999999.1.1", "9223372036854775807.1.1"})
    EXPECT_EQ(status_of(told(cat(target, "?after=", place))), "400") << place;
}

/// Lines of a long log come as an engine would have them, with a reader that leaves now and then.
TEST(LogPositions, NoLineIsLostOrDoubledWhereverAReaderLeaves) {
  constexpr int64_t step = 100'000'000;
  std::vector<Time> log;
  for (int64_t i = 0; i < 300; ++i)  // up to a second out of order, several in one moment
    log.push_back(Time(Duration(10'000'000'000 + (i - i % 3) * step - (i * 7 % 11) * step)));
  for (size_t leaves = 1; leaves < 40; ++leaves) {
    std::vector<int> read(log.size());
    std::string place = LogPosition(Time(Duration(0))).text();
    for (size_t turns = 0; turns < log.size() + 1; ++turns) {
      Result<LogPosition> position = LogPosition::read(place);
      ASSERT_TRUE(position) << place;
      const int64_t since = position->since().empty() ? 0 : std::atoll(position->since().c_str());
      size_t taken = 0;
      for (size_t i = 0; i < log.size() && taken < leaves; ++i)
        if (log[i].time_since_epoch() >= std::chrono::seconds(since) && position->take(log[i])) {
          ++read[i];
          ++taken;
          place = position->text();
        }
      if (taken == 0)
        break;
    }
    for (size_t i = 0; i < log.size(); ++i)
      EXPECT_EQ(read[i], 1) << "line " << i << ", leaves after " << leaves;
  }
}

TEST(LogPositions, ComingBackLooksAtLittle) {
  LogPosition position(Time(Duration(0)));
  for (int64_t i = 0; i < 1'000; ++i)
    EXPECT_TRUE(position.take(Time(i * 1s)));
  EXPECT_GE(std::atoll(position.since().c_str()), 990);
}

}  // namespace
}  // namespace fettle

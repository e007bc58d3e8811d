#include "kubernetes/reflector.h"

#include <gtest/gtest.h>

#include <charconv>
#include <thread>

#include "base/text.h"
#include "tests/kubernetes/cluster.h"
#include "tests/kubernetes/played_transport.h"

namespace fettle::kubernetes {
namespace {

/// Keeps what it is told, and holds the reflector to its promises.
class Mirror : public ObjectListener {
 public:
  void put(const ObjectName& name, const Value& object) override {
    const Value& about = object.at("metadata");
    const std::string uid(about.text_at("uid"));
    int64_t version = 0;
    const std::string_view digits = about.text_at("resourceVersion");
    std::from_chars(digits.data(), digits.data() + digits.size(), version);
    const auto [last, is_new] = objects.try_emplace(name, uid, 0);
    EXPECT_EQ(last->second.first, uid) << "the end of the one before was not told";
    EXPECT_GT(version, last->second.second) << to_string(name);
    last->second.second = version;
    told += cat("+", name.name, " ");
  }
  void gone(const ObjectName& name, const std::string& uid) override {
    const auto found = objects.find(name);
    ASSERT_NE(found, objects.end());
    EXPECT_EQ(found->second.first, uid);
    objects.erase(found);
    told += cat("-", name.name, " ");
  }
  void synced() override {
    told += "synced ";
    ++syncs;
  }
  std::string take() { return std::exchange(told, {}); }

  std::map<ObjectName, std::pair<std::string, int64_t>> objects;
  std::string told;
  int syncs = 0;
};

Value map_of(std::string_view name, std::string_view uid, int version) {
  return *read_json(cat(R"({"metadata":{"namespace":"a","name":")", name, R"(","uid":")", uid,
                        R"(","resourceVersion":")", version, R"("}})"));
}

WatchEvent event_of(WatchEvent::Type type, const Value& object) { return {type, object}; }

WatchEvent end_of_list(int version) {
  return event_of(WatchEvent::Type::bookmark,
                  *read_json(cat(R"({"metadata":{"resourceVersion":")", version,
                                 R"(","annotations":{"k8s.io/initial-events-end":"true"}}})")));
}

class ReflectorTest : public testing::Test {
 protected:
  static std::string told(const ReflectorStep& step) {
    switch (step.kind) {
      case ReflectorStep::Kind::list:
        return cat("list ", step.list.limit, step.list.rest.empty() ? "" : " after ",
                   step.list.rest);
      case ReflectorStep::Kind::watch:
        return step.watch.sends_initial_events ? "stream"
                                               : cat("watch ", step.watch.resource_version);
      case ReflectorStep::Kind::wait:
        return "wait";
    }
    return {};
  }
  ReflectorStep synced_at(int version) {
    ReflectorStep step = reflector.begin(now);
    reflector.take(end_of_list(version));
    return step;
  }

  Mirror mirror;
  Reflector reflector{{.type = config_maps}, mirror, 1};
  Instant now{1h};
};

TEST_F(ReflectorTest, AStreamIsAListAndThenAWatch) {
  EXPECT_EQ(told(reflector.begin(now)), "stream");
  reflector.take(event_of(WatchEvent::Type::added, map_of("x", "1", 7)));
  EXPECT_FALSE(reflector.is_synced());
  reflector.take(event_of(WatchEvent::Type::added, map_of("y", "2", 5)));
  reflector.take(end_of_list(9));
  reflector.take(event_of(WatchEvent::Type::deleted, map_of("x", "1", 10)));
  EXPECT_EQ(mirror.take(), "+x +y synced -x ");
  EXPECT_EQ(told(reflector.end_watch({}, now + 5min)), "watch 10");
  reflector.take(event_of(WatchEvent::Type::bookmark, map_of("", "", 30)));
  EXPECT_EQ(told(reflector.end_watch({}, now + 10min)), "watch 30");
}

TEST_F(ReflectorTest, AServerThatStreamsNoListsIsReadInPages) {
  for (const ApiReason reason : {ApiReason::invalid, ApiReason::bad_request, ApiReason::internal}) {
    Reflector other({.type = config_maps}, mirror, 1);
    other.begin(now);
    EXPECT_EQ(told(other.end_watch(failed_with(reason), now)), "list 500");
    ListPage page{.items = {map_of("x", "1", 7)}, .resource_version = "9", .rest = "r"};
    EXPECT_EQ(told(other.take_page(page, now)), "list 500 after r");
    page = {.items = {map_of("y", "2", 5)}, .resource_version = "9", .rest = ""};
    EXPECT_EQ(told(other.take_page(page, now)), "watch 9");
    EXPECT_EQ(mirror.take(), "+x +y synced ");
    // And from then on.
    EXPECT_EQ(told(other.end_watch(failed_with(ApiReason::expired), now)), "list 500");
    mirror.objects.clear();
  }
}

TEST_F(ReflectorTest, PagesThatExpireAreReadAsOne) {
  reflector.begin(now);
  reflector.end_watch(failed_with(ApiReason::invalid), now);
  reflector.take_page(
      ListPage{.items = {map_of("x", "1", 7)}, .resource_version = "9", .rest = "r"}, now);
  EXPECT_EQ(told(reflector.take_page(failed_with(ApiReason::expired), now)), "list 0");
  const ListPage all{.items = {map_of("y", "2", 8)}, .resource_version = "9", .rest = ""};
  EXPECT_EQ(told(reflector.take_page(all, now)), "watch 9");
  EXPECT_EQ(mirror.take(), "+x +y -x synced ") << "x went while it was listed";
}

TEST_F(ReflectorTest, WhatVanishedBetweenTwoListsIsTold) {
  reflector.begin(now);
  for (const char* name : {"x", "y", "z"})
    reflector.take(event_of(WatchEvent::Type::added, map_of(name, name, 5)));
  reflector.take(end_of_list(9));
  mirror.take();
  EXPECT_EQ(told(reflector.end_watch(failed_with(ApiReason::expired), now)), "stream");
  reflector.take(event_of(WatchEvent::Type::added, map_of("y", "another", 20)));
  reflector.take(event_of(WatchEvent::Type::added, map_of("z", "z", 5)));
  EXPECT_EQ(mirror.take(), "-y +y ") << "z is as it was";
  reflector.take(end_of_list(30));
  EXPECT_EQ(mirror.take(), "-x synced ");
}

TEST_F(ReflectorTest, AListThatBreaksOffTellsNoEnds) {
  reflector.begin(now);
  reflector.take(event_of(WatchEvent::Type::added, map_of("x", "1", 5)));
  reflector.take(end_of_list(9));
  reflector.end_watch(failed_with(ApiReason::expired), now);
  reflector.take(event_of(WatchEvent::Type::added, map_of("y", "2", 5)));
  const ReflectorStep broken = reflector.end_watch(failed_with(ApiReason::unreachable), now);
  EXPECT_EQ(told(broken), "wait");
  EXPECT_EQ(told(reflector.wake(broken.until)), "stream");
  EXPECT_EQ(mirror.take(), "+x synced +y ");
  reflector.take(event_of(WatchEvent::Type::added, map_of("x", "1", 5)));
  reflector.take(end_of_list(12));
  EXPECT_EQ(mirror.take(), "-y synced ");
}

TEST_F(ReflectorTest, PausesGrowAndEndWithSuccess) {
  synced_at(9);
  Duration last{0};
  for (int i = 0; i < 8; ++i) {
    const ReflectorStep step = reflector.end_watch(failed_with(ApiReason::unreachable), now);
    ASSERT_EQ(told(step), "wait");
    const Duration pause = step.until - now, least = std::min<Duration>(800ms * (1 << i), 30s);
    EXPECT_GE(pause, least);
    EXPECT_LT(pause, 2 * least);
    last = pause;
    EXPECT_EQ(told(reflector.wake(step.until)), "watch 9");
  }
  EXPECT_GE(last, 30s);
  reflector.take(event_of(WatchEvent::Type::added, map_of("x", "1", 11)));
  EXPECT_EQ(told(reflector.end_watch({}, now)), "watch 11");
  const ReflectorStep again = reflector.end_watch({}, now);
  ASSERT_EQ(told(again), "wait") << "a watch that ends at once and says nothing is a failure";
  EXPECT_LT(again.until - now, 1600ms);
}

TEST_F(ReflectorTest, TheServerSaysHowLongToWait) {
  synced_at(9);
  ApiError busy = failed_with(ApiReason::too_many_requests);
  busy.retry_after = 7s;
  EXPECT_GE(reflector.end_watch(busy, now).until, now + 7s);
}

TEST_F(ReflectorTest, AVersionThatIsAlwaysTooOldIsNotAskedForInARow) {
  synced_at(9);
  EXPECT_EQ(told(reflector.end_watch(failed_with(ApiReason::expired), now)), "stream");
  EXPECT_EQ(told(reflector.end_watch(failed_with(ApiReason::expired), now)), "wait");
}

/// Its cache is smaller than what is written while it lists.
TEST_F(ReflectorTest, AServerThatForgetsWhatItHasListedIsNotListedInARow) {
  synced_at(9);
  EXPECT_EQ(told(reflector.end_watch(failed_with(ApiReason::expired), now)), "stream");
  reflector.take(end_of_list(20));
  EXPECT_EQ(told(reflector.end_watch(failed_with(ApiReason::expired), now)), "wait");
  EXPECT_EQ(told(reflector.wake(now)), "stream");
  reflector.take(end_of_list(30));
  reflector.take(event_of(WatchEvent::Type::added, map_of("x", "1", 31)));
  EXPECT_EQ(told(reflector.end_watch(failed_with(ApiReason::expired), now + 1min)), "stream")
      << "a watch that went well for a while begins the count anew";
}

TEST_F(ReflectorTest, AListThatTheServerEndsInItsMiddleIsAFailure) {
  reflector.begin(now);
  for (int i = 0; i < 3; ++i) {
    reflector.take(event_of(WatchEvent::Type::added, map_of("x", "1", 5)));
    const ReflectorStep step = reflector.end_watch({}, now + 10s);
    ASSERT_EQ(told(step), "wait");
    EXPECT_GE(step.until, now + 10s + 800ms * (1 << i));
    EXPECT_EQ(told(reflector.wake(now)), "stream");
  }
  EXPECT_FALSE(reflector.is_synced());
}

/// It may wait for a version that a store which was put back reaches in weeks.
TEST_F(ReflectorTest, AWatchThatHeardNothingAtAllEndsInAList) {
  synced_at(100'000);
  ReflectorStep step = reflector.end_watch(failed_with(ApiReason::unreachable), now + 1min);
  EXPECT_EQ(told(reflector.wake(step.until)), "watch 100000") << "the connection broke";
  step = reflector.end_watch(failed_with(ApiReason::unreachable), step.until + 150s);
  EXPECT_EQ(told(step), "wait");
  EXPECT_EQ(told(reflector.wake(step.until)), "stream");
  reflector.take(end_of_list(60'000));
  reflector.take(event_of(WatchEvent::Type::bookmark, map_of("", "", 60'001)));
  step = reflector.end_watch(failed_with(ApiReason::unreachable), step.until + 10min);
  EXPECT_EQ(told(reflector.wake(step.until)), "watch 60001");
}

TEST(ReflectorServer, SaysNothingFromAVersionOfTheFuture) {
  ApiServer server;
  const Time begin{1'700'000'000s};
  const auto lines_from = [&](int version) {
    const ApiAnswer answer = server.handle(
        {.target = cat("/api/v1/configmaps?watch=true&allowWatchBookmarks=true&resourceVersion=",
                       version)},
        begin);
    std::string lines;
    EXPECT_TRUE(server.take_lines(answer.watch.value_or(0), lines, begin + 10min));
    return lines;
  };
  EXPECT_EQ(lines_from(1'000'000), "");
  EXPECT_NE(lines_from(101).find("BOOKMARK"), std::string::npos);
}

/// A server under a clock that is played, with random faults: at the end the mirror has what the
/// server has.
class Life {
 public:
  explicit Life(uint64_t seed) : prng_(seed), seed_(seed) {
    server_.has_watch_lists = prng_.chance(60);
    server_.bookmark_interval = 1min;
    auto transport = std::make_unique<PlayedTransport>(server_, wall_);
    transport_ = transport.get();
    client_ = std::make_unique<Client>(std::move(transport), ClientSettings{.qps = 0, .tries = 1});
  }

  /// What the mirror was told.
  std::string live() {
    go(reflector_.begin(now_));
    for (int i = 0; i < 200; ++i) {
      something_happens();
      pass(Duration(static_cast<int64_t>(prng_.below(3'000)) * 1'000'000));
    }
    transport_->is_away = false;
    server_.stop_failing();
    for (int i = 0; i < 100; ++i)
      pass(2s);
    EXPECT_TRUE(reflector_.is_synced()) << "seed " << seed_;
    EXPECT_EQ(mirror_.objects, objects()) << "seed " << seed_;
    return mirror_.take();
  }

 private:
  void go(const ReflectorStep& step) {
    step_ = step;
    const ReflectorSettings& settings = reflector_.settings();
    if (step.kind == ReflectorStep::Kind::list) {
      const auto page = client_->list(settings.type, "", step.list, {});
      if (prng_.chance(20))
        something_happens();
      go(reflector_.take_page(page, now_));
    } else if (step.kind == ReflectorStep::Kind::watch) {
      client_->watch(
          settings.type, "", step.watch,
          [this](const WatchEvent& event) { reflector_.take(event); }, {},
          [this](const ApiResult<void>& result) { ended_ = result; });
    }
  }
  void pass(Duration time) {
    now_ += time;
    wall_ += time;
    if (prng_.chance(70))
      transport_->deliver();
    if (ended_)
      go(reflector_.end_watch(*std::exchange(ended_, std::nullopt), now_));
    else if (step_.kind == ReflectorStep::Kind::wait && now_ >= step_.until)
      go(reflector_.wake(now_));
  }
  void something_happens() {
    const std::string name = cat("m", prng_.below(12));
    const std::string path = "/api/v1/namespaces/default/configmaps";
    const uint64_t dice = prng_.below(100);
    if (dice < 35)
      ask("POST", path,
          cat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")", name, R"("}})"));
    else if (dice < 60)
      ask("PATCH", path + "/" + name, cat(R"({"data":{"a":")", prng_.below(5), R"("}})"));
    else if (dice < 85)
      ask("DELETE", path + "/" + name, "");
    else if (dice < 89)
      transport_->cut();
    else if (dice < 92)
      server_.compact();
    else if (dice < 95)
      server_.cut_watches(prng_.chance(50));
    else if (dice < 97)
      transport_->is_away = !transport_->is_away;
    else
      server_.fail(
          1, [](const ApiRequest& each) { return each.method == "GET"; },
          refusal(prng_.chance(50) ? 500 : 429, "", "on purpose"));
  }
  void ask(const std::string& method, const std::string& path, const std::string& body) {
    server_.handle({.method = method,
                    .target = path,
                    .content_type = "application/merge-patch+json",
                    .body = body},
                   wall_);
  }
  std::map<ObjectName, std::pair<std::string, int64_t>> objects() {
    std::map<ObjectName, std::pair<std::string, int64_t>> found;
    const auto all = client_->list(config_maps, "", {}, {});
    EXPECT_TRUE(all) << "seed " << seed_;
    if (!all)
      return found;
    for (const Value& each : all->items) {
      const Value& about = each.at("metadata");
      found[{std::string(about.text_at("namespace")), std::string(about.text_at("name"))}] = {
          std::string(about.text_at("uid")),
          std::stoll(std::string(about.text_at("resourceVersion")))};
    }
    return found;
  }

  Prng prng_;
  uint64_t seed_;
  ApiServer server_;
  Time wall_ = Time(1'700'000'000s);
  Instant now_{1h};
  PlayedTransport* transport_ = nullptr;
  std::unique_ptr<Client> client_;
  Mirror mirror_;
  Reflector reflector_{{.type = config_maps, .page = 3}, mirror_, 5};
  ReflectorStep step_;
  std::optional<ApiResult<void>> ended_;
};

TEST(ReflectorLives, WhateverHappensTheMirrorHasWhatTheServerHas) {
  size_t told = 0;
  for (uint64_t seed = 1; seed <= 60 && !testing::Test::HasFailure(); ++seed)
    told += Life(seed).live().size();
  EXPECT_GT(told, 10'000u);
  EXPECT_EQ(Life(7).live(), Life(7).live()) << "one seed is one life";
}

TEST(ReflectorLoop, ItFollowsUntilItIsStopped) {
  ApiServerFace face;
  const auto client = face.client();
  const auto put = [&](const char* name) {
    EXPECT_TRUE(client->create(
        config_maps, {"default", ""},
        *read_json(
            cat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")", name, R"("}})")),
        {}, {}));
  };
  class Locked : public Mirror {
   public:
    void put(const ObjectName& name, const Value& object) override {
      const std::lock_guard lock(mutex);
      Mirror::put(name, object);
      ++count;
    }
    std::mutex mutex;
    std::atomic<int> count = 0;
  } mirror;
  put("a");
  Reflector reflector({.type = config_maps, .shortest_pause = 1ms}, mirror, 1);
  {
    std::jthread thread([&](const std::stop_token& stop) { follow(*client, reflector, stop); });
    const auto wait_for = [&](int count) {
      for (int i = 0; i < 10'000 && mirror.count < count; ++i)
        std::this_thread::sleep_for(1ms);
      EXPECT_EQ(mirror.count, count);
    };
    wait_for(1);
    put("b");
    wait_for(2);
    face.with([](ApiServer& server) { server.cut_watches(true); });
    put("c");
    wait_for(3);
    face.with([](ApiServer& server) {
      server.cut_watches(false);
      server.compact();
      server.has_watch_lists = false;
    });
    put("d");
    wait_for(4);
  }
  EXPECT_EQ(mirror.objects.size(), 4u);
  EXPECT_GE(mirror.syncs, 1);
}

}  // namespace
}  // namespace fettle::kubernetes

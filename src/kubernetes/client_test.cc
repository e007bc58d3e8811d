/// The client beside an API server that fails on purpose; what it may rely on otherwise is in
/// `tests/kubernetes/conformance_test.cc`.

#include "kubernetes/client.h"

#include <gtest/gtest.h>

#include <mutex>
#include <semaphore>
#include <set>
#include <thread>

#include "base/text.h"
#include "kubernetes/discovery.h"
#include "tests/fixtures/nginx_front.h"
#include "tests/kubernetes/cluster.h"

namespace fettle::kubernetes {
namespace {

const ObjectName some{"default", "a"};

Value some_map() {
  return *read_json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})");
}

class ClientTest : public testing::Test {
 protected:
  /// The next requests with this method fail.
  void fail(std::string method, int times, int code, std::string_view reason,
            std::string retry_after = {}) {
    face.with([&](ApiServer& server) {
      ApiAnswer answer = refusal(code, reason, "on purpose");
      if (!retry_after.empty())
        answer.headers = {{"Retry-After", retry_after}};
      server.fail(
          times, [method](const ApiRequest& request) { return request.method == method; }, answer);
    });
  }
  size_t requests() {
    size_t count = 0;
    face.with([&](const ApiServer& server) { count = server.requests(); });
    return count;
  }

  ApiServerFace face;
  std::unique_ptr<Client> client = face.client();
};

TEST_F(ClientTest, WhatSurelyDidNotHappenIsSentAgain) {
  fail("POST", 2, 429, "TooManyRequests", "0");
  ASSERT_TRUE(client->create(config_maps, some, some_map(), {}, {}));
  EXPECT_EQ(requests(), 3u);
  fail("GET", 1, 503, "ServiceUnavailable", "0");
  EXPECT_TRUE(client->get(config_maps, some, {}));
}

TEST_F(ClientTest, WritesAreCountedAsOftenAsTheyAreSent) {
  using Counts = std::map<WriteCounts::Outcome, uint64_t>;
  fail("POST", 2, 429, "TooManyRequests", "0");
  ASSERT_TRUE(client->create(config_maps, some, some_map(), {}, {}));
  EXPECT_TRUE(client->get(config_maps, some, {}));
  EXPECT_FALSE(
      client->create(config_maps, some, some_map(), {.urgency = Urgency::availability}, {}));
  EXPECT_EQ(client->write_counts().all(), (Counts{{{Urgency::progress, 429}, 2},
                                                  {{Urgency::progress, 201}, 1},
                                                  {{Urgency::availability, 409}, 1}}));
}

TEST_F(ClientTest, AWriteThatNobodyAnswersIsCountedAndOneThatIsNotSentIsNot) {
  using Counts = std::map<WriteCounts::Outcome, uint64_t>;
  bool may_write = false;
  Config config = face.config();
  config.server = "http://127.0.0.1:1";
  Client lonely(std::make_unique<HttpTransport>(config),
                {.qps = 0, .permit = [&]() -> std::optional<Instant> {
                   return may_write ? std::optional(instant_from_clock() + 1min) : std::nullopt;
                 }});
  EXPECT_FALSE(lonely.create(config_maps, some, some_map(), {}, {}));
  EXPECT_TRUE(lonely.write_counts().all().empty());
  may_write = true;
  EXPECT_FALSE(lonely.create(config_maps, some, some_map(), {.urgency = Urgency::status}, {}));
  EXPECT_EQ(lonely.write_counts().all(), (Counts{{{Urgency::status, 0}, 1}}));
}

TEST_F(ClientTest, AWriteWhoseOutcomeIsUnknownIsNot) {
  fail("POST", 1, 500, "InternalError", "0");
  const auto made = client->create(config_maps, some, some_map(), {}, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, ApiReason::internal);
  EXPECT_TRUE(made.error().unknown_outcome);
  EXPECT_EQ(requests(), 1u);
}

TEST_F(ClientTest, ItGivesUpOnAServerThatRefusesForEver) {
  fail("GET", 1'000, 429, "TooManyRequests", "0");
  const auto got = client->get(config_maps, some, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason, ApiReason::too_many_requests);
  EXPECT_EQ(requests(), 5u);
}

/// It waits for other pods, and holding back all writes would keep those from getting ready.
TEST_F(ClientTest, ARefusedEvictionHoldsNothingBack) {
  const Value details = *read_json(R"({"retryAfterSeconds":10,"causes":[
      {"reason":"DisruptionBudget","message":"The disruption budget b needs 2 healthy pods"}]})");
  face.with([&](ApiServer& server) {
    server.fail(
        1,
        [](const ApiRequest& request) {
          return request.target.find("/eviction") != std::string::npos;
        },
        refusal(429, "TooManyRequests", "Cannot evict pod", details));
  });
  const Value eviction =
      *read_json(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a"}})");
  const Instant began = instant_from_clock();
  const auto evicted = client->create(types::pods, some, eviction, {.subresource = "eviction"}, {});
  ASSERT_FALSE(evicted);
  EXPECT_EQ(evicted.error().reason, ApiReason::too_many_requests);
  EXPECT_EQ(requests(), 1u);
  EXPECT_TRUE(client->create(config_maps, some, some_map(), {}, {}));
  EXPECT_LT(instant_from_clock() - began, 9s);
}

TEST_F(ClientTest, TryingAgainAtOnceIsAPauseAsWell) {
  fail("GET", 1'000, 429, "TooManyRequests", "0");
  const Instant began = instant_from_clock();
  EXPECT_FALSE(client->get(config_maps, some, {}));
  EXPECT_GE(instant_from_clock() - began, 400ms);
}

TEST_F(ClientTest, AStopEndsAWaitForATurn) {
  fail("GET", 1, 429, "TooManyRequests", "3600");
  std::stop_source stop;
  const std::jthread stopper([&] {
    while (requests() == 0)
      std::this_thread::sleep_for(1ms);
    stop.request_stop();
  });
  const auto got = client->get(config_maps, some, stop.get_token());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason, ApiReason::cancelled);
  EXPECT_EQ(client->get(config_maps, some, stop.get_token()).error().reason, ApiReason::cancelled);
}

TEST_F(ClientTest, ManyShareTheBudget) {
  const auto limited = face.client({.qps = 2'000, .burst = 1});
  std::vector<std::jthread> threads;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k)
        answered += limited->call(
                        {.path = "/api/v1/configmaps", .urgency = static_cast<Urgency>(i % 4)}, {})
                        ? 1
                        : 0;
    });
  threads.clear();
  EXPECT_EQ(answered, 160);
}

TEST_F(ClientTest, AnAnswerThatIsNoneIsUnreadable) {
  face.with([](ApiServer& server) {
    server.fail(2, [](const ApiRequest&) { return true; }, {.body = Value(5)});
  });
  EXPECT_EQ(client->get(config_maps, some, {}).error().reason, ApiReason::unreadable);
  EXPECT_EQ(client->list(config_maps, "default", {}, {}).error().reason, ApiReason::unreadable);
}

TEST_F(ClientTest, WhoMayNotIsToldSo) {
  face.with([](ApiServer& server) {
    server.know_token("good", true);
    server.know_token("weak", false);
  });
  const auto reason = [&](const char* token) {
    Client other(std::make_unique<HttpTransport>(face.config(token)), {.qps = 0});
    const auto got = other.list(config_maps, "default", {}, {});
    return got ? "done" : to_string(got.error().reason);
  };
  EXPECT_EQ(reason("good"), "done");
  EXPECT_EQ(reason("weak"), "forbidden");
  EXPECT_EQ(reason("bad"), "unauthorized");
}

TEST_F(ClientTest, ATokenThatWasReplacedIsReadAgain) {
  face.with([](ApiServer& server) { server.know_token("old", true); });
  const auto folder = TemporaryDirectory::make();
  ASSERT_TRUE(write_file(folder->path() / "token", "old"));
  Config config = face.config();
  config.identity.token_file = folder->path() / "token";
  Client other(std::make_unique<HttpTransport>(config), {.qps = 0});
  ASSERT_TRUE(other.list(config_maps, "default", {}, {}));
  ASSERT_TRUE(write_file(folder->path() / "token", "new"));
  face.with([](ApiServer& server) {
    server.forget_tokens();
    server.know_token("new", true);
  });
  EXPECT_TRUE(other.list(config_maps, "default", {}, {}));
}

/// Or a write goes on there when our connection is cut.
TEST_F(ClientTest, TheServerIsToldHowLongAWriteMayTake) {
  std::vector<std::string> asked;
  face.with([&](ApiServer& server) {
    server.fail(1,
                [&](const ApiRequest& request) {
                  asked.push_back(cat(request.method, " ", request.target));
                  return false;
                },
                {});
  });
  const auto permit = [] { return std::optional(instant_from_clock() + Duration(10s)); };
  const auto other = face.client({.qps = 0, .permit = permit, .permitted_limit = 3'500ms});
  ASSERT_TRUE(other->create(config_maps, some, some_map(), {.field_manager = "f"}, {}));
  ASSERT_TRUE(other->get(config_maps, some, {}));
  ASSERT_TRUE(client->remove(config_maps, some, {}, {}));
  const std::string path = "/api/v1/namespaces/default/configmaps";
  EXPECT_EQ(asked, (std::vector<std::string>{cat("POST ", path, "?fieldManager=f&timeout=3.5s"),
                                             cat("GET ", path, "/a"),
                                             cat("DELETE ", path, "/a?timeout=1m0s")}));
}

/// Whoever signs in may take longer than the lease lasts.
TEST_F(ClientTest, AWriteIsNotBegunAfterItsDeadline) {
  Config config = face.config();
  config.identity.plugin = ExecPlugin{.command = "sh", .api_version = "x/v1"};
  config.identity.plugin->arguments = {
      "-c", R"(sleep 0.3; printf '{"kind":"ExecCredential","apiVersion":"x/v1",)"
            R"("status":{"token":"t"}}')"};
  std::atomic<int> asked = 0;
  const auto permit = [&] {
    ++asked;
    return std::optional(instant_from_clock() + Duration(100ms));
  };
  Client other(std::make_unique<HttpTransport>(config), {.qps = 0, .permit = permit});
  const auto made = other.create(config_maps, some, some_map(), {}, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(to_string(made.error().reason), "not permitted");
  EXPECT_FALSE(made.error().unknown_outcome);
  EXPECT_EQ(requests(), 0u);
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(other.create(config_maps, some, some_map(), {}, {})) << "the token is there";
}

TEST_F(ClientTest, AWriteThatIsSentAgainWithAnotherTokenKeepsItsDeadline) {
  face.with([](ApiServer& server) { server.know_token("good", true); });
  const auto folder = TemporaryDirectory::make();
  ASSERT_TRUE(write_file(folder->path() / "token", "bad"));
  Config config = face.config();
  config.identity.token_file = folder->path() / "token";
  const Instant until = instant_from_clock() + Duration(300ms);
  Client other(std::make_unique<HttpTransport>(config),
               {.qps = 0, .permit = [&] { return std::optional(until); }});
  face.freeze(true);
  const std::jthread later([&] {
    std::this_thread::sleep_until(until);
    face.freeze(false);
  });
  EXPECT_EQ(to_string(other.create(config_maps, some, some_map(), {}, {}).error().reason),
            "not permitted");
  EXPECT_EQ(requests(), 1u) << "the one that was refused";
}

TEST_F(ClientTest, AWatchOfWhichNothingIsHeardIsGivenUp) {
  std::binary_semaphore ended(0);
  std::string_view reason;
  client->watch(
      config_maps, "default", {.idle_limit = 100ms}, [](const WatchEvent&) {}, {},
      [&](const ApiResult<void>& result) {
        reason = result ? "done" : to_string(result.error().reason);
        ended.release();
      });
  ended.acquire();
  EXPECT_EQ(reason, "unreachable");
}

TEST_F(ClientTest, AWatchThatIsCutInALineEnds) {
  std::binary_semaphore begun(0), ended(0);
  client->watch(
      config_maps, "default", {}, [&](const WatchEvent&) { begun.release(); }, {},
      [&](const ApiResult<void>&) { ended.release(); });
  ASSERT_TRUE(client->create(config_maps, some, some_map(), {}, {}));
  begun.acquire();
  face.with([](ApiServer& server) { server.cut_watches(true); });
  EXPECT_TRUE(ended.try_acquire_for(20s));
}

TEST_F(ClientTest, AFrozenServerIsUnreachableInTime) {
  const auto hasty = face.client({.qps = 0, .request_limit = 100ms});
  face.freeze(true);
  const auto got = hasty->get(config_maps, some, {});
  face.freeze(false);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason, ApiReason::unreachable);
}

TEST_F(ClientTest, OverTlsAllIsOnOneConnection) {
  const SelfSigned identity("api.example");
  const NginxFront front(cat("127.0.0.1:", face.port()), identity);
  Config config;
  config.server = cat("https://127.0.0.1:", front.port());
  config.tls.authorities_text = identity.certificate;
  EXPECT_FALSE(HttpTransport(config).send({.url = "/api/v1/pods"}, {})) << "it has another name";
  config.tls.server_name = "api.example";
  HttpTransport transport(config);
  std::mutex mutex;
  std::set<std::string> connections, hosts;
  std::counting_semaphore<> answered(0);
  std::stop_source stop;
  HttpRequest endless{.url = "/api/v1/pods?watch=true"};
  endless.sink = [](std::string_view) -> Status { return {}; };
  transport.start(endless, stop.get_token(),
                  [&](const Result<HttpResponse>&) { answered.release(); });
  for (int i = 0; i < 30; ++i)
    transport.start({.url = "/api/v1/pods"}, {}, [&](const Result<HttpResponse>& got) {
      const std::lock_guard lock(mutex);
      connections.emplace(got ? got->header("x-connection") : "none");
      hosts.emplace(got ? got->header("x-host") : "none");
      answered.release();
    });
  for (int i = 0; i < 30; ++i)
    answered.acquire();
  EXPECT_EQ(connections.size(), 1u);
  EXPECT_EQ(hosts, (std::set<std::string>{cat("127.0.0.1:", front.port())}));
  stop.request_stop();
  answered.acquire();
}

TEST_F(ClientTest, WhatIsServedIsFoundWithoutAggregation) {
  const auto aggregated = Discovery::ask(*client, {});
  face.with([](ApiServer& server) { server.has_aggregated_discovery = false; });
  const auto plain = Discovery::ask(*client, {});
  ASSERT_TRUE(aggregated && plain);
  ASSERT_EQ(aggregated->all().size(), plain->all().size());
  for (const ServedType& each : aggregated->all()) {
    const ServedType* const same = plain->find(each.type.group, each.type.version, each.type.kind);
    ASSERT_NE(same, nullptr) << each.type.kind;
    EXPECT_EQ(same->type, each.type);
    EXPECT_EQ(same->subresources, each.subresources);
  }
}

TEST(Paths, AreThoseOfTheServer) {
  EXPECT_EQ(path_of(types::pods, {"a", "b"}), "/api/v1/namespaces/a/pods/b");
  EXPECT_EQ(path_of(types::pods, {}), "/api/v1/pods");
  EXPECT_EQ(path_of(types::leases, {"a", ""}), "/apis/coordination.k8s.io/v1/namespaces/a/leases");
  EXPECT_EQ(path_of(types::nodes, {"", "n/../x"}, "status"), "/api/v1/nodes/n%2F..%2Fx/status");
}

}  // namespace
}  // namespace fettle::kubernetes

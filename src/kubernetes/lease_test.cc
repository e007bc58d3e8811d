#include "kubernetes/lease.h"

#include <gtest/gtest.h>

#include <semaphore>
#include <thread>

#include "base/rfc3339.h"
#include "base/text.h"
#include "tests/kubernetes/cluster.h"
#include "tests/kubernetes/played_transport.h"
#include "value/with.h"

namespace fettle::kubernetes {
namespace {

const ObjectName the_lease{"default", "leader"};

Value lease_of(std::string_view holder, int seconds = 15, int transitions = 3,
               std::string_view renewed = "2026-01-01T00:00:00.000000Z") {
  return *read_json(cat(
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"leader","resourceVersion":"5"},)",
      R"("spec":{"holderIdentity":")", holder, R"(","leaseDurationSeconds":)", seconds,
      R"(,"leaseTransitions":)", transitions, R"(,"renewTime":")", renewed,
      R"(","strategy":"x"}})"));
}

class ElectionTest : public testing::Test {
 protected:
  Moment at(Duration since) const { return {Instant(1h) + since, Time(1'700'000'000s) + since}; }
  static std::string told(const LeaseStep& step) {
    static constexpr std::array<const char*, 5> words{"get", "create", "replace", "wait", "lost"};
    return words.at(static_cast<size_t>(step.kind));
  }
  /// Leader since a renewal that was sent at 0.
  void win() {
    ASSERT_EQ(told(election.begin(at(0s))), "get");
    const LeaseStep create = election.take(failed_with(ApiReason::not_found), at(0s));
    ASSERT_EQ(told(create), "create");
    ASSERT_EQ(
        told(election.take(with(create.lease, "metadata", lease_of("").at("metadata")), at(1s))),
        "wait");
    ASSERT_EQ(election.may_write_until(), Instant(1h) + 10s);
  }

  Election election{{.lease = the_lease, .identity = "me"}, 1};
};

TEST_F(ElectionTest, ALeaseThatIsNotThereIsMade) {
  election.begin(at(0s));
  const LeaseStep create = election.take(failed_with(ApiReason::not_found), at(1s));
  ASSERT_EQ(told(create), "create");
  const Value& spec = create.lease.at("spec");
  EXPECT_EQ(spec.text_at("holderIdentity"), "me");
  EXPECT_EQ(spec.integer_at("leaseDurationSeconds"), 15);
  EXPECT_EQ(spec.integer_at("leaseTransitions", -1), 0);
  EXPECT_EQ(spec.text_at("renewTime"), write_precise_moment(at(1s).wall));
  EXPECT_EQ(spec.text_at("acquireTime"), spec.text_at("renewTime"));
  EXPECT_FALSE(election.may_write_until());
  const LeaseStep wait = election.take(create.lease, at(3s));
  EXPECT_EQ(told(wait), "wait");
  EXPECT_EQ(wait.until, at(3s).instant) << "two seconds after the renewal was sent";
  EXPECT_EQ(election.may_write_until(), at(11s).instant) << "from when it was sent, not answered";
  // A leader renews without reading.
  const LeaseStep renewal = election.wake(at(3s));
  ASSERT_EQ(told(renewal), "replace");
  EXPECT_EQ(renewal.lease.at("spec").text_at("acquireTime"), spec.text_at("acquireTime"));
  EXPECT_EQ(renewal.lease.at("spec").integer_at("leaseTransitions", -1), 0);
  EXPECT_EQ(renewal.limit, Duration(5s));
}

TEST_F(ElectionTest, SomebodyElsesLeaseIsTakenWhenItWasSeenUnchangedForItsTime) {
  election.begin(at(0s));
  LeaseStep step = election.take(lease_of("other", 20), at(0s));
  ASSERT_EQ(told(step), "wait");
  EXPECT_GE(step.until, at(2s).instant);
  EXPECT_LE(step.until, at(5s).instant);
  EXPECT_EQ(told(election.wake(at(10s))), "get");
  // They renewed; the clock in the record says nothing to us.
  EXPECT_EQ(told(election.take(lease_of("other", 20, 3, "1999-01-01T00:00:00.000000Z"), at(10s))),
            "wait");
  election.wake(at(29s));
  EXPECT_EQ(told(election.take(lease_of("other", 20, 3, "1999-01-01T00:00:00.000000Z"), at(29s))),
            "wait");
  election.wake(at(30s));
  step = election.take(lease_of("other", 20, 3, "1999-01-01T00:00:00.000000Z"), at(30s));
  ASSERT_EQ(told(step), "replace");
  EXPECT_EQ(step.lease.at("spec").integer_at("leaseTransitions"), 4);
  EXPECT_EQ(step.lease.at("spec").text_at("strategy"), "x") << "what others wrote stays";
  EXPECT_EQ(step.lease.at("metadata").text_at("resourceVersion"), "5") << "or it is a conflict";
  EXPECT_EQ(told(election.take(failed_with(ApiReason::conflict), at(31s))), "wait");
  EXPECT_FALSE(election.is_leader(at(31s).instant));
}

TEST_F(ElectionTest, ALeaseThatWasGivenBackIsTakenAtOnce) {
  election.begin(at(0s));
  EXPECT_EQ(told(election.take(lease_of(""), at(0s))), "replace");
}

TEST_F(ElectionTest, NothingIsWrittenAfterTheDeadline) {
  win();
  for (Duration time = 2s; time < 10s; time += 2s) {
    const LeaseStep step = election.wake(at(time));
    ASSERT_NE(told(step), "wait");
    EXPECT_EQ(step.limit, std::min<Duration>(5s, 10s - time)) << "or there would be no second try";
    EXPECT_EQ(told(election.take(failed_with(ApiReason::unreachable), at(time + 1s))), "wait");
    EXPECT_TRUE(election.is_leader(at(time + 1s).instant));
  }
  EXPECT_FALSE(election.is_leader(at(10s).instant));
  EXPECT_EQ(told(election.wake(at(10s))), "lost");
  EXPECT_FALSE(election.may_write_until());
  EXPECT_EQ(told(election.begin(at(10s))), "get");
}

TEST_F(ElectionTest, AnAnswerThatComesTooLateMakesNoLeader) {
  win();
  ASSERT_EQ(told(election.wake(at(2s))), "replace");
  EXPECT_EQ(told(election.take(lease_of("me"), at(11s))), "lost") << "paused for nine seconds";
  EXPECT_FALSE(election.may_write_until());
  election.begin(at(11s));
  ASSERT_EQ(told(election.take(lease_of("me"), at(12s))), "replace");
  EXPECT_EQ(told(election.take(lease_of("me"), at(30s))), "wait");
  EXPECT_FALSE(election.may_write_until()) << "an answer to what was sent 18 seconds ago";
}

TEST_F(ElectionTest, AnothersNameEndsItAtOnce) {
  win();
  ASSERT_EQ(told(election.wake(at(2s))), "replace");
  EXPECT_EQ(told(election.take(failed_with(ApiReason::conflict), at(2s))), "wait");
  ASSERT_EQ(told(election.wake(at(4s))), "get") << "after a failure it is read first";
  EXPECT_EQ(told(election.take(lease_of("other"), at(4s))), "lost");
  EXPECT_FALSE(election.may_write_until());
}

TEST_F(ElectionTest, AChangeBySomebodyElseThatLeavesOurNameIsNoLoss) {
  win();
  election.wake(at(2s));
  election.take(failed_with(ApiReason::conflict), at(2s));
  election.wake(at(4s));
  ASSERT_EQ(told(election.take(lease_of("me"), at(4s))), "replace");
  EXPECT_EQ(told(election.take(lease_of("me"), at(4s))), "wait");
  EXPECT_EQ(election.may_write_until(), at(14s).instant);
}

TEST_F(ElectionTest, ItIsGivenBack) {
  EXPECT_FALSE(election.release(at(0s)));
  win();
  const auto release = election.release(at(3s));
  ASSERT_TRUE(release);
  EXPECT_EQ(told(*release), "replace");
  EXPECT_EQ(release->lease.at("spec").text_at("holderIdentity", "?"), "");
  EXPECT_EQ(release->lease.at("spec").integer_at("leaseDurationSeconds"), 1);
  EXPECT_FALSE(election.may_write_until());
}

TEST_F(ElectionTest, HostileLeasesAreOnlyOld) {
  for (const char* spec : {"{}", "5", "null", R"({"holderIdentity":"o"})",
                           R"({"holderIdentity":"o","leaseDurationSeconds":-5})",
                           R"({"holderIdentity":"o","leaseDurationSeconds":"x"})",
                           R"({"holderIdentity":5,"leaseTransitions":9223372036854775807})"}) {
    Election other({.lease = the_lease, .identity = "me"}, 1);
    other.begin(at(0s));
    EXPECT_EQ(told(other.take(with(lease_of("o"), "spec", *read_json(spec)), at(0s))), "replace")
        << spec;
  }
  Election puzzled({.lease = the_lease, .identity = "me"}, 1);
  puzzled.begin(at(0s));
  EXPECT_EQ(told(puzzled.take(Value(4), at(0s))), "wait") << "no object at all";
  Election patient({.lease = the_lease, .identity = "me"}, 1);
  patient.begin(at(0s));
  const Value endless =
      *read_json(R"({"holderIdentity":"o","leaseDurationSeconds":9223372036854775807})");
  EXPECT_EQ(told(patient.take(with(lease_of("o"), "spec", endless), at(0s))), "wait");
}

/// A candidate under a played clock. Its process is paused, its requests are late or get lost.
class PlayedCandidate {
 public:
  PlayedCandidate(std::string name, Prng& prng, Moment now)
      : election_({.lease = the_lease, .identity = std::move(name)}, prng.next()), prng_(prng) {
    step_ = election_.begin(now);
  }
  bool is_leader(Instant now) const { return election_.is_leader(now); }
  const std::string& name() const { return election_.settings().identity; }

  void live(Client& client, Moment now) {
    if (due_ && now.instant >= *due_) {  // the network does not know that the process is paused
      due_.reset();
      const ApiResult<Value> answer = send(client);
      answer_ = prng_.chance(5) ? ApiResult<Value>(failed_with(ApiReason::unreachable)) : answer;
    }
    if (now.instant < paused_until_)
      return;
    if (prng_.chance(1))
      paused_until_ = now.instant + random(60s);
    if (step_.kind == LeaseStep::Kind::lost)
      step_ = election_.begin(now);
    else if (step_.kind != LeaseStep::Kind::wait)
      exchange(now);
    else if (now.instant >= step_.until)
      step_ = election_.wake(now);
  }

 private:
  Duration random(Duration most) {
    return Duration(static_cast<int64_t>(prng_.below(static_cast<uint64_t>(most.count()))));
  }
  /// Sends the request of a step, or takes its answer.
  void exchange(Moment now) {
    if (answer_)
      step_ = election_.take(*std::exchange(answer_, std::nullopt), now);
    else if (!due_)
      due_ = now.instant + random(prng_.chance(10) ? step_.limit : Duration(200ms));
  }
  ApiResult<Value> send(Client& client) const {
    if (step_.kind == LeaseStep::Kind::get)
      return client.get(types::leases, the_lease, {});
    return step_.kind == LeaseStep::Kind::create
               ? client.create(types::leases, the_lease, step_.lease, {}, {})
               : client.replace(types::leases, the_lease, step_.lease, {}, {});
  }

  Election election_;
  Prng& prng_;
  LeaseStep step_;
  std::optional<Instant> due_;  ///< when the request that is on its way arrives
  std::optional<ApiResult<Value>> answer_;
  Instant paused_until_{};
};

TEST(Elections, NeverHaveTwoWhoMayWrite) {
  int changes = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Prng prng(seed);
    ApiServer server;
    Moment now{Instant(1h), Time(1'700'000'000s)};
    Client client(std::make_unique<PlayedTransport>(server, now.wall), {.qps = 0, .tries = 1});
    std::vector<PlayedCandidate> all;
    for (const char* name : {"a", "b", "c"})
      all.emplace_back(name, prng, now);
    std::string last;
    for (int i = 0; i < 6'000; ++i) {
      now.instant += Duration(50ms);
      now.wall += Duration(50ms);
      for (PlayedCandidate& one : all)
        one.live(client, now);
      std::string leaders;
      for (const PlayedCandidate& one : all)
        if (one.is_leader(now.instant))
          leaders += one.name();
      ASSERT_LE(leaders.size(), 1u) << "seed " << seed;
      changes += leaders.empty() || leaders == last ? 0 : 1;
      last = leaders.empty() ? last : leaders;
    }
  }
  EXPECT_GT(changes, 80) << "somebody is elected again and again";
}

TEST(Candidates, OneLeadsAndTheOtherFollowsIt) {
  ApiServerFace face;
  const auto client = face.client();
  const auto settings = [](const char* name) {
    return LeaseSettings{
        .lease = the_lease, .identity = name, .duration = 5s, .renew_deadline = 4s, .retry = 20ms};
  };
  Candidate first(*client, settings("first"), 1), second(*client, settings("second"), 2);
  std::atomic<bool> first_leads = false, second_leads = false;
  const auto wait_for = [](const std::atomic<bool>& what) {
    for (int i = 0; i < 10'000 && !what; ++i)
      std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(what);
  };
  std::jthread one([&](const std::stop_token& stop) {
    first.run([&](bool leads) { first_leads = leads; }, stop);
  });
  wait_for(first_leads);
  EXPECT_TRUE(first.may_write_until());
  const std::jthread two([&](const std::stop_token& stop) {
    second.run([&](bool leads) { second_leads = leads; }, stop);
  });
  EXPECT_FALSE(second.may_write_until());
  // Only who leads may write.
  const auto map = *read_json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})");
  const auto write_as = [&](const Candidate& who) {
    const auto its = face.client({.qps = 0, .permit = [&] { return who.may_write_until(); }});
    const auto made = its->create(config_maps, {"default", ""}, map, {}, {});
    EXPECT_TRUE(its->list(config_maps, "", {}, {})) << "reading needs no permit";
    return made ? "done" : to_string(made.error().reason);
  };
  EXPECT_EQ(write_as(second), "not permitted");
  EXPECT_EQ(write_as(first), "done");
  one.request_stop();
  wait_for(second_leads);
  EXPECT_FALSE(first_leads);
  EXPECT_FALSE(first.may_write_until());
  EXPECT_EQ(write_as(second), "already exists");
}

/// Stands between a client and its server.
class WatchedTransport : public Transport {
 public:
  explicit WatchedTransport(Config config) : http_(std::move(config)) {}
  Result<HttpResponse> send(HttpRequest request, std::stop_token stop) override {
    if (before)
      before(request);
    const std::string method = request.method;
    Result<HttpResponse> answer = http_.send(std::move(request), std::move(stop));
    return after ? after(method, std::move(answer)) : answer;
  }
  void start(HttpRequest request, std::stop_token stop, HttpClient::Done done) override {
    http_.start(std::move(request), std::move(stop), std::move(done));
  }

  std::function<void(const HttpRequest&)> before;
  std::function<Result<HttpResponse>(const std::string&, Result<HttpResponse>)> after;

 private:
  HttpTransport http_;
};

/// One candidate and its client, which writes under its lease.
class CandidateTest : public testing::Test {
 protected:
  void lead(std::jthread& thread) {
    thread = std::jthread([this](const std::stop_token& stop) {
      candidate.run([this](bool is_leader) { leads = is_leader; }, stop);
    });
    for (int i = 0; i < 10'000 && !leads; ++i)
      std::this_thread::sleep_for(1ms);
    ASSERT_TRUE(leads);
  }
  std::string holder() const {
    return std::string(face.client()
                           ->get(types::leases, the_lease, {})
                           ->at("spec")
                           .text_at("holderIdentity", "?"));
  }

  std::atomic<bool> leads = false;
  ApiServerFace face;
  WatchedTransport* transport = new WatchedTransport(face.config());  // the client owns it
  std::function<std::optional<Instant>()> permit = [this] { return candidate.may_write_until(); };
  Client client{std::unique_ptr<Transport>(transport), {.qps = 0, .permit = permit}};
  Candidate candidate{
      client,
      {.lease = the_lease, .identity = "me", .duration = 15s, .renew_deadline = 10s, .retry = 20ms},
      1};
};

TEST_F(CandidateTest, TheLeaseIsNotGivenBackWhileAWriteIsOnItsWay) {
  std::binary_semaphore arrived(0), go(0);
  transport->before = [&](const HttpRequest& request) {
    if (request.method != "POST" || request.url.find("configmaps") == std::string::npos)
      return;
    arrived.release();
    go.acquire();
  };
  std::atomic<bool> is_made = false;
  std::jthread writer, runner;
  lead(runner);
  writer = std::jthread([&] {
    const auto map =
        *read_json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})");
    is_made = client.create(config_maps, {"default", ""}, map, {}, {}).has_value();
  });
  arrived.acquire();
  runner.request_stop();
  std::this_thread::sleep_for(100ms);
  EXPECT_FALSE(candidate.may_write_until());
  EXPECT_EQ(holder(), "me") << "another one would write at once";
  go.release();
  writer.join();
  runner.join();
  EXPECT_TRUE(is_made);
  EXPECT_EQ(holder(), "");
}

/// Our clock stands still while the machine sleeps, and those of the others do not.
TEST_F(CandidateTest, NothingIsWrittenAfterTheMachineHasSlept) {
  std::atomic<Duration> slept{1h};
  Candidate other(client, {.lease = the_lease, .identity = "other", .retry = 2s}, 1,
                  [&] { return slept.load(); });
  const std::jthread runner([&](const std::stop_token& stop) {
    other.run([this](bool is_leader) { leads = is_leader; }, stop);
  });
  for (int i = 0; i < 10'000 && !leads; ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(other.may_write_until());
  slept = 1h + 50ms;
  EXPECT_TRUE(other.may_write_until());
  slept = 2h;
  EXPECT_FALSE(other.may_write_until()) << "until the next renewal";
  for (int i = 0; i < 10'000 && !other.may_write_until(); ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(other.may_write_until());
}

TEST_F(CandidateTest, ItIsGivenBackAlsoIfAStopBrokeOffARenewal) {
  std::jthread runner;
  std::atomic<bool> is_broken = false;
  std::stop_source stop;
  transport->after = [&](const std::string& method, Result<HttpResponse> answer) {
    if (method != "PUT" || is_broken.exchange(true))
      return answer;
    stop.request_stop();
    return Result<HttpResponse>(cancelled_error());  // but it was done
  };
  runner = std::jthread([&] { candidate.run([](bool) {}, stop.get_token()); });
  runner.join();
  EXPECT_TRUE(is_broken);
  EXPECT_EQ(holder(), "");
}

}  // namespace
}  // namespace fettle::kubernetes

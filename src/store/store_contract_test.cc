/// What every store keeps its word about, in a file and in PostgreSQL.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <semaphore>
#include <thread>

#include "store/record_codec.h"
#include "tests/fixtures/store_fixture.h"

namespace fettle {
namespace {

class StoreContract : public testing::TestWithParam<StoreKind>, protected StoreWords {
 protected:
  std::unique_ptr<Store> open() const { return place_.open(); }

  /// The server needs a moment to see that a process is gone.
  static bool is_soon(const std::function<bool()>& is_so) {
    for (int i = 0; i < 1'000 && !is_so(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return is_so();
  }
  /// As somebody who takes the lock's file away, or a server that loses its connections.
  void lose_locks() const {
    if (GetParam() == StoreKind::file)
      for (const auto& entry : std::filesystem::directory_iterator(place_.home() + "/locks"))
        std::filesystem::remove(entry.path());
    else
      PostgresServer::of_program().sql(
          "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE "
          "application_name='fettle'");
  }

  StorePlace place_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(In, StoreContract, testing::Values(StoreKind::file, StoreKind::postgres),
                         name_of_store);

TEST_P(StoreContract, WhatIsWrittenIsThereAfterOpeningAgain) {
  const Key key{"e", "service", "web"};
  Event event;
  event.environment = "e";
  event.key = key;
  event.text = "new";
  event.verb = Verb::create;
  event.because = {"e", "image", "a"};
  {
    auto store = open();
    const auto acting = edit(*store);
    ASSERT_TRUE(
        acting->write(std::vector{change(key, record()), Change{Change::event, {}, {}, event}}));
    ASSERT_TRUE(acting->put_note("plan", Value::list({1, 2})));
    ASSERT_TRUE(
        acting->put_environment({"e", "0123", Time(3s), Value::dict({{"production", true}})}));
    ASSERT_TRUE(store->cache("digest of x", "abc", Time(3s)));
  }
  auto store = open();
  EXPECT_EQ(encode(*store->known("e")->at(key)), encode(record()));
  EXPECT_TRUE(store->known("other")->empty());
  EXPECT_EQ(store->events("e", 0, 10)->at(0).text, "new");
  EXPECT_EQ(store->events_of(key, 10)->at(0).verb, Verb::create);
  EXPECT_EQ(store->events_of(key, 10)->at(0).because, (Key{"e", "image", "a"}));
  EXPECT_EQ(**store->cached("digest of x"), Value("abc"));
  EXPECT_EQ(**store->note("e", "plan"), Value::list({1, 2}));
  EXPECT_EQ((*store->environment("e"))->uuid, "0123");
  ASSERT_TRUE(write(*store, {Change{Change::forget, key, {}, {}}}));
  EXPECT_TRUE(store->known("e")->empty());
  ASSERT_TRUE(edit(*store)->remove_environment());
  EXPECT_FALSE(store->environment("e")->has_value());
  EXPECT_EQ(store->events("", 0, 10)->size(), 1u);
}

TEST_P(StoreContract, SecretsAreSealedWithAKeyOfTheirOwn) {
  const Key key{"e", "service", "web"};
  const Value secret = Value::dict({{"token", Value::secret("a-word-that-nobody-may-see")}});
  {
    auto store = open();
    const auto acting = edit(*store);
    Record written = record();
    written.applied.edit().attributes = secret;
    written.outputs = secret;
    Event event;
    event.environment = "e";
    event.key = key;
    event.detail = secret;
    ASSERT_TRUE(
        acting->write(std::vector{change(key, written), Change{Change::event, {}, {}, event}}));
    ASSERT_TRUE(acting->put_note("plan", secret));
    ASSERT_TRUE(acting->put_environment({"e", "0123", Time(3s), secret}));
    ASSERT_TRUE(store->cache("cached", secret, Time(3s)));
    EXPECT_EQ(place_.bytes().find("nobody-may-see"), std::string::npos);
    EXPECT_NE(place_.bytes().find("cached"), std::string::npos);
    EXPECT_EQ(store->known("e")->at(key)->outputs, secret);
    EXPECT_EQ(store->events("e", 0, 10)->at(0).detail, secret);
    EXPECT_EQ(**store->note("e", "plan"), secret);
    EXPECT_EQ(**store->cached("cached"), secret);
    EXPECT_EQ((*store->environment("e"))->detail, secret);
  }
  EXPECT_EQ(open()->known("e")->at(key)->outputs, secret);
  std::filesystem::remove(place_.home() + "/key");
  if (GetParam() == StoreKind::postgres)
    return;  // a shared store refuses a home without its key
  EXPECT_EQ(open()->known("e")->at(key)->outputs,
            Value::dict({{"token", Value::secret(Value::unknown())}}));
}

TEST_P(StoreContract, TextsThatHoldASecretOfTheWorkAreSealed) {
  const auto mask = std::make_shared<Mask>();
  auto store = place_.open(mask);
  mask->add("nobody-may-see");
  const Key key{"e", "service", "web"};
  Record written = record();
  written.applied.edit().attributes = Value::dict(
      {{"command", Value::list({"login", "--password=nobody-may-see"})},
       {"url",
        Value::deferred({Part("http://nobody-may-see@"), Part(Output{"service", "db", "ip"})})},
       {"env_vars", Value::dict({{"DB_PASSWORD", "of-the-package"}, {"MODE", "plain"}})}});
  Attempt& attempt = written.attempt.emplace();
  attempt.resource = *written.applied;
  attempt.error = "login as nobody-may-see failed";
  ASSERT_TRUE(edit(*store)->write(std::vector{change(key, written)}));
  ASSERT_TRUE(edit(*store)->put_note("plan", Value::list({"nobody-may-see", "known"})));
  EXPECT_EQ(place_.bytes().find("nobody-may-see"), std::string::npos);
  EXPECT_EQ(place_.bytes().find("of-the-package"), std::string::npos);
  const auto read = open()->known("e")->at(key);
  EXPECT_EQ(read->applied->attributes, written.applied->attributes);
  EXPECT_EQ(read->attempt->error, "login as ******** failed");
  EXPECT_EQ(**store->note("e", "plan"), Value::list({"nobody-may-see", "known"}));
  // Without the key, the applied values are unknown, so it is applied again.
  store.reset();
  if (GetParam() == StoreKind::postgres)
    return;
  std::filesystem::remove(place_.home() + "/key");
  EXPECT_NE(open()->known("e")->at(key)->applied->attributes, written.applied->attributes);
}

TEST_P(StoreContract, OnlyOneHasTheRightToActUntilItsProcessIsGone) {
  auto store = open();
  auto mine = edit(*store);
  const pid_t child = fork_until_end();
  if (child == 0) {
    const auto other = open();
    auto begun = other->begin_edit("e", this_process("another", Time(2s)));
    const Holder* holder = begun ? std::get_if<Holder>(&*begun) : nullptr;
    const bool told = holder != nullptr && holder->what == "a test" && holder->process == getppid();
    auto free = other->begin_edit("other", this_process("another", Time(2s)));
    _exit(told && free && free->index() == 0 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ((*store->holder("e"))->what, "a test");
  const uint64_t first = mine->number();
  mine.reset();
  EXPECT_FALSE(*store->holder("e"));

  const pid_t dying = fork_until_end();
  if (dying == 0) {
    const auto other = open();
    auto begun = other->begin_edit("e", this_process("one that dies", Time(2s)));
    // Silently: the lock ends with a process.
    kill(getpid(), begun && begun->index() == 0 ? SIGKILL : SIGTERM);
  }
  waitpid(dying, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_TRUE(is_soon([&] { return !*store->holder("e"); }));
  EXPECT_GT(edit(*store)->number(), first + 1);
}

TEST_P(StoreContract, WhoHasLostTheRightIsRefused) {
  auto store = open();
  auto lost = edit(*store);
  ASSERT_TRUE(lost->write(std::vector{change({"e", "act", "a"}, record())}));
  lose_locks();
  auto another = open();
  const auto mine = edit(*another);
  const Status refused = lost->write(std::vector{change({"e", "act", "b"}, record())});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("the lock on `e` was lost to `a test` (process "))
      << refused.error().message;
  EXPECT_FALSE(lost->put_note("x", 1));
  EXPECT_FALSE(lost->remove_environment());
  EXPECT_EQ(store->known("e")->size(), 1u);
  lost.reset();  // gives back nothing that belongs to another one
  EXPECT_TRUE(mine->write(std::vector{change({"e", "act", "c"}, record())}));
}

TEST_P(StoreContract, AWishNeedsNoRightAndIsRefusedWhileTheEnvironmentGoes) {
  auto store = open();
  auto acting = edit(*store);
  ASSERT_TRUE(acting->put_environment({"e", "0123", Time(3s), {}}));
  auto other = open();
  const auto say = [](Wish& wish) { return wish.put_note("wish", 1); };
  EXPECT_TRUE(other->wish("e", say));
  EXPECT_EQ(**store->note("e", "wish"), Value(1));
  ASSERT_TRUE(acting->begin_removal());
  const Status refused = other->wish("e", say);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("`e` is being removed by `a test`"));
  EXPECT_TRUE((*other->environment("e"))->is_removing);
  // A holder whose process is gone removes nothing any more.
  acting.reset();
  EXPECT_TRUE(other->wish("e", say));
  EXPECT_FALSE((*other->environment("e"))->is_removing);
  // A failure in the middle leaves nothing.
  EXPECT_FALSE(other->wish("e", [](Wish& wish) -> Status {
    TRY(wish.put_note("wish", 2));
    return user_error("no");
  }));
  EXPECT_EQ(**store->note("e", "wish"), Value(1));
}

TEST_P(StoreContract, EventsOfNamesThatBeginAlikeAreFoundNewestFirst) {
  auto store = open();
  std::vector<Change> changes;
  for (const char* name : {"a/web|1", "a/web|2", "a/web2|1", "a/we", "a/web"}) {
    Event event;
    event.environment = "e";
    event.key = {"e", "notice", name};
    event.text = name;
    changes.push_back({Change::event, {}, nullptr, event});
  }
  ASSERT_TRUE(edit(*store)->write(changes));
  const auto found = *store->events_below({"e", "notice", "a/web|"}, 10);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].text, "a/web|2");
  EXPECT_EQ(found[1].text, "a/web|1");
  EXPECT_EQ(store->events_below({"e", "notice", "a/"}, 3)->size(), 3u);
  EXPECT_TRUE(store->events_below({"e", "pod", "a/web|"}, 10)->empty());
  EXPECT_TRUE(store->events_below({"f", "notice", "a/web|"}, 10)->empty());
  std::vector<Key> keys;
  const std::vector<Event> all = *store->events("e", 0, 1'000);
  for (const Event& event : all)
    if (std::ranges::find(keys, event.key) == keys.end())
      keys.push_back(event.key);
  std::ranges::sort(keys);
  EXPECT_EQ(*store->keys_of_events("e"), keys);
  EXPECT_TRUE(store->keys_of_events("f")->empty());
}

TEST_P(StoreContract, OldEventsAreForgottenButForWhatIsNeededToSayWhy) {
  auto store = open();
  const auto acting = edit(*store);
  const Key kept{"e", "service", "kept"}, gone{"e", "service", "gone"};
  std::vector<Change> changes{change(kept, record())};
  for (const int second : {1, 2, 100})
    for (const Key& key : {kept, gone})
      for (const EventType type : {EventType::started, EventType::done}) {
        Event event;
        event.time = Time(std::chrono::seconds(second));
        event.type = type;
        event.environment = "e";
        event.key = key;
        event.text = std::to_string(second);
        changes.push_back({Change::event, {}, nullptr, event});
      }
  ASSERT_TRUE(acting->write(changes));
  ASSERT_TRUE(store->cache("old", 1, Time(1s)));
  ASSERT_TRUE(store->cache("new", 1, Time(100s)));
  EXPECT_EQ(*store->forget_before(Time(50s)), 8u);
  EXPECT_EQ(store->events_of(kept, 10)->size(), 2u);
  EXPECT_EQ(store->events_of(gone, 10)->size(), 2u);
  // The last act of a known thing stays, however old it is.
  EXPECT_EQ(*store->forget_before(Time(500s)), 2u);
  EXPECT_EQ(store->events_of(kept, 10)->size(), 2u);
  EXPECT_EQ(store->events_of(gone, 10)->size(), 0u);
  EXPECT_FALSE(*store->cached("old"));
  EXPECT_FALSE(*store->cached("new"));
}

TEST_P(StoreContract, ManyProcessesMayMakeOneStoreAtOnce) {
  for (int round = 0; round < (GetParam() == StoreKind::file ? 20 : 3); ++round) {
    const StorePlace place(GetParam());
    int gate[2];
    ASSERT_EQ(pipe(gate), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) {
      children.push_back(fork_until_end());
      if (children.back() != 0)
        continue;
      close(gate[1]);
      char none = 0;
      (void)!read(gate[0], &none, 1);  // returns when the gate is closed
      const auto store = place.open();
      const Key key{"e", "act", std::to_string(i)};
      // All want the same right, and get it one after another.
      while (store) {
        auto begun = store->begin_edit("e", this_process("one of many", Time(1s)));
        if (!begun)
          break;
        if (auto* mine = std::get_if<std::unique_ptr<Edit>>(&*begun)) {
          const bool written = (*mine)->write(std::vector{change(key, record())}).has_value();
          mine->reset();
          _exit(written ? 0 : 2);
        }
      }
      _exit(1);
    }
    close(gate[0]);
    close(gate[1]);
    for (const pid_t child : children) {
      int status = 1;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0) << round;
    }
    EXPECT_EQ(place.open()->known("e")->size(), children.size());
  }
}

TEST_P(StoreContract, NothingWrittenIsLostWhenTheProcessIsKilled) {
  open();
  for (int round = 0; round < 5; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork_until_end();
    if (child == 0) {
      const auto store = open();
      const auto acting = edit(*store);
      for (int i = 0;; ++i) {
        const Key key{"e", "act", std::to_string(i)};
        if (!acting->write(std::vector{change(key, record())}) ||
            ::write(pipe_ends[1], &i, sizeof i) != sizeof i)
          _exit(1);
      }
    }
    close(pipe_ends[1]);
    int last = -1;
    const int stop_at = 20 + round * 13;
    while (::read(pipe_ends[0], &last, sizeof last) == sizeof last && last < stop_at) {
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(pipe_ends[0]);
    auto store = open();
    const auto known = store->known("e");
    ASSERT_TRUE(known);
    for (int i = 0; i <= last; ++i)
      ASSERT_TRUE(known->contains({"e", "act", std::to_string(i)})) << i;
  }
}

TEST_P(StoreContract, ItsStampSaysThatAnotherProcessWrote) {
  const auto store = open(), other = open();
  const int64_t before = *store->stamp();
  EXPECT_EQ(*store->stamp(), before);
  ASSERT_TRUE(store->cache("a", Value(1), Time()));
  EXPECT_EQ(*store->stamp(), before) << "what one wrote oneself is known";
  ASSERT_TRUE(other->cache("b", Value(1), Time()));
  EXPECT_NE(*store->stamp(), before);
}

TEST_P(StoreContract, AWriteIsToldAtOnce) {
  const auto store = open(), other = open();
  std::counting_semaphore<> writes(0);
  std::jthread thread([&](const std::stop_token& stop) {
    EXPECT_TRUE(store->watch([&] { writes.release(); }, stop));
  });
  // It may begin to watch after the first of them.
  int number = 0;
  do
    ASSERT_TRUE(other->cache("a", Value(++number), Time()));
  while (!writes.try_acquire_for(std::chrono::milliseconds(10)));
}

TEST_P(StoreContract, ARightInAFileEndsWithItsProcessAndIsNotTakenAway) {
  auto store = open(), other = open();
  const auto acting = edit(*store);
  const Holder holder = **other->holder("e");
  const Status check = other->check_take_away("e", holder);
  if (GetParam() == StoreKind::postgres) {
    EXPECT_TRUE(check) << to_string(check.error());
    return;
  }
  ASSERT_FALSE(check);
  EXPECT_EQ(check.error().blame, Blame::user);
  EXPECT_NE(check.error().message.find(cat("end it with `kill ", getpid(), "`")), std::string::npos)
      << check.error().message;
  EXPECT_FALSE(other->take_away("e", holder, holder, {}));
  EXPECT_TRUE(acting->put_note("said", 1));
}

}  // namespace
}  // namespace fettle

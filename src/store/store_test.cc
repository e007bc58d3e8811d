#include "store/edit.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <semaphore>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "store/record_codec.h"
#include "store/reserve.h"
#include "store/sqlite.h"
#include "store/sqlite_store.h"
#include "tests/fixtures/small_disk.h"

namespace fettle {
namespace {

class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "fettle-store-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Store> open() {
    auto store = open_sqlite_store(folder_ + "/fettle.db");
    EXPECT_TRUE(store.has_value()) << to_string(store.error());
    return std::move(*store);
  }

  static Record record() {
    Record record;
    Resource resource;
    resource.key = {"e", "service", "web"};
    resource.attributes =
        Value::dict({{"image", "a:1"},
                     {"env", Value::secret("pw")},
                     {"id", Value::deferred({Part(Output{"image", "a:1", "id"})})}});
    resource.needs.push_back(
        {{{"e", "network", "n"}}, true, When::finished, Unmet::skip, Bond::refresh});
    resource.driver = "engine";
    resource.pace = {Wait::random, 7ms, 9s};
    resource.deadlines.settle = 2min;
    record.applied = resource;
    record.attempt = Attempt{resource, Verb::replace, Time(5s), true, "exit code 1", 3};
    record.outputs = Value::dict({{"ip_address", "10.0.0.2"}});
    record.remote_id = "abc";
    record.incarnation = 4;
    record.changes = 6;
    record.sequence = 99;
    record.finished = Time(77s);
    record.acted_on = {{{"e", "image", "a:1"}, 1, 2, {3, 4}}};
    record.wanted_by["p"] = {5, 6};
    record.run = 12;
    record.by_hand = ByHand::stopped;
    record.is_adopted = true;
    record.was_found = true;
    return record;
  }

  /// The right to act on `e`, which nobody else has.
  static std::unique_ptr<Edit> edit(Store& store, const Name& environment = "e") {
    auto begun = store.begin_edit(environment, this_process("a test", Time(1s)));
    auto* edit = begun ? std::get_if<std::unique_ptr<Edit>>(&*begun) : nullptr;
    EXPECT_NE(edit, nullptr);
    return edit == nullptr ? nullptr : std::move(*edit);
  }
  static Status write(Store& store, std::vector<Change> changes) {
    return edit(store)->write(changes);
  }

  static Change change(const Key& key, const Record& record) {
    return {Change::record, key, std::make_shared<Record>(record), {}};
  }

  uintmax_t bytes_kept() const {
    const std::string file = folder_ + "/reserve";
    return std::filesystem::exists(file) ? std::filesystem::file_size(file) : 0;
  }
  /// Fills the disk, and frees it: 0, or which step was wrong.
  int use_up_and_free() {
    keep_reserve(folder_);
    const uintmax_t at_first = bytes_kept();
    if (at_first == 0)
      return 1;
    const auto store = open_sqlite_store(folder_ + "/fettle.db");
    if (!store || !write(**store, {change({"e", "act", "a"}, record())}))
      return 2;
    auto acting = edit(**store);
    {
      std::ofstream filler(folder_ + "/filler");
      while (filler)
        filler << std::string(4'096, 'x') << std::flush;
    }
    int written = 0;
    while (acting->write(std::vector{change({"e", "act", std::to_string(written)}, record())}))
      ++written;
    acting.reset();
    // A later process keeps nothing more, and there is no room for anything before the first
    // record.
    keep_reserve(folder_);
    if (bytes_kept() != at_first || (*store)->begin_edit("e", this_process("a test", Time(1s))))
      return 3;
    {
      const ReserveUse reserve(folder_);
      if (bytes_kept() != 0 || !write(**store, {change({"e", "act", "more"}, record())}))
        return 4;
      std::filesystem::remove(folder_ + "/filler");
    }
    // It exists again, for the next time.
    return bytes_kept() * 2 > at_first ? 0 : 5;
  }

  std::string folder_;
};

TEST_F(StoreTest, WhatBecomesOfALeftoverIsReadBackBesideTheMandate) {
  for (const Mandate mandate : {Mandate::act, Mandate::report, Mandate::none})
    for (const Leftover leftover : {Leftover::keep, Leftover::forget, Leftover::remove}) {
      Record written = record();
      written.applied.edit().mandate = mandate;
      written.applied.edit().leftover = leftover;
      const Result<Record> back = decode(encode(written));
      ASSERT_TRUE(back);
      EXPECT_EQ(back->applied->mandate, mandate);
      EXPECT_EQ(back->applied->leftover, leftover);
    }
}

TEST_F(StoreTest, RecordsAreReadBackWhole) {
  const std::string bytes = encode(record());
  const Result<Record> back = decode(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(encode(*back), bytes);
  EXPECT_EQ(back->applied->attributes, record().applied->attributes);
  EXPECT_EQ(back->applied->needs[0].bond, Bond::refresh);
  EXPECT_EQ(back->applied->leftover, std::nullopt);
  EXPECT_EQ(back->acted_on, record().acted_on);
  EXPECT_EQ(back->attempt->error, "exit code 1");
  EXPECT_EQ(back->attempt->verb, Verb::replace);
  EXPECT_EQ(back->by_hand, ByHand::stopped);
  EXPECT_TRUE(back->is_adopted);
  EXPECT_TRUE(back->was_found);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode(std::string_view(bytes).substr(0, size)));
}

TEST_F(StoreTest, WhatIsWrittenIsThereAfterOpeningAgain) {
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

TEST_F(StoreTest, SecretsAreSealedWithAKeyOfTheirOwn) {
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
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      if (!entry.is_regular_file())
        continue;
      const std::string bytes = *read_file(entry.path());
      EXPECT_EQ(bytes.find("nobody-may-see"), std::string::npos) << entry.path();
    }
    EXPECT_EQ(store->known("e")->at(key)->outputs, secret);
    EXPECT_EQ(store->events("e", 0, 10)->at(0).detail, secret);
    EXPECT_EQ(**store->note("e", "plan"), secret);
    EXPECT_EQ(**store->cached("cached"), secret);
    EXPECT_EQ((*store->environment("e"))->detail, secret);
  }
  EXPECT_EQ(open()->known("e")->at(key)->outputs, secret);
  std::filesystem::remove(folder_ + "/key");
  EXPECT_EQ(open()->known("e")->at(key)->outputs,
            Value::dict({{"token", Value::secret(Value::unknown())}}));
}

TEST_F(StoreTest, TextsThatHoldASecretOfTheWorkAreSealed) {
  const auto mask = std::make_shared<Mask>();
  auto store = *open_sqlite_store(folder_ + "/fettle.db", mask);
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
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
    if (!entry.is_regular_file())
      continue;
    const std::string bytes = *read_file(entry.path());
    EXPECT_EQ(bytes.find("nobody-may-see"), std::string::npos) << entry.path();
    EXPECT_EQ(bytes.find("of-the-package"), std::string::npos) << entry.path();
  }
  const auto read = open()->known("e")->at(key);
  EXPECT_EQ(read->applied->attributes, written.applied->attributes);
  EXPECT_EQ(read->attempt->error, "login as ******** failed");
  EXPECT_EQ(**store->note("e", "plan"), Value::list({"nobody-may-see", "known"}));
  // Without the key, the applied values are unknown, so it is applied again.
  store.reset();
  std::filesystem::remove(folder_ + "/key");
  EXPECT_NE(open()->known("e")->at(key)->applied->attributes, written.applied->attributes);
}

TEST_F(StoreTest, AControllerIsToldFromACommandAlsoOneOfAnEarlierFettle) {
  auto store = open();
  const auto begin = [&](const char* what, Holder::Role role) {
    auto begun = store->begin_edit("e", this_process(what, Time(1s), role));
    return std::get<std::unique_ptr<Edit>>(std::move(*begun));
  };
  {
    const auto mine = begin("fettle controller of ours", Holder::Role::command);
    EXPECT_EQ((*store->holder("e"))->role, Holder::Role::command);
  }
  const auto mine = begin("anything", Holder::Role::controller);
  EXPECT_EQ((*store->holder("e"))->role, Holder::Role::controller);
  for (const auto& [what, role] : {std::pair("fettle controller", Holder::Role::controller),
                                   std::pair("fettle apply -f a", Holder::Role::command)}) {
    {
      auto database = *Sqlite::open(folder_ + "/fettle.db");
      ASSERT_TRUE(
          database->execute(cat("ALTER TABLE leases DROP COLUMN role; UPDATE leases SET what='",
                                what, "'; PRAGMA user_version=4")
                                .c_str()));
    }
    EXPECT_EQ((*open()->holder("e"))->role, role) << what;
  }
}

TEST_F(StoreTest, OnlyOneHasTheRightToActUntilItsProcessIsGone) {
  auto store = open();
  auto mine = edit(*store);
  const pid_t child = fork();
  if (child == 0) {
    auto other = open_sqlite_store(folder_ + "/fettle.db");
    auto begun = (*other)->begin_edit("e", this_process("another", Time(2s)));
    const Holder* holder = begun ? std::get_if<Holder>(&*begun) : nullptr;
    const bool told = holder != nullptr && holder->what == "a test" && holder->process == getppid();
    auto free = (*other)->begin_edit("other", this_process("another", Time(2s)));
    _exit(told && free && free->index() == 0 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ((*store->holder("e"))->what, "a test");
  const uint64_t first = mine->number();
  mine.reset();
  EXPECT_FALSE(*store->holder("e"));

  const pid_t dying = fork();
  if (dying == 0) {
    auto other = open_sqlite_store(folder_ + "/fettle.db");
    auto begun = (*other)->begin_edit("e", this_process("one that dies", Time(2s)));
    // Silently: the lock ends with a process.
    kill(getpid(), begun && begun->index() == 0 ? SIGKILL : SIGTERM);
  }
  waitpid(dying, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_FALSE(*store->holder("e"));
  EXPECT_GT(edit(*store)->number(), first + 1);
}

TEST_F(StoreTest, WhoHasLostTheRightIsRefused) {
  auto store = open();
  auto lost = edit(*store);
  ASSERT_TRUE(lost->write(std::vector{change({"e", "act", "a"}, record())}));
  // As if somebody else had removed the lock's file.
  for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/locks"))
    std::filesystem::remove(entry.path());
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

TEST_F(StoreTest, AWishNeedsNoRightAndIsRefusedWhileTheEnvironmentGoes) {
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

TEST_F(StoreTest, EventsOfNamesThatBeginAlikeAreFoundNewestFirst) {
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

TEST_F(StoreTest, OldEventsAreForgottenButForWhatIsNeededToSayWhy) {
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

TEST_F(StoreTest, WhoWritesMuchGivesWayToWhoWaits) {
  auto store = open();
  std::atomic<bool> ends{false};
  std::jthread busy([&] {
    auto database = *Sqlite::open(folder_ + "/fettle.db");
    int64_t row = 0;
    ASSERT_TRUE(in_pieces(*database, [&]() -> Result<bool> {
      TRY(TRY(database->query("INSERT INTO notes VALUES('busy',?,x'00')"))
              .bind(std::to_string(row++))
              .run());
      return !ends;
    }));
  });
  // Each of these waits for a piece at most, and the busy one goes on in between.
  const auto acting = edit(*store);
  for (int i = 0; i < 50; ++i)
    EXPECT_TRUE(acting->put_note("x", i));
  ends = true;
}

TEST_F(StoreTest, ManyProcessesMayMakeOneStoreAtOnce) {
  for (int round = 0; round < 20; ++round) {
    const std::string path = cat(folder_, "/", round, ".db");
    int gate[2];
    ASSERT_EQ(pipe(gate), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) {
      children.push_back(fork());
      if (children.back() != 0)
        continue;
      close(gate[1]);
      char none = 0;
      (void)!read(gate[0], &none, 1);  // returns when the gate is closed
      auto store = open_sqlite_store(path);
      const Key key{"e", "act", std::to_string(i)};
      // All want the same right, and get it one after another.
      while (store) {
        auto begun = (*store)->begin_edit("e", this_process("one of many", Time(1s)));
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
    EXPECT_EQ((*open_sqlite_store(path))->known("e")->size(), children.size());
  }
}

TEST_F(StoreTest, NothingWrittenIsLostWhenTheProcessIsKilled) {
  open();
  for (int round = 0; round < 5; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto store = open_sqlite_store(folder_ + "/fettle.db");
      const auto acting = edit(**store);
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

TEST_F(StoreTest, ATornLastPageOfTheLogCostsNothingThatWasCommittedBefore) {
  const Key first{"e", "act", "first"}, second{"e", "act", "second"};
  auto store = open();
  const auto acting = edit(*store);
  ASSERT_TRUE(acting->write(std::vector{change(first, record())}));
  const auto whole = std::filesystem::file_size(folder_ + "/fettle.db-wal");
  ASSERT_TRUE(acting->write(std::vector{change(second, record())}));
  // The state after a crash of the machine: the files as they are, the last page cut in the middle.
  const auto size = std::filesystem::file_size(folder_ + "/fettle.db-wal");
  ASSERT_GT(size, whole);
  for (uintmax_t cut = whole; cut < size; cut += 509)
    for (const bool filled : {false, true}) {
      const std::string torn = folder_ + "/torn";
      std::filesystem::remove_all(torn);
      std::filesystem::create_directory(torn);
      std::filesystem::copy(folder_ + "/fettle.db", torn + "/fettle.db");
      std::filesystem::copy(folder_ + "/fettle.db-wal", torn + "/fettle.db-wal");
      std::filesystem::resize_file(torn + "/fettle.db-wal", cut);
      if (filled)  // the file has its length, and the last blocks were never written
        std::filesystem::resize_file(torn + "/fettle.db-wal", size);
      auto store_of_then = open_sqlite_store(torn + "/fettle.db");
      ASSERT_TRUE(store_of_then) << to_string(store_of_then.error());
      const auto known = (*store_of_then)->known("e");
      ASSERT_TRUE(known) << to_string(known.error());
      EXPECT_TRUE(known->contains(first)) << cut;
      EXPECT_FALSE(known->contains(second)) << cut;
      ASSERT_TRUE(write(**store_of_then, {change(second, record())}));
      EXPECT_TRUE((*store_of_then)->known("e")->contains(second));
    }
}

TEST_F(StoreTest, AFullDiskIsACleanErrorAndNothingRecordedIsLost) {
  const auto work = [this] {
    std::ofstream(folder_ + "/filler") << std::string(200'000, 'x');
    auto store = open_sqlite_store(folder_ + "/fettle.db");
    if (!store)
      return 1;
    auto acting = edit(**store);
    int written = 0;
    Status last;
    while (last && written < 100'000) {
      last = acting->write(std::vector{change({"e", "act", std::to_string(written)}, record())});
      written += last ? 1 : 0;
    }
    acting.reset();
    if (last || to_string(last.error()).find("; what was recorded is safe") == std::string::npos)
      return 2;
    // Everything that was acknowledged exists, for this process and for the next.
    for (int round = 0; round < 2; ++round) {
      const auto known = (*store)->known("e");
      if (!known || known->size() != static_cast<size_t>(written))
        return 3 + round;
      store->reset();
      std::filesystem::remove(folder_ + "/filler");
      store = open_sqlite_store(folder_ + "/fettle.db");
      if (!store)
        return 5;
    }
    // With room again, the same write succeeds.
    return write(**store, {change({"e", "act", "more"}, record())}) ? 0 : 6;
  };
  EXPECT_EQ(on_a_small_disk(folder_, 600, work), 0);
}

TEST_F(StoreTest, AReserveIsKeptForWhoeverFreesSpace) {
  for (const int kilobytes : {24'000, 12'000, 2'000})
    EXPECT_EQ(on_a_small_disk(folder_, kilobytes,
                              [this] {
                                const int first = use_up_and_free();
                                return first != 0 ? first : 10 * use_up_and_free();
                              }),
              0)
        << kilobytes;
}

// Commands may write as much as the store's log already takes, however small the reserve is.
TEST_F(StoreTest, TheLogIsWrittenOverByWhoeverFreesSpace) {
  const auto work = [this] {
    keep_reserve(folder_);
    const auto store = open_sqlite_store(folder_ + "/fettle.db");
    auto acting = edit(**store);
    int written = 0;
    const auto write_one = [&] {
      return acting->write(
          std::vector{change({"e", "act", std::to_string(written++ % 20)}, record())});
    };
    while (std::filesystem::file_size(folder_ + "/fettle.db-wal") < 2 * bytes_kept())
      if (!write_one())
        return 1;
    std::ofstream filler(folder_ + "/filler");
    while (filler)
      filler << std::string(4'096, 'x') << std::flush;
    const ReserveUse reserve(folder_);
    for (int left = written; left > 0; --left)
      if (!write_one())
        return 2;
    return 0;
  };
  EXPECT_EQ(on_a_small_disk(folder_, 3'000, work), 0);
}

TEST_F(StoreTest, AReserveIsAShareOfWhatIsFree) {
  EXPECT_EQ(reserve_of(500'000), 0u);
  EXPECT_EQ(reserve_of(4'000'000), 1'000'000u);
  EXPECT_EQ(reserve_of(uint64_t{1} << 40), uint64_t{4} << 20);
}

TEST_F(StoreTest, AReserveGivesWayWhereItMayBeNeededAndGrowsWithTheRoom) {
  const auto work = [this] {
    const std::string filler = folder_ + "/filler";
    std::ofstream(filler) << std::string(20'000'000, 'x');
    keep_reserve(folder_);
    const uintmax_t small = bytes_kept();
    if (small < 500'000 || small > 1'500'000)
      return 1;
    {
      const ReserveUse reserve(folder_);
      if (bytes_kept() != 0)
        return 2;
    }
    std::filesystem::remove(filler);
    keep_reserve(folder_);
    if (bytes_kept() != uintmax_t{4} << 20)
      return 3;
    const ReserveUse reserve(folder_);
    return bytes_kept() == 0 ? 4 : 0;  // there is enough room
  };
  EXPECT_EQ(on_a_small_disk(folder_, 24'000, work), 0);
}

TEST_F(StoreTest, ADamagedOrNewerFileIsAnErrorThatSaysSo) {
  std::ofstream(folder_ + "/fettle.db") << std::string(8'192, 'x');
  const auto damaged = open_sqlite_store(folder_ + "/fettle.db");
  ASSERT_FALSE(damaged);
  EXPECT_NE(to_string(damaged.error()).find("file is not a database"), std::string::npos);
  const auto nowhere = open_sqlite_store(folder_ + "/no/such/fettle.db");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().blame, Blame::world);
}

TEST_F(StoreTest, ItsStampSaysThatAnotherProcessWrote) {
  const auto store = open(), other = open();
  const int64_t before = *store->stamp();
  EXPECT_EQ(*store->stamp(), before);
  ASSERT_TRUE(store->cache("a", Value(1), Time()));
  EXPECT_EQ(*store->stamp(), before) << "what one wrote oneself is known";
  ASSERT_TRUE(other->cache("b", Value(1), Time()));
  EXPECT_NE(*store->stamp(), before);
}

TEST_F(StoreTest, AWriteIsToldAtOnce) {
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

TEST(StoreFiles, AStoreWithoutItsTablesIsAnErrorAndNoNewOne) {
  const auto folder = TemporaryDirectory::make();
  const std::string path = (folder->path() / "fettle.db").string();
  {
    const auto store = open_sqlite_store(path);
    ASSERT_TRUE(store) << to_string(store.error());
    ASSERT_TRUE((*store)->wish("e", [](Wish& wish) {
      return wish.ensure_environment({"e", "u", Time(), Value::dict({})});
    }));
  }
  EXPECT_EQ((*open_sqlite_store(path))->environments()->size(), 1u);
  // The log holds all of a small store.
  std::filesystem::resize_file(path + "-wal", 0);
  for (const bool is_cut : {false, true}) {
    if (is_cut)
      std::filesystem::resize_file(path, 0);
    const auto store = open_sqlite_store(path);
    ASSERT_FALSE(store);
    EXPECT_NE(to_string(store.error()).find("is empty although it was used"), std::string::npos)
        << to_string(store.error());
  }
  std::filesystem::remove(path);
  std::ofstream{path};
  EXPECT_FALSE(open_sqlite_store(path)) << "an empty file in its place";
  std::filesystem::remove(path);
  EXPECT_TRUE(open_sqlite_store(path)) << "somebody removed it on purpose";
}

TEST(StoreFiles, ManyProcessesMayMakeOneAnewBesideItsKey) {
  const auto folder = TemporaryDirectory::make();
  const std::string path = (folder->path() / "fettle.db").string();
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(open_sqlite_store(path));
    for (const char* const end : {"", "-wal", "-shm"})
      std::filesystem::remove(path + end);
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i)
      if (children.push_back(fork()); children.back() == 0)
        _exit(open_sqlite_store(path) ? 0 : 1);
    for (const pid_t child : children) {
      int status = 1;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0) << round;
    }
  }
}

TEST(StoreFiles, AnErrorAboutADamagedOneNamesItsPath) {
  const auto folder = TemporaryDirectory::make();
  const std::string path = (folder->path() / "fettle.db").string();
  {
    const auto store = open_sqlite_store(path);
    ASSERT_TRUE(store);
    ASSERT_TRUE((*store)->wish("e", [](Wish& wish) {
      return wish.ensure_environment({"e", "u", Time(), Value::dict({})});
    }));
  }
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr), 0);
  sqlite3_close(handle);
  // All pages but the first.
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4'096);
  file << std::string(std::filesystem::file_size(path) - 4'096, 'x');
  file.close();
  const auto store = open_sqlite_store(path);
  const auto found =
      store ? (*store)->environments() : Result<std::vector<Environment>>(store.error());
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find(path), std::string::npos) << to_string(found.error());
  EXPECT_EQ(found.error().blame, Blame::world);
}

}  // namespace
}  // namespace fettle

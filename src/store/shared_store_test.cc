/// What only a store on a server goes through: lost connections, restarts, full disks, poolers.

#include <sys/mount.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <semaphore>
#include <thread>

#include "store/blobs.h"
#include "store/columns.h"
#include "store/postgres.h"
#include "tests/fixtures/small_disk.h"
#include "tests/fixtures/store_fixture.h"

namespace fettle {
namespace {

class SharedStoreTest : public testing::Test, protected StoreWords {
 protected:
  static PostgresServer& server() { return PostgresServer::of_program(); }
  /// Throws out everybody but the one who asks.
  static void throw_out() {
    server().sql(
        "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE "
        "application_name='fettle'");
  }
  std::string error_of_opening(const std::string& address, const std::string& home) const {
    const auto opened = open_store(address, home);
    return opened ? "opened" : to_string(opened.error());
  }
  std::string error_of_opening(const std::string& address) const {
    return error_of_opening(address, place_.home());
  }
  static Status say(Store& store, int number) {
    return store.wish("e", [&](Wish& wish) { return wish.put_note("said", number); });
  }
  static Event event_of(const Name& environment) {
    Event event;
    event.environment = environment;
    event.key = {environment, "act", "a"};
    return event;
  }

  /// Takes the right to act on `e` away from whoever has it.
  static Status take_away(Store& store) {
    const auto holder = *store.holder("e");
    if (!holder)
      return world_error("nobody acts");
    Event told;
    told.environment = "e";
    told.key.environment = "e";
    told.type = EventType::unlocked;
    told.text = to_string(*holder);
    return store.take_away("e", *holder, this_process("fettle force-unlock e", Time(9s)), told);
  }
  static std::string message_of(const Status& status) {
    return status ? "" : status.error().message;
  }

  StorePlace place_{StoreKind::postgres};
};

TEST(PostgresAddress, IsShownWithoutWhatIsSecret) {
  const auto shown = [](std::string_view text) {
    const auto address = parse_postgres_address(text);
    return address ? address->shown : to_string(address.error());
  };
  EXPECT_EQ(shown("postgres://me:pa:ss@db.example:5432/fettle?schema=team&sslmode=require"),
            "postgres://me@db.example:5432/fettle?schema=team&sslmode=require");
  EXPECT_EQ(shown("postgresql://me@[::1]:5432/fettle"), "postgresql://me@[::1]:5432/fettle");
  EXPECT_EQ(shown("postgres://db/fettle?user=me&password=pass&sslpassword=more"),
            "postgres://db/fettle?user=me&password=********&sslpassword=********");
  EXPECT_EQ(shown("postgres://me@db/x?host=/a@b"), "postgres://me@db/x?host=/a@b");
  for (const char* const unclear : {"a:b@sesame@db", "a:b?sesame@db/x", "a:b?sesame@db/x?schema=y",
                                    "a:b/sesame@db/x", "a:b?sesame@db", "db?user=a@b"}) {
    const std::string error = shown(cat("postgres://", unclear));
    EXPECT_NE(error.find("has an `@` too many"), error.npos) << unclear << ": " << error;
  }
  const auto address = *parse_postgres_address("postgres://db/x?schema=team&sslmode=require");
  EXPECT_EQ(address.url, "postgres://db/x?sslmode=require");
  EXPECT_EQ(address.schema, "team");
  for (const char* const schema : {"", "A", "a\"b", "pg_temp", "a%20b", "information_schema"})
    EXPECT_NE(shown(cat("postgres://db/x?schema=", schema)).find("cannot be the schema"),
              std::string::npos)
        << schema;
  EXPECT_FALSE(parse_postgres_address("mysql://db/x"));
}

TEST_F(SharedStoreTest, NoErrorShowsThePassword) {
  for (const char* const address :
       {"postgres://me:sesame-open@127.0.0.1:1/x", "postgres://me:sesame-open@[127.0.0.1/x",
        "postgres://me:ses/sesame-open@127.0.0.1/x",
        "postgres://me@127.0.0.1:1/x?password=sesame-open&connect_timeout=1"}) {
    const std::string error = error_of_opening(address);
    EXPECT_NE(error, "opened");
    EXPECT_EQ(error.find("sesame-open"), std::string::npos) << error;
  }
}

TEST_F(SharedStoreTest, NoNewsIsLostWithTheConnection) {
  const auto store = place_.open(), other = place_.open();
  std::counting_semaphore<> told(0);
  std::atomic<bool> is_watching = false;
  std::jthread thread([&](const std::stop_token& stop) {
    EXPECT_TRUE(store->watch(
        [&] {
          // Just when it looks again, somebody writes.
          if (is_watching.exchange(false)) {
            EXPECT_TRUE(other->cache("a", Value(2), Time()));
          }
          told.release();
        },
        stop));
  });
  ASSERT_TRUE(told.try_acquire_for(20s)) << "what was written before it listened";
  is_watching = true;
  throw_out();
  ASSERT_TRUE(other->stamp());  // connects again
  ASSERT_TRUE(told.try_acquire_for(20s));
  EXPECT_TRUE(told.try_acquire_for(20s)) << "what was written then";
}

TEST_F(SharedStoreTest, WhatIsCommittedIsWrittenThoughItCannotBeTold) {
  // Whoever waits for this copy, which nobody makes, keeps others from telling anything.
  PostgresServer own({"synchronous_standby_names=nobody"});
  const std::string address = cat(own.address("own"), "&options=-csynchronous_commit%3Dlocal");
  const OpenedStore opened = *open_store(address, place_.home());
  std::jthread stuck(
      [&] { own.sql("SET client_min_messages=error; CREATE TABLE stuck(); NOTIFY something"); });
  const auto waiting = [&](std::string_view event) {
    for (int i = 0; i < 1'000; ++i) {
      if (own.sql(cat("SELECT count(*) FROM pg_stat_activity WHERE wait_event='", event, "'")) !=
          "0")
        return true;
      usleep(10'000);
    }
    return false;
  };
  EXPECT_TRUE(waiting("SyncRep"));
  Status said = world_error("not yet");
  {
    const std::jthread writer([&] { said = say(*opened.store, 1); });
    EXPECT_TRUE(waiting("object"));
    own.sql(
        "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE "
        "wait_event='object'");
  }
  EXPECT_TRUE(said) << to_string(said.error());
  EXPECT_EQ(**opened.store->note("e", "said"), Value(1));
  own.sql("SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event='SyncRep'");
}

TEST_F(SharedStoreTest, ALostConnectionHoldsItsContentsAgain) {
  const OpenedStore opened = place_.open_whole();
  FileBlobs blobs(*opened.disk, *opened.index, opened.blobs);
  const std::string digest = *blobs.put("kept");
  throw_out();
  ASSERT_TRUE(*blobs.has(digest));
  const OpenedStore other = place_.open_whole();
  FileBlobs cleaner(*other.disk, *other.index, other.blobs);
  EXPECT_EQ(*cleaner.clear(), 0u) << "it is held again";
}

TEST_F(SharedStoreTest, AConnectionLostWithinATransactionWritesNothingOfIt) {
  const auto store = place_.open();
  ASSERT_TRUE(say(*store, 1));
  const Status lost = store->wish("e", [&](Wish& wish) -> Status {
    TRY(wish.put_note("said", 2));
    throw_out();
    TRY(wish.put_note("more", 3));
    return {};
  });
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().blame, Blame::world);
  EXPECT_NE(lost.error().message.find("the connection to the store `postgres://fettle@"),
            std::string::npos)
      << lost.error().message;
  EXPECT_EQ(**store->note("e", "said"), Value(1));
  EXPECT_FALSE(*store->note("e", "more"));
  EXPECT_TRUE(say(*store, 4));
  EXPECT_EQ(**store->note("e", "said"), Value(4));
}

TEST_F(SharedStoreTest, ALostConnectionCostsTheLockAndNotTheRight) {
  const auto store = place_.open(), other = place_.open();
  const auto acting = edit(*store);
  throw_out();
  // Nobody has overtaken it, so it goes on, and has the lock again.
  ASSERT_TRUE(acting->write(std::vector{change({"e", "act", "a"}, record())}));
  ASSERT_TRUE(acting->put_note("x", 1));
  const auto refused = other->begin_edit("e", this_process("another", Time(2s)));
  ASSERT_TRUE(refused);
  const Holder* const holder = std::get_if<Holder>(&*refused);
  ASSERT_NE(holder, nullptr);
  EXPECT_EQ(holder->what, "a test");
  throw_out();
  // Somebody is faster.
  const auto mine = edit(*other);
  EXPECT_FALSE(acting->write(std::vector{change({"e", "act", "b"}, record())}));
  EXPECT_TRUE(mine->write(std::vector{change({"e", "act", "c"}, record())}));
  EXPECT_FALSE(store->known("e")->contains({"e", "act", "b"}));
}

TEST_F(SharedStoreTest, WhoseRightWasTakenAwayWritesNothingMoreAndKeepsNobodyOut) {
  const auto store = place_.open(), other = place_.open();
  const auto acting = edit(*store);
  ASSERT_TRUE(acting->put_note("said", 1));
  const Status taken = take_away(*other);
  ASSERT_TRUE(taken) << to_string(taken.error());
  EXPECT_FALSE(*other->holder("e"));
  EXPECT_EQ(message_of(take_away(*other)), "nobody acts");
  const auto events = *other->events("e", 0, 10);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].type, EventType::unlocked);
  EXPECT_TRUE(events[0].text.starts_with("`a test` (process ")) << events[0].text;
  // The first write hears that the connection is gone or connects again, and no write is made.
  for (int i = 0; i < 3; ++i) {
    const std::string refused = message_of(acting->put_note("said", 2));
    EXPECT_TRUE(
        refused.starts_with("the lock on `e` was lost to `fettle force-unlock e` (process "))
        << refused;
  }
  EXPECT_FALSE(*other->holder("e")) << "who was overtaken must not have the lock again";
  const auto mine = edit(*other);
  EXPECT_TRUE(mine->put_note("said", 3));
  EXPECT_FALSE(acting->write(std::vector{change({"e", "act", "a"}, record())}));
  EXPECT_EQ(**store->note("e", "said"), Value(3));
  EXPECT_TRUE(store->known("e")->empty());
}

TEST_F(SharedStoreTest, ARightIsTakenFromAProcessThatStandsStillWithinATransaction) {
  const pid_t child = fork_until_end();
  if (child == 0) {
    const OpenedStore opened = *open_store(place_.address(), place_.home());
    const auto acting = edit(*opened.store);
    const Status stopped = opened.store->wish("e", [](Wish& wish) -> Status {
      TRY(wish.put_note("said", 1));
      raise(SIGSTOP);
      return {};
    });
    const std::string refused = message_of(acting->put_note("said", 1));
    _exit((stopped ? 1 : 0) + (refused.starts_with("the lock on `e` was lost") ? 0 : 2));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  const auto store = place_.open();
  ASSERT_TRUE(*store->holder("e"));
  const Status taken = take_away(*store);
  EXPECT_TRUE(taken) << to_string(taken.error());
  EXPECT_TRUE(edit(*store)->put_note("said", 2));
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(**store->note("e", "said"), Value(2));
}

TEST_F(SharedStoreTest, WhoWaitsGetsTheRightThatIsTakenAway) {
  const auto store = place_.open(), waiting = place_.open(), other = place_.open();
  const auto acting = edit(*store);
  Status written = world_error("not yet");
  {
    const std::jthread waiter([&] {
      while (true) {
        auto begun = waiting->begin_edit("e", this_process("who waits", Time(2s)));
        if (!begun || std::holds_alternative<Holder>(*begun))
          continue;
        written = std::get<std::unique_ptr<Edit>>(*begun)->put_note("said", 1);
        return;
      }
    });
    const Status taken = take_away(*other);
    EXPECT_TRUE(taken) << to_string(taken.error());
  }
  EXPECT_TRUE(written) << to_string(written.error());
  EXPECT_FALSE(acting->put_note("said", 2));
}

TEST_F(SharedStoreTest, ARemovalThatWasOvertakenLeavesVersionsOfOthers) {
  const auto store = place_.open(), other = place_.open();
  const auto removing = edit(*store);
  ASSERT_TRUE(removing->put_environment({"e", "0123", Time(1s), Value::dict({})}));
  auto push = *other->versions().begin_push("e");
  Status removed;
  {
    const std::jthread remover([&] { removed = removing->remove_environment(); });
    while (!(*other->environment("e"))->is_removing)
      usleep(1'000);
    ASSERT_TRUE(take_away(*other));
    Delta delta;
    delta.number = 1;
    delta.detail = Value::dict({});
    const auto staged = *push->stage(std::move(delta));
    ASSERT_TRUE(other->wish("e", [&](Wish& wish) { return wish.commit(*staged, Time(1s)); }));
    push.reset();
  }
  EXPECT_TRUE(message_of(removed).starts_with("the lock on `e` was lost to `"))
      << message_of(removed);
  EXPECT_EQ(other->versions().heads("e")->size(), 1u);
}

TEST_F(SharedStoreTest, ARightOfAnotherRoleStaysUnlessTheServerLetsItBeTaken) {
  const auto store = place_.open();
  const auto acting = edit(*store);
  const PostgresServer& own = server();
  own.sql("CREATE ROLE colleague LOGIN");
  own.sql(cat("GRANT ALL ON SCHEMA ", place_.schema(), " TO colleague"));
  for (const char* const things : {"TABLES", "SEQUENCES"})
    own.sql(cat("GRANT ALL ON ALL ", things, " IN SCHEMA ", place_.schema(), " TO colleague"));
  const auto opened = open_store(own.address(place_.schema(), "colleague"), place_.home());
  ASSERT_TRUE(opened) << to_string(opened.error());
  const Status refused = take_away(*opened->store);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().blame, Blame::user);
  EXPECT_NE(refused.error().message.find("of the role `fettle`, which yours may not end"),
            std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(acting->put_note("said", 1)) << "nothing was done";
}

TEST_F(SharedStoreTest, NobodyIsTakenForTheHolderThatWasMeant) {
  const auto store = place_.open(), other = place_.open();
  const auto first = edit(*store);
  const Holder meant{1, "elsewhere", "somebody else", Time(1s)};
  const Status refused = other->take_away("e", meant, this_process("x", Time(2s)), event_of("e"));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("does not act on `e` any more; nothing was done"),
            std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(first->put_note("said", 1));
}

TEST_F(SharedStoreTest, APushWhoseTurnWasLostWritesNothingMore) {
  const auto store = place_.open();
  const auto turn = *store->versions().begin_push("e");
  Delta delta;
  delta.number = 1;
  delta.detail = Value::dict({});
  const auto staged = *turn->stage(std::move(delta));
  throw_out();
  const Status refused =
      store->wish("e", [&](Wish& wish) { return wish.commit(*staged, Time(1s)); });
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("the turn to push was lost"), std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(store->versions().heads("e")->empty());
}

TEST_F(SharedStoreTest, AServerThatStartsAgainHasWhatWasWritten) {
  PostgresServer own;
  const std::string address = own.address("own");
  const auto opened = open_store(address, place_.home());
  ASSERT_TRUE(opened) << to_string(opened.error());
  Store& store = *opened->store;
  const auto acting = edit(store);
  int64_t stamp = *store.stamp();
  for (const int signal : {SIGINT, SIGQUIT}) {
    ASSERT_TRUE(acting->put_note("said", signal));
    own.stop(signal);
    const Status refused = acting->put_note("said", 0);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("cannot be reached"), std::string::npos)
        << refused.error().message;
    own.start();
    EXPECT_EQ(**store.note("e", "said"), Value(signal));
    EXPECT_NE(std::exchange(stamp, *store.stamp()), stamp) << "somebody may have written";
  }
  EXPECT_TRUE(acting->put_note("said", 1));
}

// The tables are on a disk of their own: that of the log ends the server, whoever fills it.
TEST_F(SharedStoreTest, AFullDiskIsACleanErrorAndNothingRecordedIsLost) {
  const auto folder = TemporaryDirectory::make();
  const std::string small = folder->path().string();
  const auto work = [&] {
    const PostgresServer own;
    const std::string place = cat(small, "/tables");
    if (mkdir(place.c_str(), 0777) != 0 || chmod(small.c_str(), 0777) != 0)
      return 1;
    const passwd* const user = getpwnam("postgres");
    if (geteuid() == 0 && chown(place.c_str(), user->pw_uid, user->pw_gid) != 0)
      return 2;
    std::ofstream(small + "/filler") << std::string(200'000, 'x');
    own.sql(cat("CREATE TABLESPACE small LOCATION '", place, "'"));
    own.sql("ALTER ROLE fettle SET default_tablespace=small");
    auto store = open_store(own.address("own"), place_.home());
    if (!store)
      return 3;
    const auto acting = edit(*store->store);
    int written = 0;
    Status last;
    for (; last && written < 100'000; written += last ? 1 : 0)
      last = acting->write(std::vector{change({"e", "act", std::to_string(written)}, record())});
    if (last || to_string(last.error()).find("; what was recorded is safe") == std::string::npos)
      return 4;
    const auto known = store->store->known("e");
    if (!known || known->size() != static_cast<size_t>(written))
      return 5;
    std::filesystem::remove(small + "/filler");
    return acting->write(std::vector{change({"e", "act", "more"}, record())}) ? 0 : 6;
  };
  EXPECT_EQ(on_a_small_disk(small, 1'500, work), 0);
}

TEST_F(SharedStoreTest, AServerThatPromisesNothingIsRefused) {
  server().sql("CREATE ROLE hasty LOGIN SUPERUSER");
  server().sql("ALTER ROLE hasty SET synchronous_commit=off");
  const std::string error = error_of_opening(server().address("hasty", "hasty"));
  EXPECT_NE(error.find("`ALTER ROLE … SET synchronous_commit=on`"), std::string::npos) << error;
  server().sql("CREATE ROLE stranger LOGIN");
  const std::string refused = error_of_opening(server().address("strange", "stranger"));
  EXPECT_NE(refused.find("permission denied for database postgres"), std::string::npos) << refused;
  EXPECT_NE(
      error_of_opening(server().address("x", "nobody")).find("role \"nobody\" does not exist"),
      std::string::npos);
}

TEST_F(SharedStoreTest, OneOfANewerFettleIsLeftAlone) {
  ASSERT_NE(place_.open(), nullptr);
  server().sql(cat("UPDATE ", place_.schema(), ".settings SET value='99' WHERE name='format'"));
  const std::string error = error_of_opening(place_.address());
  EXPECT_NE(error.find("has format 99, but this fettle supports formats up to 1"), error.npos)
      << error;
}

TEST_F(SharedStoreTest, WhoOnlyReadsMakesNone) {
  ASSERT_NE(place_.open(), nullptr);
  const auto reading = [&](const std::string& schema) {
    const auto opened =
        open_store(server().address(schema), place_.home(), nullptr, {.may_make = false});
    return opened ? "opened" : to_string(opened.error());
  };
  EXPECT_EQ(reading(place_.schema()), "opened");
  const std::string near = reading(place_.schema() + "x");
  EXPECT_NE(near.find(cat("there is no store in the schema `", place_.schema(), "x` of `")),
            near.npos)
      << near;
  EXPECT_NE(near.find(cat("did you mean `", place_.schema(), "`")), near.npos) << near;
  const std::string far = reading("quite_another");
  EXPECT_NE(far.find("there are stores in `"), far.npos) << far;
  EXPECT_EQ(server().sql("SELECT count(*) FROM pg_namespace WHERE nspname='quite_another'"), "0");
  const OpenedStore made = *open_store(server().address("quite_another"), place_.home());
  EXPECT_TRUE(made.made.starts_with("the schema `quite_another` of `postgres://")) << made.made;
  EXPECT_EQ(open_store(server().address("quite_another"), place_.home())->made, "");
  PostgresServer own;
  const auto none = open_store(own.address("first"), place_.home(), nullptr, {.may_make = false});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().blame, Blame::user);
  EXPECT_TRUE(none.error().message.ends_with("`; a command that acts makes one"))
      << none.error().message;
}

TEST_F(SharedStoreTest, OneThatWasEmptiedIsNoNewOne) {
  ASSERT_NE(place_.open(), nullptr);
  server().sql(cat("TRUNCATE ", place_.schema(), ".settings"));
  const std::string error = error_of_opening(place_.address());
  EXPECT_NE(error.find("is damaged: its table `settings` names no format"), error.npos) << error;
}

TEST_F(SharedStoreTest, OnlyAHomeWithItsKeyMayUseIt) {
  const StorePlace other(StoreKind::file), third(StoreKind::file);
  ASSERT_NE(place_.open(), nullptr);
  const std::string none = error_of_opening(place_.address(), other.home());
  EXPECT_NE(none.find("there is no key at `"), none.npos) << none;
  EXPECT_FALSE(std::filesystem::exists(other.home() + "/key")) << "a wrong key must not be made";
  ASSERT_NE(third.open(), nullptr);
  const std::string wrong = error_of_opening(place_.address(), third.home());
  EXPECT_NE(wrong.find("are sealed with another key than `"), wrong.npos) << wrong;
  std::filesystem::copy_file(place_.home() + "/key", other.home() + "/key");
  EXPECT_EQ(error_of_opening(place_.address(), other.home()), "opened");
}

TEST_F(SharedStoreTest, APoolerMayOnlyStandBeforeItWithAConnectionForEachClient) {
  for (const std::string mode : {"transaction", "session"}) {
    const std::string folder = cat(server().folder(), "/", mode);
    std::filesystem::create_directory(folder);
    ASSERT_EQ(chmod(folder.c_str(), 0777), 0);
    std::ofstream(folder + "/users") << "\"fettle\" \"\"\n";
    std::ofstream(folder + "/ini")
        << "[databases]\n* = host=" << server().folder()
        << "\n[pgbouncer]\nauth_type=trust\nauth_file=" << folder
        << "/users\nunix_socket_dir=" << folder << "\nlisten_addr=\npool_mode=" << mode
        << "\nignore_startup_parameters=extra_float_digits\n";
    const pid_t pooler = server().run("/usr/sbin/pgbouncer", {"-q", folder + "/ini"});
    // Its socket is there before it listens.
    std::string answer = "cannot be reached";
    for (int i = 0; i < 1'000 && answer.find("cannot be reached") != answer.npos; ++i) {
      usleep(10'000);
      answer = error_of_opening(
          cat("postgres://fettle@/postgres?host=", folder, "&port=6432&schema=pooled"));
    }
    kill(pooler, SIGTERM);
    waitpid(pooler, nullptr, 0);
    if (mode == "session")
      EXPECT_EQ(answer, "opened") << server().log();
    else
      EXPECT_NE(answer.find("is behind a pooler that gives each transaction another connection"),
                answer.npos)
          << answer;
  }
}

// Numbers are drawn before a transaction ends, and a reader goes on from the largest that he saw.
TEST_F(SharedStoreTest, NoEventIsPassedOverWhileASmallerOneIsStillBeingWritten) {
  const auto store = place_.open();
  const auto slow = *Postgres::open(*parse_postgres_address(place_.address()));
  {
    Transaction open = *Transaction::begin(*slow, {turn_of("slow")});
    ASSERT_TRUE(slow->execute(
        "INSERT INTO events(time, type, environment, kind, name, verb, because_kind, because_name, "
        "text, detail) VALUES(0, 0, 'slow', '', '', 0, '', '', '', '\\x00')"));
    ASSERT_TRUE(edit(*store, "fast")
                    ->write(std::vector{Change{Change::event, {}, nullptr, event_of("fast")}}));
    EXPECT_EQ(store->events("fast", 0, 10)->size(), 1u);
    EXPECT_EQ(store->events("", 0, 10)->size(), 0u);
    ASSERT_TRUE(open.commit());
  }
  const auto all = *store->events("", 0, 10);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].environment, "slow");
  EXPECT_EQ(all[1].environment, "fast");
}

TEST_F(SharedStoreTest, ThoseWhoWriteToOtherEnvironmentsWaitForNobody) {
  const auto store = place_.open(), other = place_.open();
  const auto mine = edit(*store, "mine");
  const auto theirs = edit(*other, "theirs");
  const Status nested = store->wish("mine", [&](Wish& wish) -> Status {
    TRY(wish.put_note("x", 1));
    return theirs->write(std::vector{change({"theirs", "act", "a"}, record())});
  });
  EXPECT_TRUE(nested) << to_string(nested.error());
}

}  // namespace
}  // namespace fettle

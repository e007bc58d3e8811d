/// A store whose server was failed over to a standby that lacks the last commits, or put back.

#include <filesystem>
#include <fstream>

#include "store/postgres_place.h"
#include "tests/fixtures/store_fixture.h"

namespace fettle {
namespace {

class FailOverTest : public testing::Test, protected StoreWords {
 protected:
  /// Whichever of the two takes writes.
  std::string address() const {
    return cat("postgres://fettle@/postgres?host=", primary_->folder(), ",", standby_->folder(),
               "&target_session_attrs=read-write&schema=team");
  }
  OpenedStore opened(const std::string& address) const {
    auto store = open_store(address, home());
    EXPECT_TRUE(store) << to_string(store.error());
    return *std::move(store);
  }
  std::string error_of_opening(const std::string& address) const {
    const auto store = open_store(address, home());
    return store ? "opened" : to_string(store.error());
  }
  std::string home() const { return place_.home(); }
  void fail_over() {
    primary_->stop(SIGQUIT);
    standby_->promote();
  }
  static Change event_in(const Name& environment, std::string text) {
    Event event;
    event.environment = environment;
    event.key = {environment, "act", "a"};
    event.text = std::move(text);
    return {Change::event, {}, nullptr, event};
  }
  static std::string refusal_of(const Status& status) {
    return status ? "written" : status.error().message;
  }
  static size_t failed_over_events(Store& store) {
    const auto events = *store.events("e", 0, 1'000);
    return static_cast<size_t>(std::ranges::count(events, EventType::failed_over, &Event::type));
  }

  StorePlace place_{StoreKind::file};
  std::unique_ptr<PostgresServer> primary_ = std::make_unique<PostgresServer>();
  std::unique_ptr<PostgresServer> standby_ = PostgresServer::standby_of(*primary_);
};

TEST(ServerPlaces, AreReadAsTheyAreWritten) {
  const ServerPlace place{"7431", 12, "16385"};
  EXPECT_EQ(to_string(place), "7431/12/16385");
  EXPECT_EQ(parse_place(to_string(place)), place);
  for (const char* const text : {"", "7431", "7431/12", "7431/x/1", "7431/1 /1", "1/2/3/4"})
    EXPECT_FALSE(parse_place(text)) << text;
}

TEST_F(FailOverTest, NoRightOfTheOldServerCountsOnTheNewOne) {
  const OpenedStore kept = opened(address()), other = opened(address());
  Store& store = *kept.store;
  const auto acting = edit(store);
  ASSERT_TRUE(acting->put_environment({"e", "0123", Time(1s), Value::dict({})}));
  ASSERT_TRUE(standby_->has_all_of(*primary_));
  standby_->cut_off();
  // What the standby never hears of: records, events and numbers of rights.
  ASSERT_TRUE(
      acting->write(std::vector{change({"e", "act", "lost"}, record()), event_in("e", "lost")}));
  uint64_t last_number = 0;
  for (int i = 0; i < 3; ++i)
    last_number = edit(*other.store, "others")->number();
  const uint64_t last_event = store.events("e", 0, 1'000)->back().sequence;
  fail_over();
  // The holder comes first, and nobody else has said yet that the store is on another server.
  for (int i = 0; i < 2; ++i) {
    const std::string refused = refusal_of(acting->put_note("said", 1));
    EXPECT_TRUE(refused.starts_with("the lock on `e` was lost when the store was failed over"))
        << refused;
  }
  EXPECT_FALSE(*store.holder("e"));
  EXPECT_FALSE(store.known("e")->contains({"e", "act", "lost"}));
  const auto mine = edit(*other.store);
  EXPECT_GT(mine->number(), last_number);
  EXPECT_FALSE(acting->put_note("said", 2));
  EXPECT_TRUE(mine->put_note("said", 3));
  EXPECT_EQ(failed_over_events(store), 1u) << "it is told once";
  const auto note = *store.note("e", failed_over_note);
  ASSERT_TRUE(note);
  EXPECT_EQ(note->text(),
            "the store may lack its last records: its server was failed over, or put back "
            "(timeline 2 after 1)");
  // Whoever follows the events has seen the last one of the old server.
  const auto news = *store.events("e", last_event, 1'000);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].type, EventType::failed_over);
}

TEST_F(FailOverTest, AServerThatWasLeftBehindIsRefused) {
  ASSERT_EQ(error_of_opening(address()), "opened");
  ASSERT_TRUE(standby_->has_all_of(*primary_));
  fail_over();
  ASSERT_EQ(error_of_opening(address()), "opened");
  primary_->start();
  const std::string refused = error_of_opening(primary_->address("team"));
  EXPECT_NE(refused.find("was left behind: its server is on timeline 1, and was failed over to one "
                         "on timeline 2; name that one, or remove `"),
            refused.npos)
      << refused;
  std::filesystem::remove_all(home() + "/stores");
  EXPECT_EQ(error_of_opening(primary_->address("team")), "opened");
}

TEST_F(FailOverTest, ARunningCommandIsNotDrawnBackToTheServerThatWasLeftBehind) {
  const OpenedStore kept = opened(address());
  ASSERT_TRUE(standby_->has_all_of(*primary_));
  fail_over();
  const auto acting = edit(*kept.store);
  ASSERT_TRUE(acting->put_note("said", 1));
  // The old one answers again, and stands first in the address.
  primary_->start();
  standby_->sql(
      "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE "
      "application_name='fettle'");
  const std::string refused = refusal_of(acting->put_note("said", 2));
  EXPECT_NE(refused.find("was left behind"), refused.npos) << refused;
  EXPECT_EQ(primary_->sql("SELECT count(*) FROM team.notes"), "0");
}

TEST_F(FailOverTest, AHomeThatCannotRememberUsesTheStore) {
  ASSERT_EQ(error_of_opening(address()), "opened");
  std::filesystem::remove_all(home() + "/stores");
  ASSERT_TRUE(write_file(home() + "/stores", "no folder"));
  EXPECT_EQ(error_of_opening(address()), "opened");
}

TEST_F(FailOverTest, ARestartIsNone) {
  const OpenedStore kept = opened(address());
  const auto acting = edit(*kept.store);
  ASSERT_TRUE(acting->put_environment({"e", "0123", Time(1s), Value::dict({})}));
  primary_->stop(SIGQUIT);
  primary_->start();
  EXPECT_TRUE(acting->put_note("said", 1));
  EXPECT_EQ(failed_over_events(*kept.store), 0u);
}

TEST_F(FailOverTest, AServerOfAnOrdinaryRoleTellsItToo) {
  primary_->sql("CREATE ROLE member LOGIN");
  primary_->sql("GRANT CREATE ON DATABASE postgres TO member");
  ASSERT_EQ(error_of_opening(primary_->address("others", "member")), "opened");
  EXPECT_TRUE(parse_place(
      primary_->sql("SELECT convert_from(value, 'UTF8') FROM others.settings WHERE name='place'")));
}

TEST_F(FailOverTest, TablesThatWerePutBackFromADumpAreNoticed) {
  const std::string address = primary_->address("team"), dump = primary_->folder() + "/dump";
  {
    const OpenedStore kept = opened(address);
    const auto acting = edit(*kept.store);
    ASSERT_TRUE(acting->put_environment({"e", "0123", Time(1s), Value::dict({})}));
    ASSERT_TRUE(acting->write(std::vector{event_in("e", "kept")}));
  }
  const auto runs = [&](const std::string& program, const std::vector<std::string>& words) {
    int status = 1;
    waitpid(primary_->run(program, words), &status, 0);
    EXPECT_EQ(status, 0) << primary_->log();
  };
  const std::string folder = primary_->folder();
  runs("pg_dump", {"-h", folder, "-U", "fettle", "-n", "team", "-f", dump, "postgres"});
  primary_->sql("SET client_min_messages=error; DROP SCHEMA team CASCADE");
  runs("psql", {"-q", "-h", folder, "-U", "fettle", "-f", dump, "postgres"});
  // As after a restore into a server that has written less.
  primary_->sql("UPDATE team.events SET written_by='99999999999'::xid8");
  const OpenedStore kept = opened(address);
  EXPECT_EQ((*kept.store->note("e", failed_over_note))->text(),
            "the store may lack its last records: its tables were put back from a backup");
  EXPECT_EQ(kept.store->events("", 0, 10)->size(), 2u) << "those of all environments";
}

}  // namespace
}  // namespace fettle

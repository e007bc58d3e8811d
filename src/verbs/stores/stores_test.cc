#include "verbs/stores/stores.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "base/hash.h"
#include "store/blobs.h"
#include "store/columns.h"
#include "store/postgres.h"
#include "tests/fixtures/store_fixture.h"

namespace fettle {
namespace {

class StoresTest : public testing::Test, protected StoreWords {
 protected:
  /// A store with something of everything; the digest of its content.
  std::string fill(const std::string& address) const {
    OpenedStore opened = *open_store(address, home());
    FileBlobs blobs(*opened.disk, *opened.index, opened.blobs);
    const std::string digest = *blobs.put(std::string(1'500'000, 'x'));
    const auto acting = edit(*opened.store);
    Record written = record();
    written.outputs = Value::dict({{"digest", digest}});
    std::vector<Change> changes{change({"e", "service", "web"}, written)};
    for (int i = 0; i < 700; ++i) {
      Event event;
      event.environment = "e";
      event.key = {"e", "service", "web"};
      event.time = Time(std::chrono::seconds(i));
      event.text = cat("event \xff ", i);
      changes.push_back({Change::event, {}, nullptr, event});
    }
    EXPECT_TRUE(acting->write(changes));
    EXPECT_TRUE(acting->put_note("secret", Value::secret("sesame-open")));
    EXPECT_TRUE(acting->put_environment({"e", "0123", Time(3s), {}}));
    // The last ones are gone, and their numbers are not given again.
    EXPECT_TRUE(acting->write(std::vector{Change{Change::forget, {"e", "x", "y"}, {}, {}}}));
    EXPECT_TRUE(opened.store->forget_before(Time(650s)));
    Delta delta;
    delta.number = 1;
    Content content;
    Item item;
    item.id = "T[a,name=b]";
    item.attributes = Value::dict({{"password", Value::secret("sesame-open")}});
    content.items.push_back(item);
    delta.pieces.emplace_back(Piece{"set", {}}, seal(std::move(content)));
    delta.detail = Value::dict({{"by", "a test"}});
    const auto turn = *opened.store->versions().begin_push("e");
    const auto staged = *turn->stage(std::move(delta));
    EXPECT_TRUE(
        opened.store->wish("e", [&](Wish& wish) { return wish.commit(*staged, Time(4s)); }));
    return digest;
  }

  /// Another record, and the content that it has.
  std::string put_and_refer(const std::string& address, const std::string& text) const {
    const OpenedStore opened = *open_store(address, home());
    FileBlobs blobs(*opened.disk, *opened.index, opened.blobs);
    Record written = record();
    const std::string digest = *blobs.put(text);
    written.outputs = Value::dict({{"digest", digest}});
    EXPECT_TRUE(edit(*opened.store)->write(std::vector{change({"e", "service", "db"}, written)}));
    return digest;
  }

  void expect_filled(const std::string& address, const std::string& digest) const {
    OpenedStore opened = *open_store(address, home());
    FileBlobs blobs(*opened.disk, *opened.index, opened.blobs);
    EXPECT_EQ(read_blob(blobs, digest, 2 << 20)->size(), 1'500'000u);
    Store& store = *opened.store;
    EXPECT_EQ(store.known("e")->at({"e", "service", "web"})->outputs,
              Value::dict({{"digest", digest}}));
    EXPECT_EQ(**store.note("e", "secret"), Value::secret("sesame-open"));
    EXPECT_EQ((*store.environment("e"))->uuid, "0123");
    const auto events = *store.events("e", 0, 1'000);
    ASSERT_EQ(events.size(), 50u);
    EXPECT_EQ(events[0].sequence, 651u);
    EXPECT_EQ(events[49].text, "event \xff 699");
    const auto version = *store.versions().open("e", 1);
    EXPECT_EQ((*version->content({"set", {}}))->items[0].attributes.at("password"),
              Value::secret("sesame-open"));
    EXPECT_FALSE(*store.holder("e"));
    const auto acting = edit(store);
    Event next;
    next.environment = "e";
    next.key = {"e", "service", "web"};
    EXPECT_TRUE(acting->write(std::vector{Change{Change::event, {}, nullptr, next}}));
    EXPECT_EQ(store.events("e", 700, 10)->at(0).sequence, 701u);
    Delta delta;
    delta.number = 2;
    delta.pieces.emplace_back(Piece{"other", {}}, seal(Content()));
    delta.detail = Value::dict({});
    const auto turn = *store.versions().begin_push("e");
    const auto staged = *turn->stage(std::move(delta));
    EXPECT_TRUE(store.wish("e", [&](Wish& wish) { return wish.commit(*staged, Time(5s)); }));
  }

  static std::string told(const Result<StoreTally>& tally) {
    return tally ? cat(tally->environments, " ", tally->records, " ", tally->events, " ",
                       tally->versions, " ", tally->contents, " ", join(tally->problems, "; "))
                 : to_string(tally.error());
  }
  const std::string& shared() const { return place_.address(); }
  std::string home() const { return place_.home(); }

  StorePlace place_{StoreKind::postgres}, other_{StoreKind::postgres};
};

TEST_F(StoresTest, OneIsCopiedIntoTheOtherAndBack) {
  const std::string digest = fill("");
  EXPECT_EQ(told(check_store("", home(), {})), "1 1 50 1 1 ");
  EXPECT_EQ(told(copy_store("", shared(), home(), {})), "1 1 50 1 1 ");
  EXPECT_EQ(told(copy_store(shared(), other_.address(), home(), {})), "1 1 50 1 1 ");
  for (const char* file : {"fettle.db", "fettle.db-wal", "fettle.db-shm"})
    std::filesystem::remove(cat(home(), "/", file));
  std::filesystem::remove_all(home() + "/blobs");
  EXPECT_EQ(told(copy_store(shared(), "", home(), {})), "1 1 50 1 1 ");
  expect_filled(shared(), digest);
  expect_filled(other_.address(), digest);
  expect_filled("", digest);
  EXPECT_EQ(told(check_store(shared(), home(), {})), "1 1 51 2 1 ");
  EXPECT_EQ(told(check_store("", home(), {})), "1 1 51 2 1 ");
}

TEST_F(StoresTest, OnlyAnEmptyOneIsWrittenAndOnlyWhileNobodyActs) {
  fill("");
  fill(shared());
  EXPECT_NE(told(copy_store("", shared(), home(), {})).find("is not empty"), std::string::npos);
  EXPECT_NE(told(copy_store("", "", home(), {})).find("into itself"), std::string::npos);
  const auto store = open_store("", home());
  const auto acting = edit(*store->store);
  EXPECT_NE(told(copy_store("", other_.address(), home(), {})).find("is being changed by `a test`"),
            std::string::npos);
  EXPECT_EQ(told(check_store(other_.address(), home(), {})), "0 0 0 0 0 ");
}

TEST_F(StoresTest, WhatIsRecordedMeanwhileTravelsWithItsContents) {
  const std::string first = fill("");
  ASSERT_TRUE(open_store(shared(), home()));
  const auto clearing = *Postgres::open(*parse_postgres_address(shared()));
  std::optional<Transaction> held = *Transaction::begin(*clearing, {turn_of_clearing});
  std::string copied;
  std::thread copying([&] { copied = told(copy_store("", shared(), home(), {})); });
  // The first content stands before the turn: what is put now was not listed when that began.
  for (int i = 0; i < 1'000 && PostgresServer::of_program().sql(
                                   "SELECT count(*) FROM pg_locks WHERE locktype='advisory' AND "
                                   "NOT granted") == "0";
       ++i)
    std::this_thread::sleep_for(10ms);
  const std::string second = put_and_refer("", "put meanwhile");
  held.reset();
  copying.join();
  EXPECT_EQ(copied, "1 2 50 1 2 ");
  const OpenedStore opened = *open_store(shared(), home());
  FileBlobs blobs(*opened.disk, *opened.index, opened.blobs);
  EXPECT_EQ(*read_blob(blobs, second, 1'000), "put meanwhile");
}

TEST_F(StoresTest, WhatIsDamagedOrLostIsNamed) {
  const std::string digest = fill("");
  std::filesystem::remove(cat(home(), "/blobs/", digest.substr(0, 2), "/", digest.substr(2)));
  const std::string lost = told(check_store("", home(), {}));
  EXPECT_NE(lost.find(digest), lost.npos) << lost;
  const std::string same = fill(shared());
  EXPECT_EQ(same, digest);
  const std::string schema = place_.schema();
  PostgresServer::of_program().sql(cat("UPDATE ", schema, ".records SET body='damaged'"));
  PostgresServer::of_program().sql(
      cat("UPDATE ", schema, ".file_pieces SET bytes='damaged' WHERE number=1"));
  PostgresServer::of_program().sql(cat("DELETE FROM ", schema, ".contents"));
  const Result<StoreTally> tally = check_store(shared(), home(), {});
  ASSERT_TRUE(tally);
  ASSERT_EQ(tally->problems.size(), 3u) << told(tally);
  EXPECT_TRUE(tally->problems[0].starts_with("the record of `service web` in `e`"));
  EXPECT_NE(tally->problems[1].find("of a version is missing"), std::string::npos);
  EXPECT_NE(tally->problems[2].find("damaged"), std::string::npos) << tally->problems[2];
}

}  // namespace
}  // namespace fettle

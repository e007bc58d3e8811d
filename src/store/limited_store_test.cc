#include "store/limited_store.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "store/edit.h"
#include "store/sqlite_store.h"
#include "tests/fixtures/store_fixture.h"

namespace fettle {
namespace {

class LimitedStoreTest : public testing::Test, protected StoreWords {
 protected:
  LimitedStoreTest() {
    for (const char* const name : {"shop", "prod"}) {
      auto begun = store_->begin_edit(name, this_process("a test", Time(1s)));
      auto& edit = std::get<std::unique_ptr<Edit>>(*begun);
      EXPECT_TRUE(edit->put_environment(
          {name, std::string(32, name[0] == 's' ? 'a' : 'b'), Time(1s), Value::dict({}), false}));
      EXPECT_TRUE(edit->write(std::vector{change({name, "act", "a"}, record())}));
      EXPECT_TRUE(edit->put_note("n", name));
    }
  }
  std::unique_ptr<Store> limited(bool hides_others, bool may_write = true) {
    StoreLimits limits;
    limits.reaches = [](const Name& name) { return name == "shop"; };
    limits.hides_others = hides_others;
    limits.may_write = may_write;
    return limited_store(*store_, std::move(limits));
  }
  static std::string names_in(Store& store) {
    std::string names;
    const std::vector<Environment> all = *store.environments();
    for (const Environment& one : all)
      names += one.name.str() + " ";
    return names;
  }
  TemporaryDirectory folder_ = *TemporaryDirectory::make();
  std::unique_ptr<Store> store_ = *open_sqlite_store((folder_.path() / "fettle.db").string());
};

TEST_F(LimitedStoreTest, OthersAreNeitherReadNorWritten) {
  for (const bool hides : {true, false}) {
    const auto store = limited(hides);
    EXPECT_EQ(names_in(*store), hides ? "shop " : "prod shop ");
    EXPECT_EQ(store->known("prod")->empty(), hides);
    EXPECT_EQ(store->known("shop")->size(), 1U);
    EXPECT_TRUE(store->environment("shop")->has_value());
    EXPECT_FALSE(store->environment("prod")->has_value());
    EXPECT_FALSE(store->note("prod", "n"));
    EXPECT_EQ(store->note("shop", "n")->value(), Value("shop"));
    EXPECT_FALSE(store->events("prod", 0, 10));
    const std::vector<Event> events = *store->events({}, 0, 100);
    for (const Event& event : events)
      EXPECT_EQ(event.environment, "shop");
    EXPECT_FALSE(store->events_of({"prod", "act", "a"}, 1));
    EXPECT_FALSE(store->keys_of_events("prod"));
    EXPECT_FALSE(store->holder("prod"));
    EXPECT_FALSE(store->versions().heads("prod"));
    EXPECT_FALSE(store->versions().open("prod", std::nullopt));
    EXPECT_FALSE(store->versions().begin_push("prod"));
    EXPECT_TRUE(store->versions().heads("shop"));
    EXPECT_FALSE(store->forget_before(Time(2s)));
    const auto begun = store->begin_edit("prod", this_process("a test", Time(1s)));
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().blame, Blame::user);
    EXPECT_FALSE(store->wish("prod", [](Wish&) { return Status(); }));
    EXPECT_FALSE(store->wish({}, [](Wish&) { return Status(); })) << "nodes are the server's";
    EXPECT_TRUE(store->begin_edit("shop", this_process("a test", Time(1s))));
  }
}

TEST_F(LimitedStoreTest, WhoMayNotWriteChangesNothing) {
  const auto store = limited_store(*store_, {.may_write = false});
  EXPECT_EQ(names_in(*store), "prod shop ");
  EXPECT_EQ(store->known("shop")->size(), 1U);
  EXPECT_FALSE(store->begin_edit("shop", this_process("a test", Time(1s))));
  EXPECT_FALSE(store->begin_edit("new", this_process("a test", Time(1s))));
  EXPECT_FALSE(store->wish("shop", [](Wish&) { return Status(); }));
  EXPECT_FALSE(store->forget_before(Time(2s)));
}

}  // namespace
}  // namespace fettle

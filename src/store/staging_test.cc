/// Large pushes, which are written ahead in pieces: invisible until they are added, and taken back
/// if they are not.

#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "tests/fixtures/store_fixture.h"

namespace fettle {
namespace {

class StagingTest : public testing::TestWithParam<StoreKind>, protected StoreWords {
 protected:
  static Piece piece(int i) { return {cat("set", i), {}}; }

  static ContentPointer content(int i, int value) {
    Content made;
    Item item;
    item.id = cat("T[a,name=", i, "]");
    item.attributes = Value::dict({{"value", value}});
    made.items.push_back(item);
    return seal(std::move(made));
  }

  /// Sets from `begin` to before `end`, each with one resource of that value; none: they go.
  static Delta delta(uint64_t number, int begin, int end, std::optional<int> value) {
    Delta made;
    made.number = number;
    for (int i = begin; i < end; ++i)
      made.pieces.emplace_back(piece(i), value ? content(i, *value) : nullptr);
    std::sort(made.pieces.begin(), made.pieces.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    made.detail = Value::dict({{"number", number}});
    return made;
  }

  std::unique_ptr<PushTurn> turn() {
    auto begun = store_->versions().begin_push("e");
    EXPECT_TRUE(begun) << to_string(begun.error());
    EXPECT_NE(*begun, nullptr);
    return std::move(*begun);
  }
  void push(Delta delta) {
    const auto mine = turn();
    auto staged = mine->stage(std::move(delta));
    ASSERT_TRUE(staged) << to_string(staged.error());
    const Status added =
        store_->wish("e", [&](Wish& wish) { return wish.commit(**staged, Time(1s)); });
    ASSERT_TRUE(added) << to_string(added.error());
  }

  /// `COUNT sets, VALUE at set0` of a version, by the pieces and by the index alike.
  std::string seen(std::optional<uint64_t> number = std::nullopt) {
    const auto snapshot = store_->versions().open("e", number);
    if (!snapshot)
      return to_string(snapshot.error());
    const auto pieces = (*snapshot)->pieces();
    size_t held = 0;
    for (const auto& [name, digest] : *pieces) {
      const ContentPointer body = *(*snapshot)->content(name);
      for (const IdentityEntry& holding : holdings(name, *body)) {
        size_t found = 0;
        EXPECT_TRUE((*snapshot)->holders(holding.key, [&](Digest value, const Piece& holder) {
          EXPECT_EQ(holder, name);
          EXPECT_EQ(value, holding.value);
          ++found;
          return Snapshot::Go::on;
        }));
        EXPECT_EQ(found, 1u);
        held += found;
      }
    }
    EXPECT_GE(held, pieces->size());
    const ContentPointer first = *(*snapshot)->content(piece(0));
    return cat("v", (*snapshot)->number(), ": ", pieces->size(), " sets, ",
               first ? to_text(first->items[0].attributes.at("value")) : "nothing", " at set0");
  }

  /// The server needs a moment to see that a process is gone.
  void wait_for_turn() const {
    for (int i = 0; i < 1'000 && *store_->versions().begin_push("e") == nullptr; ++i)
      usleep(10'000);
  }

  StorePlace place_{GetParam()};
  std::unique_ptr<Store> store_ = place_.open();
};

INSTANTIATE_TEST_SUITE_P(In, StagingTest, testing::Values(StoreKind::file, StoreKind::postgres),
                         name_of_store);

TEST_P(StagingTest, NobodySeesWhatIsNotAdded) {
  push(delta(1, 0, 500, 1));
  EXPECT_EQ(seen(), "v1: 500 sets, 1 at set0");
  {
    const auto mine = turn();
    const auto staged = mine->stage(delta(2, 0, 600, 2));
    ASSERT_TRUE(staged);
    EXPECT_EQ(seen(), "v1: 500 sets, 1 at set0");
    EXPECT_EQ(store_->versions().heads("e")->size(), 1u);
  }
  EXPECT_EQ(seen(), "v1: 500 sets, 1 at set0");
  push(delta(2, 0, 3, 7));
  EXPECT_EQ(seen(), "v2: 500 sets, 7 at set0");
  EXPECT_EQ(seen(1), "v1: 500 sets, 1 at set0");
  push(delta(3, 0, 499, std::nullopt));
  EXPECT_EQ(seen(), "v3: 1 sets, nothing at set0");
}

TEST_P(StagingTest, WhatAKilledPushHasWrittenIsTakenBackByTheNext) {
  push(delta(1, 0, 400, 1));
  for (int round = 0; round < (GetParam() == StoreKind::file ? 6 : 2); ++round) {
    std::array<int, 2> ready{};
    ASSERT_EQ(pipe(ready.data()), 0);
    const pid_t child = fork_until_end();
    if (child == 0) {
      const auto store = place_.open();
      auto mine = store->versions().begin_push("e");
      static_cast<void>(!::write(ready[1], "1", 1));
      auto staged = (*mine)->stage(delta(2, 100, 900, 2));
      pause();
      _exit(staged ? 0 : 1);
    }
    close(ready[1]);  // else a child that dies would never be at its end
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    usleep(static_cast<useconds_t>(round) * 2'000);  // anywhere in the middle
    EXPECT_EQ(*store_->versions().begin_push("e"), nullptr) << "only one may push";
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    wait_for_turn();
    EXPECT_EQ(seen(), "v1: 400 sets, 1 at set0");
  }
  push(delta(2, 0, 1, 5));
  EXPECT_EQ(seen(), "v2: 400 sets, 5 at set0");
  EXPECT_EQ(store_->versions().touched_between("e", 1, 2)->size(), 1u);
  push(delta(3, 100, 900, 2));
  EXPECT_EQ(seen(), "v3: 900 sets, 5 at set0");
}

TEST_P(StagingTest, AnEnvironmentThatGoesTakesNoVersion) {
  push(delta(1, 0, 300, 1));
  auto acting = edit(*store_);
  ASSERT_TRUE(acting->put_environment({"e", "u", Time(1s), {}}));
  const auto mine = turn();
  const auto staged = mine->stage(delta(2, 0, 300, 2));
  ASSERT_TRUE(acting->begin_removal());
  const Status refused =
      store_->wish("e", [&](Wish& wish) { return wish.commit(**staged, Time(1s)); });
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("is being removed"), std::string::npos);
}

TEST_P(StagingTest, RemovingAnEnvironmentLeavesNothingOfItsVersions) {
  push(delta(1, 0, 300, 1));
  push(delta(2, 0, 250, 2));
  ASSERT_TRUE(edit(*store_)->remove_environment());
  EXPECT_TRUE(store_->versions().heads("e")->empty());
  push(delta(1, 0, 2, 9));
  EXPECT_EQ(seen(), "v1: 2 sets, 9 at set0");
}

TEST_P(StagingTest, OldVersionsAreForgottenAndTheRestIsAsItWas) {
  for (uint64_t number = 1; number <= 5; ++number)
    push(delta(number, 0, 300, static_cast<int>(number)));
  ASSERT_TRUE(turn()->forget_old(2));
  EXPECT_EQ(store_->versions().heads("e")->size(), 2u);
  EXPECT_EQ(seen(4), "v4: 300 sets, 4 at set0");
  EXPECT_EQ(seen(), "v5: 300 sets, 5 at set0");
}

}  // namespace
}  // namespace fettle

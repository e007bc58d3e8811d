#include "controller/cluster_edit.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

class ClusterEditTest : public testing::Test {
 protected:
  /// A record whose act is under way, has failed, or ended well (none).
  static RecordPointer record_with(std::optional<bool> has_failed) {
    auto record = std::make_shared<Record>();
    if (has_failed) {
      record->attempt.emplace().verb = Verb::update;
      record->attempt.edit().failed = *has_failed;
    }
    return record;
  }
  void write(const Key& key, const RecordPointer& record) {
    const Change change{record == nullptr ? Change::forget : Change::record, key, record, {}};
    ASSERT_TRUE(edit.write(std::span(&change, 1)));
  }

  const Key pod{"cluster", "pod", "|default/web-1"};
  const Key revision{"cluster", "revision", "default/web-a"};
  ClusterEdit edit{"cluster"};
};

TEST_F(ClusterEditTest, AnActIsUnderWayUntilItHasEnded) {
  write(pod, record_with(false));
  EXPECT_TRUE(edit.is_under_way(pod));
  EXPECT_TRUE(edit.take_ended().empty());
  write(pod, record_with({}));
  EXPECT_FALSE(edit.is_under_way(pod));
  EXPECT_EQ(edit.take_ended(), std::set<Key>{pod});
  EXPECT_TRUE(edit.take_ended().empty());
}

TEST_F(ClusterEditTest, AFailureIsKnownUntilTheNextAct) {
  const RecordPointer failed = record_with(true);
  write(pod, failed);
  EXPECT_FALSE(edit.is_under_way(pod));
  EXPECT_EQ(edit.failure(pod), failed);
  write(pod, record_with(false));
  EXPECT_EQ(edit.failure(pod), nullptr);
}

TEST_F(ClusterEditTest, WhatIsCalledAgainIsUnderWay) {
  auto record = std::make_shared<Record>(*record_with(true));
  record->attempt.edit().course.emplace();
  write(pod, record);
  EXPECT_TRUE(edit.is_under_way(pod));
  EXPECT_EQ(edit.failure(pod), nullptr);
}

TEST_F(ClusterEditTest, WhatIsLeftForLaterHasNotFailed) {
  std::vector<Change> changes{{Change::event, {}, nullptr, {}},
                              {Change::record, pod, record_with(true), {}}};
  changes[0].logged.type = EventType::skipped;
  changes[0].logged.key = pod;
  ASSERT_TRUE(edit.write(changes));
  EXPECT_EQ(edit.failure(pod), nullptr);
  EXPECT_EQ(edit.take_ended(), std::set<Key>{pod});
}

/// Each has a pause before it is tried again, until it has ended well.
TEST_F(ClusterEditTest, WhatEndsWithoutSuccessIsTriedAgainLater) {
  for (const EventType type : {EventType::failed, EventType::skipped}) {
    for (const bool is_known : {true, false}) {  // how it has ended
      auto record = std::make_shared<Record>(*record_with(is_known));
      record->attempt.edit().resource = Resource();
      std::vector<Change> changes{{Change::event, {}, nullptr, {}},
                                  {Change::record, pod, record, {}}};
      changes[0].logged.type = type;
      changes[0].logged.key = pod;
      ASSERT_TRUE(edit.write(changes));
      EXPECT_EQ(edit.failed_acts().size(), 1u);
      EXPECT_EQ(edit.is_under_way(pod), !is_known);
      write(pod, record_with(false));
      EXPECT_EQ(edit.failed_acts().size(), 1u) << "it is being tried";
      write(pod, record_with({}));
      EXPECT_EQ(edit.failed_acts().size(), 0u);
    }
  }
}

TEST_F(ClusterEditTest, AForgottenRevisionIsRemovedUnlessItIsWantedAgain) {
  write(revision, nullptr);
  write(pod, nullptr);
  EXPECT_EQ(edit.forgotten(), std::set<Key>{revision});
  write(revision, record_with({}));
  EXPECT_TRUE(edit.forgotten().empty());
  const Key job{"cluster", "pull_job", "default/web-r2-c"};
  write(job, nullptr);
  EXPECT_EQ(edit.forgotten(), std::set<Key>{job});
  edit.note_removal(job);
  EXPECT_TRUE(edit.forgotten().empty());
}

TEST_F(ClusterEditTest, WhatIsGoneIsForgotten) {
  auto record = std::make_shared<Record>(*record_with(true));
  record->attempt.edit().resource = Resource();
  std::vector<Change> changes{{Change::event, {}, nullptr, {}}, {Change::record, pod, record, {}}};
  changes[0].logged.type = EventType::failed;
  changes[0].logged.key = pod;
  ASSERT_TRUE(edit.write(changes));
  ASSERT_EQ(edit.failure(pod), record);
  edit.forget(pod);
  EXPECT_EQ(edit.failure(pod), nullptr);
  EXPECT_EQ(edit.failed_acts().size(), 0u);
}

TEST_F(ClusterEditTest, ARefusedRemovalWaits) {
  const Instant now(1h);
  write(revision, nullptr);
  EXPECT_TRUE(edit.may_remove(revision, now));
  EXPECT_FALSE(edit.removal_due());
  edit.note_refusal(revision, now);
  EXPECT_EQ(edit.removal_due(), now + 1s);
  EXPECT_FALSE(edit.may_remove(revision, now));
  EXPECT_TRUE(edit.may_remove(revision, now + 1s));
  edit.note_removal(revision);
  EXPECT_FALSE(edit.removal_due());
  EXPECT_TRUE(edit.may_remove(revision, now));
  EXPECT_TRUE(edit.forgotten().empty());
}

/// An answer that never came leaves an act without an end.
TEST_F(ClusterEditTest, NothingIsUnderWayAfterARun) {
  write(pod, record_with(false));
  edit.end_run();
  EXPECT_FALSE(edit.is_under_way(pod));
  EXPECT_EQ(edit.take_ended(), std::set<Key>{pod});
}

TEST_F(ClusterEditTest, WhoReadsEverythingAnewKnowsOfNoAct) {
  write(pod, record_with(false));
  edit.begin_anew();
  EXPECT_FALSE(edit.is_under_way(pod));
}

}  // namespace
}  // namespace fettle

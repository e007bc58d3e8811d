#include "drivers/agent/act_codec.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "core/open_payload.h"

namespace fettle {
namespace {

RecordPointer record_of(const Key& key, Value attributes) {
  auto record = std::make_shared<Record>();
  Resource& applied = record->applied.emplace();
  applied.key = key;
  applied.attributes = std::move(attributes);
  record->outputs = Value::dict({{"code", 0}});
  record->changes = 2;
  return record;
}

Act whole_act() {
  Act act;
  act.verb = Verb::update;
  act.key = {"e", "file", "/etc/app"};
  act.attributes = Value::dict({{"path", "/etc/app"}, {"content", Value::secret(Value("s3cret"))}});
  act.known = record_of(act.key, Value::dict({{"path", "/etc/app"}}));
  act.needs = {record_of({"e", "folder", "/etc"}, Value::dict({{"path", "/etc"}}))};
  act.events = {{"e", "folder", "/etc"}};
  act.seen = Observation{State(Value::dict({{"mode", "0644"}})), true, "", 7};
  act.so_far = Value::list({1, 2.5, Value()});
  act.incarnation = 3;
  act.attempt = 4;
  act.looks_only = true;
  return act;
}

TEST(ActCodec, AnActComesOverWhole) {
  const Act act = whole_act();
  const auto read = read_act(written(act));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->verb, Verb::update);
  EXPECT_EQ(read->key, act.key);
  EXPECT_EQ(read->attributes, act.attributes);
  EXPECT_TRUE(read->attributes.has_secret()) << "it is known there, too, what nobody may see";
  ASSERT_TRUE(read->known && read->known->applied);
  EXPECT_EQ(read->known->applied->attributes, act.known->applied->attributes);
  EXPECT_EQ(read->known->changes, 2u);
  ASSERT_EQ(read->needs.size(), 1u);
  EXPECT_EQ(read->needs[0]->applied->key.kind, "folder");
  EXPECT_EQ(read->events, act.events);
  ASSERT_TRUE(read->seen && read->seen->state);
  EXPECT_EQ(dict_of(*read->seen->state).text_at("mode"), "0644");
  EXPECT_TRUE(read->seen->content_is_lost);
  EXPECT_EQ(read->seen->life, 7u);
  EXPECT_EQ(read->so_far, act.so_far);
  EXPECT_EQ(read->incarnation, 3u);
  EXPECT_EQ(read->attempt, 4);
  EXPECT_TRUE(read->looks_only);
}

TEST(ActCodec, OutcomesComeOverWhole) {
  const Again again{"not yet", 3s, Value("so far"), Digest{1, 2}, {{"e", "hint", "/f"}}};
  const auto over = [](const Outcome& outcome) { return *read_outcome(written(outcome, {})); };

  const auto done = std::get<Done>(
      over(Done{Value::dict({{"code", 3}}), "id", false, again, {"a line"}, 9, true, true})
          .outcome);
  EXPECT_EQ(dict_of(done.outputs).integer_at("code"), 3);
  EXPECT_EQ(done.remote_id, "id");
  EXPECT_FALSE(done.changed);
  ASSERT_TRUE(done.again);
  EXPECT_EQ(done.again->what, "not yet");
  EXPECT_EQ(done.again->after, 3s);
  EXPECT_EQ(done.again->progress, (Digest{1, 2}));
  EXPECT_EQ(done.again->watch, again.watch);
  EXPECT_EQ(done.printed, std::vector<std::string>{"a line"});
  EXPECT_EQ(done.life, 9u);
  EXPECT_TRUE(done.is_anew && done.is_vain);

  Error error = user_error("it is wrong", {"a.sls", 3, 4}).context("reading");
  error.unknown_outcome = true;
  error.lost_content = "abc";
  const auto failed = std::get<Failed>(over(Failed{error, Value(), {}, true, {"x"}, true}).outcome);
  EXPECT_EQ(to_string(failed.error), to_string(error));
  EXPECT_EQ(failed.error.blame, Blame::user);
  EXPECT_EQ(failed.error.where, error.where);
  EXPECT_TRUE(failed.error.unknown_outcome);
  EXPECT_EQ(failed.error.lost_content, "abc");
  EXPECT_TRUE(failed.outputs.is_null()) << "as before";
  EXPECT_TRUE(failed.has_only_looked && failed.has_changed);

  const auto pending = std::get<Pending>(over(Pending{"starts", {}, Value(1), {}}).outcome);
  EXPECT_EQ(pending.what, "starts");
  EXPECT_FALSE(pending.retry_after);
  EXPECT_EQ(std::get<Skipped>(over(Skipped{"later"}).outcome).why, "later");

  const std::vector<Value> additions{Value::dict({{"by", "x"}})};
  EXPECT_EQ(read_outcome(written(Outcome(Skipped{""}), additions))->additions, additions);
}

TEST(ActCodec, SubjectsComeOverWhole) {
  Resource wanted;
  wanted.key = {"e", "command", "c"};
  wanted.attributes = Value::dict({{"words", Value::list({"true"})}});
  const std::vector<Subject> subjects{
      {wanted.key, &wanted, nullptr, true},
      {{"e", "file", "f"}, nullptr, record_of({"e", "file", "f"}, Value::dict({})), false}};
  const auto read = read_subjects(written(subjects));
  ASSERT_TRUE(read) << to_string(read.error());
  ASSERT_EQ(read->subjects.size(), 2u);
  ASSERT_NE(read->subjects[0].wanted, nullptr);
  EXPECT_EQ(read->subjects[0].wanted->attributes, wanted.attributes);
  EXPECT_TRUE(read->subjects[0].asks_life);
  EXPECT_EQ(read->subjects[0].known, nullptr);
  EXPECT_EQ(read->subjects[1].wanted, nullptr);
  EXPECT_TRUE(read->subjects[1].known);
}

TEST(ActCodec, WhatIsCutOffOrLongerIsAnError) {
  const std::string act = written(whole_act());
  for (size_t size = 0; size < act.size(); ++size)
    EXPECT_FALSE(read_act(std::string_view(act).substr(0, size))) << size;
  EXPECT_FALSE(read_act(cat(act, "x")));
  const std::string seen = written(std::vector<Observation>{{State(Value(1)), false, "", 1}});
  for (size_t size = 0; size < seen.size(); ++size)
    EXPECT_FALSE(read_observations(std::string_view(seen).substr(0, size))) << size;
  const std::string outcome = written(Outcome(Done{}), {});
  for (size_t size = 0; size < outcome.size(); ++size)
    EXPECT_FALSE(read_outcome(std::string_view(outcome).substr(0, size))) << size;
}

TEST(ActCodec, HostileBytesAreErrors) {
  // A count of 2^60, and an outcome, a verb and a depth that do not exist.
  const std::string many = "\x80\x80\x80\x80\x80\x80\x80\x80\x10";
  EXPECT_FALSE(read_observations(many));
  EXPECT_FALSE(read_subjects(many));
  EXPECT_FALSE(read_outcome("\x04"));
  EXPECT_FALSE(read_act("\x7f"));
  EXPECT_EQ(read_error("\xff\xff").message, "the other side says something that is not about acts");
  Value deep;
  for (int i = 0; i < 4'000; ++i)
    deep = Value::list({std::move(deep)});
  EXPECT_FALSE(read_value(written(deep)));
  // All bytes at each place of a small act: read or refused, but never worse.
  const std::string act = written(Act{});
  size_t refused = 0;
  for (size_t at = 0; at < act.size(); ++at)
    for (int byte = 0; byte < 256; ++byte) {
      std::string broken = act;
      broken[at] = static_cast<char>(byte);
      refused += read_act(broken) ? 0 : 1;
    }
  EXPECT_GT(refused, act.size() * 100);
}

}  // namespace
}  // namespace fettle

/// The meaning of attributes, drift, and the history of a host.

#include "kinds/kinds.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "core/open_payload.h"
#include "kinds/recipe.h"
#include "value/json.h"

namespace fettle {
namespace {

Value json(std::string_view text) {
  const Result<Value> value = read_json(text);
  EXPECT_TRUE(value) << text;
  return value.value_or(Value());
}
std::string refusal(const Kind& kind, std::string_view attributes) {
  const auto normal = kind.normalise(json(attributes));
  return normal ? "" : normal.error().message;
}

TEST(Kinds, ADefaultThatIsGivenIsEqualToOneThatIsNot) {
  const auto equal = [](const Kind& kind, std::string_view bare, std::string_view full) {
    const auto a = kind.normalise(json(bare)), b = kind.normalise(json(full));
    ASSERT_TRUE(a && b) << bare;
    EXPECT_EQ(*a, *b) << bare;
    EXPECT_EQ(*kind.normalise(dict_of(*a)), *a) << "normal is normal: " << bare;
  };
  equal(service_kind(), R"({"image":"i"})", R"({"image":"i","cmd":[],"tini":true,"ports":null})");
  equal(image_kind(), R"({"reference":"r"})", R"({"reference":"r","pull":"missing"})");
  equal(task_kind(), R"({"image":"i","command":["x"]})",
        R"({"image":"i","command":["x"],"timeout":"180s","acceptable_codes":[0]})");
  equal(exec_kind(), R"({"service":"s","recipe":{"type":"exec","command":["x"]}})",
        R"({"service":"s","recipe":{"type":"exec","command":["x"],"extract":{}},)"
        R"("skip_code_check":false})");
  equal(request_kind(), R"({"service":"s","recipe":{"type":"get","port":"p","endpoint":"/"}})",
        R"({"service":"s","recipe":{"type":"get","port":"p","endpoint":"/","headers":{}}})");
  equal(wait_kind(),
        R"({"service":"s","recipe":{"type":"get","port":"p","endpoint":"/"},"field":"code",)"
        R"("assertion":"==","target":200})",
        R"({"service":"s","recipe":{"type":"get","port":"p","endpoint":"/","body":""},)"
        R"("field":"code","assertion":"==","target":200,"interval":"1s","timeout":"10s"})");
  equal(directory_kind(), "{}", R"({"size":1024})");
  equal(state_kind(), R"({"state":"test","function":"nop","id":"a","name":"a"})",
        R"({"state":"test","function":"nop","id":"a","name":"a","arguments":{},"settings":{},)"
        R"("failure":""})");
}

TEST(Kinds, WhatCannotBeMeantIsRefused) {
  EXPECT_EQ(refusal(service_kind(), "{}"), "attribute `image` is missing");
  EXPECT_EQ(refusal(service_kind(), R"({"image":1})"),
            "attribute `image` must be a string, got integer");
  EXPECT_EQ(refusal(service_kind(), R"({"image":"i","cmdd":[]})"),
            "unknown attribute `cmdd`, did you mean `cmd`?");
  EXPECT_EQ(refusal(service_kind(), "[]"), "expected a dict of attributes, got list");
  EXPECT_EQ(refusal(exec_kind(), R"({"service":"s","recipe":{"type":"dance"}})"),
            "unknown type of recipe `dance`, expected `exec`, `exit`, `get` or `post`");
  EXPECT_EQ(refusal(exec_kind(), R"({"service":"s","recipe":{"type":"exec"}})"),
            "attribute `command` is missing");
  EXPECT_EQ(refusal(exec_kind(), R"({"service":"s"})"), "attribute `recipe` is missing");
}

struct Drift {
  const char* seen;  ///< null: nothing exists
  Presence expected;
  Verb verb;
  const char* why;
};

TEST(Kinds, DriftOfAService) {
  Record known;
  known.remote_id = "c";
  known.applied.emplace();
  known.applied.edit().attributes = *service_kind().normalise(json(R"({"image":"i"})"));
  constexpr auto running = Presence::running, stopped = Presence::stopped,
                 absent = Presence::absent;
  for (const Drift& row : std::initializer_list<Drift>{
           {R"({"status":"running","container":"c"})", running, Verb::keep, ""},
           {R"({"status":"exited","exit_code":0,"container":"c"})", running, Verb::keep, ""},
           {R"({"status":"exited","exit_code":137,"container":"c"})", running, Verb::start,
            "it stopped with exit code 137"},
           {R"({"status":"exited","exit_code":null,"container":"c"})", running, Verb::start,
            "it stopped with exit code -1"},
           {R"({"status":"paused","container":"c"})", running, Verb::start, "it is paused"},
           {R"({"status":"created","container":"c"})", running, Verb::start, "it is created"},
           {R"({"status":"unattached","container":"c"})", running, Verb::replace,
            "its network is gone"},
           {R"({"status":"running","container":"c","cut_off":true})", running, Verb::replace,
            "it is cut off from its network"},
           {R"({"status":"running","container":"c","cut_off":true})", stopped, Verb::stop,
            "it is running, although it was stopped"},
           {R"({"status":"running","container":"other"})", running, Verb::replace,
            "its container was replaced outside fettle"},
           {nullptr, running, Verb::create, "its container is gone"},
           {R"({"status":"exited","exit_code":1,"container":"c"})", stopped, Verb::keep, ""},
           {R"({"status":"unattached","container":"c"})", stopped, Verb::keep, ""},
           {R"({"status":"running","container":"c"})", stopped, Verb::stop,
            "it is running, although it was stopped"},
           {nullptr, absent, Verb::keep, ""},
           {R"({"status":"running","container":"c"})", absent, Verb::remove,
            "its container exists again after it was removed"}}) {
    Observation seen;
    if (row.seen != nullptr)
      seen.state = json(row.seen);
    const Comparison found = service_kind().compare(known, seen, row.expected);
    EXPECT_EQ(found.verb, row.verb) << row.why;
    EXPECT_EQ(found.why, row.why);
  }
}

TEST(Kinds, AServiceThatEndedWithCode0IsDoneUnlessSomebodyExpectsItToAnswer) {
  const Observation ended{json(R"({"status":"exited","exit_code":0,"container":"c"})"), false};
  const auto verb = [&](const char* attributes, Presence expected, ByHand by_hand = {},
                        bool saw_it_end = false) {
    Record known;
    known.remote_id = "c";
    known.applied.emplace();
    known.applied.edit().attributes = *service_kind().normalise(json(attributes));
    known.outputs = Value::dict({{"ended", saw_it_end}});
    known.by_hand = by_hand;
    return service_kind().compare(known, ended, expected).verb;
  };
  const char* plain = R"({"image":"i"})";
  const char* server = R"({"image":"i","ports":{"http":{"number":80}}})";
  EXPECT_EQ(verb(plain, Presence::running), Verb::keep);
  EXPECT_EQ(verb(plain, Presence::serving), Verb::start);
  EXPECT_EQ(verb(plain, Presence::running, ByHand::stopped), Verb::start);
  EXPECT_EQ(verb(server, Presence::running), Verb::start);
  EXPECT_EQ(verb(server, Presence::running, ByHand::nothing, true), Verb::keep);
  EXPECT_EQ(verb(server, Presence::running, ByHand::stopped, true), Verb::start);
  EXPECT_EQ(verb(server, Presence::stopped), Verb::keep);
}

TEST(Kinds, AServiceThatIsPurgedIsExpectedToBeAway) {
  Record known;
  known.applied.emplace();
  known.applied.edit().attributes = json(R"({"purged":true})");
  EXPECT_EQ(service_kind().compare(known, {}, Presence::running).verb, Verb::keep);
}

TEST(Kinds, AMovedTagIsDriftThatReplacesNothing) {
  Record known;
  known.outputs = json(R"({"id":"sha256:1"})");
  const Observation same{json(R"({"id":"sha256:1"})")}, moved{json(R"({"id":"sha256:2"})")};
  EXPECT_EQ(image_kind().compare(known, same, Presence::running).verb, Verb::keep);
  EXPECT_EQ(image_kind().compare(known, moved, Presence::running).verb, Verb::update);
  EXPECT_EQ(image_kind().compare(known, {}, Presence::running).verb, Verb::create);
}

TEST(Kinds, OnlyWhatChangesAServiceIsPartOfItsHistory) {
  const Value get = json(R"({"recipe":{"type":"get"}})"),
              post = json(R"({"recipe":{"type":"post"}})");
  EXPECT_EQ(exec_kind().role({}), Role::acts);
  EXPECT_EQ(request_kind().role(get), Role::reads);
  EXPECT_EQ(request_kind().role(post), Role::acts);
  EXPECT_EQ(wait_kind().role({}), Role::reads);
  EXPECT_EQ(artifact_kind().role(json(R"({"source":"service"})")), Role::reads);
  EXPECT_EQ(artifact_kind().role(json(R"({"source":"upload"})")), Role::none);
  EXPECT_EQ(task_kind().role({}), Role::none);
  EXPECT_EQ(start_kind().leaves_host(), Presence::running);
  EXPECT_EQ(stop_kind().leaves_host(), Presence::stopped);
  EXPECT_EQ(remove_kind().leaves_host(), Presence::absent);
  EXPECT_EQ(exec_kind().leaves_host(), std::nullopt);
}

TEST(Kinds, AssertionsCompareValuesOfOneType) {
  const auto judge = [](std::string_view value, std::string_view assertion,
                        std::string_view target) -> std::string {
    const Status held = check_assertion(json(value), assertion, json(target));
    return held ? "" : held.error().message;
  };
  for (const auto& [value, assertion, target] :
       std::initializer_list<std::array<const char*, 3>>{{"1", "==", "1"},
                                                         {"1", "!=", "2"},
                                                         {"1", "<", "2"},
                                                         {"2", "<=", "2"},
                                                         {"3", ">", "2"},
                                                         {"2", ">=", "2"},
                                                         {"\"a\"", "<", "\"b\""},
                                                         {"1.5", "<", "2.5"},
                                                         {"1", "IN", "[1, 2]"},
                                                         {"3", "NOT_IN", "[1, 2]"}})
    EXPECT_EQ(judge(value, assertion, target), "") << value << assertion << target;
  EXPECT_EQ(judge("1", "==", "2"), "assertion failed: `1` == `2` does not hold");
  EXPECT_EQ(judge("1", "==", "\"1\""),
            "`1` is integer and `\"1\"` is string, so they cannot be compared with `==`");
  EXPECT_EQ(judge("1", "IN", "1"), "`IN` needs a list to search, got integer");
  EXPECT_EQ(judge("[1]", "<", "[2]"), "`[1]` and `[2]` cannot be ordered");
  EXPECT_FALSE(check_assertion_name("~"));
  EXPECT_EQ(result_field(json(R"({"code":0})"), "cod").error().message,
            "the result has no field `cod`, did you mean `code`?");
}

}  // namespace
}  // namespace fettle

/// Tables of members: checks, omissions, and the equivalence of a struct and its value.

#include "kinds/members.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "core/open_payload.h"
#include "kinds/artifact.h"
#include "kinds/claim.h"
#include "kinds/command.h"
#include "kinds/directory.h"
#include "kinds/exec.h"
#include "kinds/file.h"
#include "kinds/folder.h"
#include "kinds/handled.h"
#include "kinds/image.h"
#include "kinds/kinds.h"
#include "kinds/link.h"
#include "kinds/mark.h"
#include "kinds/notice.h"
#include "kinds/pod.h"
#include "kinds/pull_job.h"
#include "kinds/request.h"
#include "kinds/revision.h"
#include "kinds/state.h"
#include "kinds/task.h"
#include "kinds/wait.h"
#include "value/json.h"

namespace fettle {
namespace {

struct Cup {
  Hole<Name> colour;
  int64_t volume = 250;
  Value note;
  bool is_broken = false;
  std::optional<int64_t> price;
  static const Members& members() {
    static const Members all{
        required<&Cup::colour>("colour", "text"), member<&Cup::volume>("volume", "ml"),
        anything<&Cup::note>("note", "any"), extra<&Cup::is_broken>("broken", "or not"),
        given<&Cup::price>("price", "where somebody knows it")};
    return all;
  }
};

Value value_in(std::string_view text) { return read_json(text).value_or(Value::unknown()); }
std::string normal(const Value& given) {
  const Result<Value> made = Cup::members().normalise(given);
  return made ? write_json(*made) : made.error().message;
}

TEST(Members, DefaultsAreFilledInAndWhatSaysNothingIsLeftOut) {
  EXPECT_EQ(normal(value_in(R"({"colour":"red"})")),
            R"({"colour":"red","note":null,"volume":250})");
  EXPECT_EQ(normal(value_in(R"({"colour":"red","volume":null,"broken":false,"price":null})")),
            R"({"colour":"red","note":null,"volume":250})");
  EXPECT_EQ(normal(value_in(R"({"colour":"red","note":[1],"broken":true,"price":0})")),
            R"({"broken":true,"colour":"red","note":[1],"price":0,"volume":250})");
}

TEST(Members, WhatCannotBeMeantIsRefused) {
  EXPECT_EQ(normal(value_in("{}")), "attribute `colour` is missing");
  EXPECT_EQ(normal(value_in("[]")), "expected a dict of attributes, got list");
  EXPECT_EQ(normal(value_in(R"({"colour":1})")),
            "attribute `colour` must be a string, got integer");
  EXPECT_EQ(normal(value_in(R"({"colour":"red","volum":1})")),
            "unknown attribute `volum`, did you mean `volume`?");
  EXPECT_EQ(normal(Value::dict({{"colour", Value::secret(1)}})),
            "attribute `colour` must be a string, got secret");
}

TEST(Members, AHoleOrAnUnknownStandsForAnyType) {
  const Value hole = Value::deferred({Part(Output{"service", "db", "ip_address"})});
  for (const Value& open : {hole, Value::unknown()}) {
    const Result<Value> made = Cup::members().normalise(
        Value::dict({{"colour", open}, {"volume", open}, {"broken", open}, {"price", open}}));
    ASSERT_TRUE(made);
    EXPECT_EQ(made->at("colour"), open);
    EXPECT_TRUE(read<Cup>(*made).colour.is_open());
    EXPECT_EQ(read<Cup>(*made).colour.view(), "") << "it is no text yet";
  }
}

TEST(Members, ReadingNeverFails) {
  const Cup cup = read<Cup>(value_in(R"({"volume":"much","broken":1,"more":2})"));
  EXPECT_EQ(cup.volume, 250);
  EXPECT_FALSE(cup.is_broken);
  EXPECT_EQ(read<Cup>(Value()).volume, 250);
  EXPECT_EQ(read_one<&Cup::volume>(value_in(R"({"volume":3})")), 3);
  EXPECT_EQ(read_one<&Cup::volume>(Value()), 250);
  EXPECT_EQ(read_one<&Cup::price>(value_in(R"({"price":3})")), 3);
}

TEST(Members, TwoDictsBecomeOne) {
  EXPECT_EQ(write_json(with_members(value_in(R"({"code":0})"), WaitOutputs{2, "1s"})),
            R"({"code":0,"duration":"1s","tries":2})");
}

template <typename T>
concept LooksUpByName = requires(const T& dict) { dict.find("a"); } || requires(const T& dict) {
  dict.at("a");
} || std::is_convertible_v<T, Value>;
static_assert(LooksUpByName<Value>);
static_assert(!LooksUpByName<Attributes> && !LooksUpByName<Outputs> && !LooksUpByName<State>);
static_assert(!std::is_convertible_v<Attributes, Outputs> &&
              !std::is_convertible_v<Outputs, State>);

TEST(Members, AResultThatIsNotSaidIsNotOneThatIsUnknown) {
  EXPECT_TRUE(has_unknown_result(value_in(R"({"result":null})")));
  EXPECT_FALSE(has_unknown_result(value_in(R"({"result":false})")));
  EXPECT_FALSE(has_unknown_result(value_in(R"({"new_state":{}})")));
  EXPECT_FALSE(has_unknown_result(Value()));
}

/// What is normal stays as it is, so that no digest depends on who has held it.
template <typename T>
void expect_same_again(const TypedKind& kind, std::string_view text) {
  const Result<Attributes> made = kind.normalise(value_in(text));
  ASSERT_TRUE(made) << kind.name().view() << ": " << made.error().message;
  EXPECT_EQ(write(read<T>(*made)), dict_of(*made))
      << kind.name().view() << ": " << write_json(dict_of(*made));
}

TEST(Members, WhatIsReadAndWrittenAgainIsTheSame) {
  expect_same_again<Artifact>(artifact_kind(), R"({"source":"upload","digest":"d"})");
  expect_same_again<ContainerTask>(
      task_kind(), R"({"image":"i","command":["x"],"timeout":null,"env":{"A":"b"}})");
  expect_same_again<ControllerRevision>(
      revision_kind(),
      R"({"name":"a","namespace":"n","owner":"o","hash":"h","number":3,"template":{"spec":{}}})");
  expect_same_again<Exec>(exec_kind(),
                          R"({"service":"s","recipe":{"type":"exec","command":["x"]}})");
  expect_same_again<File>(file_kind(), R"({"path":"/a","content":"x","mode":644,"owner":0})");
  expect_same_again<File>(file_kind(), R"({"path":"/a"})");
  expect_same_again<Folder>(folder_kind(), R"({"path":"/a","group":"g","purged":true})");
  expect_same_again<HandledResource>(handled_kind(),
                                     R"({"type":"t","fields":{"a":1},"handler":{"name":"n"}})");
  expect_same_again<HostCommand>(command_kind(),
                                 R"({"command":"c","told":{"state":"json","hidden":["stdout"]}})");
  expect_same_again<HostCommand>(command_kind(), R"({"command":"c","timeout":1.5})");
  expect_same_again<Image>(image_kind(),
                           R"({"reference":"r:1","attempts":3,"credentials":[{"a":"b"}]})");
  expect_same_again<Link>(link_kind(), R"({"path":"/a","leads_to":"b"})");
  expect_same_again<ObjectNotice>(notice_kind(), R"({"reason":"R","object":"o"})");
  expect_same_again<Pod>(
      pod_kind(),
      R"({"name":"p","template":{"spec":{"containers":[{"name":"a"}]}},"labels":{"x":null}})");
  expect_same_again<PullJob>(
      pull_job_kind(),
      R"({"name":"j","namespace":"n","image":"i","state":{"started":5,"failed":{},"desired":0}})");
  expect_same_again<Service>(
      service_kind(),
      R"({"image":"i","ports":{"p":{"number":1}},"user":{"uid":5},"purged":true,"gpu":{"count":2}})");
  expect_same_again<ServiceRequest>(
      request_kind(), R"({"service":"s","recipe":{"type":"get","port":"p","endpoint":"/"}})");
  expect_same_again<StateInvocation>(
      state_kind(), R"({"state":"test","function":"nop","id":"a","name":"a","arguments":[1]})");
  expect_same_again<WaitFor>(wait_kind(),
                             R"({"service":"s","recipe":{"type":"post","port":"p","endpoint":"/"},)"
                             R"("field":"code","assertion":"==","target":200})");
}

}  // namespace
}  // namespace fettle

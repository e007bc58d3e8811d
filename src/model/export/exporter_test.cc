#include "model/export/exporter.h"

#include <filesystem>

#include "tests/fixtures/export_fixture.h"
#include "value/json.h"

namespace fettle::model {
namespace {

TEST_F(ExporterTest, WritesResourcesAsTheOriginalDoes) {
  const Outcome made = run(cat(thing, R"(
a = Thing(name="x", value="1")
Thing(name="y", requires=a)
)"),
                           thing_type);
  ASSERT_EQ(made.error, "");
  EXPECT_EQ(*read_json(made.json), *read_json(R"([
    {"send_event": true, "receive_events": true, "references": [], "mutators": [],
     "report_only": false, "requires": [], "id": "__config__::Thing[a,name=x],v=0", "name": "x",
     "value": "1"},
    {"send_event": true, "receive_events": true, "references": [], "mutators": [],
     "report_only": false, "requires": ["__config__::Thing[a,name=x]"],
     "id": "__config__::Thing[a,name=y],v=0", "name": "y", "value": null}])"));
}

/// The ids are those of the original.
TEST_F(ExporterTest, ReferencesAreNullInTheirFieldsAndTold) {
  const Outcome made = run(R"(
entity Thing extends std::Resource:
    string name
    dict d = {}
    string[] l = []
    int n = 0
end
index Thing(name)
implement Thing using std::none
home = std::create_environment_reference("HOME")
Thing(name="x", d={"a'b": [{"c": home}]}, l=["p", home])
Thing(name="y", n=std::create_int_reference(std::create_environment_reference(home)))
)",
                           R"(
resource(entity = "Thing", id_attribute = "name", agent = "name", fields = ["name", "d", "l", "n"])
)");
  ASSERT_EQ(made.error, "");
  const Value all = *read_json(made.json);
  const Value& x = all.items()[0];
  EXPECT_EQ(x.at("d"), *read_json(R"({"a'b": [{"c": null}]})"));
  EXPECT_EQ(x.at("l"), *read_json(R"(["p", null])"));
  EXPECT_EQ(x.at("references"), *read_json(R"([{"type": "std::Environment", "args": [
      {"type": "literal", "name": "name", "value": "HOME"}],
      "id": "1db97cff-304a-3f5c-990a-f38282edb126"}])"));
  std::vector<std::string> places;
  for (const Value& mutator : x.at("mutators").items()) {
    EXPECT_EQ(mutator.text_at("type"), "core::Replace");
    const std::span<const Value> arguments = mutator.at("args").items();
    EXPECT_EQ(arguments[0].text_at("id"), "__config__::Thing[x,name=x]");
    EXPECT_EQ(arguments[1].text_at("id"), "1db97cff-304a-3f5c-990a-f38282edb126");
    places.emplace_back(arguments[2].text_at("value"));
  }
  std::ranges::sort(places);
  EXPECT_EQ(places, (std::vector<std::string>{"d.'a\\'b'[0].'c'", "l[1]"}));
  const Value& y = all.items()[1];
  EXPECT_TRUE(y.at("n").is_null());
  std::vector<std::string> ids;
  for (const Value& reference : y.at("references").items())
    ids.emplace_back(cat(reference.text_at("type"), " ", reference.text_at("id")));
  EXPECT_EQ(ids,
            (std::vector<std::string>{"std::Environment 1db97cff-304a-3f5c-990a-f38282edb126",
                                      "std::Environment e2e97c3a-28b4-39bc-aca9-760a74a0e84c",
                                      "std::IntReference ff29bf9e-5fb8-3941-a863-4eb8302232dc"}));
}

TEST_F(ExporterTest, FactsNeedAResource) {
  const std::string model = cat(thing, R"(
entity Plain extends std::Resource:
end
implement Plain using std::none
f = Thing(name="f")
Thing(name="x", value=std::create_fact_reference(f, "up"))
)");
  const Outcome made = run(model, thing_type);
  ASSERT_EQ(made.error, "");
  const Value all = *read_json(made.json);
  const Value& arguments = all.items()[1].at("references").items()[0].at("args");
  EXPECT_EQ(arguments, *read_json(R"([
      {"type": "literal", "name": "environment", "value": "None"},
      {"type": "literal", "name": "resource_id", "value": "__config__::Thing[a,name=f]"},
      {"type": "literal", "name": "fact_name", "value": "up"},
      {"type": "literal", "name": "mocked_facts", "value": null}])"));
  EXPECT_NE(
      run(cat(model, "Thing(name=\"y\", value=std::create_fact_reference(Plain(), \"up\"))\n"),
          thing_type)
          .error.find("no resource type is declared for __config__::Plain"),
      std::string::npos);
}

TEST_F(ExporterTest, UnknownsLeaveOutOrAreUndefined) {
  const Outcome made = run(cat(thing, R"(
u = std::getfact(Thing(name="x"), "fact")
Thing(name=u)
b = Thing(name="b", value=u)
Thing(name="c", agent=u, requires=b)
Thing(name="d", requires=b)
)"),
                           thing_type);
  ASSERT_EQ(made.error, "");
  EXPECT_EQ(ids(made.exported),
            "__config__::Thing[a,name=x] __config__::Thing[a,name=b]! __config__::Thing[a,name=d] "
            "->__config__::Thing[a,name=b]");
  ASSERT_EQ(made.exported.unknowns.size(), 1u);
  EXPECT_EQ(made.exported.unknowns[0].parameter, "value");
  EXPECT_NE(made.json.find("\"value\":\"<<undefined>>\""), std::string::npos);
}

TEST_F(ExporterTest, WhatIsNoResourceIsDroppedFromRequires) {
  const Outcome made = run(cat(thing, R"(
entity Plain:
end
implement Plain using std::none
entity Other extends std::Resource:
end
implement Other using std::none
p = Plain()
t = Thing(name="t", requires=p)
Thing(name="u", requires=[p, t])
Other()
Other()
)"),
                           thing_type);
  ASSERT_EQ(made.error, "");
  EXPECT_EQ(
      ids(made.exported),
      "__config__::Thing[a,name=t] __config__::Thing[a,name=u] ->__config__::Thing[a,name=t]");
  ASSERT_EQ(made.exported.warnings.size(), 2u);
  EXPECT_TRUE(made.exported.warnings[0].starts_with(
      "The resource __config__::Thing[a,name=t] had requirements before flattening, but not after "
      "flattening."));
  EXPECT_EQ(made.exported.warnings[1],
            "no resource type is declared for __config__::Other: 2 instances are not exported");
}

TEST_F(ExporterTest, ATypeOfAnEntityThatIsNotLoadedIsPassedOver) {
  const std::string types = cat(thing_type, R"(
resource(entity="Thinng", id_attribute="name", agent="a", fields=["name"])
resource(entity="elsewhere::Disk", id_attribute="name", agent="a", fields=["name"])
)");
  const Outcome made = run(cat(thing, "Thing(name=\"x\")\n"), types);
  ASSERT_EQ(made.error, "");
  EXPECT_EQ(ids(made.exported), "__config__::Thing[a,name=x]");
  ASSERT_EQ(made.exported.warnings.size(), 1u);
  EXPECT_TRUE(made.exported.warnings[0].ends_with(
      "there is no entity `__config__::Thinng`; did you mean `__config__::Thing`?"))
      << made.exported.warnings[0];
}

TEST_F(ExporterTest, FieldsOfParentsMergeAndFunctionsRead) {
  const Outcome made = run(cat(thing, R"(
entity Special extends Thing:
    int number
end
entity Sub extends Special:
end
implement Special using parents
implement Sub using parents
entity Box:
    string name
end
implement Box using std::none
Special.box [1] -- Box
Sub(name="s", number=3, box=Box(name="b"))
Special(name="ignored", number=0, box=Box(name="b"))
)"),
                           R"(
def number(thing):
    if thing.number == 0:
        ignore("no number")
    return thing.number * 2

resource(entity = "Thing", id_attribute = "name", agent = "agent", fields = ["name", "value"])
resource(entity = "Special", id_attribute = "tag", agent = "box.name", fields = ["number"],
         get = {"number": number, "tag": lambda s: s.box.name + "-" + s.name})
)");
  ASSERT_EQ(made.error, "");
  EXPECT_EQ(ids(made.exported), "__config__::Special[b,tag=b-s]");
  EXPECT_EQ(made.exported.items[0].attributes.integer_at("number"), 6);
  EXPECT_EQ(made.exported.items[0].attributes.text_at("name"), "s");
}

TEST_F(ExporterTest, ErrorsNameTheirPlaces) {
  EXPECT_EQ(
      run(cat(thing, "Thing(name=\"x\")\nThing(name=\"y\")\n"),
          "resource(entity = \"Thing\", id_attribute = \"agent\", agent = \"agent\")")
          .error,
      "Resource __config__::Thing[a,agent=a] exists more than once in the configuration model "
      "(main.cf:9:1 and main.cf:10:1)");
  EXPECT_EQ(run(cat(thing, "Thing(name=\"a]b\")\n"), thing_type).error,
            "exporting the __config__::Thing of main.cf:9:1: the value `a]b` must not be empty or "
            "contain `]`");
  EXPECT_EQ(run(cat(thing, "Thing(name=\"x\")\n"),
                "resource(entity = \"Thing\", id_attribute = \"name\", agent = \"nobody\")")
                .error,
            "exporting the __config__::Thing of main.cf:9:1: the path `nobody` to the agent does "
            "not end in a string");
  const std::string reserved =
      run(thing,
          "resource(entity=\"Thing\", id_attribute=\"name\", agent=\"agent\", "
          "fields=[\"requires\"])")
          .error;
  EXPECT_NE(reserved.find("\"requires\" is a reserved keyword"), std::string::npos) << reserved;
  const std::string twice = run(cat(thing, R"(
t = Thing(name="x")
std::ResourceSet(name="one", resources=t)
std::ResourceSet(name="two", resources=t)
)"),
                                thing_type)
                                .error;
  EXPECT_EQ(twice,
            "resource '__config__::Thing[a,name=x]' can not be part of multiple ResourceSets: one "
            "(main.cf:11:1) and two (main.cf:12:1)");
}

TEST_F(ExporterTest, ManagedFalseIsLeftOutAndAgentConfigIsExported) {
  const Outcome made = run(R"(
import std::testing
std::testing::NullResource(name="n", agentname="a")
std::testing::NullResource(name="m", agentname="a", managed=false)
std::AgentConfig(agentname="a")
)",
                           "");
  ASSERT_EQ(made.error, "");
  EXPECT_EQ(ids(made.exported),
            "std::testing::NullResource[a,name=n] std::AgentConfig[internal,agentname=a]");
}

TEST_F(ExporterTest, SetsContributeWhatTheirChainsConstruct) {
  const Outcome made = run(
      cat(thing, services, "Service(id=1)\nService(id=2)\nThing(name=\"alone\")\n"), thing_type);
  ASSERT_EQ(made.error, "");
  const auto id = [](std::string_view name) { return cat("__config__::Thing[a,name=", name, "]"); };
  std::vector<std::string> sets;
  for (const auto& [item, set] : made.exported.sets)
    sets.push_back(cat(item, " ", set));
  std::sort(sets.begin(), sets.end());
  EXPECT_EQ(join(sets, "; "), cat(id("owned-1"), " s1; ", id("owned-2"), " s2"));
  const std::string shared = shares(made.exported);
  for (const std::string& line :
       {cat(id("alone"), " by rest"), cat(id("shared"), " by s1 ->", id("owned-1")),
        cat(id("shared"), " by s2 ->", id("owned-2")), cat(id("below"), " by s1"),
        cat(id("below"), " by s2")})
    EXPECT_NE(shared.find(line), std::string::npos) << line << " in " << shared;
  const std::string claimed = claims(made.exported);
  for (const char* line :
       {"s1: __config__::Service(id=1) = {\"id\":1,\"type\":\"__config__::Service\"}",
        "s2: __config__::Shelf(name='all') = {\"name\":\"all\",\"type\":\"__config__::Shelf\"}",
        "s1: __config__::Shelf(name='all').things = __config__::Thing(name='owned-1')",
        "s1: __config__::Thing(name='owned-1') = "
        "{\"resource_set\":\"s1\",\"type\":\"__config__::Thing\"}"})
    EXPECT_NE(claimed.find(line), std::string::npos) << line << "\nin\n" << claimed;
}

TEST_F(ExporterTest, EmptySetsAndHollowOnes) {
  const Outcome made = run(cat(thing, R"(
entity Silent extends std::Resource:
end
implement Silent using std::none
std::ResourceSet(name="empty")
std::ResourceSet(name="hollow", resources=Silent())
std::ResourceSet(name="full", resources=[Silent(), Thing(name="x")])
)"),
                           thing_type);
  ASSERT_EQ(made.error, "");
  ASSERT_EQ(made.exported.emptied.size(), 1u);
  EXPECT_EQ(made.exported.emptied[0], "empty");
  ASSERT_EQ(made.exported.hollow.size(), 1u);
  EXPECT_EQ(made.exported.hollow[0].first, "hollow");
}

TEST_F(ExporterTest, BlocksStandAroundTheContentOfAFile) {
  const Outcome made = run(R"(
import fs
host = std::Host(name="a", os=std::linux)
fs::File(host=host, path="/f", content="middle", content_seperator="|", prefix_content=[
    fs::Content(value="z", sorting_key="1"), fs::Content(value="b")],
    suffix_content=fs::Content(value="end"))
fs::File(host=host, path="/g", suffix_content=[fs::Content(value="2"), fs::Content(value="1")])
fs::File(host=host, path="/h")
)",
                           "");
  ASSERT_EQ(made.error, "");
  std::vector<std::string> contents;
  for (const Item& item : made.exported.items)
    contents.push_back(write_json(item.attributes.at("content")));
  EXPECT_EQ(join(contents, " "), R"("z|b|middle|end" "1\n2" null)");
}

}  // namespace
}  // namespace fettle::model

#include "model/export/exporter.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "model/compile.h"
#include "value/json.h"

namespace fettle::model {
namespace {

/// A project of one main file and one file of resource types, exported.
class ExporterTest : public testing::Test {
 protected:
  struct Outcome {
    std::string error;
    Exported exported;
    std::string json{};
  };

  Outcome run(const std::string& model_text, const std::string& types,
              const std::string& plugins = "") {
    const Result<TemporaryDirectory> folder = TemporaryDirectory::make();
    const Path main = folder->path() / "main.cf";
    EXPECT_TRUE(make_directories(folder->path() / "resources").has_value());
    EXPECT_TRUE(write_file(main, model_text).has_value());
    EXPECT_TRUE(write_file(folder->path() / "resources" / "types.star", types).has_value());
    if (!plugins.empty()) {
      EXPECT_TRUE(make_directories(folder->path() / "plugins").has_value());
      EXPECT_TRUE(write_file(folder->path() / "plugins" / "plugins.star", plugins).has_value());
    }
    const Result<Project> project = project_of(main.string());
    const Compiled compiled = compile(*project, {});
    for (const Error& error : compiled.errors)
      ADD_FAILURE() << to_string(error);
    const Result<Declarations> declarations = declarations_of(*compiled.model, &*project);
    if (!declarations)
      return {replace_all(declarations.error().message, folder->path().string(), ""), {}};
    Result<Exported> exported = export_model(*compiled.model, *declarations, true);
    if (!exported)
      return {replace_all(to_string(exported.error()), folder->path().string() + "/", ""), {}};
    const Result<Exported> texts = export_model(*compiled.model, *declarations, false);
    std::string json;
    EXPECT_TRUE(texts && write_resources(*texts, sink_to(json, 1'000'000)));
    return {"", std::move(*exported), std::move(json)};
  }

  static std::string ids(const Exported& exported) {
    std::string text;
    for (const Item& item : exported.items) {
      text += cat(text.empty() ? "" : " ", item.id);
      for (const fettle::Name& need : item.needs)
        text += cat(" ->", need);
      if (item.is_undefined)
        text += "!";
    }
    return text;
  }

  static std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
  }

  static std::string shares(const Exported& exported) {
    std::vector<std::string> lines;
    for (const SharedBy& share : exported.shares) {
      std::string line = cat(share.id, " by ", share.set.empty() ? "rest" : share.set.view());
      for (const fettle::Name& need : share.needs)
        line += cat(" ->", need);
      lines.push_back(line);
    }
    return join(lines, "; ");
  }

  static std::string claims(const Exported& exported) {
    std::vector<std::string> lines;
    for (const ClaimedBy& claim : exported.claims)
      lines.push_back(cat(claim.set.empty() ? "rest" : claim.set.view(), ": ", claim.claim.key,
                          " = ", claim.claim.text));
    return join(lines, "\n");
  }
};

constexpr const char* thing = R"(
entity Thing extends std::Resource:
    string name
    string agent = "a"
    string? value = null
end
index Thing(name)
implement Thing using std::none
)";
constexpr const char* thing_type = R"(
resource(entity = "Thing", id_attribute = "name", agent = "agent", fields = ["name", "value"])
)";

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
     "report_only": false, "requires": ["__config__::Thing[a,name=x],v=0"],
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

constexpr const char* services = R"(
entity Service:
    int id
end
index Service(id)
implementation refine for Service:
    set = std::ResourceSet(name="s{{ self.id }}")
    owned = Thing(name="owned-{{ self.id }}")
    set.resources += owned
    shared = Thing(name="shared", value="v")
    shared.requires += owned
    shelf = Shelf(name="all")
    shelf.things += owned
end
implement Service using refine
entity Shelf:
    string name
end
Shelf.things [0:3] -- Thing
index Shelf(name)
implementation below for Shelf:
    Thing(name="below")
end
implement Shelf using below
)";

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

TEST_F(ExporterTest, FindsWhatIsAgainstTheGuidelines) {
  const Outcome good = run(cat(thing, services, "Service(id=1)\nService(id=2)\n"), thing_type);
  EXPECT_TRUE(good.exported.findings.empty());
  const Outcome bad = run(cat(thing, R"(
entity Service:
    int id
end
index Service(id)
entity Node:
    string name
end
index Node(name)
implementation refine for Service:
    set = std::ResourceSet(name="s{{ self.id }}")
    Node(name="n")
    set.resources += Thing(name=self.id == 1 ? "left" : "right")
    if self.id == 1:
        set.resources += Thing[name="below-1"]
    end
end
implement Service using refine
implementation below for Node:
    Thing(name="below-1")
end
implement Node using below
Service(id=1)
Service(id=2)
)"),
                          thing_type);
  ASSERT_EQ(bad.error, "");
  std::vector<std::string> found;
  for (const auto& [set, list] : bad.exported.findings)
    for (const Value& one : list.items())
      found.push_back(cat(set, " ", one.text_at("rule"), " ", file_name(one.text_at("where"))));
  std::sort(found.begin(), found.end());
  EXPECT_EQ(join(found, "; "),
            "s1 index not derived main.cf:21:22; s1 owned below shared main.cf:28:5; s2 index not "
            "derived main.cf:21:22");
}

/// Two services that share a board, on which each writes its name; one of them counts the names.
constexpr const char* board = R"(
entity Board:
    string name
end
index Board(name)
implement Board using std::none
entity Service:
    int id
    bool counts
end
index Service(id)
Board.notes [0:] -- Note.board [1]
Board.first [0:1] -- Note
entity Note:
    string text
end
index Note(text)
implement Note using std::none
implementation refine for Service:
    set = std::ResourceSet(name="s{{ self.id }}")
    board = Board(name="all")
    note = Note(text="of {{ self.id }}", board=board)
    if self.counts:
        count = std::count(board.notes)
        set.resources += Thing(name="count-{{ self.id }}-{{ count }}")
    else:
        set.resources += Thing(name="plain-{{ self.id }}")
    end
end
implement Service using refine
)";

TEST_F(ExporterTest, FindsSetsThatReadWhatAnotherContributes) {
  const auto findings = [&](const std::string& more) {
    const Outcome made = run(cat(thing, board, more), thing_type);
    EXPECT_EQ(made.error, "");
    std::vector<std::string> found;
    for (const auto& [set, list] : made.exported.findings)
      for (const Value& one : list.items())
        found.push_back(cat(set, " ", one.text_at("rule"), " ", file_name(one.text_at("where")),
                            " ", one.text_at("text")));
    std::sort(found.begin(), found.end());
    return join(found, "\n");
  };
  EXPECT_EQ(findings("Service(id=1, counts=false)\nService(id=2, counts=false)\n"), "");
  EXPECT_EQ(findings("Service(id=1, counts=true)\n"), "");
  EXPECT_EQ(findings("Service(id=1, counts=false)\nService(id=2, counts=true)\n"),
            "s2 open set main.cf:32:34 __config__::Board(name='all').notes is read here, to which "
            "set `s1` contributes __config__::Note(text='of 1'), so a compile without that set has "
            "a different result");
  // What is in no set is in every model, so it may be read.
  EXPECT_EQ(findings("Note(text=\"of all\", board=Board(name=\"all\"))\n"
                     "Service(id=1, counts=true)\n"),
            "");
  // A look-up of what only another set makes, a gradual loop, and `is defined`.
  const std::string looked = findings(R"(
Service(id=1, counts=false)
Service(id=2, counts=false)
entity Reader:
    int id
end
index Reader(id)
implementation look for Reader:
    set = std::ResourceSet(name="r{{ self.id }}")
    note = Note[text="of 1"]
    set.resources += Thing(name="r-{{ self.id }}-{{ note.text }}")
    board = Board[name="all"]
    for one in board.notes:
        set.resources += Thing(name="r-{{ self.id }}-{{ one.text }}")
    end
    if note.board.first is defined:
        set.resources += Thing(name="r-{{ self.id }}-first")
    end
end
implement Reader using look
implementation first for Service:
    board = Board[name="all"]
    board.first = Note[text="of {{ self.id }}"]
end
implement Service using first when self.id == 1
Reader(id=7)
)");
  for (const char* part :
       {"r7 open set main.cf:48:12 __config__::Note(text='of 1') is read here, which only set `s1` "
        "makes",
        "r7 open set main.cf:50:13 __config__::Board(name='all') is read here, which only set `s1`",
        "r7 open set main.cf:51:22 __config__::Board(name='all').notes is read here",
        "r7 open set main.cf:54:8 __config__::Board(name='all').first is read here"})
    EXPECT_NE(looked.find(part), std::string::npos) << part << "\n" << looked;
}

TEST_F(ExporterTest, WhatIsAllocatedIsIdentity) {
  const std::string plugins =
      read_file(FETTLE_SOURCE_DIR "/examples/plugins/plugins/services.star").value() +
      "\ndef guess(pool: \"string\", owner: \"string\") -> \"int\":\n    return 17\n";
  const auto findings = [&](const std::string& plugin) {
    const Outcome made = run(cat(thing, R"(
entity Service:
    string name
end
index Service(name)
implementation refine for Service:
    number = )",
                                 plugin, R"(("things", self.name)
    set = std::ResourceSet(name=self.name)
    set.resources += Thing(name="thing-{{ number }}")
end
implement Service using refine
Service(name="first")
)"),
                             thing_type, plugins);
    EXPECT_EQ(made.error, "");
    std::string found;
    for (const auto& [set, list] : made.exported.findings)
      for (const Value& one : list.items())
        found += cat(set, " ", one.text_at("rule"), "; ");
    return found;
  };
  EXPECT_EQ(findings("allocate"), "");
  EXPECT_EQ(findings("guess"), "first index not derived; ");
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

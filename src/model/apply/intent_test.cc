#include "model/apply/intent.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/text.h"
#include "core/open_payload.h"
#include "kinds/kinds.h"
#include "model/apply/handlers.h"
#include "value/json.h"

namespace fettle::model {
namespace {

class IntentTest : public testing::Test {
 protected:
  /// A resource with fields as JSON.
  void add(const std::string& id, const std::string& fields, std::vector<fettle::Name> needs = {},
           const fettle::Name& set = {}) {
    Item item;
    item.id = id;
    const auto value = read_json(fields);
    EXPECT_TRUE(value) << fields;
    item.attributes = value.value_or(Value());
    item.needs = std::move(needs);
    item.origin = "main.cf:1:1";
    items_.push_back({std::move(item), set});
  }
  void add_agent(const std::string& name, const std::string& uri = "local:") {
    add(cat("std::AgentConfig[internal,agentname=", name, "]"),
        cat(R"({"agentname":")", name, R"(","uri":")", uri, R"("})"));
  }
  void add_file(const std::string& path, const std::string& more = "",
                std::vector<fettle::Name> needs = {}, const fettle::Name& set = {}) {
    add(id_of(path), cat(R"({"path":")", path, R"(","content":"x")", more, "}"), std::move(needs),
        set);
  }
  static std::string id_of(const std::string& path) { return cat("fs::File[a,path=", path, "]"); }

  Result<ModelIntent> mapped(const Known& known = {}) {
    wanted_.clear();
    for (const auto& [item, set] : items_)
      wanted_.push_back({&item, set});
    options_.environment = "e";
    return intent_of_version(wanted_, known, options_);
  }
  /// The resource of an id; fails the test when there is none.
  static Resource resource(const ModelIntent& made, const std::string& id) {
    for (const auto& [item, key] : made.keys)
      if (item == id)
        for (const auto& [set, resources] : made.intent->resources)
          for (const Resource& one : resources)
            if (one.key == key)
              return one;
    ADD_FAILURE() << "there is no resource " << id;
    return {};
  }

  std::vector<std::pair<Item, fettle::Name>> items_;
  std::vector<WantedResource> wanted_;
  ApplyOptions options_;
};

TEST_F(IntentTest, ResourcesBecomeThingsOfTheEngineBySet) {
  add_agent("a");
  add_file("/etc/motd", R"(,"mode":644,"purge_on_delete":true,"send_event":true)", {}, "s");
  const auto made = mapped();
  ASSERT_TRUE(made) << to_string(made.error());
  const Resource file = resource(*made, id_of("/etc/motd"));
  EXPECT_EQ(to_string(file.key), "file/fs::File[a,path=/etc/motd]");
  EXPECT_EQ(file.driver, "host");
  EXPECT_EQ(dict_of(file.attributes).text_at("mode"), "0644");
  EXPECT_EQ(file.mandate, Mandate::act);
  EXPECT_EQ(file.leftover, Leftover::remove);
  EXPECT_EQ(made->intent->sets, (std::map<fettle::Name, Leftover>{{"model:", Leftover::keep},
                                                                  {"model:s", Leftover::keep}}));
  EXPECT_EQ(made->intent->resources.at("model:s").size(), 1u);
  options_.prune = true;
  EXPECT_EQ(mapped()->intent->sets.at("model:s"), Leftover::remove);
}

TEST_F(IntentTest, ItSpeaksForSetsThatTheModelHadBefore) {
  add_agent("a");
  auto record = std::make_shared<Record>();
  record->wanted_by["model:gone"] = {1, 1};
  record->wanted_by["a/package"] = {1, 1};
  EXPECT_TRUE(is_of_model(*record));
  const auto made = mapped({{fettle::Key{"e", "file", "f"}, record}});
  EXPECT_TRUE(made->intent->sets.contains("model:gone"));
  EXPECT_FALSE(made->intent->sets.contains("a/package"));
}

TEST_F(IntentTest, EventsNeedASenderAndAReceiver) {
  add_agent("a");
  add_file("/loud", R"(,"send_event":true)");
  add_file("/quiet", R"(,"send_event":false)");
  const std::vector<fettle::Name> both{id_of("/loud"), id_of("/quiet"), id_of("/not/exported")};
  add_file("/hears", "", both);
  add_file("/deaf", R"(,"receive_events":false)", both);
  const auto made = mapped();
  const auto bonds = [&](const std::string& path) {
    std::string text;
    for (const fettle::Need& need : resource(*made, id_of(path)).needs)
      text += cat(need.keys.at(0).name, " ", to_string(need.bond), "\n");
    return text;
  };
  EXPECT_EQ(bonds("/hears"), cat(id_of("/loud"), " refresh\n", id_of("/quiet"), " order\n"));
  EXPECT_EQ(bonds("/deaf"), cat(id_of("/loud"), " order\n", id_of("/quiet"), " order\n"));
}

TEST_F(IntentTest, AModelGivesItselfNoMachine) {
  add_file("/f");
  add_agent("a", "agent://web1");
  const auto made = mapped();
  EXPECT_EQ(resource(*made, id_of("/f")).mandate, Mandate::none);
  EXPECT_NE(made->notes.at(id_of("/f")).find("`--agent a=agent://web1` acts there"),
            std::string::npos);
  options_.agents["a"] = "agent://web2";
  const auto asked = mapped();
  EXPECT_EQ(resource(*asked, id_of("/f")).mandate, Mandate::act);
  EXPECT_EQ(resource(*asked, id_of("/f")).driver, "host@web2");
}

TEST_F(IntentTest, WhoActsDependsOnTheAgent) {
  add_file("/f");
  const auto nowhere = mapped();
  EXPECT_EQ(resource(*nowhere, id_of("/f")).mandate, Mandate::none);
  EXPECT_NE(nowhere->notes.at(id_of("/f")).find("--agent a=local:"), std::string::npos);
  add_agent("a", "ssh://far");
  EXPECT_EQ(resource(*mapped(), id_of("/f")).mandate, Mandate::none);
  EXPECT_NE(mapped()->notes.at(id_of("/f")).find("ssh://far"), std::string::npos);
  options_.agents["a"] = "local:";
  EXPECT_EQ(resource(*mapped(), id_of("/f")).mandate, Mandate::act);
  add_file("/reported", R"(,"report_only":true)");
  EXPECT_EQ(resource(*mapped(), id_of("/reported")).mandate, Mandate::report);
}

TEST_F(IntentTest, NobodyActsOnReferences) {
  options_.agents["a"] = "local:";
  add_file("/f", R"(,"references":[{"type":"std::Environment","id":"1"}])");
  const auto made = mapped();
  EXPECT_EQ(resource(*made, id_of("/f")).mandate, Mandate::none);
  EXPECT_EQ(made->notes.at(id_of("/f")),
            "its fields have references, which fettle exports but does not resolve");
}

TEST_F(IntentTest, WhatIsUnknownUnmanagedOrOfNoTypeIsNotMadeTrue) {
  options_.agents["a"] = "local:";
  add_file("/f");
  items_.back().first.attributes = Value::dict({{"path", "/f"}, {"content", Value::unknown()}});
  EXPECT_TRUE(resource(*mapped(), id_of("/f")).attributes.has_unknown());
  // As a push says it: the fields hold whatever they hold.
  items_.back().first.attributes = Value::dict({{"path", "<<undefined>>"}});
  items_.back().first.is_undefined = true;
  EXPECT_TRUE(resource(*mapped(), id_of("/f")).attributes.has_unknown());
  add_file("/unmanaged", R"(,"managed":false)");
  add_file("/after", "", {id_of("/unmanaged")});
  const auto made = mapped();
  EXPECT_EQ(made->keys.size(), 2u);
  EXPECT_TRUE(resource(*made, id_of("/after")).needs.empty());
  add("my::Thing[a,name=x]", R"({"name":"x"})");
  EXPECT_EQ(resource(*mapped(), "my::Thing[a,name=x]").key.kind, "my::Thing");
  EXPECT_EQ(mapped()->notes.at("my::Thing[a,name=x]"), "there is no handler for `my::Thing`");
}

TEST_F(IntentTest, AContainerIsAServiceWithNetworkAndImage) {
  options_.agents["a"] = "local:";
  add("container::Container[a,name=web]",
      R"({"name":"web","image":"nginx:1","command":["serve"],"env":{"A":1},"ports":{"http":80,
          "dns":"53/udp"},"mounts":{"/www":"/srv"},"memory":64})");
  const auto made = mapped();
  ASSERT_TRUE(made) << to_string(made.error());
  const Resource web = resource(*made, "container::Container[a,name=web]");
  EXPECT_EQ(to_string(web.key), "service/web");
  EXPECT_EQ(web.driver, "engine");
  EXPECT_EQ(dict_of(web.attributes).at("ports").at("dns").text_at("transport"), "UDP");
  EXPECT_EQ(dict_of(web.attributes).at("env").text_at("A"), "1");
  EXPECT_EQ(holes(web.attributes).at(0).kind, "image");
  const std::vector<Resource>& shared = made->intent->resources.at("model:");
  EXPECT_EQ(shared.size(), 3u);
  EXPECT_EQ(made->keys.size(), 1u);
  add("container::Container[b,name=web]", R"({"name":"web","image":"nginx:1"})");
  EXPECT_EQ(mapped().error().message,
            "`container::Container[b,name=web]` and `container::Container[a,name=web]` are both "
            "`service/web`");
  items_.pop_back();
  items_.pop_back();
  add("container::Container[a,name=web]", R"({"name":"web","image":"nginx:1","purged":true})");
  EXPECT_TRUE(is_purged(resource(*mapped(), "container::Container[a,name=web]").attributes));
  EXPECT_EQ(mapped()->intent->resources.at("model:").size(), 1u);
  items_.pop_back();
  add("container::Container[a,name=web]", R"({"name":"web","image":"x","ports":{"http":70000}})");
  EXPECT_NE(to_string(mapped().error()).find("not `70000`"), std::string::npos);
}

TEST_F(IntentTest, AHandlerOfTheProjectWins) {
  options_.agents["a"] = "local:";
  options_.handlers = Value::dict({{"fs::File", Value::dict({{"name", "own"}, {"code", "d"}})}});
  add_file("/f", R"(,"report_only":true,"purged":true)");
  const Resource file = resource(*mapped(), id_of("/f"));
  EXPECT_EQ(file.key.kind, "handled");
  EXPECT_EQ(file.driver, "handler");
  EXPECT_TRUE(dict_of(file.attributes).bool_at("report_only"));
  EXPECT_TRUE(dict_of(file.attributes).bool_at("purged"));
  EXPECT_EQ(dict_of(file.attributes).at("fields").text_at("path"), "/f");
}

TEST_F(IntentTest, AHandlerInPythonGetsTheContentsThatFieldsAndReferencesName) {
  add_agent("a");
  add("m::Box[a,name=b]", R"({"name": "b", "hash": "one", "references": [{"type": "m::Text",
      "args": [{"type": "literal", "name": "hash", "value": "two"},
               {"type": "reference", "name": "other", "id": "x"}]}]})");
  options_.handlers = Value::dict(
      {{"m::Box", Value::dict({{"name", "m::Box"}, {"code", "c"}, {"interpreter", "python3"}})}});
  options_.files = Value::dict({{"one", "d1"}, {"two", "d2"}, {"three", "d3"}});
  const auto made = mapped();
  ASSERT_TRUE(made) << to_string(made.error());
  const Value files =
      dict_of(resource(*made, "m::Box[a,name=b]").attributes).at("handler").at("files");
  EXPECT_EQ(write_json(files), R"({"one":"d1","two":"d2"})");
}

TEST_F(IntentTest, AWrongFieldNamesTheResource) {
  options_.agents["a"] = "local:";
  add_file("relative");
  EXPECT_EQ(
      to_string(mapped().error()),
      "resource `fs::File[a,path=relative]`: `path` must be an absolute path, not `relative`");
}

TEST_F(IntentTest, HandlersAreFoundBesideTheDeclarations) {
  const auto folder = TemporaryDirectory::make();
  ASSERT_TRUE(make_directories(folder->path() / "handlers"));
  const std::string box =
      "def read(r): pass\ndef create(r): pass\ndef update (r): pass\ndelete = read\n";
  ASSERT_TRUE(write_file(folder->path() / "handlers/box.star", box));
  ASSERT_TRUE(write_file(folder->path() / "handlers/half.star", "def read(r): pass\n"));
  ASSERT_TRUE(write_file(folder->path() / "handlers/tool", "#!/bin/sh\n", 0755));
  ASSERT_TRUE(write_file(folder->path() / "handlers/text", "", 0644));
  const std::string file = (folder->path() / "resources/boxes.star").string();
  const auto found = [&](std::string_view name) {
    const std::vector<std::pair<fettle::Name, Value>> declared{
        {"my::Box", Value::dict({{"name", name}, {"file", file}})}};
    return find_handlers(declared);
  };
  EXPECT_EQ(found("box")->at("my::Box").text_at("source"), box);
  EXPECT_NE(to_string(found("half").error()).find("has no function `create`"), std::string::npos);
  EXPECT_EQ(found("tool")->at("my::Box").text_at("program"),
            (folder->path() / "handlers/tool").string());
  EXPECT_EQ(found("")->entries().size(), 0u);
  for (const char* const wrong : {"text", "nothing", "../handlers/box", "/bin/true", "."})
    EXPECT_FALSE(found(wrong)) << wrong;
}

}  // namespace
}  // namespace fettle::model

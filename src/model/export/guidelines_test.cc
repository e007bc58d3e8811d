#include "model/export/guidelines.h"

#include "tests/fixtures/export_fixture.h"

namespace fettle::model {
namespace {

class GuidelinesTest : public ExporterTest {};

TEST_F(GuidelinesTest, FindsWhatIsAgainstTheGuidelines) {
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

TEST_F(GuidelinesTest, FindsSetsThatReadWhatAnotherContributes) {
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

TEST_F(GuidelinesTest, WhatIsAllocatedIsIdentity) {
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

/// Findings of a model that begins with `thing`: `SET RULE TEXT`, sorted, one a line.
class FindingsTest : public ExporterTest {
 protected:
  std::string findings(const std::string& model, const std::string& types = thing_type,
                       const std::string& plugins = "") {
    const Outcome made = run(cat(thing, model), types, plugins);
    EXPECT_EQ(made.error, "");
    std::vector<std::string> found;
    for (const auto& [set, list] : made.exported.findings)
      for (const Value& one : list.items())
        found.push_back(cat(set, " ", one.text_at("rule"), " ", one.text_at("text")));
    std::sort(found.begin(), found.end());
    return join(found, "\n");
  }
  /// Of one resource of a service that is known by its tenant and its number.
  std::string of_owned(const std::string& resource, const std::string& more = "") {
    return findings(cat(R"(
entity Service:
    string tenant
    int id
    int port = 1
end
index Service(tenant, id)
implementation refine for Service:
    set = std::ResourceSet(name="{{ self.tenant }}/{{ self.id }}")
)",
                        more, "    set.resources += ", resource, R"(
end
implement Service using refine
Service(tenant="blue", id=1)
)"));
  }
};

TEST_F(FindingsTest, HalfOfAKeyIsNoIdentity) {
  EXPECT_EQ(of_owned("Thing(name=\"x-{{ self.tenant }}-{{ self.id }}\")"), "");
  EXPECT_EQ(of_owned("Thing(name=\"x-{{ self.id }}\")"),
            "blue/1 index not derived the index __config__::Thing(name='x-1') has `id` of the "
            "identity of the service of this set, but not `tenant`, so other sets may create the "
            "same");
  EXPECT_EQ(of_owned("Thing(name=\"x-{{ self.tenant }}\")"),
            "blue/1 index not derived the index __config__::Thing(name='x-blue') has `tenant` of "
            "the identity of the service of this set, but not `id`, so other sets may create the "
            "same");
}

TEST_F(FindingsTest, EveryPartOfAnIdentityNeedsAWordOfItsOwn) {
  const std::string service = R"(
entity Service:
    int row
    int column
end
index Service(row, column)
implementation refine for Service:
    set = std::ResourceSet(name="at {{ self.row }} and {{ self.column }}")
    set.resources += Thing(name=NAME)
end
implement Service using refine
Service(row=1, column=1)
)";
  EXPECT_EQ(findings(replace_all(service, "NAME", "\"{{ self.row }}/{{ self.column }}\"")), "");
  EXPECT_NE(findings(replace_all(service, "NAME", "\"{{ self.row }}\"")), "");
  EXPECT_NE(findings(replace_all(service, "NAME", "\"{{ self.row }}/{{ self.row }}\"")), "");
}

TEST_F(FindingsTest, TheKeyOfAServiceMayBeAnotherInstance) {
  const std::string service = R"(
entity Tenant:
    string name
end
index Tenant(name)
implement Tenant using std::none
entity Service:
    int id
end
Service.tenant [1] -- Tenant
index Service(tenant, id)
implementation refine for Service:
    set = std::ResourceSet(name="{{ self.tenant.name }} {{ self.id }}")
    set.resources += Thing(name=NAME)
end
implement Service using refine
Service(tenant=Tenant(name="blue"), id=1)
)";
  const auto found = [&](const char* name) { return findings(replace_all(service, "NAME", name)); };
  EXPECT_EQ(found("\"x {{ self.tenant.name }} {{ self.id }}\""), "");
  EXPECT_NE(found("\"x {{ self.id }}\""), "");
  EXPECT_NE(found("\"x {{ self.tenant.name }}\""), "");
}

TEST_F(FindingsTest, ANumberThatOnlyLooksLikeTheIdentityIsNone) {
  const std::string service = R"(
entity Service:
    int id
    int port = 7
end
index Service(id)
implementation refine for Service:
    seven = 7
    set = std::ResourceSet(name=SET)
    set.resources += Thing(name=NAME)
end
implement Service using refine
Service(id=7)
)";
  const auto found = [&](const char* set, const char* name) {
    return findings(replace_all(replace_all(service, "SET", set), "NAME", name));
  };
  for (const char* set : {"\"{{ self.id }}\"", "\"service 7\"", "\"7\"", "\"s{{ self.id }}\""}) {
    EXPECT_EQ(found(set, "\"thing-{{ self.id }}\""), "") << set;
    for (const char* name : {"\"thing-7\"", "\"7\"", "\"thing-{{ self.port }}\"",
                             "\"thing-{{ seven }}\"", "\"{{ self.port }}\""})
      EXPECT_NE(found(set, name).find("index not derived"), std::string::npos) << set << name;
  }
}

/// A value is followed to where it comes from: through variables, attributes, loops and plugins.
TEST_F(FindingsTest, WhatComesFromTheIdentityFollowsFromItByAnyWay) {
  const std::string service = R"(
entity Service:
    int id
    string label
end
index Service(id)
implementation refine for Service:
    self.label = "l-{{ self.id }}"
    set = std::ResourceSet(name="set of {{ self.id }}")
    text = "t-{{ id }}"
    part = Part(service=self, number=self.id)
    set.resources += Thing(name=NAME)
    for one in [self.id]:
        set.resources += Thing(name="one-{{ one }}")
    end
end
implement Service using refine
entity Part:
    int number
end
Part.service [1] -- Service
implementation parts for Part:
    set = std::ResourceSet[name="set of {{ self.service.id }}"]
    set.resources += Thing(name="p-{{ number }}")
end
implement Part using parts
Service(id=7)
)";
  for (const char* name :
       {"text", "self.label", "part.number == 7 ? text : 'never'", "std::replace(text, 't', 'u')",
        "f\"{self.label}-x\"", "\"{{ part.number }}\"", "set.name"})
    EXPECT_EQ(findings(replace_all(service, "NAME", name)), "") << name;
}

/// Resources that no index protects are the same as soon as their ids are.
TEST_F(FindingsTest, AnIdAndItsAgentFollowFromTheService) {
  const std::string model = R"(
entity Host:
    string name
end
index Host(name)
implement Host using std::none
entity Unit extends std::Resource:
    string name
end
Unit.host [1] -- Host
implement Unit using std::none
entity Service:
    int id
end
index Service(id)
implementation refine for Service:
    set = std::ResourceSet(name="s{{ self.id }}")
    host = Host(name=HOST)
    set.resources += Unit(name=NAME, host=host)
end
implement Service using refine
Service(id=7)
)";
  constexpr const char* unit =
      R"(resource(entity = "Unit", id_attribute = "name", agent = "host.name", fields = []))";
  const auto found = [&](const char* host, const char* name) {
    return findings(replace_all(replace_all(model, "HOST", host), "NAME", name), unit);
  };
  EXPECT_EQ(found("\"h\"", "\"unit {{ self.id }}\""), "");
  EXPECT_EQ(found("\"h-{{ self.id }}\"", "\"unit\""), "");
  EXPECT_EQ(found("\"h\"", "\"unit\""),
            "s7 id not derived neither the agent nor the value of the id "
            "__config__::Unit[h,name=unit] follows from the identity of the service of this set "
            "or from an allocation, so other sets may describe the same resource");
  EXPECT_NE(found("\"h7\"", "\"unit 7\""), "");
  // An index that follows protects nobody whose id does not.
  const std::string keyed =
      replace_all(replace_all(model, "entity Unit extends std::Resource:\n",
                              "entity Unit extends std::Resource:\n    int key\n"),
                  "entity Service:", "index Unit(key)\nentity Service:");
  const auto with_key = [&](const char* name) {
    return findings(
        replace_all(replace_all(keyed, "HOST", "\"h\""), "NAME", cat(name, ", key=self.id")), unit);
  };
  EXPECT_EQ(with_key("\"unit {{ self.id }}\""), "");
  EXPECT_NE(with_key("\"unit\"").find("s7 id not derived"), std::string::npos);
}

/// Two services; the second is given the first and reads of it.
TEST_F(FindingsTest, AnAttributeOfAnotherServiceMakesASetOpen) {
  const std::string model = R"(
entity Service:
    int id
    int port = 80
end
Service.peer [0:1] -- Service
Service.backup [0:1] -- Service
Service.notes [0:] -- Note.of [1]
entity Note:
    string text
end
index Note(text)
implement Note using std::none
index Service(id)
implementation refine for Service:
    set = std::ResourceSet(name="s{{ self.id }}")
    set.resources += Thing(name="t-{{ self.id }}-{{ self.port }}")
end
implementation look for Service:
    READ
end
implement Service using refine
implement Service using look when self.peer is defined
first = Service(id=1)
Service(id=2, peer=first)
)";
  const auto found = [&](const char* read) { return findings(replace_all(model, "READ", read)); };
  EXPECT_EQ(found("x = self.port"), "");
  EXPECT_EQ(found("x = self.peer"), "");
  constexpr const char* port =
      "s2 open set __config__::Service(id=1).port is read here, which only set `s1` gives, so a "
      "compile without that set has a different result";
  EXPECT_EQ(found("x = self.peer.port"), port);
  EXPECT_EQ(found("x = \"a {{ self.peer.port }}\""), port);
  EXPECT_EQ(found("x = self.peer.port is defined"), port);
  EXPECT_EQ(found("if self.peer.port > 10:\n    x = 1\n    end"), port);
  for (const char* read :
       {"x = self.peer.backup is defined", "x = std::count(self.peer.notes)",
        "for n in self.peer.notes:\n    x = 1\n    end", "x = [n.text for n in self.peer.notes]",
        "x = self.peer.notes is defined"})
    EXPECT_NE(found(read).find("s2 open set __config__::Service(id=1)."), std::string::npos)
        << read << found(read);
}

/// What another set gives to a shared instance is read like a member of a relation.
TEST_F(FindingsTest, AnAttributeThatAnotherSetGivesMakesASetOpen) {
  const std::string model = R"(
entity Board:
    string name
    string color
end
index Board(name)
implement Board using std::none
entity Service:
    int id
    bool paints
    bool reads
end
index Service(id)
implementation refine for Service:
    set = std::ResourceSet(name="s{{ self.id }}")
    board = Board(name="all")
    if self.paints:
        board.color = "red"
    end
    if self.reads:
        set.resources += Thing(name="t-{{ self.id }}-{{ board.color }}")
    else:
        set.resources += Thing(name="t-{{ self.id }}")
    end
end
implement Service using refine
)";
  EXPECT_EQ(findings(model + "Service(id=1, paints=true, reads=false)\n"
                             "Service(id=2, paints=false, reads=true)\n"),
            "s2 open set __config__::Board(name='all').color is read here, which only set `s1` "
            "gives, so a compile without that set has a different result");
  EXPECT_EQ(findings(model + "Service(id=1, paints=true, reads=false)\n"
                             "Service(id=2, paints=true, reads=true)\n"),
            "");
}

/// What a service makes is there whenever it is, and a part is never there without its service.
TEST_F(FindingsTest, PartsOfOneServiceMayReadOneAnother) {
  EXPECT_EQ(findings(R"(
entity Service:
    int id
    int port = 80
end
index Service(id)
entity Site:
    int number
    int size = 3
end
index Site(service, number)
Service.sites [0:] -- Site.service [1]
implementation refine for Service:
    set = std::ResourceSet(name="s{{ self.id }}")
    site = Site(service=self, number=1)
    set.resources += Thing(name="t-{{ self.id }}-{{ site.size }}")
end
implement Service using refine
implementation of_site for Site:
    set = std::ResourceSet(name="s{{ self.service.id }}-{{ self.number }}")
    set.resources += Thing(
        name="site-{{ self.service.id }}-{{ self.number }}", value="{{ self.service.port }}")
end
implement Site using of_site
Service(id=1)
Service(id=2)
)"),
            "");
}

}  // namespace
}  // namespace fettle::model

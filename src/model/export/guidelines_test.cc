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

}  // namespace
}  // namespace fettle::model

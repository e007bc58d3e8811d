#include "model/syntax/parser.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle::model {
namespace {

struct ParseResult {
  std::string error;
  std::vector<std::string> warnings;
  size_t statements = 0;
};

ParseResult read(const std::string& text) {
  Arena arena;
  Symbols symbols;
  ParseResult parsed;
  const Warn warn = [&](Place at, const std::string& message) {
    parsed.warnings.push_back(cat(at.line, ":", at.column, ": ", message));
  };
  const Result<Unit> unit = parse("m.cf", text, 0, arena, symbols, warn);
  if (unit)
    parsed.statements = unit->body->statements.size();
  else
    parsed.error = to_string(unit.error());
  return parsed;
}

TEST(Parser, ReadsWhatTheLanguageHas) {
  const ParseResult parsed = read(R"(
"""documentation"""
import std
import a::b as c
typedef tcp as int matching self > 0 and self < 65536
typedef word as string matching /[a-z]+/
entity A extends std::Entity, c::B:
    """ doc """
    string name = "x"
    int[]? ports = [1, 2]
    dict options = {}
    string? other = undef
end
A.bs [0:] -- B.a [1]
A.next [:3] "note", 5 A
index A(name, other)
implementation one for A:
    self.bs += B(name="{{ name }}", **{"a": 1})
    for b in self.bs:
        if b is defined: std::print(b) elif not b in [1]: x = 1 else: y = 2 end
    end
end
implement A using one, std::none when self.name == "a"
implement A using parents
a = A(name="x", ports=[p for p in [1, 2] for q in [3] if p > 1 if q < 4],)
b = a.bs[name="b"]
c = A[name="x"]
d = a.options["k"]["l"] is defined ? f"{a.name:>10}" : -1.5
)");
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.statements, 4u);
  EXPECT_TRUE(parsed.warnings.empty());
}

TEST(Parser, SlipsBecomeTwoStatementsWithAWarning) {
  for (const char* text :
       {"a = 5 -1", "a = 0x10", "a = [1,2][0]", "a = {\"k\":1}[\"z\"]", "a = 1e5"}) {
    const ParseResult parsed = read(text);
    EXPECT_EQ(parsed.error, "") << text;
    EXPECT_EQ(parsed.statements, 2u) << text;
    ASSERT_EQ(parsed.warnings.size(), 1u) << text;
    EXPECT_NE(parsed.warnings[0].find("without effect"), std::string::npos);
  }
}

TEST(Parser, ErrorsNameTheToken) {
  EXPECT_EQ(read("a = = 1").error, "m.cf:1:5: Syntax error at token = (m.cf:1:6)");
  EXPECT_EQ(read("entity A:\n  Foo x\nend").error,
            "m.cf:2:3: Syntax error at token Foo (m.cf:2:6)");
  EXPECT_EQ(read("entity A:").error, "m.cf:1:10: Syntax error: Unexpected end of file (m.cf:2:2)");
  EXPECT_EQ(read("a = 1\r\n").error, "m.cf:1:6: Syntax error: Illegal character '\\r' (m.cf:1:6)");
  EXPECT_EQ(read("a = -b").error, "m.cf:1:5: Syntax error at token - (m.cf:1:6)");
}

TEST(Parser, HostileTextIsAnError) {
  EXPECT_NE(read("a = " + std::string(100'000, '(')).error.find("nested too deeply"),
            std::string::npos);
  EXPECT_NE(read("a = " + std::string(100'000, '[')).error.find("nested too deeply"),
            std::string::npos);
  std::string sum = "a = 1";
  std::string nots = "a = ";
  std::string ifs;
  for (int i = 0; i < 50'000; ++i) {
    sum += " + 1";
    nots += "not ";
    ifs += "if true: ";
  }
  EXPECT_NE(read(sum).error.find("nested too deeply"), std::string::npos);
  EXPECT_NE(read(nots + "true").error.find("nested too deeply"), std::string::npos);
  EXPECT_NE(read(ifs).error.find("nested too deeply"), std::string::npos);
  std::string path = "x";
  for (int i = 0; i < 500'000; ++i)
    path += ".a";
  EXPECT_NE(read("a = f\"{" + path + "}\"").error.find("nested too deeply"), std::string::npos);
  EXPECT_NE(read("a = \"{{" + path + "}}\"").error.find("nested too deeply"), std::string::npos);
  EXPECT_NE(read("a = 1" + std::string(5000, '0')).error.find("limit"), std::string::npos);
  EXPECT_NE(read("a = \"\xff\"").error.find("UTF-8"), std::string::npos);
  EXPECT_NE(read("a = \"abc").error.find("Illegal character '\"'"), std::string::npos);
}

}  // namespace
}  // namespace fettle::model

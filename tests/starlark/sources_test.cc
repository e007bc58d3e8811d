/// Bytes of sources that no chunk file can hold, and back-traces through native functions.

#include <gtest/gtest.h>

#include "starlark/starlark.h"
#include "starlark/syntax/lines.h"

namespace fettle::starlark {
namespace {

/// The output of a program, or its error with its place.
std::string outcome(std::string_view source, Profile profile = Profile::go) {
  Session session(Dialect::of(profile), {});
  std::string shown;
  session.print = [&](Thread&, std::string_view text) { shown += std::string(text) + "\n"; };
  const Result<ModulePtr> result = session.run("s.star", source);
  if (!result)
    shown += to_string(result.error().where) + ": " + result.error().message;
  return shown;
}

/// Functions of the back-trace, innermost first.
std::vector<std::string> trace_of(std::string_view source) {
  Session session(Dialect::of(Profile::go), {});
  const Result<ModulePtr> result = session.run("s.star", source);
  return result ? std::vector<std::string>() : result.error().trace;
}

using namespace std::string_view_literals;

TEST(Sources, CarriageReturnsEndLines) {
  EXPECT_EQ(outcome("x = 1\rprint(x)\r"), "1\n");
  EXPECT_EQ(outcome("#c\rprint(1)"), "1\n");
  EXPECT_EQ(outcome("x = 1 \\\r+ 2\r\nprint(x)"), "3\n");
  EXPECT_EQ(outcome("print(repr('''a\rb\r\nc'''))"), "\"a\\nb\\nc\"\n");
  EXPECT_EQ(outcome("print(repr(r'''a\\\rb\\\r\nc'''))"), "\"a\\\\\\nb\\\\\\nc\"\n");
  EXPECT_EQ(outcome("print(repr('a\\\rb\\\r\nc'))"), "\"abc\"\n");
  EXPECT_EQ(outcome("x = 1\r\rfail('here')"), "s.star:3:5: fail: here");
}

TEST(Sources, ZeroBytesEndThemAsInStarlarkGo) {
  EXPECT_EQ(outcome("print(1)\n\0nonsense ("sv), "1\n");
  EXPECT_EQ(outcome("print(1) # note \0\nnonsense ("sv), "1\n");
  EXPECT_EQ(outcome("print(repr('a\0b'))"sv), "\"a\\x00b\"\n");
  EXPECT_EQ(outcome("x = 1 + \0"sv), "s.star:1:9: got end of file, want primary expression");
  EXPECT_EQ(outcome("def f():\n  \0"sv), "s.star:2:3: got end of file, want indent");
  EXPECT_EQ(outcome("print(1)\n\0"sv, Profile::spec),
            "s.star:2:1: unexpected input character '\\x00'");
}

TEST(Sources, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(outcome("print('\xff', len('\xff'))"), "\xEF\xBF\xBD 3\n");
  EXPECT_EQ(outcome("print(len('\xed\xa0\x80'), len('a\xc3'), len(b'\xff'))"), "9 4 3\n");
  EXPECT_EQ(outcome("x = \xff"), "s.star:1:5: unexpected input character '\xEF\xBF\xBD'");
  EXPECT_EQ(outcome("x = '\xc3\xa9' \xff"),
            "s.star:1:9: unexpected input character '\xEF\xBF\xBD'");
}

TEST(Sources, TracesNameNativeFunctionsBetween) {
  EXPECT_EQ(
      trace_of("def f(x): return sorted(x, key = len)\nmin([[1, 2], [3]], key = f)"),
      (std::vector<std::string>{"<builtin>: in len", "<builtin>: in sorted", "s.star:1:24: in f",
                                "<builtin>: in min", "s.star:2:4: in <toplevel>"}));
  EXPECT_EQ(trace_of("sorted([1, 2], key = fail)"),
            (std::vector<std::string>{"<builtin>: in fail", "<builtin>: in sorted",
                                      "s.star:1:7: in <toplevel>"}));
}

TEST(Sources, ZonesKeepTheirRuleForEver) {
  const auto at = [](std::string_view when) {
    return outcome("print(time.time(" + std::string(when) + "))");
  };
  EXPECT_EQ(at("year = 2050, month = 7, day = 1, location = 'America/New_York'"),
            "2050-07-01 00:00:00 -0400 EDT\n");
  EXPECT_EQ(at("year = 2050, month = 1, day = 1, location = 'America/New_York'"),
            "2050-01-01 00:00:00 -0500 EST\n");
  EXPECT_EQ(at("year = 9050, month = 7, day = 1, location = 'Europe/Berlin'"),
            "9050-07-01 00:00:00 +0200 CEST\n");
  EXPECT_EQ(at("year = 2100, month = 1, day = 1, location = 'Australia/Sydney'"),
            "2100-01-01 00:00:00 +1100 AEDT\n");
  EXPECT_EQ(at("year = 2100, month = 1, day = 1, location = 'Asia/Tokyo'"),
            "2100-01-01 00:00:00 +0900 JST\n");
}

TEST(Sources, AMissingMethodIsToldBeforeItsArgumentsRun) {
  const std::string function = "def f(): print('ran'); return 1\n";
  EXPECT_EQ(outcome("x = 1\nx.f(1 // 0)"), "s.star:2:2: int has no .f field or method");
  EXPECT_EQ(outcome(function + "[].nope(f())"), "s.star:2:3: list has no .nope field or method");
  EXPECT_EQ(outcome(function + "struct(a = 1).nope(f())"),
            "s.star:2:14: struct has no .nope attribute");
  EXPECT_EQ(outcome(function + "json.nope(f())"),
            "s.star:2:5: module has no .nope field or method");
  EXPECT_EQ(outcome(function + "struct(a = f).a(f())"),
            "ran\ns.star:1:1: function f accepts no arguments (1 given)");
}

TEST(Sources, LinesAndColumnsOfOffsetsAnywhere) {
  std::string text = "é\n\nab";
  for (int i = 0; i < 1'000; ++i)
    text += "x€y\n";
  text += std::string(5'000, 'z');
  const Lines lines(text);
  int line = 1, column = 1;
  for (size_t i = 0; i <= text.size(); ++i) {
    ASSERT_EQ(lines.at(static_cast<uint32_t>(i)), std::pair(line, column)) << i;
    if (i < text.size() && text[i] == '\n')
      ++line, column = 1;
    else if (i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80)
      ++column;
  }
  EXPECT_EQ(lines.at(UINT32_MAX), lines.at(static_cast<uint32_t>(text.size())));
  EXPECT_EQ(Lines("").at(0), std::pair(1, 1));
  EXPECT_EQ(Lines(std::string(1024, 'a')).at(1024), std::pair(1, 1025));
}

}  // namespace
}  // namespace fettle::starlark

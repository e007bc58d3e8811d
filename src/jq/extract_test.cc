#include "jq/extract.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle::jq {
namespace {

constexpr Budget::Limits limits{.steps = 500'000, .bytes = 16'000'000};

std::string shown(const Result<Value>& value) {
  return value ? write_json(*value) : "error: " + to_string(value.error());
}
std::string of_text(std::string_view program, std::string_view text) {
  return shown(extract(program, text, Input::text, limits));
}
std::string of_json(std::string_view program, std::string_view json) {
  return shown(extract(program, json, Input::json, limits));
}

TEST(Extract, TheInputIsTheTextOrItsJson) {
  EXPECT_EQ(of_text(".", "10000000000000000000001"), R"("10000000000000000000001")");
  EXPECT_EQ(of_text(".", "007"), R"("007")");
  EXPECT_EQ(of_text("fromjson | .address", R"({"address": "0xabc"})"), R"("0xabc")");
  EXPECT_EQ(of_text("length", "[1]"), "3");
  EXPECT_EQ(of_text("length", "\x1b[1mä"), "5");
  EXPECT_EQ(of_json(".a.b", R"({"a": {"b": [1, 2.5]}})"), "[1,2.5]");
  EXPECT_NE(of_json(".", "no json").find("the response is not JSON"), std::string::npos);
  for (const Input input : {Input::text, Input::json})
    EXPECT_NE(shown(extract(".", "\"\xff\"", input, limits)).find("not UTF-8"), std::string::npos);
}

TEST(Extract, WhoTakesATextForJsonIsToldOfFromjson) {
  EXPECT_NE(of_text(".b", "{\"b\": 1}\n").find("; the output is a text: `fromjson | .b` reads"),
            std::string::npos);
  for (const auto& [program, text] :
       {std::pair(".b", "b: 1"), std::pair("fromjson | .c", R"({"b": 1})")})
    EXPECT_EQ(of_text(program, text).find("is a text"), std::string::npos) << program;
  EXPECT_EQ(of_json(".b.c", R"({"b": 1})").find("is a text"), std::string::npos);
}

TEST(Extract, SeveralResultsAreAListWithoutNullsAndErrors) {
  const std::string peers = R"({"peers": [{"id": "a"}, {}, {"id": "b"}]})";
  EXPECT_EQ(of_json(".peers[].id", peers), R"(["a","b"])");
  EXPECT_EQ(of_json(".peers[0, 1].id", peers), R"("a")");
  EXPECT_EQ(of_json(".[] | tonumber", R"(["1", "x", "3"])"), "[1,3]");
  EXPECT_EQ(of_json("[.[]]", "[1, null]"), "[1,null]");
}

TEST(Extract, NothingNullAndAnErrorFail) {
  for (const auto& [program, json] :
       {std::pair(".result.id", R"({"result": null})"), std::pair(".result.id", "{}"),
        std::pair("empty", "1"), std::pair(".[] | select(. > 3)", "[1]"), std::pair(".a", "[1]"),
        std::pair("error", R"("why")"), std::pair("halt", "1"), std::pair("null, null", "1")}) {
    const Result<Value> made = extract(program, json, Input::json, limits);
    ASSERT_FALSE(made) << program;
    EXPECT_EQ(made.error().blame, Blame::world) << program;
  }
  EXPECT_EQ(of_json(".a", "[1]"),
            "error: the jq expression `.a`: expected an object but got: array ([1])");
}

TEST(Extract, NumbersAreThoseOfKurtosis) {
  EXPECT_EQ(of_json(".", "1.0"), "1");
  EXPECT_EQ(of_json(".", "1e18"), "1000000000000000000");
  EXPECT_EQ(of_json(".", "12345678901234567890"), "12345678901234567168.0");
  EXPECT_EQ(of_json("12345678901234567890", "0"), R"("12345678901234567890")");
  EXPECT_EQ(of_json("infinite, -infinite, nan", "0"), R"(["+inf","-inf","nan"])");
  EXPECT_EQ(of_text("fromjson | .n, (.n + 0)", R"({"n": 1.50})"), R"(["1.50",1.5])");
  EXPECT_NE(of_json(".", "1e400").find("not JSON"), std::string::npos);
}

/// What libjq 1.6 does not know, or answers otherwise.
TEST(Extract, IsTheDialectOfGojq) {
  const std::string input = R"({"a": -1, "s": " x ", "l": [1, 2], "o": {"k": 1, "m": 2}})";
  for (const auto& [program, value] :
       {std::pair("if .a < 0 then .s | trim end", R"("x")"), std::pair(".l.[1]", "2"),
        std::pair(".a | abs", "1"), std::pair("pick(.o.k)", R"({"o":{"k":1}})"),
        std::pair("[limit(0; .l[])]", "[]"), std::pair("[.l[] | select(. > 1)] | first", "2"),
        std::pair(".l | [skip(1; .[])]", "[2]"), std::pair(".s | ltrim | rtrim", R"("x")"),
        std::pair("@base64d \"\\(\"YWI=\")\"", R"("ab")"), std::pair(".l | add(.[])", "3"),
        std::pair(".l as [$x] ?// $x | $x", "1"), std::pair("[.[]?] | length", "4"),
        std::pair("try error(null) catch .",
                  "error: the jq expression `try error(null) catch .`: it gives nothing, or null"),
        std::pair("100000000000000000000 + 1 | tostring", R"("100000000000000000001")"),
        std::pair("[splits(\"a\"; null)]", "[]"),
        std::pair(".s | capture(\"(?<w>[a-z])\")", R"({"w":"x"})"),
        std::pair("\"2024-02-29T12:00:00Z\" | fromdate | gmtime | mktime | todate",
                  R"("2024-02-29T12:00:00Z")"),
        std::pair("1e1000 | tojson", R"("1.7976931348623157e+308")"),
        std::pair("[.[1.7]?, .l[0.9]]", "[1]")})
    EXPECT_EQ(of_json(program, input), value) << program;
}

TEST(Extract, WhatCannotBeUsedIsRefusedWithItsPlace) {
  for (const auto& [program, why] :
       {std::pair(".a |", "it ends too early (column 5)"),
        std::pair("lenght", "there is no function `lenght/0`, did you mean `length/0`? (column 1)"),
        std::pair(".a\n  | $x", "there is no variable `$x` (line 2, column 5)"),
        std::pair("break $out", "there is no label `$out` (column 7)"),
        std::pair("@base32", "there is no format `@base32` (column 1)"),
        std::pair("import \"a\" as a; 1", "modules are not available (column 1)"),
        std::pair("input", "there is no function `input/0`"),
        std::pair("1 == 2 == 3", "`==` is not expected here (column 8)"),
        std::pair("\"\\x\"", "invalid escape `\\x` in a string"),
        std::pair("\"a", "a string is not closed"), std::pair("", "it is empty"),
        std::pair("def f: 1;", "it defines functions and does not use them"),
        std::pair("1.a", "a number is not complete"),
        std::pair("{1: 2}", "`1` is not expected here (column 2)")}) {
    const Status checked = check(program);
    ASSERT_FALSE(checked) << program;
    EXPECT_EQ(checked.error().blame, Blame::user) << program;
    EXPECT_NE(checked.error().message.find(why), std::string::npos) << checked.error().message;
  }
  EXPECT_TRUE(check(".a # a comment"));
}

TEST(Jq, KnowsNothingOfOurVariablesAndFiles) {
  ASSERT_EQ(setenv("FETTLE_TEST_SECRET", "secret", 1), 0);
  EXPECT_EQ(of_json("[env, $ENV]", "1"), "[{},{}]");
  EXPECT_EQ(of_json("[env.FETTLE_TEST_SECRET, $ENV.FETTLE_TEST_SECRET]", "1"), "[null,null]");
  unsetenv("FETTLE_TEST_SECRET");
  for (const char* program :
       {"import \"a\" as $a; $a", "include \"a\"; 1", "1); import \"a\" as $a; ($a",
        "\"a\" | modulemeta", "input", "inputs", "get_search_list", "$__prog_args"})
    EXPECT_FALSE(check(program)) << program;
}

std::string repeated(std::string_view text, size_t times) {
  std::string made;
  for (size_t i = 0; i < times; ++i)
    made += text;
  return made;
}

TEST(Extract, ALoopIsEnded) {
  for (const char* program :
       {"def f: f; f", "repeat(1) | empty", "[repeat(1)]", "until(false; .)", "last(range(1e18))",
        "reduce repeat(1) as $x (0; . + $x)", "[range(infinite)]", "def f: 1 + f; f",
        "def f(g): f(g | g); f(.)", "0 | [recurse(. + 1)]", "repeat(error)",
        "[limit(1e9; repeat(1))] | length", "\"a\" * 1e9 | length * 0 | repeat(.)",
        "[[range(9)] | combinations(9)] | length"})
    EXPECT_NE(of_json(program, "[1, 2]").find("it takes more than"), std::string::npos)
        << program << ": " << of_json(program, "[1, 2]").substr(0, 200);
}

TEST(Extract, AGreedyOneIsEnded) {
  for (const char* program :
       {"reduce range(36) as $i (\"x\"; . + .) | length",
        "[range(1e7)] | length",
        ".[536870911] = 1",
        "reduce range(60) as $i (1; [., .]) | tojson",
        "reduce range(60) as $i (1; [., .]) | [.., 1] | length",
        "reduce range(60) as $i (1; [., .]) | flatten",
        "reduce range(60) as $i (1; [., .]) as $x | $x == $x",
        "reduce range(60) as $i (1; {a: ., b: .})",
        "reduce range(60) as $i ([1]; . + .) | sort",
        "\"x\" * 2e9",
        "reduce range(1e6) as $i (10; . * .)",
        "[range(1e6)] | combinations",
        "[range(3000)] as $a | [$a | transpose?], [$a[] | [range(3000)]] | transpose",
        "reduce range(1e6) as $i (.; [.])",
        "reduce range(1e6) as $i (.; {a: .})",
        "\"x\" * 1e7 | [match(\"x\"; \"g\")]",
        "\"x\" * 1e7 / \"x\"",
        "\"x\" * 1e7 | explode",
        "[limit(1e7; repeat(\"x\"))] | join(\"xxxxxxxxxxxxxxx\")",
        "[1] | delpaths([[range(1e7)]])",
        "def f: [f]; f",
        "def f: {a: (., .) | f}; f",
        "[range(1e5)] as $a | reduce range(1e5) as $i ($a; .[1:] + [$i])",
        "\"x\" * 1e7 | [range(1e5) as $i | ltrimstr(\"a\") | length] | add"}) {
    const std::string said = of_json(program, "[1, 2]");
    EXPECT_TRUE(said.find("it takes more than") != said.npos ||
                said.find("nested deeper") != said.npos || said.find("4300 digits") != said.npos)
        << program << ": " << said.substr(0, 200);
  }
}

TEST(Extract, ASearchIsLinear) {
  constexpr std::string_view texts = "(\"x\" * 4e6) as $t | (\"x\" * 2e6 + \"y\") as $w | ";
  EXPECT_EQ(of_json(cat(texts, "[$t | contains($w), index($w)?, indices($w)[]]"), "1"),
            "[false,null]");
  EXPECT_EQ(of_json(cat(texts, "$t / $w | length"), "1"), "1");
  EXPECT_NE(of_json("\"x\" * 1e6 | . as $t | indices($t[:500000])", "1").find("takes more than"),
            std::string::npos);
  EXPECT_EQ(of_json("\"äaäa\" | [indices(\"a\")[], indices(\"aä\")[]]", "1"), "[1,3,1]");
}

TEST(Extract, AGreedyRegexIsEnded) {
  EXPECT_EQ(of_json("test(\"(x+x+)+y\")", "\"" + repeated("x", 5000) + "\""), "false");
  EXPECT_NE(of_json("test(\"((a{100}){100}){100}\")", "\"a\"").find("invalid regular expression"),
            std::string::npos);
  EXPECT_NE(
      of_json("[match(\"x(.*y)?\"; \"g\").offset] | length", "\"" + repeated("x", 60'000) + "\"")
          .find("it takes more than"),
      std::string::npos);
}

TEST(Extract, DeepTextsAreRefused) {
  for (const std::string& program :
       {repeated("[", 100'000), repeated("(", 100'000) + "1" + repeated(")", 100'000),
        repeated("-", 100'000) + "1", repeated("{a:", 100'000), repeated("try ", 100'000) + "1",
        repeated("\"\\(", 100'000), repeated("if 1 then ", 100'000),
        repeated("1 as [", 1) + repeated("[", 100'000), repeated("def f: ", 100'000),
        "1" + repeated(" | 1", 100'000), "1" + repeated(" // 1", 100'000),
        repeated("reduce ", 100'000), repeated("if 1 then 2 el", 100'000)})
    EXPECT_FALSE(check(program)) << program.substr(0, 20);
  // What goes on from left to right is not deep.
  for (const std::string& program :
       {"1" + repeated(" + 1", 2'000), "." + repeated("[0]?", 2'000), "1" + repeated(", 1", 2'000)})
    EXPECT_TRUE(check(program)) << program.substr(0, 20);
  EXPECT_NE(of_json(".", repeated("[", 100'000)).find("nested deeper than 1000"),
            std::string::npos);
  EXPECT_NE(of_text("fromjson", repeated("[", 100'000)).find("nested deeper than 1000"),
            std::string::npos);
}

/// What gojq 0.12.19 gives, called as Kurtosis calls it: `bench/differ jq --record`.
TEST(Extract, GivesWhatKurtosisGives) {
  const Result<std::string> file = read_file(FETTLE_SOURCE_DIR "/tests/packages/jq.jsonl");
  ASSERT_TRUE(file) << to_string(file.error());
  size_t count = 0;
  for (const std::string_view line : split(trim(*file), '\n')) {
    const Result<Value> row = read_json(line);
    ASSERT_TRUE(row) << line;
    const std::string_view program = row->text_at("expression");
    const Result<Value> made = extract(program, row->text_at("input"), Input::json, limits);
    ++count;
    if (const Value* wanted = row->find("value"))
      EXPECT_TRUE(made && *made == *wanted) << line << "\n" << shown(made);
    else
      EXPECT_EQ(made                                ? ""
                : made.error().blame == Blame::user ? "refused"
                                                    : "failed",
                row->text_at("error"))
          << line << "\n"
          << shown(made);
  }
  EXPECT_GE(count, 1'000U);
}

}  // namespace
}  // namespace fettle::jq

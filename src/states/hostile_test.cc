/// Files that mean harm: each ends soon, in an error or harmlessly.

#include <gtest/gtest.h>

#include "base/archive.h"
#include "base/text.h"
#include "states/compile.h"
#include "states/intent.h"
#include "states/validate.h"

namespace fettle::states {
namespace {

CompiledStates compiled(std::map<std::string, std::string> texts, CompileOptions options = {}) {
  const auto files = files_of(std::move(texts));
  const std::vector<std::string> words{"main.sls"};
  return compile(words, *files, options);
}

CompiledStates compiled(const std::string& text) { return compiled({{"main.sls", text}}); }

std::string first_error(const CompiledStates& made) {
  return made.errors.empty() ? "" : to_string(made.errors[0]);
}

std::string repeated(std::string_view text, size_t count) {
  std::string made;
  for (size_t i = 0; i < count; ++i)
    made += text;
  return made;
}

TEST(Hostile, DeepData) {
  EXPECT_NE(first_error(compiled("a:\n  test.nop:\n    - x: " + std::string(100'000, '[')))
                .find("nested deeper"),
            std::string::npos);
  const CompiledStates deep =
      compiled("a:\n  test.nop:\n    - x: " + std::string(490, '[') + "\"${test:b:x}\"" +
               std::string(490, ']') + "\nb: test.nop\n");
  EXPECT_EQ(first_error(deep), "");
  EXPECT_EQ(deep.chunks[0].arguments[0].second.depth(), 490u);
  EXPECT_TRUE(intent_of(deep, {.environment = "e"}).errors.empty());
  EXPECT_NE(first_error(compiled("a: " + repeated("{{ ", 10'000))).find("Error while parsing"),
            std::string::npos);
}

TEST(Hostile, DeepPaths) {
  const std::string path = repeated("k:", 100'000);
  EXPECT_NE(
      first_error(compiled("a:\n  test.nop: [{x: \"${test:b:" + path + "k}\"}]\nb: test.nop\n"))
          .find("steps"),
      std::string::npos);
  EXPECT_NE(
      first_error(compiled("b: test.nop\na:\n  test.nop:\n    - arg_bind: [{test: [{b: [{x: \"" +
                           path + "k\"}]}]}]\n"))
          .find("steps"),
      std::string::npos);
}

TEST(Hostile, FortyLevelsOfSharing) {
  std::string text = "x0: &a0 {test.nop: [{v: 1}]}\n";
  for (int i = 1; i <= 40; ++i)
    text += cat("y", i, ":\n  test.nop:\n    - v: &a", i, " [*a", i - 1, ", *a", i - 1, "]\n");
  EXPECT_NE(first_error(compiled(text)).find("its aliases expand to too much"), std::string::npos);
}

TEST(Hostile, WideData) {
  std::string wide = "a:\n  test.nop:\n    - x: [" + repeated("1, ", 200'000) + "1]\n";
  EXPECT_EQ(compiled(wide).chunks[0].arguments[0].second.items().size(), 200'001u);
  std::string keys = "a:\n  test.nop:\n    - x: {";
  for (int i = 0; i < 100'000; ++i)
    keys += cat("k", i, ": 1, ");
  EXPECT_EQ(first_error(compiled(keys + "}\n")), "");
  std::string arguments = "a:\n  test.nop:\n";
  for (int i = 0; i < 50'000; ++i)
    arguments += cat("    - k", i, ": 1\n");
  EXPECT_NE(first_error(compiled(arguments)).find("more than 1000 arguments"), std::string::npos);
  std::string states = "a:\n";
  for (int i = 0; i < 50'000; ++i)
    states += cat("  s", i, ".f: []\n");
  EXPECT_NE(first_error(compiled(states)).find("more than 1000 states"), std::string::npos);
  std::string references = "b: test.nop\na:\n  test.nop:\n    - x:\n";
  for (int i = 0; i < 20'000; ++i)
    references += cat("      - ${test:b:", i, "}\n");
  EXPECT_EQ(compiled(references).chunks[0].arguments[0].second.items().size(), 20'000u);
}

TEST(Hostile, HugeNumbers) {
  const std::string digits(100'000, '9');
  EXPECT_EQ(first_error(compiled("a:\n  test.nop: [{x: " + digits + "}]\n")), "");
  EXPECT_NE(
      first_error(compiled("a:\n  test.nop: [{order: " + digits + "}]\n")).find("the order of"),
      std::string::npos);
  EXPECT_NE(first_error(compiled("a:\n  test.nop: [{order: .nan}]\n")).find("the order of"),
            std::string::npos);
  EXPECT_NE(first_error(compiled("a:\n  test.nop: [{retry: {attempts: " + digits + "}}]\n"))
                .find("`attempts` must be"),
            std::string::npos);
  EXPECT_NE(
      first_error(
          compiled(
              "a:\n  test.nop: [{reconcile: {wait: {static: {wait_in_seconds: 1.0e+300}}}}]\n"))
          .find("`wait_in_seconds` must be"),
      std::string::npos);
  EXPECT_EQ(first_error(compiled("a:\n  test.nop: [{x: 0x" + std::string(100'000, 'f') + "}]\n")),
            "");
}

TEST(Hostile, BrokenText) {
  EXPECT_NE(first_error(compiled("a:\n  test.nop: [{x: \xC0\x80}]\n")).find("not UTF-8"),
            std::string::npos);
  EXPECT_NE(first_error(compiled(std::string("a: \0 b", 6))).find("Error while parsing"),
            std::string::npos);
  EXPECT_NE(first_error(compiled("a: {{ '\xFF' }}\n")).find("not UTF-8"), std::string::npos);
}

TEST(Hostile, TemplatesThatNeverEnd) {
  CompileOptions options;
  options.host.limits.output = 1 << 16;
  options.host.limits.steps = 1 << 20;
  EXPECT_NE(first_error(compiled({{"main.sls",
                                   "{% for i in range(99999) %}{% for j in range(99999) %}"
                                   "{% endfor %}{% endfor %}"}},
                                 options))
                .find("too many steps"),
            std::string::npos);
  EXPECT_NE(
      first_error(
          compiled({{"main.sls", "{% for i in range(99999) %}xxxxxxxxxx{% endfor %}"}}, options))
          .find("too long"),
      std::string::npos);
  EXPECT_NE(first_error(compiled({{"main.sls", "{% include 'main.sls' %}"}})).find("recursion"),
            std::string::npos);
  EXPECT_NE(
      first_error(compiled("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}")).find("recursion"),
      std::string::npos);
}

TEST(Hostile, IncludesInCircles) {
  const CompiledStates made = compiled({{"main.sls", "include: [a, main, b]\nm: test.nop\n"},
                                        {"a.sls", "include: [b]\na: test.nop\n"},
                                        {"b.sls", "include: [a, .b, main]\nb: test.nop\n"}});
  EXPECT_EQ(first_error(made), "");
  EXPECT_EQ(made.chunks.size(), 3u);
}

TEST(Hostile, ExtensionsOfExtensions) {
  const CompiledStates made = compiled(
      "extend:\n  a:\n    test.nop: [{require: [{test: b}]}]\n  b:\n    test.nop: [{require: "
      "[{test: a}]}]\n"
      "  extend:\n    test.nop: []\n  c:\n    test.nop: [{use: [{test: c}]}]\n"
      "a: test.nop\nb: test.nop\nc: test.nop\n");
  ASSERT_EQ(made.errors.size(), 3u);
  EXPECT_NE(made.errors[0].message.find("Cannot extend ID extend"), std::string::npos);
  EXPECT_NE(made.errors[1].message.find("use each other"), std::string::npos);
  EXPECT_NE(made.errors[2].message.find("test:a requires test:b"), std::string::npos);
}

TEST(Hostile, LongChainsOfEverything) {
  std::string chain = "a0: test.nop\n", uses = "a0: test.nop\n", prereqs = "a0: test.nop\n", circle;
  constexpr int count = 20'000;
  for (int i = 1; i < count; ++i) {
    chain += cat("a", i, ":\n  test.nop: [{require: [{test: a", i - 1, "}]}]\n");
    uses += cat("a", i, ":\n  test.nop: [{use: [{test: a", i - 1, "}]}]\n");
    prereqs += cat("a", i, ":\n  test.nop: [{prereq: [{test: a", i - 1, "}]}]\n");
  }
  for (int i = 0; i < count; ++i)
    circle += cat("a", i, ":\n  test.nop: [{require: [{test: a", (i + 1) % count, "}]}]\n");
  EXPECT_EQ(first_error(compiled(chain)), "");
  EXPECT_EQ(first_error(compiled(uses)), "");
  EXPECT_EQ(first_error(compiled(prereqs)), "");
  const CompiledStates made = compiled(circle);
  ASSERT_EQ(made.errors.size(), 1u);
  EXPECT_NE(made.errors[0].message.find("and so on over 19990 more back to test:a0"),
            std::string::npos);
}

TEST(Hostile, EverybodyNamesEverybody) {
  std::string text;
  for (int i = 0; i < 4000; ++i)
    text += cat("a", i, ":\n  test.nop: [{require: [{sls: other}]}]\n");
  std::string other;
  for (int i = 0; i < 4000; ++i)
    other += cat("b", i, ": test.nop\n");
  EXPECT_NE(first_error(compiled({{"main.sls", "include: [other]\n" + text}, {"other.sls", other}}))
                .find("name more than 4000000 states together"),
            std::string::npos);
  std::string inverse;
  for (int i = 0; i < 3000; ++i)
    inverse += cat("a", i, ":\n  test.nop: [{require_in: [{test: \"*\"}]}]\n");
  EXPECT_NE(first_error(compiled(inverse)).find("name more than 4000000 states"),
            std::string::npos);
}

TEST(Hostile, PatternsThatBacktrack) {
  const std::string id(2000, 'a');
  std::string text = id + ": test.nop\n";
  for (int i = 0; i < 500; ++i)
    text += cat("b", i, ":\n  test.nop: [{require: [{test: \"", repeated("*a", 500), i, "\"}]}]\n");
  EXPECT_FALSE(compiled(text).errors.empty());
}

TEST(Hostile, ManyReferences) {
  std::string text = "a: test.nop\nb:\n  test.nop:\n    - x: \"";
  text +=
      repeated("${test:a:x}", 20'000) + "\"\n    - y: \"" + repeated("${test:a", 50'000) + "\"\n";
  const CompiledStates made = compiled(text);
  EXPECT_EQ(first_error(made), "");
  EXPECT_EQ(made.chunks.size(), 2u);
}

TEST(Hostile, PathsAndArchivesThatLeadOut) {
  const std::string tar = *pack_files({{"x.sls", "a: test.nop\n"}});
  for (const char* include :
       {"../secret", "/secret", "x/../../secret", "..secret", "file:///secret"}) {
    const CompiledStates made = compiled({{"main.sls", cat("include: [\"", include, "\"]\n")},
                                          {"/secret.sls", "leaked: test.nop\n"}});
    EXPECT_EQ(made.errors.size(), 1u) << include;
    EXPECT_TRUE(made.chunks.empty()) << include;
  }
  CompileOptions options;
  options.sources = {"file://o.tar"};
  EXPECT_NE(
      first_error(compiled({{"main.sls", "x: test.nop\n"}, {"o.tar", tar.substr(0, 300)}}, options))
          .find("cannot be read"),
      std::string::npos);
}

TEST(Hostile, ManyErrorsAreToldOnce) {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += cat("a", i, ":\n  tset.nop: []\n");
  EXPECT_EQ(compiled(text).errors.size(), 1000u);
}

TEST(Hostile, ManyNames) {
  std::string text = "a:\n  test.nop:\n    - names:\n";
  for (int i = 0; i < 20'000; ++i)
    text += cat("      - n", i, "\n");
  const CompiledStates made = compiled(text + "b:\n  test.nop: [{require: [{test: a}]}]\n");
  EXPECT_EQ(first_error(made), "");
  EXPECT_EQ(made.chunks.size(), 20'001u);
}

TEST(Hostile, ManyFiles) {
  std::map<std::string, std::string> texts;
  std::string include = "include: [";
  for (int i = 0; i < 10'001; ++i) {
    include += cat("f", i, ", ");
    texts[cat("f", i, ".sls")] = "";
  }
  texts["main.sls"] = include + "]\n";
  EXPECT_NE(first_error(compiled(texts)).find("more than 10000 files"), std::string::npos);
}

}  // namespace
}  // namespace fettle::states

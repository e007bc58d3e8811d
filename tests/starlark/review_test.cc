/// What a review finds in a file without running it.

#include "starlark/review.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle::starlark {
namespace {

std::string lines_of(const std::vector<Error>& findings) {
  std::string text;
  for (const Error& finding : findings)
    text += cat(finding.where.line, ":", finding.where.column, " ", finding.message, "\n");
  return text;
}

Review reviewed(std::string_view text) {
  Session session(Dialect::of(Profile::kurtosis));
  session.predeclare("import_module", session.native("import_module", [](Call&) -> Result<Value> {
    return user_error("not called");
  }));
  return review(session, "a.star", text);
}

std::string doubts(std::string_view text) {
  const Review found = reviewed(text);
  EXPECT_EQ(lines_of(found.errors), "");
  return lines_of(found.doubts);
}

TEST(Review, ErrorsOfSyntaxAndNamesAreFoundWithoutARun) {
  EXPECT_EQ(lines_of(reviewed("def f(:\n").errors), "1:8 got ':', want ')'\n");
  EXPECT_EQ(lines_of(reviewed("def f():\n    return a + b\n").errors),
            "2:12 undefined: a\n2:16 undefined: b\n");
  EXPECT_EQ(reviewed("def f():\n    return a\n").errors[0].excerpt,
            "      return a\n             ^");
}

TEST(Review, WhatStandsBehindAZeroByteIsNotRead) {
  const std::string told = " a zero byte ends the file here: the rest is not read\n";
  const auto text = [](const char* before) { return cat(before, '\0', "\nb = undefined\n"); };
  EXPECT_EQ(doubts(text("a = 1\n")), "2:1" + told);
  EXPECT_EQ(doubts(text("a = 1 ")), "1:7" + told);
  EXPECT_EQ(doubts(text("a = 1 # c ")), "1:11" + told);
  EXPECT_EQ(doubts(text("def f():\n    return 1\n    ")), "3:5" + told);
  EXPECT_EQ(doubts("a = '\\0'\nb = 1\n"), "");
  const Review cut = reviewed(text("a = ("));
  EXPECT_EQ(cut.errors.size(), 1U);
  EXPECT_EQ(lines_of(cut.doubts), "1:6" + told);
}

TEST(Review, WhatIsSetAndNeverUsed) {
  EXPECT_EQ(doubts("def f():\n    x = 1\n    y = 2\n    _z = 3\n    return y\n"),
            "2:5 `x` is set and never used\n");
  // Of the globals, only imports: another file may use the others.
  EXPECT_EQ(doubts("g = 1\nm = import_module('m')\nn = import_module('n')\ndef f(): return n\n"),
            "2:1 `m` is imported and never used\n");
  // A part of an unpacking, a loop variable and a parameter may be unused on purpose.
  EXPECT_EQ(doubts("def f(p):\n    a, b = 1, 2\n    for i in [1]:\n        pass\n"), "");
  EXPECT_EQ(doubts("def f():\n    x = 1\n    x += 1\n"), "");
}

TEST(Review, AVariableThatAFunctionWithinUsesIsUsed) {
  EXPECT_EQ(doubts("def f():\n    x = 1\n    def g():\n        return lambda: x\n    return g\n"),
            "");
  EXPECT_EQ(doubts("def f():\n    x = 1\n    return [x for y in [1] if y]\n"), "");
}

TEST(Review, WhatIsNeverReached) {
  EXPECT_EQ(
      doubts("def f(a):\n    if a:\n        return 1\n        f(a)\n    fail('x')\n    f(a)\n"),
      "4:9 this is never reached\n6:5 this is never reached\n");
}

TEST(Review, WhatHasNoEffect) {
  EXPECT_EQ(
      doubts("def f(a):\n    'told'\n    a.b\n    a == 1\n    a\n    a.b()\n"),
      "3:6 `b` is not called: `(…)` is missing\n4:7 this has no effect\n5:5 this has no effect\n");
  EXPECT_EQ(doubts("def f():\n    return {'a': 1, 'b': 2, 'a': 3}\n"),
            "2:29 the key `a` occurs twice\n");
}

TEST(Review, ALongChainNeedsNoStack) {
  std::string text = "def f(a):\n    return a";
  for (int i = 0; i < 200'000; ++i)
    text += ".b";
  EXPECT_EQ(doubts(text + "\n"), "");
}

TEST(Review, FindingsOfOneFileAreLimited) {
  std::string text = "def f():\n";
  for (int i = 0; i < 1'000; ++i)
    text += cat("    x", i, " = 1\n");
  EXPECT_EQ(reviewed(text).doubts.size(), 100u);
}

}  // namespace
}  // namespace fettle::starlark

#include "packages/doc_string.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

std::string said_of(std::string_view text) {
  const Status checked = check_doc_string("main.star", text);
  return checked ? "" : to_string(checked.error());
}

std::string said_of_argument(std::string_view line) {
  return said_of(
      cat("def run(plan, a):\n    \"\"\"Runs.\n\n    Args:\n        ", line, "\n    \"\"\"\n"));
}

TEST(DocString, ArgumentsAreTheLinesOfTheirBlock) {
  EXPECT_EQ(documented_arguments("Text.\n\n  Args:\n    a (int): one,\n      and more: of it\n"
                                 "    b: two\n\n  Returns:\n    c: nothing\n"),
            (std::vector<std::string>{"a (int)", "b"}));
  EXPECT_EQ(documented_arguments("Args:\n  a: one\n\nReturns:\n  b: two\n"),
            std::vector<std::string>{"a"});
  // All lines but the first lose the indentation that they share, so this block is empty.
  EXPECT_EQ(documented_arguments("Args:\n  a: one\n"), std::vector<std::string>{});
  EXPECT_EQ(documented_arguments("Text.\nArgs:\n  a: one\n"), std::vector<std::string>{});
  EXPECT_EQ(documented_arguments("Text.\n\nArgs:\n  a: one\n  free text\n"),
            std::vector<std::string>{});
  EXPECT_EQ(documented_arguments(""), std::vector<std::string>{});
}

TEST(DocString, ATypeIsOneThatTheCatalogueKnows) {
  for (const char* const line :
       {"a: text", "a (int): text", "a (String): text", "a (dict[string, json]): text",
        "a (list[ int ]): text", "a : text", "a (): text"})
    EXPECT_EQ(said_of_argument(line), "") << line;
  EXPECT_NE(said_of_argument("a (text): x").find("gives `a` the type `text`, which is none of"),
            std::string::npos);
  EXPECT_NE(said_of_argument("a (dict): x").find("`a` is a dict, and not of what"),
            std::string::npos);
  EXPECT_NE(said_of_argument("a (list[text]): x").find("the type `list[text]`"), std::string::npos);
  EXPECT_NE(said_of_argument("a (dict[int]): x").find("the type `dict[int]`"), std::string::npos);
}

TEST(DocString, RunIsThereAndNamesItsParameters) {
  EXPECT_EQ(said_of("def run(plan):\n    pass\n"), "");
  EXPECT_NE(said_of("def main(plan):\n    pass\n").find("there is no function `run`"),
            std::string::npos);
  EXPECT_NE(said_of("def run(plan, **args):\n    pass\n").find("main.star:1:15: "),
            std::string::npos);
  EXPECT_NE(said_of("def run(:\n").find("main.star:1:10: got ':'"), std::string::npos);
}

}  // namespace
}  // namespace fettle

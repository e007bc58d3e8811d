/// The layout of files. What is expected is what black 23.9.1 gives, which `kurtosis lint` runs.

#include "starlark/format/format.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle::starlark {
namespace {

std::string layout_of(std::string_view text) {
  const Result<std::string> result = laid_out("a.star", text);
  return result ? *result : cat("error: ", to_string(result.error()));
}

TEST(Layout, SpacesQuotesAndNumbers) {
  EXPECT_EQ(layout_of("x = {  'a':1,'b':2 }\n"), "x = {\"a\": 1, \"b\": 2}\n");
  EXPECT_EQ(layout_of("x = 'it\\'s'\ny = 'say \"hi\"'\nz = '\\x1B'\n"),
            "x = \"it's\"\ny = 'say \"hi\"'\nz = \"\\x1B\"\n");
  EXPECT_EQ(layout_of("n = 0XfF + 1E5 + 1. + .5 + 1e+3\n"), "n = 0xFF + 1e5 + 1.0 + 0.5 + 1e3\n");
  EXPECT_EQ(layout_of("y = f(a)[1:2] + g[a+1:] + h[f(x):] + i[-1:]\n"),
            "y = f(a)[1:2] + g[a + 1 :] + h[f(x) :] + i[-1:]\n");
  EXPECT_EQ(layout_of("x = not  a\nz = lambda  a,b = 1 : a\n"),
            "x = not a\nz = lambda a, b=1: a\n");
}

TEST(Layout, StatementsHaveLinesOfTheirOwn) {
  EXPECT_EQ(layout_of("def f(a,b):\n  return a\ndef g(): pass\nx = 1; y = 2;\n"),
            "def f(a, b):\n    return a\n\n\ndef g():\n    pass\n\n\nx = 1\ny = 2\n");
  EXPECT_EQ(
      layout_of("if (a and\n    b): #why\n  pass\nfor (a, b) in (c): pass\nx = 1 + \\\n    2\n"),
      "if a and b:  # why\n    pass\nfor a, b in c:\n    pass\nx = 1 + 2\n");
}

TEST(Layout, LongLinesAreSplitAtTheirLastBrackets) {
  EXPECT_EQ(layout_of("plan.add_service(name = 'web', config = ServiceConfig(image = 'nginx', "
                      "ports = {'http': PortSpec(number = 80)}))\n"),
            "plan.add_service(\n    name=\"web\", config=ServiceConfig(image=\"nginx\", "
            "ports={\"http\": PortSpec(number=80)})\n)\n");
  EXPECT_EQ(layout_of("some_dictionary['a_key_that_is_long'] = "
                      "some_function_with_a_long_name(first_argument)['another_key']\n"),
            "some_dictionary[\"a_key_that_is_long\"] = "
            "some_function_with_a_long_name(first_argument)[\n    \"another_key\"\n]\n");
}

TEST(Layout, LongExpressionsGetParentheses) {
  EXPECT_EQ(
      layout_of("result_of_it_all = first_operand_that_is_long + second_operand_that_is_long * "
                "third_operand_of_all\n"),
      "result_of_it_all = (\n    first_operand_that_is_long + second_operand_that_is_long * "
      "third_operand_of_all\n)\n");
  EXPECT_EQ(layout_of("return_value = a.b(cccccccccccccccccccccccccccccc)"
                      ".d(eeeeeeeeeeeeeeeeeeeeeeeeeeeeeee).f(gggggggggggggggg)\n"),
            "return_value = (\n    a.b(cccccccccccccccccccccccccccccc)\n"
            "    .d(eeeeeeeeeeeeeeeeeeeeeeeeeeeeeee)\n    .f(gggggggggggggggg)\n)\n");
  EXPECT_EQ(
      layout_of("value = first_value_of_all_values if some_condition_that_is_long_enough else "
                "other_value_that_is_long\n"),
      "value = (\n    first_value_of_all_values\n    if some_condition_that_is_long_enough\n"
      "    else other_value_that_is_long\n)\n");
}

/// Later versions of black have other rules for each of these.
TEST(Layout, IsThatOfTheBlackThatKurtosisRuns) {
  EXPECT_EQ(layout_of("f(a = first_value_of_all_values if some_condition_that_is_long_enough else "
                      "other_value_that_is_long)\n"),
            "f(\n    a=first_value_of_all_values\n    if some_condition_that_is_long_enough\n"
            "    else other_value_that_is_long\n)\n");
  EXPECT_EQ(layout_of("template_and_data_by_rel_dest_filepath[CHECKPOINTZ_CONFIG_FILENAME] = "
                      "template_and_data_of_it\n"),
            "template_and_data_by_rel_dest_filepath[\n    CHECKPOINTZ_CONFIG_FILENAME\n] = "
            "template_and_data_of_it\n");
  EXPECT_EQ(layout_of("'text'\ndef f():\n\n  (a, b) = [(c)]\n"),
            "\"text\"\n\n\ndef f():\n    (a, b) = [(c)]\n");
  EXPECT_EQ(layout_of("f('''a\nb''',1)\n"), "f(\n    \"\"\"a\nb\"\"\",\n    1,\n)\n");
  EXPECT_EQ(layout_of("for x in y:\n  ''\n"), "for x in y:\n    \"\"\"\"\"\"\n");
  EXPECT_EQ(layout_of("def f():\n  '''Text.\n\n\tMore.\n'''\n"),
            "def f():\n    \"\"\"Text.\n\n    More.\"\"\"\n");
}

TEST(Layout, ACommaBehindTheLastItemKeepsALineForEach) {
  EXPECT_EQ(layout_of("f(a,)\nx = [1,2,]\ny = (1,)\n"),
            "f(\n    a,\n)\nx = [\n    1,\n    2,\n]\ny = (1,)\n");
}

/// Black puts one there, and Starlark refuses it.
TEST(Layout, AnIndexGetsNoCommaAtItsEnd) {
  EXPECT_EQ(layout_of("a[b(c,),d]\n"), "a[\n    b(\n        c,\n    ),\n    d\n]\n");
  const std::string name(60, 'b');
  EXPECT_EQ(layout_of(cat("a[", name, ", ", name, "]\n")),
            cat("a[\n    ", name, ",\n    ", name, "\n]\n"));
}

TEST(Layout, CommentsStayWhereTheyAre) {
  EXPECT_EQ(layout_of("#a\n\n\n\n\nx=1#b\nf(  # c\n  1, #d\n  # e\n)\n"),
            "# a\n\n\nx = 1  # b\nf(  # c\n    1,  # d\n    # e\n)\n");
  EXPECT_EQ(layout_of("def f():\n    pass\n    # in\n# out\nx = 1\n"),
            "def f():\n    pass\n    # in\n\n\n# out\nx = 1\n");
}

TEST(Layout, DocumentationHasTheIndentationOfItsBlock) {
  EXPECT_EQ(layout_of("def f():\n    '''  Text.\n\n      More.  \n    '''\n    return  1\n"),
            "def f():\n    \"\"\"Text.\n\n    More.\n    \"\"\"\n    return 1\n");
}

TEST(Layout, CodeThatIsSwitchedOffStaysAsItStands) {
  EXPECT_EQ(
      layout_of("# fmt: off\nx   =  [1,\n  2]\n# fmt: on\ny   =  1\nz   =   2  # fmt: skip\n"),
      "# fmt: off\nx   =  [1,\n  2]\n# fmt: on\ny = 1\nz   =   2  # fmt: skip\n");
  EXPECT_NE(layout_of("x = [\n    # fmt: off\n    1,\n]\n").find("a.star:2:5: `# fmt: off` cannot"),
            std::string::npos);
}

/// A remark behind nothing says nothing.
TEST(Layout, ARemarkAtTheBeginOfAFileStays) {
  EXPECT_EQ(layout_of("# fmt: skip\nx  = 1\n"), "# fmt: skip\nx = 1\n");
  EXPECT_EQ(layout_of("\n # fmt: skip\nx  = 1\n"), "# fmt: skip\nx = 1\n");
}

TEST(Layout, LineEndsAndMarksAreKept) {
  EXPECT_EQ(layout_of("x=1\r\ny=2\r\n"), "x = 1\r\ny = 2\r\n");
  EXPECT_EQ(layout_of("\xEF\xBB\xBFx=1"), "\xEF\xBB\xBFx = 1\n");
  EXPECT_EQ(layout_of(""), "");
  EXPECT_EQ(layout_of("\n\n  \n"), "\n");
  EXPECT_EQ(layout_of("\n\n\nx = 1\n\n\n"), "x = 1\n");
}

TEST(Layout, WhatCannotBeReadIsAnError) {
  EXPECT_EQ(layout_of("x = (\n"), "error: a.star:2:1: got end of file, want primary expression");
  EXPECT_NE(layout_of("x = '\xFF'\n").find("not valid UTF-8"), std::string::npos);
  EXPECT_NE(layout_of(std::string("x = 1\n\0y", 8)).find("zero byte"), std::string::npos);
  EXPECT_NE(layout_of("def f(a: int):\n    pass\n").find("a type cannot be laid out"),
            std::string::npos);
  const std::string deep = cat("x = ", std::string(300, '('), "1", std::string(300, ')'), "\n");
  EXPECT_NE(layout_of(deep).find("nested deeper than 200"), std::string::npos);
  std::string calls = "x = f";
  for (int i = 0; i < 20'000; ++i)
    calls += "(c)";
  EXPECT_NE(layout_of(calls).find("more than 200 brackets in a row"), std::string::npos);
  std::string clauses = "x = [a for a in b";
  for (int i = 0; i < 300'000; ++i)
    clauses += " if a";
  EXPECT_NE(layout_of(clauses + "]\n").find("nested deeper than 200"), std::string::npos);
  EXPECT_EQ(layout_of(cat("x = ", std::string(50, 'a'), " + ", std::string(50, 'b'), " + ",
                          std::string(199, '['), "1", std::string(199, ']'), "\n")),
            "error: a.star: with the parentheses that its layout adds, the file is nested deeper "
            "than 200: cannot be laid out");
}

/// Programs of `bench/differ format`, with the layout that black gives them.
TEST(Layout, IsThatOfBlack) {
  const Result<std::string> file = read_file(FETTLE_SOURCE_DIR "/tests/starlark/layouts.jsonl");
  ASSERT_TRUE(file) << to_string(file.error());
  size_t count = 0;
  for (const std::string_view line : split(trim(*file), '\n')) {
    const Result<::fettle::Value> row = read_json(line);
    ASSERT_TRUE(row) << line;
    const std::string wanted(row->text_at("layout"));
    EXPECT_EQ(layout_of(row->text_at("text")), wanted);
    EXPECT_EQ(layout_of(wanted), wanted);
    ++count;
  }
  EXPECT_GE(count, 90U);
}

/// A long list, and a long chain of operators.
TEST(Layout, TakesTimeByTheLengthOfAFile) {
  std::string list = "x = [";
  for (int i = 0; i < 50'000; ++i)
    list += "1, ";
  const std::string laid = layout_of(list + "]\n");
  EXPECT_EQ(laid.substr(0, 20), "x = [\n    1,\n    1,\n");
  EXPECT_EQ(laid.size(), 5 + 1 + 50'000U * 7 + 2);
}

}  // namespace
}  // namespace fettle::starlark

#include "value/tree.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "value/json_tree.h"
#include "value/yaml_tree.h"

namespace fettle {
namespace {

/// Every key and value with its place, one a line.
std::string places_of(const TreeNode& node, std::string_view name = "") {
  const std::string here = cat(name, " ", node.place().line, ":", node.place().column);
  if (node.is_scalar())
    return cat(here, " ", write_json(node.scalar()), "\n");
  std::string text = cat(here, node.is_list() ? " list\n" : " dict\n");
  for (const TreeNode* item : node.items())
    text += places_of(*item, "-");
  for (const TreeMember& entry : node.entries())
    text += cat(entry.key->place().line, ":", entry.key->place().column, " ",
                places_of(*entry.value, entry.key->text()));
  return text;
}

YamlOptions pyyaml() { return {.schema = YamlSchema::pyyaml}; }

std::string error_of(std::string_view text, const YamlOptions& reading = pyyaml()) {
  const Result<Tree> read = read_yaml_tree(text, "a.sls", reading);
  return read ? "" : to_string(read.error());
}

std::string json_of_tree(std::string_view text, const YamlOptions& reading = pyyaml()) {
  const Result<Tree> read = read_yaml_tree(text, "a.sls", reading);
  return read ? write_json(value_of(read->root())) : to_string(read.error());
}

TEST(Tree, KeepsOrderAndPlaces) {
  const Tree tree = *read_yaml_tree("z:\n  - ä: yes\n    b: [1, x]\na: |\n  text\n", "", pyyaml());
  EXPECT_EQ(places_of(tree.root()),
            " 1:1 dict\n"
            "1:1 z 2:3 list\n"
            "- 2:5 dict\n"
            "2:5 ä 2:8 true\n"
            "3:5 b 3:8 list\n"
            "- 3:9 1\n"
            "- 3:12 \"x\"\n"
            "4:1 a 4:4 \"text\\n\"\n");
}

TEST(Tree, JsonHasPlacesToo) {
  const Tree tree = *read_json_tree(
      "{\"z\": [1, -2.5e1,\n true],\n \"q\\\"\\\\\": {\"\": null, \"s\": \"ä\"}}", "");
  EXPECT_EQ(places_of(tree.root()),
            " 1:1 dict\n"
            "1:2 z 1:7 list\n"
            "- 1:8 1\n"
            "- 1:11 -25.0\n"
            "- 2:2 true\n"
            "3:2 q\"\\ 3:11 dict\n"
            "3:12  3:16 null\n"
            "3:22 s 3:27 \"ä\"\n");
  EXPECT_EQ(to_string(read_json_tree("{\"a\": 1,\n \"a\": 2}", "b.json").error()),
            "b.json:2:2: invalid JSON: the key `a` occurs twice");
  EXPECT_EQ(to_string(read_json_tree("[1,", "b.json").error()),
            "b.json:1:4: invalid JSON: invalid value");
}

TEST(Tree, JsonKeepsTheOrderOfKeys) {
  const std::string_view text = R"({"z":[1,{"b":[],"a":{}}],"a":null,"\u00e4":"x\"y"})";
  EXPECT_EQ(write_json_tree(read_json_tree(text, "")->root()),
            R"({"z":[1,{"b":[],"a":{}}],"a":null,"ä":"x\"y"})");
}

TEST(Tree, KeysAreTextsThatRememberWhatTheyWere) {
  const Tree tree = *read_yaml_tree("1: a\nyes: b\n~: c\n'2': d\n", "", pyyaml());
  const auto entries = tree.root().entries();
  EXPECT_EQ(entries[0].key->text(), "1");
  EXPECT_EQ(entries[0].key->written(), Value::Type::integer);
  EXPECT_EQ(entries[1].key->text(), "true");
  EXPECT_EQ(entries[1].key->written(), Value::Type::boolean);
  EXPECT_EQ(entries[2].key->written(), Value::Type::null);
  EXPECT_EQ(entries[3].key->written(), Value::Type::text);
  EXPECT_EQ(error_of("[a]: 1"), "a.sls:1:1: invalid YAML: a key must be a string or a number");
}

TEST(Tree, EqualKeysAreAnErrorUnlessTheLastWins) {
  EXPECT_EQ(error_of("a: 1\nb: {c: 1, d: 2, c: 3}"),
            "a.sls:2:17: invalid YAML: the key `c` occurs twice");
  YamlOptions last = pyyaml();
  last.duplicates = Duplicates::last_wins;
  EXPECT_EQ(json_of_tree("{a: 1, b: 2, a: 3}", last), R"({"a":3,"b":2})");
  std::string wide = "{";
  for (int i = 0; i < 1000; ++i)
    wide += cat("k", i, ": ", i, ", ");
  EXPECT_EQ(error_of(wide + "}"), "");
  EXPECT_NE(error_of(wide + "k999: 1}").find("the key `k999` occurs twice"), std::string::npos);
}

TEST(Tree, MergesComeFirstAndOwnEntriesWin) {
  const Tree tree = *read_yaml_tree(
      "a: &a {x: 1, y: 2}\nb: {y: 3, <<: *a, z: 4}\nc: {<<: [{p: 1}, {p: 2, q: 3}], <<: {q: 5}}\n",
      "", pyyaml());
  const TreeNode& b = *tree.root().find("b");
  EXPECT_EQ(places_of(b), " 2:4 dict\n1:8 x 1:11 1\n2:5 y 2:8 3\n2:19 z 2:22 4\n");
  EXPECT_EQ(write_json(value_of(*tree.root().find("c"))), R"({"p":1,"q":5})");
  EXPECT_EQ(error_of("a: {<<: 5}"),
            "a.sls:1:9: invalid YAML: `<<` needs a mapping or a list of mappings");
  EXPECT_EQ(error_of("a: {<<: {b: 1}, b: 2, b: 3}"),
            "a.sls:1:23: invalid YAML: the key `b` occurs twice");
  EXPECT_EQ(json_of_tree("a: <<"), R"({"a":"<<"})");
}

TEST(Tree, AliasesAreSharedAndBounded) {
  const Tree tree = *read_yaml_tree("a: &a [1]\nb: *a\nc: [*a, *a]\n", "", pyyaml());
  EXPECT_EQ(tree.root().find("a"), tree.root().find("b"));
  EXPECT_EQ(tree.root().find("a"), tree.root().find("c")->items()[1]);
  EXPECT_TRUE(tree.root().find("a")->is_shared());
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i <= 40; ++i)
    bomb += cat("a", i, ": &a", i, " [*a", i - 1, ", *a", i - 1, "]\n");
  EXPECT_NE(error_of(bomb).find("its aliases expand to too much"), std::string::npos);
  EXPECT_EQ(error_of("a: &a [*a]"), "a.sls:1:8: invalid YAML: the anchor `a` is not known here");
}

TEST(Tree, FortyLevelsOfSharingCostFortyNodes) {
  std::string text = "a0: &a0 [x, x]\n";
  for (int i = 1; i <= 40; ++i)
    text += cat("a", i, ": &a", i, " [*a", i - 1, ", *a", i - 1, "]\n");
  YamlOptions reading = pyyaml();
  reading.limits.aliased = std::numeric_limits<size_t>::max();
  const Tree tree = *read_yaml_tree(text, "", reading);
  const Value value = value_of(tree.root());
  EXPECT_EQ(value.at("a40").depth(), 41u);
  EXPECT_EQ(value.at("a40").items()[1].items()[0], value.at("a38"));
}

TEST(Tree, DeepAndLongTextsEndAtTheLimits) {
  EXPECT_NE(error_of(std::string(100'000, '[')).find("nested deeper than 500"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 499; ++i)
    deep += "[";
  EXPECT_EQ(error_of(deep + "1" + std::string(499, ']')), "");
  YamlOptions small = pyyaml();
  small.limits.nodes = 10;
  EXPECT_NE(error_of("[1,2,3,4,5,6,7,8,9,10]", small).find("more than 10 values"),
            std::string::npos);
  EXPECT_NE(error_of("a: \xC0\x80").find("not UTF-8"), std::string::npos);
}

TEST(Tree, ScalarsAsIdemReadsThem) {
  struct Case {
    const char *text, *json;
  };
  for (const Case& c : {
           Case{"[yes, No, on, OFF, y, n, True]", R"([true,false,true,false,"y","n",true])"},
           Case{"[~, null, Null, NULL, '', nULL]", R"([null,null,null,null,"","nULL"])"},
           Case{"[0777, 0o17, 0x1F, 0b11, 089, 00, -0, +1, 1_000, _1, 1_]",
                R"([511,"0o17",31,3,"089",0,0,1,1000,"_1",1])"},
           Case{"[1:30, 1:30:20, -2:30, 1:60, 60:10, 0:10, 1:2:3:4:5, 01:30, 1:5]",
                R"([90,5420,-150,"1:60",3610,"0:10",13403045,"01:30",65])"},
           Case{"[190:20:30.15, 1e3, 1.5e3, 1.0e+3, .5, 5., -.5, +.5, 1.0, 0.]",
                R"([685230.15,"1e3","1.5e3",1000.0,0.5,5.0,"-.5","+.5",1.0,0.0])"},
           Case{"[1_0.5, ._5, 5._5, 0.1e-5, 1.0e+400, 685.230_15e+03]",
                R"([10.5,"._5",5.5,1e-06,null,685230.15])"},
           Case{"[2001-12-14, 2001-12-14 21:59:43.10 -5, 2001-13-45]",
                R"(["2001-12-14","2001-12-14 21:59:43.10 -5","2001-13-45"])"},
           Case{"[12345678901234567890123456789, 0x123456789012345678901]",
                R"([12345678901234567890123456789,1375488932351661432080641])"},
           Case{"[!!str 5, !!int '5', !!float '5', !!bool 'yes', !!null '', !!float 5, ! 5]",
                R"(["5",5,5.0,true,null,5.0,5])"},
           Case{"[!!int '0x1f', !!binary aGVsbG8=, !!timestamp 2001-12-14, =, !!seq [1]]",
                R"([31,"hello","2001-12-14","=",[1]])"},
           Case{"!!set {a, b}", R"({"a":null,"b":null})"},
           Case{"[0b_, 0x_, 0b, .inf, -.Inf, .e+1]", R"(["0b_","0x_","0b",null,null,".e+1"])"},
       })
    EXPECT_EQ(json_of_tree(c.text), c.json) << c.text;
  EXPECT_EQ(error_of("a: !foo 5"),
            "a.sls:1:4: invalid YAML: could not determine a constructor for the tag '!foo'");
  EXPECT_EQ(error_of("a: !!python/object:os.system 5"),
            "a.sls:1:4: invalid YAML: could not determine a constructor for the tag "
            "'tag:yaml.org,2002:python/object:os.system'");
  EXPECT_EQ(error_of("a: !!int abc"),
            "a.sls:1:4: invalid YAML: invalid literal for int() with base 10: 'abc'");
  EXPECT_EQ(error_of("a: !foo [5]"),
            "a.sls:1:4: invalid YAML: could not determine a constructor for the tag '!foo'");
}

TEST(Tree, InIdemIntegersMayBeginWithZeros) {
  YamlOptions reading = pyyaml();
  reading.schema = YamlSchema::idem;
  EXPECT_EQ(json_of_tree("[0644, 00, 0_7, 0b11, 0x1F, +0777, 089, 1:30, !!int 017]", reading),
            R"([644,0,7,3,31,511,"089",90,17])");
}

TEST(Tree, EachDocumentHasItsOwnAnchors) {
  const std::vector<Tree> trees = *read_yaml_trees("a: &a 1\n---\nb: 2\n---\n", "", pyyaml());
  ASSERT_EQ(trees.size(), 3u);
  EXPECT_EQ(write_json(value_of(trees[1].root())), R"({"b":2})");
  EXPECT_TRUE(trees[2].root().is_null());
  EXPECT_NE(read_yaml_trees("a: &a 1\n---\nb: *a\n", "", pyyaml()).error().message.find("anchor"),
            std::string::npos);
  EXPECT_EQ(error_of("a: 1\n---\nb: 2\n"),
            "a.sls:3:1: invalid YAML: one document is expected, there are several");
}

TEST(Tree, ScalarsCanBeConverted) {
  YamlOptions reading = pyyaml();
  reading.convert = [](Value value) {
    return value.is_text() && value.text() == "none" ? Value() : value;
  };
  EXPECT_EQ(json_of_tree("{a: none, b: [\"none\", x]}", reading), R"({"a":null,"b":[null,"x"]})");
}

TEST(Tree, AnEmptyOneIsNull) { EXPECT_EQ(value_of(Tree().root()), Value()); }

}  // namespace
}  // namespace fettle

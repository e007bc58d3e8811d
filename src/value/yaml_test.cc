#include "value/yaml.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace fettle {
namespace {

std::string json_of_yaml(std::string_view yaml, YamlSchema schema = YamlSchema::core) {
  const Result<Value> read = read_yaml(yaml, "a.yml", schema);
  return read ? write_json(*read) : to_string(read.error());
}

TEST(Yaml, MappingsSequencesAndScalars) {
  EXPECT_EQ(json_of_yaml("a: 1\nb: [x, 'y', \"z\\n\"]\nc:\n  - d: ~\n  - e: |\n      t\n"),
            R"({"a":1,"b":["x","y","z\n"],"c":[{"d":null},{"e":"t\n"}]})");
  EXPECT_EQ(json_of_yaml(""), "null");
  EXPECT_EQ(json_of_yaml("1: true"), R"({"1":true})");
}

TEST(Yaml, EachSchemaReadsPlainScalarsItsOwnWay) {
  struct Case {
    const char *text, *core, *go, *python;
  };
  for (const Case& c : {
           Case{"yes", R"("yes")", "true", "true"},
           Case{"y", R"("y")", "true", R"("y")"},
           Case{"off", R"("off")", "false", "false"},
           Case{"True", "true", "true", "true"},
           Case{"010", "10", "8", "8"},
           Case{"0o10", "8", "8", R"("0o10")"},
           Case{"0x1F", "31", "31", "31"},
           Case{"0b11", R"("0b11")", "3", "3"},
           Case{"1_000", R"("1_000")", "1000", "1000"},
           Case{"1:30", R"("1:30")", R"("1:30")", "90"},
           Case{"1.5", "1.5", "1.5", "1.5"},
           Case{"1e3", "1000.0", "1000", R"("1e3")"},
           Case{"1e+3", "1000.0", "1000", R"("1e+3")"},
           Case{"18446744073709551615", "18446744073709551615", "18446744073709551615",
                "18446744073709551615"},
           Case{"18446744073709551616", "18446744073709551616", "18446744073709552000",
                "18446744073709551616"},
           Case{"2001-12-14", R"("2001-12-14")", R"("2001-12-14")", R"("2001-12-14")"},
           Case{"NULL", "null", "null", "null"},
           Case{"\"yes\"", R"("yes")", R"("yes")", R"("yes")"},
           Case{"!!str 12", R"("12")", R"("12")", R"("12")"},
       }) {
    EXPECT_EQ(json_of_yaml(c.text, YamlSchema::core), c.core) << c.text;
    EXPECT_EQ(json_of_yaml(c.text, YamlSchema::go_yaml_v2), c.go) << c.text;
    EXPECT_EQ(json_of_yaml(c.text, YamlSchema::pyyaml), c.python) << c.text;
  }
}

TEST(Yaml, MergesAndAliases) {
  EXPECT_EQ(json_of_yaml("base: &b {x: 1, y: 2}\nmore: {<<: *b, y: 3}\nlist: {<<: [{x: 5}, *b]}"),
            R"({"base":{"x":1,"y":2},"list":{"x":5,"y":2},"more":{"x":1,"y":3}})");
}

TEST(Yaml, DuplicateKeysAreAnErrorButForPyYaml) {
  for (const YamlSchema schema : {YamlSchema::core, YamlSchema::go_yaml_v2})
    EXPECT_EQ(json_of_yaml("a: 1\na: 2", schema),
              "a.yml:2:1: invalid YAML: the key `a` occurs twice");
  EXPECT_EQ(json_of_yaml("a: 1\na: 2", YamlSchema::pyyaml), R"({"a":2})");
}

TEST(Yaml, ErrorsHaveLineAndColumn) {
  const Result<Value> read = read_yaml("a: 1\nb: [1, 2\nc: 3\n", "args.yml", YamlSchema::core);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().where.file, "args.yml");
  EXPECT_EQ(read.error().where.line, 3);
  EXPECT_FALSE(read.error().excerpt.empty());
  EXPECT_EQ(json_of_yaml("a: *nowhere"),
            "a.yml:1:4: invalid YAML: the anchor `nowhere` is not known here");
}

TEST(Yaml, WhatEndsTooEarlyIsWrongOnItsLastLine) {
  for (const char* text : {"a: 1\nb: [1", "a: 1\nb: [1\n", "a: 1\nb: \"1\n"})
    EXPECT_TRUE(json_of_yaml(text).starts_with("a.yml:2:")) << json_of_yaml(text);
}

TEST(Yaml, HostileTextsAreErrors) {
  EXPECT_NE(json_of_yaml(std::string(100'000, '[')).find("nested deeper"), std::string::npos);
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k)
      bomb += (k == 0 ? "*a" : ",*a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  EXPECT_NE(json_of_yaml(bomb).find("aliases expand to too much"), std::string::npos);
  EXPECT_NE(json_of_yaml("a: \xC0\x80").find("not UTF-8"), std::string::npos);
}

TEST(Yaml, AnEmptyTextIsNull) {
  EXPECT_EQ(json_of_yaml({}), json_of_yaml(""));
  EXPECT_EQ(json_of_yaml({}), "null");
}

TEST(Yaml, WhatIsWrittenReadsBackTheSame) {
  const Value value = *read_json(
      R"({"a":[1,{"b":[]},"yes","12",""],"c: d":{"e":null,"f":"x\ny"},"g":{},"h":"- z"})");
  EXPECT_EQ(write_json(*read_yaml(write_yaml(value), "", YamlSchema::core)), write_json(value));
  EXPECT_EQ(write_yaml(*read_json(R"({"a":[1,2],"b":{"c":"x"}})")),
            "a:\n  - 1\n  - 2\nb:\n  c: x\n");
}

}  // namespace
}  // namespace fettle

#include "value/go_yaml.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "value/json.h"
#include "value/yaml.h"

namespace fettle {
namespace {

std::string go(std::string_view yaml) {
  const Result<Value> read = read_yaml(yaml, "a.yml", YamlSchema::go_yaml_v2);
  return read ? write_json(*read) : to_string(read.error());
}

TEST(GoYaml, NumbersComeBackFromJson) {
  for (const auto& [text, json] : {std::pair("1.0", "1"),
                                   std::pair("1e18", "1000000000000000000"),
                                   std::pair("1e21", "1e+21"),
                                   std::pair("-0.0", "0"),
                                   std::pair("0.1", "0.1"),
                                   std::pair("1e400", R"("1e400")"),
                                   std::pair("32000000000000000000", "32000000000000000000"),
                                   std::pair("18446744073709551615", "18446744073709551615"),
                                   std::pair("18446744073709551616", "18446744073709552000"),
                                   std::pair("-9223372036854775809", "-9223372036854776000"),
                                   std::pair("0xFFFFFFFFFFFFFFFFF", R"("0xFFFFFFFFFFFFFFFFF")"),
                                   std::pair("089", "89"),
                                   std::pair("017", "15"),
                                   std::pair("0o17", "15"),
                                   std::pair("1:20", R"("1:20")"),
                                   std::pair("1_000.5", "1000.5"),
                                   std::pair("+1", "1"),
                                   std::pair("_1", R"("_1")"),
                                   std::pair("! 12", R"("12")"),
                                   std::pair("!custom 12", R"("12")"),
                                   std::pair("!!float 1", "1"),
                                   std::pair("!!binary aGVsbG8=", R"("hello")"),
                                   std::pair("2001-01-01", R"("2001-01-01")")})
    EXPECT_EQ(go(text), json) << text;
  EXPECT_EQ(go(".inf"),
            "a.yml: invalid YAML: `.inf` cannot be an argument: JSON has no such number");
  EXPECT_EQ(go("!!int 1.5"), "a.yml:1:1: invalid YAML: cannot decode !!float `1.5` as a !!int");
}

TEST(GoYaml, KeysAreTexts) {
  EXPECT_EQ(
      go("1: a\n1.5: b\nyes: c\n1e18: d\n0.1: e\n.inf: f\n1e400: g\n2000000.0: h"),
      R"({".inf":"f","0.1":"e","1":"a","1.5":"b","1e+18":"d","1e400":"g","2e+06":"h","true":"c"})");
  EXPECT_NE(go("~: 1").find("a.yml:1:1: invalid YAML: null cannot be a key"), std::string::npos);
  EXPECT_NE(go("18446744073709551615: 1").find("a key cannot be an integer beyond 63 bits"),
            std::string::npos);
  EXPECT_NE(go("[1]: 2").find("a key must be"), std::string::npos);
}

TEST(GoYaml, AMergeOverridesWhatStandsBeforeIt) {
  EXPECT_EQ(go("a: &a {k: 1}\nb: {<<: *a, k: 2}\nc: {k: 2, <<: *a}"),
            R"({"a":{"k":1},"b":{"k":2},"c":{"k":1}})");
}

/// Go keeps both keys and gives the value of either.
TEST(GoYaml, AnOwnKeyBeatsAMergedOneThatOnlyReadsLikeIt) {
  EXPECT_EQ(go("a: &a {'1': x, 2: z, k: 1}\nb: {1: own, '2': own, k: 2, <<: [*a, {'1': z}]}"),
            R"({"a":{"1":"x","2":"z","k":1},"b":{"1":"own","2":"own","k":1}})");
  EXPECT_EQ(go("a: &a {'1': x}\nb: {<<: *a, 1: own}"), R"({"a":{"1":"x"},"b":{"1":"own"}})");
}

TEST(GoYaml, OnlyAListThatStandsThereIsMerged) {
  EXPECT_EQ(go("a: &a {k: 1}\nb: {<<: [*a]}"), R"({"a":{"k":1},"b":{"k":1}})");
  EXPECT_NE(go("a: &a [{k: 1}]\nb: {<<: *a}").find("a.yml:2:9: invalid YAML: `<<` needs"),
            std::string::npos);
}

TEST(GoYaml, BinaryIsWhatGoDecodes) {
  EXPECT_EQ(go("a: !!binary 16777217"), "{\"a\":\"\xD7\xAE\xEF\xBF\xBD\xEF\xBF\xBDm{\"}");
  for (const char* text : {"YQ==N", "YQ", "YQ===", "Y=Q=", "a b="})
    EXPECT_NE(go(cat("a: !!binary ", text)).find("invalid base64 data"), std::string::npos) << text;
}

TEST(GoYaml, AnAnchorMeansWhatWasWrittenLast) {
  for (const char* text : {"{a: &n [&n [x], y], b: *n}", "{a: &n [&n x], b: [*n]}",
                           "{a: &n {k: &n [x]}, b: *n}", "{z: &n 1, a: &n [&n [x]], b: *n}"})
    EXPECT_NE(go(text).find(R"("b":["x"])"), std::string::npos) << go(text);
  EXPECT_EQ(go("{a: &n [1], b: &n [2], c: *n}"), R"({"a":[1],"b":[2],"c":[2]})");
}

TEST(GoYaml, AnAnchorDoesNotContainItself) {
  EXPECT_NE(go("{a: &y 1, b: &y [*y]}").find("the anchor `y` is not known here"),
            std::string::npos);
}

TEST(GoYaml, OnlyTheFirstDocumentCounts) {
  EXPECT_EQ(go("a: 1\n---\nb: [\n"), R"({"a":1})");
  EXPECT_EQ(read_yaml_documents("1.0\n---\n2.0", "a.yml", YamlSchema::go_yaml_v2)->size(), 2U);
}

}  // namespace
}  // namespace fettle

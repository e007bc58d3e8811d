/// The document that describes the interface, beside the table of routes.

#include "server/openapi.h"

#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "server/routes.h"
#include "server/shapes.h"

namespace fettle {
namespace {

TEST(OpenApi, HasEveryRouteThatAnswersByADocument) {
  const Value document = openapi_document("1.2.3");
  EXPECT_EQ(document.text_at("openapi"), "3.1.0");
  EXPECT_EQ(document.at("info").text_at("version"), "1.2.3");
  const Value& paths = document.at("paths");
  for (const Route& route : routes())
    EXPECT_EQ(paths.find(route.pattern) != nullptr, route.answer != nullptr) << route.pattern;
  for (const Route& route : routes_of_runs())
    EXPECT_NE(paths.at(route.pattern).find(route.method == "GET" ? "get" : "post"), nullptr)
        << route.pattern;
  for (const char* path : {"/healthz", "/metrics", "/api/openapi.json"})
    EXPECT_NE(paths.find(path), nullptr) << path;
}

TEST(OpenApi, NamesAreUniqueAndEachPartOfAPathIsAParameter) {
  const Value document = openapi_document("1");
  std::set<std::string> names;
  for (const Entry& path : document.at("paths").entries()) {
    ASSERT_EQ(path.value.entries().size(), 1U);
    const Value& get = path.value.entries().front().value;
    EXPECT_TRUE(names.insert(std::string(get.text_at("operationId"))).second) << path.key.view();
    EXPECT_EQ(get.text_at("operationId").find_first_not_of("abcdefghijklmnopqrstuvwxyz_"),
              std::string::npos)
        << get.text_at("operationId");
    EXPECT_FALSE(get.text_at("summary").empty()) << path.key.view();
    size_t required = 0;
    for (const Value& parameter : items_of(get.at("parameters"))) {
      const bool is_in_path = parameter.text_at("in") == "path";
      EXPECT_EQ(parameter.bool_at("required"), is_in_path);
      EXPECT_EQ(path.key.view().find(cat("{", parameter.text_at("name"), "}")) != std::string::npos,
                is_in_path)
          << path.key.view() << " " << parameter.text_at("name");
      required += is_in_path ? 1 : 0;
    }
    EXPECT_EQ(static_cast<size_t>(std::ranges::count(path.key.view(), '{')), required);
    EXPECT_NE(get.at("responses").find("200"), nullptr) << path.key.view();
  }
  EXPECT_EQ(document.at("paths").at("/healthz").at("get").at("security"), Value::list({}));
}

TEST(OpenApi, EveryDocumentHasASchema) {
  const Value paths = openapi_document("1").at("paths");
  std::vector<Route> all(routes_of_runs().begin(), routes_of_runs().end());
  std::ranges::copy_if(routes(), std::back_inserter(all),
                       [](const Route& route) { return route.answer != nullptr; });
  for (const Route& route : all) {
    const Value& schema = paths.at(route.pattern)
                              .at(route.method == "GET" ? "get" : "post")
                              .at("responses")
                              .at("200")
                              .at("content")
                              .at("application/json")
                              .at("schema");
    EXPECT_FALSE(schema.text_at("type").empty()) << route.pattern;
  }
}

TEST(Shapes, BecomeSchemas) {
  const auto schema = [](std::string_view shape) { return write_json(*schema_of_shape(shape)); };
  EXPECT_EQ(schema("string"), R"({"type":"string"})");
  EXPECT_EQ(schema("null or number"), R"({"type":["null","number"]})");
  EXPECT_EQ(schema("null"), "{}");
  EXPECT_EQ(schema("[]"), R"({"items":{},"type":"array"})");
  EXPECT_EQ(schema("[boolean]"), R"({"items":{"type":"boolean"},"type":"array"})");
  EXPECT_EQ(schema("[{\n  \"name or what\": string,\n  \"open\": object\n}]"),
            R"({"items":{"properties":{"name or what":{"type":"string"},"open":{"type":"object"}},)"
            R"("type":"object"},"type":"array"})");
  for (const char* const wrong : {"", "{", "[string", "string]", "\"a"})
    EXPECT_FALSE(schema_of_shape(wrong)) << wrong;
}

}  // namespace
}  // namespace fettle

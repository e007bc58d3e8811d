#include "documents/service_config.h"

#include <gtest/gtest.h>

#include "core/open_payload.h"
#include "kinds/kinds.h"
#include "value/json.h"

namespace fettle {
namespace {

Result<Attributes> attributes(const std::string& json) {
  return service_kind().normalise(TRY(attributes_of_json(TRY(read_json(json)))));
}
std::string error_of(const std::string& json) {
  const Result<Attributes> made = attributes(json);
  return made ? "none" : made.error().message;
}

TEST(ServiceJson, TheFieldsOfAServiceConfigAreUnderstood) {
  const Attributes made = *attributes(
      R"({"image":"i","env_vars":{"A":"b"},"cmd":["x"],"min_cpu":1,"max_memory":9,"tini_enabled":false,)"
      R"("ports":{"http":{"number":80,"transport_protocol":"tcp","application_protocol":"http","wait":null},)"
      R"("dns":{"number":53,"transport":2}},"files":{"/a":"x","/b":["y","z"]},"user":null})");
  const Value& found = dict_of(made);
  EXPECT_EQ(found.at("env").text_at("A"), "b");
  EXPECT_EQ(found.integer_at("cpu_min"), 1);
  EXPECT_EQ(found.integer_at("memory_max"), 9);
  EXPECT_FALSE(found.bool_at("tini", true));
  const Value& http = found.at("ports").at("http");
  EXPECT_EQ(http.text_at("transport"), "TCP");
  EXPECT_EQ(http.text_at("application"), "http");
  EXPECT_TRUE(http.at("wait").is_null());
  EXPECT_EQ(found.at("ports").at("dns").text_at("transport"), "UDP");
  EXPECT_EQ(found.at("ports").at("dns").text_at("wait"), "2m");
  EXPECT_EQ(found.at("files").at("/b").items()[1].text_at("artifact"), "z");
  EXPECT_TRUE(found.at("files").at("/a").items()[0].at("digest").is_deferred());
}

TEST(ServiceJson, WhatInspectPrintsIsUnderstood) {
  const Attributes made = *attributes(
      R"({"name":"a","status":"running","attributes":{"image":"i","image_id":"{{image/i.id}}",)"
      R"("files":{"/d":{"directory":"k","volume":"{{directory/k.volume}}"},)"
      R"("/f":[{"artifact":"x","digest":"{{artifact/x.digest}}"}]},"env":{"A":"b"}}})");
  const Value& found = dict_of(made);
  EXPECT_EQ(found.text_at("image_id", ""), "");
  EXPECT_EQ(found.at("env").text_at("A"), "b");
  EXPECT_TRUE(found.at("files").at("/d").at("volume").is_deferred());
  EXPECT_TRUE(found.at("files").at("/f").items()[0].at("digest").is_deferred());
}

TEST(ServiceJson, KurtosisHasNamesOfItsOwnAndLeavesOutWhatIsNotSet) {
  const Attributes made = *attributes(
      R"({"image":"i","ports":{"p":{"number":80,"application":"http"},)"
      R"("q":{"number":53,"transport":"UDP","wait":null}},"cmd":["x"],)"
      R"("files":{"/f":["x","y"],"/d":{"directory":"k"}},"cpu_max":500,"tini":false,"env":{}})");
  const Value outputs =
      *read_json(R"({"ports":{"p":{"number":80,"public":32768},"q":{"number":53,"public":null}}})");
  const Value told = kurtosis_config_of(dict_of(made), outputs);
  EXPECT_EQ(write_json(told.at("public_ports")),
            R"({"p":{"maybe_application_protocol":"http","number":32768,"transport":0,)"
            R"("wait":"2m"}})");
  EXPECT_EQ(told.at("ports").at("q").integer_at("transport"), 2);
  EXPECT_EQ(write_json(told.at("files")), R"({"/f":["x","y"]})");
  EXPECT_EQ(told.integer_at("max_cpu"), 500);
  EXPECT_EQ(told.text_at("image"), "i");
  EXPECT_FALSE(told.bool_at("tini_enabled", true));
  for (const char* absent : {"min_cpu", "entrypoint", "env_vars", "labels", "user", "privileged"})
    EXPECT_EQ(told.find(absent), nullptr) << absent;
  // It can be given back.
  EXPECT_TRUE(attributes_of_json(told));
  EXPECT_EQ(kurtosis_config_of(dict_of(made), {}).find("public_ports"), nullptr);
  EXPECT_EQ(write_json(kurtosis_config_of({}, {})), "{}");
}

TEST(ServiceJson, WhatCannotBeUnderstoodIsAnError) {
  EXPECT_EQ(error_of("[1]"), "the configuration of a service must be a mapping");
  EXPECT_EQ(error_of(R"({"image":"i","ports":{"p":80}})"),
            "the port `p` must be a mapping with its `number`");
  EXPECT_EQ(error_of(R"({"image":"i","ports":{"p":{"number":65536}}})"),
            "the port `p` must be a mapping with its `number`");
  EXPECT_EQ(error_of(R"({"image":"i","ports":[]})"), "`ports` must map port ids to ports");
  EXPECT_EQ(error_of(R"({"image":"i","files":{"/a":1}})"),
            "`files` must map paths to names of files artifacts");
  EXPECT_NE(error_of(R"({"image":"i","nope":1})").find("unknown attribute `nope`"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"image":5})").find("`image`"), std::string::npos);
}

}  // namespace
}  // namespace fettle

/// What holds for all documents: null for what nobody knows, no secret, and nothing of a face.

#include <gtest/gtest.h>

#include "documents/cluster.h"
#include "documents/containers.h"
#include "documents/environments.h"
#include "documents/errors.h"
#include "documents/events.h"
#include "documents/files.h"
#include "documents/machine.h"
#include "documents/services.h"
#include "documents/versions.h"
#include "documents/workloads.h"
#include "value/json.h"

namespace fettle {
namespace {

TEST(Documents, AnErrorHasOneEnvelopeAndAnUnknownPlaceIsNull) {
  EXPECT_EQ(write_json(document_of(world_error("gone"))),
            R"({"error":{"blame":"world","column":null,"file":null,"line":null,)"
            R"("message":"gone","trace":[]},"success":false})");
  Error placed = user_error("no such name");
  placed.where = {"main.star", 3, 5};
  placed.trace = {to_string(placed.where) + ": no such name", "reading it"};
  const Value told = value_of(placed);
  EXPECT_EQ(told.text_at("file"), "main.star");
  EXPECT_EQ(told.integer_at("line"), 3);
  EXPECT_EQ(write_json(told.at("trace")), R"(["reading it"])");
}

TEST(Documents, AnInstalledObjectOfNoNamespaceHasNone) {
  InstallationReport report;
  report.objects.push_back({"Namespace", "", "a", "left", "it is of somebody else"});
  report.objects.push_back({"Role", "a", "b", "created", ""});
  report.warnings = {"w"};
  EXPECT_EQ(write_json(document_of(report)),
            R"({"objects":[{"kind":"Namespace","name":"a","namespace":null,"status":"left",)"
            R"("why":"it is of somebody else"},{"kind":"Role","name":"b","namespace":"a",)"
            R"("status":"created","why":null}],"problems":[],"warnings":["w"]})");
}

TEST(Documents, AnEventOfAWholeRunHasNoKey) {
  Event event;
  event.type = EventType::run_started;
  for (const Value& told : {value_of(event), line_of(event)}) {
    EXPECT_TRUE(told.at("key").is_null());
    EXPECT_TRUE(told.at("verb").is_null());
  }
  event.key = {"shop", "service", "web"};
  EXPECT_EQ(line_of(event).text_at("key"), "service/web");
  EXPECT_FALSE(line_of(event).at("verb").is_null());
}

TEST(Documents, BytesOfAnybodyAreTextOrBase64) {
  EXPECT_EQ(write_json(output_document(0, "ok\n", "")),
            R"({"code":0,"encoding":"text","stderr":"","stdout":"ok\n"})");
  EXPECT_EQ(write_json(output_document(1, "\xff", "a")),
            R"({"code":1,"encoding":"base64","stderr":"YQ==","stdout":"/w=="})");
  const ArchiveEntry file{.path = "a", .size = 1};
  EXPECT_TRUE(document_of(file, "\xff").at("text").is_null());
  EXPECT_EQ(document_of(file, "\xff").text_at("base64"), "/w==");
  EXPECT_TRUE(document_of(file, "x").at("base64").is_null());
}

TEST(Documents, AttributesOfAServiceAreToldWithoutSecrets) {
  ServiceView service;
  const Value attributes =
      Value::dict({{"env", Value::dict({{"DB_PASSWORD", "hunter2"}, {"MODE", "fast"}})}});
  Workplace place;
  const std::string told = write_json(document_of(place, service, attributes));
  EXPECT_EQ(told.find("hunter2"), told.npos) << told;
  place.shows_secrets = true;
  const std::string open = write_json(document_of(place, service, attributes));
  EXPECT_NE(open.find("hunter2"), open.npos) << open;
}

TEST(Documents, AUrlIsThereWhenAPortIsOpenAndSaysWhatItSpeaks) {
  ServiceView service;
  service.attributes =
      Value::dict({{"ports", Value::dict({{"http", Value::dict({{"application", "http"}})}})}});
  const auto url = [&](int64_t open) {
    service.outputs = Value::dict(
        {{"ports", Value::dict({{"http", Value::dict({{"number", 80}, {"public", open}})},
                                {"raw", Value::dict({{"number", 81}, {"public", open}})}})}});
    const Value ports = value_of(service).at("ports");
    EXPECT_TRUE(ports.at("raw").at("url").is_null());
    return ports.at("http").at("url");
  };
  EXPECT_EQ(url(32768), Value("http://127.0.0.1:32768"));
  EXPECT_TRUE(url(0).is_null());
  service.outputs = Value();  // it never ran
  EXPECT_TRUE(value_of(service).at("ports").is_null());
}

TEST(Documents, WhatAnEnvironmentHasNotIsNullOrLeftOut) {
  EnvironmentView view;
  view.environment.name = "shop";
  view.environment.uuid = "u";
  const Value told = document_of(view, Inventory{});
  EXPECT_TRUE(told.at("version").is_null());
  EXPECT_TRUE(told.at("released").is_null());
  EXPECT_EQ(told.integer_at("versions", -1), 0);
  EXPECT_EQ(write_json(value_of(Name("shop"), "stopped", RemovalResult{})),
            R"({"name":"shop","status":"stopped"})");
  Environment found = view.environment;
  found.uuid.clear();
  EXPECT_EQ(write_json(value_of(found, "found")), R"({"name":"shop","status":"found"})");
}

TEST(Documents, AFieldThatIsNullDiffersFromOneThatIsNotThere) {
  ItemDifference difference;
  difference.type = ItemDifference::Type::changed;
  difference.fields = {"x"};
  difference.before = Value::dict({{"x", Value()}});
  difference.after = Value::dict({});
  EXPECT_EQ(write_json(value_of(difference).at("fields")), R"([{"before":null,"field":"x"}])");
  EXPECT_TRUE(value_of(difference).at("set").is_null());
}

TEST(Documents, ASettingIsANumberABooleanOrText) {
  EXPECT_EQ(setting_value("true"), Value(true));
  EXPECT_EQ(setting_value("12"), Value(12));
  EXPECT_EQ(setting_value("0 1 * * *"), Value("0 1 * * *"));
  EXPECT_EQ(setting_value("[1]"), Value("[1]"));
}

TEST(Documents, WhatNobodyWaitedForIsNotCounted) {
  const std::vector<StoredObject> stored{
      {.owner = "CloneSet/default/web", .fate = StoredObject::Fate::created}};
  EXPECT_EQ(write_json(document_of(stored, nullptr, true)),
            R"({"objects":[{"object":"CloneSet/default/web","status":"created"}],)"
            R"("success":true})");
  BringResult brought;
  brought.held = {"it is paused"};
  const Value told = document_of(stored, &brought, true);
  EXPECT_EQ(write_json(told.at("held")), R"(["it is paused"])");
  EXPECT_EQ(told.integer_at("pods", -1), 0);
}

TEST(Documents, AnEngineThatDoesNotAnswerHasNoAddress) {
  EngineState state;
  state.why = "none";
  const Value told = document_of(state);
  EXPECT_TRUE(told.at("address").is_null());
  EXPECT_EQ(told.text_at("why"), "none");
  EXPECT_TRUE(document_of(Build()).at("commit").is_null());
}

TEST(Documents, SeveralReportsAreAListInTheirOrder) {
  const std::vector<SetHead> sets{{.name = "b", .items = 1}, {.name = "a", .items = 2}};
  EXPECT_EQ(write_json(document_of(sets)),
            R"([{"name":"b","resources":1},{"name":"a","resources":2}])");
}

}  // namespace
}  // namespace fettle

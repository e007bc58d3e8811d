#include "workloads/pod_defaults.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/workloads/world.h"
#include "value/json.h"

namespace fettle::workloads {
namespace {

TEST(PodDefaults, WhatIsWrittenOutIsWhatIsLeftOut) {
  const Value lean = *read_json(
      R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"web:1",)"
      R"("ports":[{"containerPort":80}],"livenessProbe":{"httpGet":{"port":80}},)"
      R"("resources":{"requests":{"cpu":"10m"}}}],"volumes":[{"name":"v","emptyDir":{}}]}})");
  const Value full = *read_json(
      R"({"metadata":{"labels":{"app":"web"},"annotations":{},"creationTimestamp":null},"spec":{)"
      R"("nodeSelector":{},"containers":[{)"
      R"("name":"main","image":"web:1","command":[],"terminationMessagePath":"/dev/termination-log",)"
      R"("terminationMessagePolicy":"File","ports":[{"containerPort":80,"protocol":"TCP"}],)"
      R"("livenessProbe":{"httpGet":{"port":80,"scheme":"HTTP","path":"/"},"timeoutSeconds":1,)"
      R"("periodSeconds":10,"successThreshold":1,"failureThreshold":3},)"
      R"("resources":{"requests":{"cpu":0.01},"limits":{}}}],)"
      R"("volumes":[{"name":"v","emptyDir":{}}],)"
      R"("restartPolicy":"Always","dnsPolicy":"ClusterFirst","schedulerName":"default-scheduler",)"
      R"("securityContext":{},"terminationGracePeriodSeconds":30}})");
  EXPECT_EQ(without_defaults(full, "Template"), lean);
  EXPECT_EQ(without_defaults(lean, "Template"), lean);
}

TEST(PodDefaults, WhatDiffersFromADefaultStays) {
  const Value given = *read_json(
      R"({"spec":{"containers":[{"name":"main","image":"web:1","tty":true,"imagePullPolicy":)"
      R"("IfNotPresent","env":[{"name":"A","value":"Always"}]}],"restartPolicy":"Never",)"
      R"("enableServiceLinks":false,"terminationGracePeriodSeconds":0}})");
  EXPECT_EQ(without_defaults(given, "Template"), given);
  EXPECT_EQ(without_defaults(Value("no dict"), "Template"), Value("no dict"));
}

TEST(PodDefaults, AmountsHaveOneForm) {
  const std::pair<const char*, const char*> rows[] = {
      {"0.5", "500m"},      {"500m", "500m"}, {"1000m", "1"}, {"1", "1"},       {"1024Mi", "1Gi"},
      {"1.5Gi", "1536Mi"},  {"1000", "1k"},   {"0", "0"},     {"1024", "1024"}, {"64Mi", "64Mi"},
      {"0.0001", "0.0001"}, {"1e3", "1e3"},   {"10u", "10u"}, {"no", "no"},     {"9E", "9E"}};
  for (const auto& [given, expected] : rows)
    EXPECT_EQ(canonical_quantity(given), expected) << given;
}

TEST(PodDefaults, WritingADefaultOutChangesNoPod) {
  World world;
  world.add_nodes(1);
  world.put(manifest("CloneSet", "web", clone_set_spec(2, "web:1")));
  world.finish();
  const auto before = world.pods();
  world.put(manifest("CloneSet", "web",
                     replace_all(clone_set_spec(2, "web:1"), R"("containers":)",
                                 R"("restartPolicy":"Always","containers":)"),
                     "{}", 2));
  world.finish();
  EXPECT_EQ(world.pods(), before);
  EXPECT_EQ(world.of_kind("revision").size(), 1u);
}

}  // namespace
}  // namespace fettle::workloads

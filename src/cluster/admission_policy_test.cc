#include "cluster/admission_policy.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/kubernetes/json_text.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;

workloads::Object set_of(std::string_view spec, std::string_view name = "logs") {
  workloads::Object object;
  object.kind = "SidecarSet";
  object.name = name;
  object.uid = "uid-1";
  object.document = Value::dict(
      {{"apiVersion", "apps.kruise.io/v1beta1"},
       {"kind", object.kind},
       {"metadata", Value::dict({{"name", object.name}})},
       {"spec", json(cat(R"({"selector":{"matchLabels":{"app":"web"}},)", spec, "}"))}});
  return object;
}

workloads::Revision revision_of(const workloads::Object& set) {
  workloads::Revision revision;
  revision.name = "logs-1";
  revision.pod_template = workloads::sidecar_set_template(set.document.at("spec"));
  return revision;
}

Value spec_for(std::string_view spec) {
  const workloads::Object set = set_of(spec);
  const auto made = admission_policy(set, revision_of(set));
  EXPECT_TRUE(made) << to_string(made.error());
  return made ? made->policy.at("spec") : Value();
}

std::string error_for(const workloads::Object& set) {
  const auto made = admission_policy(set, revision_of(set));
  return made ? "" : to_string(made.error());
}

/// The expression of a variable; empty: there is none.
std::string variable(const Value& spec, std::string_view name) {
  for (const Value& each : items_of(spec.at("variables")))
    if (each.text_at("name") == name)
      return std::string(each.text_at("expression"));
  return {};
}

std::string mutation(const Value& spec) {
  return std::string(items_of(spec.at("mutations"))[0].at("jsonPatch").text_at("expression"));
}

std::string condition(const Value& spec, std::string_view name) {
  for (const Value& each : items_of(spec.at("matchConditions")))
    if (each.text_at("name") == name)
      return std::string(each.text_at("expression"));
  return {};
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

constexpr std::string_view log_spec =
    R"("containers":[{"name":"log","image":"log:1","podInjectPolicy":"AfterAppContainer"}])";

TEST(AdmissionPolicy, IsNamedAfterItsSetAndGoesWithIt) {
  const workloads::Object set = set_of(log_spec);
  const auto made = admission_policy(set, revision_of(set));
  ASSERT_TRUE(made);
  for (const Value* object : {&made->policy, &made->binding}) {
    EXPECT_EQ(object->at("metadata").text_at("name"), "fettle-sidecarset-logs");
    EXPECT_EQ(items_of(object->at("metadata").at("ownerReferences"))[0].text_at("uid"), "uid-1");
    EXPECT_TRUE(is_policy_of(*object, "uid-1"));
    EXPECT_TRUE(is_policy_of(*object, {}));
    EXPECT_FALSE(is_policy_of(*object, "uid-2"));
  }
  EXPECT_FALSE(
      is_policy_of(json(R"({"metadata":{"labels":{"app.kubernetes.io/name":"fettle"}}})"), {}));
  EXPECT_EQ(made->binding.at("spec"), json(R"({"policyName":"fettle-sidecarset-logs"})"));
  EXPECT_EQ(set_of_policy("fettle-sidecarset-logs"), "logs");
  EXPECT_EQ(set_of_policy("somebody"), "");
}

TEST(AdmissionPolicy, NewPodsThatTheSetSelectsAreMeantAndNoneOfTheSystem) {
  const Value all = spec_for(log_spec).at("matchConstraints");
  EXPECT_EQ(items_of(all.at("resourceRules"))[0], json(R"({"apiGroups":[""],"apiVersions":["v1"],
    "operations":["CREATE"],"resources":["pods"],"scope":"*"})"));
  EXPECT_EQ(all.at("objectSelector"), json(R"({"matchLabels":{"app":"web"}})"));
  EXPECT_EQ(all.at("namespaceSelector"), json(R"({"matchExpressions":[
    {"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["kube-system","kube-public"]}]})"));
  const Value chosen = spec_for(cat(log_spec, R"(,"namespaceSelector":{"matchLabels":{"team":"a"},
        "matchExpressions":[{"key":"x","operator":"Exists"}]})"))
                           .at("matchConstraints")
                           .at("namespaceSelector");
  EXPECT_EQ(chosen.at("matchLabels"), json(R"({"team":"a"})"));
  EXPECT_EQ(items_of(chosen.at("matchExpressions")).size(), 2u);
  const Value one = spec_for(cat(log_spec, R"(,"namespace":"shop")"))
                        .at("matchConstraints")
                        .at("namespaceSelector");
  EXPECT_EQ(items_of(one.at("matchExpressions"))[1],
            json(R"({"key":"kubernetes.io/metadata.name","operator":"In","values":["shop"]})"));
}

TEST(AdmissionPolicy, APodThatHasItOrIsOursIsLeftAlone) {
  const Value spec =
      spec_for(cat(log_spec, R"(,"initContainers":[{"name":"init","image":"i:1"}])"));
  EXPECT_TRUE(has(condition(spec, "not-of-fettle"), R"([?"fettle/made"])"));
  EXPECT_EQ(condition(spec, "not-injected"),
            R"(!("logs" in object.metadata.?annotations[?"kruise.io/sidecarset-injected-list"])"
            R"(.orValue("").split(",")))");
  EXPECT_TRUE(has(condition(spec, "no-name-taken"), R"(c.name in ["log", "init"])"));
  EXPECT_EQ(spec.text_at("failurePolicy"), "Ignore");
  EXPECT_EQ(spec.text_at("reinvocationPolicy"), "Never");
  EXPECT_EQ(items_of(spec.at("mutations")).size(), 1u);
}

TEST(AdmissionPolicy, AContainerStandsInItAsALiteral) {
  const Value spec = spec_for(
      R"("containers":[{"name":"log","image":"l:1\" + x + \"","podInjectPolicy":"AfterAppContainer",
         "ports":[{"containerPort":80}]},{"name":"first","image":"f:1"}])");
  EXPECT_EQ(variable(spec, "c0"),
            R"({"env": dyn([dyn({"name": dyn("IS_INJECTED"), "value": dyn("true")})]), )"
            R"("image": dyn("l:1\" + x + \""), "name": dyn("log"), )"
            R"("ports": dyn([dyn({"containerPort": dyn(80)})])})");
  EXPECT_TRUE(has(mutation(spec),
                  R"(JSONPatch{op: "add", path: "/spec/containers/-", value: variables.c0})"));
  EXPECT_TRUE(has(mutation(spec), R"(path: "/spec/containers/" + string(variables.first + 0), )"
                                  "value: variables.c1}"));
}

TEST(AdmissionPolicy, WhatThePodCarriesIsWrittenForTheController) {
  const Value spec = spec_for(log_spec);
  EXPECT_EQ(variable(spec, "part"), R"("{\"containers\":[{\"image\":\"log:1\",\"name\":\"log\"}],)"
                                    R"(\"name\":\"logs\",\"revision\":\"logs-1\"}")");
  EXPECT_TRUE(has(mutation(spec), R"(path: "/metadata/annotations/fettle~1sidecars")"));
  EXPECT_TRUE(has(mutation(spec),
                  R"(path: "/metadata/annotations/kruise.io~1sidecarset-injected-list", )"
                  R"(value: (variables.sets == "" ? "" : variables.sets + ",") + "logs"})"));
}

TEST(AdmissionPolicy, InitContainersStandBehindThoseOfThePodByTheirNames) {
  const Value spec = spec_for(
      R"("initContainers":[{"name":"b","image":"b:1"},{"name":"a","image":"a:1","restartPolicy":"Always"}])");
  const std::string made = mutation(spec);
  EXPECT_TRUE(has(made, R"((has(object.spec.initContainers) ? [] : [JSONPatch{op: "add", )"
                        R"(path: "/spec/initContainers", value: []}]))"));
  const size_t a = made.find("value: variables.i1"), b = made.find("value: variables.i0");
  ASSERT_NE(a, made.npos);
  ASSERT_NE(b, made.npos);
  EXPECT_LT(a, b);
  EXPECT_TRUE(has(made, R"(string(size(variables.inits) + 1 - )"
                        R"(size(variables.marked_inits.filter(n, n > "b"))))"));
  EXPECT_TRUE(has(variable(spec, "i1"), R"("restartPolicy": dyn("Always"))"));
}

TEST(AdmissionPolicy, VolumesAndSecretsAreAddedByTheirNames) {
  const Value spec = spec_for(cat(log_spec, R"(,"volumes":[{"name":"v","emptyDir":{}}],
    "imagePullSecrets":[{"name":"s"}])"));
  EXPECT_TRUE(has(variable(spec, "volumes"), R"("name": dyn("v"))"));
  EXPECT_EQ(variable(spec, "imagePullSecrets"), R"([dyn({"name": dyn("s")})])");
  EXPECT_TRUE(has(mutation(spec),
                  "variables.volumes.filter(v, !object.spec.?volumes.orValue([])"
                  R"(.exists(o, o.name == v.name)).map(v, JSONPatch{op: "add", )"
                  R"(path: "/spec/volumes/-", value: v}))"));
}

TEST(AdmissionPolicy, WhatAPodLendsIsComputed) {
  const Value spec = spec_for(
      R"("containers":[{"name":"log","image":"log:1","shareVolumePolicy":{"type":"enabled"},
         "shareVolumeDevicePolicy":{"type":"enabled"},
         "volumeMounts":[{"name":"own","mountPath":"/own"}],"env":[{"name":"A","value":"1"}],
         "transferEnv":[{"sourceContainerName":"main","envName":"B","envNames":["C"]},
           {"sourceContainerNameFrom":{"fieldRef":{"fieldPath":"metadata.labels['x/y']"}},
            "envName":"D"}]}])");
  EXPECT_EQ(variable(spec, "mounts_c0"),
            R"(variables.mounts.filter(each, !(each.mountPath in ["/own"])))");
  EXPECT_EQ(variable(spec, "devices_c0"),
            "variables.devices.filter(each, !(each.devicePath in []))");
  const std::string variables = variable(spec, "all_env_c0");
  EXPECT_TRUE(has(variables, R"(filter(c, c.name == "main"))"));
  EXPECT_TRUE(has(variables, R"(e.name in ["B", "C"])"));
  EXPECT_TRUE(has(variables, R"(c.name == object.metadata.?labels[?"x/y"].orValue(""))"));
  EXPECT_TRUE(has(variables, R"(variables.path_variables)"));
  EXPECT_TRUE(has(variables, R"(!(each.name in ["IS_INJECTED", "A"]))"));
  const std::string container = variable(spec, "c0");
  EXPECT_TRUE(has(container, R"("volumeDevices": dyn([] + variables.devices_c0))"));
  EXPECT_TRUE(
      has(container, R"("mountPath": dyn("/own"), "name": dyn("own")})] + variables.mounts_c0))"));
  EXPECT_TRUE(has(container, "+ variables.env_c0)"));
  EXPECT_FALSE(has(container, "transferEnv"));
  EXPECT_FALSE(has(container, "Policy"));
  // A variable stands behind all that it needs.
  std::vector<std::string> names;
  for (const Value& each : items_of(spec.at("variables"))) {
    const std::string expression(each.text_at("expression"));
    for (size_t at = expression.find("variables."); at != expression.npos;
         at = expression.find("variables.", at + 1)) {
      const size_t end =
          expression.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789", at + 10);
      const std::string used = expression.substr(at + 10, end - at - 10);
      EXPECT_NE(std::ranges::find(names, used), names.end()) << used;
    }
    names.emplace_back(each.text_at("name"));
  }
  EXPECT_EQ(names.back(), "part");
}

TEST(AdmissionPolicy, WithoutALoanNothingOfThePodIsRead) {
  EXPECT_EQ(variable(spec_for(log_spec), "mounts"), "");
}

TEST(AdmissionPolicy, AHotSidecarIsTwoContainersThatLendTheSame) {
  const Value spec = spec_for(
      R"("containers":[{"name":"hot","image":"hot:1","upgradeStrategy":{"upgradeType":"HotUpgrade",
         "hotUpgradeEmptyImage":"empty:1"},"shareVolumePolicy":{"type":"enabled"}},
         {"name":"log","image":"log:1","shareVolumePolicy":{"type":"enabled"}}])");
  EXPECT_TRUE(has(variable(spec, "c0"), R"("name": dyn("hot-1"))"));
  EXPECT_TRUE(has(variable(spec, "c1"), R"("name": dyn("hot-2"))"));
  EXPECT_TRUE(has(variable(spec, "c1"), "variables.mounts_c0"));
  EXPECT_TRUE(has(variable(spec, "c2"), "variables.mounts_c2"));
  const std::string made = mutation(spec);
  EXPECT_TRUE(has(made, R"(version.sidecarset.kruise.io~1hot-1", value: "1")"));
  EXPECT_TRUE(has(made, R"(versionalt.sidecarset.kruise.io~1hot-1", value: "0")"));
  EXPECT_TRUE(has(made, R"("\"hot\":\"hot-1\"")"));
}

TEST(AdmissionPolicy, WhatDoesNotFitIsRefused) {
  workloads::Object everybody = set_of(log_spec);
  everybody.document = Value::dict({{"apiVersion", "apps.kruise.io/v1beta1"},
                                    {"metadata", Value::dict({{"name", "logs"}})},
                                    {"spec", json(cat("{", log_spec, "}"))}});
  EXPECT_TRUE(has(error_for(everybody), "selects no pods"));
  EXPECT_TRUE(has(error_for(set_of(log_spec, std::string(240, 'a'))), "name is too long"));
  const std::string big =
      cat(R"("containers":[{"name":"log","image":"log:1","env":[{"name":"A","value":")",
          std::string(100'001, 'x'), R"("}]}])");
  EXPECT_TRUE(has(error_for(set_of(big)), "too long for an admission policy"));
  EXPECT_TRUE(has(error_for(set_of(R"("containers":[{"name":"log","image":"log:1",
    "securityContext":{"runAsUser":9007199254740993}}])")),
                  "cannot pass on the number"));
}

}  // namespace
}  // namespace fettle::cluster

#include "verbs/cluster/installation.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/text.h"
#include "value/json.h"
#include "value/yaml.h"

namespace fettle {
namespace {

std::vector<InstallationObject> objects_of(const InstallationRequest& request) {
  auto objects = installation_objects(request);
  EXPECT_TRUE(objects) << to_string(objects.error());
  return objects ? *std::move(objects) : std::vector<InstallationObject>();
}

/// Of the controller, or of the daemons of nodes.
Value the_object(const InstallationRequest& request, std::string_view kind,
                 bool is_of_daemon = false) {
  for (const InstallationObject& each : objects_of(request))
    if (each.type.kind == kind && is_of_daemons(each) == is_of_daemon)
      return each.object;
  return {};
}

/// `apps/controllerrevisions: get list`, a line for each resource of a role.
std::set<std::string> rights_of(const Value& role) {
  std::set<std::string> rights;
  for (const Value& rule : items_of(role.at("rules")))
    for (const Value& resource : items_of(rule.at("resources"))) {
      std::string line = cat(to_text(rule.at("apiGroups").items()[0]), "/", to_text(resource), ":");
      for (const Value& verb : items_of(rule.at("verbs")))
        line += cat(" ", to_text(verb));
      for (const Value& name : items_of(rule.at("resourceNames")))
        line += cat(" of ", to_text(name));
      rights.insert(line);
    }
  return rights;
}

TEST(Installation, DefinitionsComeFirstAndEachObjectIsLabelled) {
  std::vector<std::string> kinds;
  for (const InstallationObject& each : objects_of({.version = "1", .secret_spaces = {"a"}})) {
    kinds.push_back(each.type.kind);
    const Value& metadata = each.object.at("metadata");
    EXPECT_EQ(metadata.at("labels").text_at(installation_label), installation_name);
    EXPECT_FALSE(each.name.name.empty());
    const bool is_for_secrets = each.name.name == secret_role_name;
    EXPECT_EQ(each.name.space, is_for_secrets            ? "a"
                               : each.type.is_namespaced ? "kruise-system"
                                                         : "")
        << kinds.back();
  }
  std::vector<std::string> expected(7, "CustomResourceDefinition");
  for (const char* kind :
       {"Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding",
        "PodDisruptionBudget", "Deployment", "ServiceAccount", "ClusterRole", "ClusterRoleBinding",
        "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "DaemonSet", "Role",
        "RoleBinding"})
    expected.emplace_back(kind);
  EXPECT_EQ(kinds, expected);
}

TEST(Installation, TheTextSaysTheSameAsTheObjects) {
  const InstallationRequest request{.space = "other",
                                    .image = "r.example:5000/a/fettle@sha256:0f",
                                    .secret_spaces = {"shop", "123"}};
  const auto text = installation_text(request);
  ASSERT_TRUE(text) << to_string(text.error());
  const auto read = read_yaml_documents(*text, "x", YamlSchema::core);
  ASSERT_TRUE(read) << to_string(read.error());
  const std::vector<InstallationObject> objects = objects_of(request);
  ASSERT_EQ(read->size(), objects.size());
  for (size_t i = 0; i < objects.size(); ++i)
    EXPECT_EQ((*read)[i], objects[i].object) << objects[i].name.name;
}

TEST(Installation, NamespaceAndImageAreThoseThatWereAskedFor) {
  const InstallationRequest request{.space = "other", .image = "r.example/fettle:2"};
  for (const InstallationObject& each : objects_of(request))
    EXPECT_EQ(each.name.space, each.type.is_namespaced ? "other" : "");
  EXPECT_EQ(the_object(request, "Namespace").at("metadata").text_at("name"), "other");
  const Value subject = the_object(request, "ClusterRoleBinding").at("subjects").items()[0];
  EXPECT_EQ(subject.text_at("namespace"), "other");
  const Value container =
      *follow(the_object(request, "Deployment"), "/spec/template/spec/containers/0");
  EXPECT_EQ(container.text_at("image"), "r.example/fettle:2");
  std::set<std::string> arguments;
  for (const Value& argument : items_of(container.at("args")))
    arguments.insert(to_text(argument));
  EXPECT_TRUE(arguments.contains("--leader-election-namespace=other"));
  const Value daemon = *follow(the_object(request, "DaemonSet", true), "/spec/template/spec");
  EXPECT_EQ(to_text(*follow(daemon, "/containers/0/image")), "r.example/fettle:2");
  const Value policy = the_object(request, "ValidatingAdmissionPolicy", true);
  EXPECT_EQ(to_text(*follow(policy, "/spec/matchConditions/0/expression")),
            R"(request.userInfo.username == "system:serviceaccount:other:fettle-node-daemon")");
  const Value plain = *follow(the_object({.version = "1.2"}, "Deployment"),
                              "/spec/template/spec/containers/0/image");
  EXPECT_EQ(to_text(plain), "fettle:1.2");
}

TEST(Installation, GatesAreTheLastArgumentOfTheController) {
  const auto arguments = [](const InstallationRequest& request) {
    std::vector<std::string> words;
    const Value deployment = the_object(request, "Deployment");
    for (const Value& word : items_of(*follow(deployment, "/spec/template/spec/containers/0/args")))
      words.push_back(to_text(word));
    return words;
  };
  std::vector<std::string> expected = arguments({});
  expected.emplace_back("--feature-gates=KruiseDaemon=false,CloneSetShortHash=true");
  EXPECT_EQ(arguments({.gates = "KruiseDaemon=false,CloneSetShortHash=true"}), expected);
  EXPECT_EQ(installation_text({.gates = "Nonsense=true"}).error().blame, Blame::user);
}

/// Whoever has no cluster to look at says that OpenKruise's daemon is there.
TEST(Installation, TheTextHasWhatCopiesSecretsIfItIsAskedFor) {
  InstallationRequest request{.secret_spaces = {"shop"}};
  EXPECT_EQ(installation_text(request)->find("fettle-secret-copies"), std::string::npos);
  request.copies_secrets = true;
  const std::string text = *installation_text(request);
  for (const char* const part : {"name: fettle-secret-copies", "name: fettle-copied-secrets",
                                 "namespace: kruise-daemon-config", "- --copy-pull-secrets"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

/// They become part of a text.
TEST(Installation, WhatIsNoNamespaceOrImageIsAnError) {
  for (const char* space : {"", "A", "a b", "-a", "a-", "a\nb: c", "a.b"})
    EXPECT_EQ(installation_text({.space = space}).error().blame, Blame::user) << space;
  EXPECT_FALSE(installation_text({.space = std::string(64, 'a')}));
  EXPECT_FALSE(installation_text({.secret_spaces = {"a", "b\""}}));
  EXPECT_FALSE(installation_text({.secret_spaces = {""}}));
  for (const char* image : {"a b", "a\"", "a\n", "a#b"})
    EXPECT_EQ(installation_text({.image = image}).error().blame, Blame::user) << image;
}

TEST(Installation, ItsRightsAreThoseOfTheManual) {
  EXPECT_EQ(
      rights_of(the_object({}, "ClusterRole")),
      (std::set<std::string>{
          "/events: create",
          "/namespaces: list watch",
          "/nodes: list watch",
          "/persistentvolumeclaims: list watch create patch delete",
          "/pods/resize: patch",
          "/pods/status: patch",
          "/pods: get list watch create patch delete",
          "admissionregistration.k8s.io/mutatingadmissionpolicies: list watch create update delete",
          "admissionregistration.k8s.io/mutatingadmissionpolicybindings: list watch create update "
          "delete",
          "apps.kruise.io/clonesets/status: patch",
          "apps.kruise.io/clonesets/finalizers: update",
          "apps.kruise.io/clonesets: list watch",
          "apps.kruise.io/daemonsets/finalizers: update",
          "apps.kruise.io/daemonsets/status: patch",
          "apps.kruise.io/daemonsets: list watch",
          "apps.kruise.io/imagelistpulljobs/finalizers: update",
          "apps.kruise.io/imagelistpulljobs/status: patch",
          "apps.kruise.io/imagelistpulljobs: list watch delete",
          "apps.kruise.io/imagepulljobs/status: patch",
          "apps.kruise.io/imagepulljobs: list watch create patch delete",
          "apps.kruise.io/nodeimages: get list watch create patch delete",
          "apps.kruise.io/sidecarsets/finalizers: update",
          "apps.kruise.io/sidecarsets/status: patch",
          "apps.kruise.io/sidecarsets: list watch",
          "apps.kruise.io/statefulsets/finalizers: update",
          "apps.kruise.io/statefulsets/status: patch",
          "apps.kruise.io/statefulsets: list watch",
          "apps/controllerrevisions: list watch create patch delete"}));
  EXPECT_EQ(rights_of(the_object({}, "Role")),
            (std::set<std::string>{"coordination.k8s.io/leases: create",
                                   "coordination.k8s.io/leases: get update of kruise-manager"}));
}

TEST(Installation, TheRightsOfDaemonsAreThoseOfTheManual) {
  EXPECT_EQ(rights_of(the_object({}, "ClusterRole", true)),
            (std::set<std::string>{"/events: create", "/nodes: get",
                                   "apps.kruise.io/nodeimages: list watch",
                                   "apps.kruise.io/nodeimages/status: patch"}));
  EXPECT_TRUE(the_object({}, "Role", true).is_null());
}

TEST(Installation, SecretsAreReadOnlyWhereItWasAskedFor) {
  std::vector<std::string> bound;
  for (const InstallationObject& each :
       objects_of({.space = "other", .secret_spaces = {"shop", "bank"}})) {
    if (each.name.name != secret_role_name)
      continue;
    if (each.type.kind == "Role") {
      EXPECT_EQ(rights_of(each.object), std::set<std::string>{"/secrets: get"});
      continue;
    }
    bound.push_back(each.name.space);
    const Value subject = each.object.at("subjects").items()[0];
    EXPECT_EQ(subject.text_at("name"), "fettle-node-daemon");
    EXPECT_EQ(subject.text_at("namespace"), "other");
  }
  EXPECT_EQ(bound, (std::vector<std::string>{"bank", "shop"}));
}

/// It reads where it was asked to, and writes copies in one namespace, whatever the own one is.
TEST(Installation, SecretsAreCopiedByTheControllerAlone) {
  std::map<std::string, std::set<std::string>> rights;
  for (const InstallationObject& each :
       objects_of({.space = "other", .secret_spaces = {"shop", "bank"}, .copies_secrets = true})) {
    const Value& labels = each.object.at("metadata").at("labels");
    if (labels.text_at("app.kubernetes.io/component") != "secret-copies")
      continue;
    EXPECT_FALSE(is_of_daemons(each));
    if (each.type.kind == "Role") {
      rights[each.name.space] = rights_of(each.object);
      continue;
    }
    const Value subject = each.object.at("subjects").items()[0];
    EXPECT_EQ(subject.text_at("name"), "fettle-controller");
    EXPECT_EQ(subject.text_at("namespace"), "other");
  }
  EXPECT_EQ(rights, (std::map<std::string, std::set<std::string>>{
                        {"bank", {"/secrets: get"}},
                        {"kruise-daemon-config", {"/secrets: create patch delete"}},
                        {"shop", {"/secrets: get"}}}));
  const auto has_flag = [](const InstallationRequest& request) {
    return write_json(the_object(request, "Deployment")).find("--copy-pull-secrets") !=
           std::string::npos;
  };
  EXPECT_TRUE(has_flag({.copies_secrets = true}));
  EXPECT_FALSE(has_flag({.secret_spaces = {"shop"}}));
  for (const InstallationObject& each : objects_of({.copies_secrets = true}))
    EXPECT_NE(each.name.space, "kruise-daemon-config") << "nothing was asked for";
}

TEST(Installation, EachRightHasItsReason) {
  const auto all = installation_text({.secret_spaces = {"a"}, .copies_secrets = true});
  ASSERT_TRUE(all);
  size_t rules = 0;
  std::string_view before;
  for (const std::string_view line : split(*all, '\n')) {
    if (line.starts_with("- apiGroups:")) {
      ++rules;
      EXPECT_TRUE(before.starts_with("# ")) << line;
    }
    before = line;
  }
  EXPECT_EQ(rules, 23u);
}

TEST(Installation, TheControllerIsConfined) {
  const Value pod = *follow(the_object({}, "Deployment"), "/spec/template/spec");
  EXPECT_EQ(pod.text_at("priorityClassName"), "system-cluster-critical");
  EXPECT_TRUE(pod.at("securityContext").bool_at("runAsNonRoot"));
  const Value container = pod.at("containers").items()[0];
  const Value& security = container.at("securityContext");
  EXPECT_TRUE(security.bool_at("readOnlyRootFilesystem"));
  EXPECT_FALSE(security.bool_at("allowPrivilegeEscalation", true));
  EXPECT_EQ(to_text(*follow(security, "/capabilities/drop/0")), "ALL");
  EXPECT_EQ(to_text(*follow(container, "/livenessProbe/httpGet/path")), "/healthz");
  EXPECT_EQ(to_text(*follow(container, "/readinessProbe/httpGet/path")), "/readyz");
}

TEST(Installation, ADaemonRunsOnEachNodeAndIsConfined) {
  const Value set = the_object({}, "DaemonSet", true);
  const Value pod = *follow(set, "/spec/template/spec");
  EXPECT_EQ(pod.text_at("priorityClassName"), "system-node-critical");
  EXPECT_EQ(to_text(*follow(pod, "/tolerations/0/operator")), "Exists");
  for (const char* const shared : {"hostNetwork", "hostPID", "hostIPC"})
    EXPECT_FALSE(pod.bool_at(shared)) << shared;
  const Value container = pod.at("containers").items()[0];
  const Value& security = container.at("securityContext");
  EXPECT_TRUE(security.bool_at("readOnlyRootFilesystem"));
  EXPECT_FALSE(security.bool_at("allowPrivilegeEscalation", true));
  EXPECT_EQ(to_text(*follow(security, "/capabilities/drop/0")), "ALL");
  EXPECT_EQ(to_text(*follow(container, "/env/0/valueFrom/fieldRef/fieldPath")), "spec.nodeName");
  std::map<std::string, std::string> mounted;
  for (const Value& mount : items_of(container.at("volumeMounts"))) {
    EXPECT_TRUE(mount.bool_at("readOnly"));
    for (const Value& volume : items_of(pod.at("volumes")))
      if (volume.text_at("name") == mount.text_at("name"))
        mounted[std::string(mount.text_at("mountPath"))] = volume.at("hostPath").text_at("path");
  }
  EXPECT_EQ(mounted, (std::map<std::string, std::string>{{"/hostvarrun", "/run"},
                                                         {"/hostvarsnap", "/var/snap"}}));
  EXPECT_EQ(to_text(*follow(container, "/livenessProbe/httpGet/path")), "/healthz");
  EXPECT_EQ(to_text(*follow(container, "/readinessProbe/httpGet/path")), "/readyz");
  EXPECT_EQ(*follow(set, "/spec/selector/matchLabels"),
            *follow(set, "/spec/template/metadata/labels"));
  EXPECT_NE(*follow(set, "/spec/selector/matchLabels"),
            *follow(the_object({}, "Deployment"), "/spec/selector/matchLabels"));
}

}  // namespace
}  // namespace fettle

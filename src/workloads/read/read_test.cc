/// Manifests: what is read, what is refused, and where.

#include "workloads/read/read.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/workloads/world.h"

namespace fettle::workloads {
namespace {

constexpr std::string_view clone_set = R"(apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata:
  name: web
spec:
  replicas: 3
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: main
        image: web:1
  updateStrategy:
    rollingUpdate:
      maxUnavailable: 1
)";

Manifests read(std::string_view text, const ReadOptions& options = {}) {
  return read_manifests(text, "web.yaml", options);
}

std::string errors_of(std::string_view text) {
  std::string all;
  for (const Error& error : read(text).errors)
    all +=
        cat(all.empty() ? "" : "; ", error.where.line, ":", error.where.column, " ", error.message);
  return all;
}

std::string changed(std::string_view from, std::string_view to) {
  std::string text = replace_all(clone_set, from, to);
  EXPECT_NE(text, clone_set) << from;
  return text;
}

TEST(Read, WhatWasWrittenIsKeptForWhoAsks) {
  const std::string alpha =
      replace_all(replace_all(clone_set, "v1beta1", "v1alpha1"), "    rollingUpdate:\n", "");
  const Manifests kept = read(replace_all(alpha, "      maxUnavailable", "    maxUnavailable"),
                              {.otherwise = "shop", .keeps_written = true});
  ASSERT_EQ(kept.objects.size(), 1u);
  const Object& object = kept.objects[0];
  EXPECT_EQ(object.space, "shop");
  EXPECT_EQ(object.document.text_at("apiVersion"), "apps.kruise.io/v1beta1");
  EXPECT_EQ(object.written.text_at("apiVersion"), "apps.kruise.io/v1alpha1");
  EXPECT_EQ(object.written.at("spec").at("updateStrategy").integer_at("maxUnavailable"), 1);
  EXPECT_TRUE(read(clone_set).objects.at(0).written.is_null());
}

TEST(Read, AManifestHasDefaults) {
  const Manifests manifests = read(clone_set);
  ASSERT_EQ(manifests.objects.size(), 1u) << errors_of(clone_set);
  const Object& object = manifests.objects[0];
  EXPECT_EQ(object.owner(), "CloneSet/default/web");
  const Workload workload = workload_of(object);
  EXPECT_EQ(workload.replicas, 3);
  EXPECT_EQ(workload.policy, PodPolicy::recreate);
  EXPECT_EQ(workload.max_unavailable, Amount{1});
  EXPECT_EQ(workload.history_limit, 10);
  EXPECT_EQ(workload.pull.parallelism, Amount{1});
  EXPECT_EQ(workload.pull.timeout_seconds, 300);
  EXPECT_FALSE(workload.reuses_claims);
  const Workload bare = workload_of(read(changed("maxUnavailable: 1", "paused: true")).objects[0]);
  EXPECT_EQ(bare.max_unavailable, percent(20));
  EXPECT_TRUE(bare.paused);
}

TEST(Read, SeveralDocumentsListsAndJson) {
  const std::string two = cat("---\n", clone_set, "---\n---\n",
                              "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n");
  EXPECT_EQ(read(two).objects.size(), 2u);
  EXPECT_EQ(read(two).objects[1].owner(), "Namespace//shop");
  const Manifests json_list =
      read(R"({"kind":"List","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Service",)"
           R"("metadata":{"name":"web"},"spec":{"ports":[]}}]})");
  ASSERT_EQ(json_list.objects.size(), 1u);
  EXPECT_EQ(json_list.objects[0].kind, "Service");
}

TEST(Read, AnObjectStandsInOneFileOnly) {
  std::map<Name, std::string> read_before;
  const ReadOptions options{.space = {}, .read_before = &read_before};
  EXPECT_TRUE(read_manifests(clone_set, "a.yaml", options).errors.empty());
  const Manifests again = read_manifests(clone_set, "b.yaml", options);
  ASSERT_EQ(again.errors.size(), 1u);
  EXPECT_EQ(again.errors[0].message, "there are two of CloneSet `web`, another one in a.yaml");
  EXPECT_EQ(again.errors[0].where.file, "b.yaml");
  // In another namespace it is another one.
  EXPECT_TRUE(read_manifests(clone_set, "c.yaml", {.space = "shop", .read_before = &read_before})
                  .errors.empty());
}

TEST(Read, TheNamespaceIsTheOneOfTheManifestOrTheOneAskedFor) {
  EXPECT_EQ(read(clone_set, {.space = "shop"}).objects[0].space, "shop");
  const std::string named = changed("  name: web\n", "  name: web\n  namespace: other\n");
  EXPECT_EQ(read(named).objects[0].space, "other");
  const Manifests refused = read(named, {.space = "shop"});
  ASSERT_EQ(refused.errors.size(), 1u);
  EXPECT_EQ(refused.errors[0].message, "namespace `other` differs from the requested `shop`");
}

TEST(Read, V1alpha1IsConverted) {
  const Workload workload = workload_of(
      read(replace_all(
               changed("    rollingUpdate:\n      maxUnavailable: 1\n",
                       "    type: InPlaceIfPossible\n    partition: 2\n    maxUnavailable: 3\n"
                       "    inPlaceUpdateStrategy: {gracePeriodSeconds: 5}\n"),
               "v1beta1", "v1alpha1"))
          .objects.at(0));
  EXPECT_EQ(workload.policy, PodPolicy::in_place_if_possible);
  EXPECT_EQ(workload.partition, Amount{2});
  EXPECT_EQ(workload.max_unavailable, Amount{3});
  EXPECT_EQ(workload.grace_seconds, 5);
  EXPECT_TRUE(workload.reuses_claims) << "v1alpha1 reuses claims unless told otherwise";
}

TEST(Read, NumbersInAnnotationsAreTexts) {
  const std::string text =
      changed("  name: web\n",
              "  name: web\n  annotations:\n    apps.kruise.io/image-predownload-parallelism: 10\n"
              "    apps.kruise.io/image-predownload-timeout-seconds: 600\n");
  const Workload workload = workload_of(read(text).objects.at(0));
  EXPECT_EQ(workload.pull.parallelism, Amount{10});
  EXPECT_EQ(workload.pull.timeout_seconds, 600);
}

TEST(Read, SecretsAreSecretAndDecoded) {
  const Manifests manifests = read(
      "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: aGVsbG8=}\nstringData: {b: "
      "x}\n");
  ASSERT_EQ(manifests.objects.size(), 1u);
  const Value& data = manifests.objects[0].document.at("data");
  EXPECT_EQ(data.at("a"), Value::secret("hello"));
  EXPECT_EQ(data.at("b"), Value::secret("x"));
  EXPECT_EQ(errors_of("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata: {a: 1}\n"),
            "4:11 `data.a` must be a string: put quotes around it");
}

struct Refusal {
  const char* from;
  const char* to;
  const char* error;
};

TEST(Read, WhatIsWrongIsToldWithItsPlace) {
  const Refusal rows[] = {
      {"kind: CloneSet", "kind: CloneSett",
       "2:7 unknown kind `CloneSett`, expected one of CloneSet, StatefulSet, DaemonSet, "
       "ImagePullJob, ImageListPullJob, SidecarSet, Namespace, ConfigMap, Secret, Service, did you "
       "mean `CloneSet`?"},
      {"v1beta1", "v2",
       "1:13 `CloneSet` of `apps.kruise.io/v2` is unknown; use apps.kruise.io/v1beta1 or "
       "apps.kruise.io/v1alpha1"},
      {"replicas: 3", "replica: 3",
       "6:3 unknown field `spec.replica` of a CloneSet, did you mean `replicas`?"},
      {"replicas: 3", "replicas: -1", "6:13 `spec.replicas` must be from 0 to 200000, not -1"},
      {"replicas: 3", "replicas: '3'",
       "6:13 `spec.replicas` must be an integer, not a string: take the quotes away"},
      {"replicas: 3", "replicas: 3\xFF", "6:14 invalid YAML: the text is not UTF-8"},
      {"replicas: 3", "replicas: many", "6:13 `spec.replicas` must be an integer, not `many`"},
      {"replicas: 3", "replicas: 99999999999999999999",
       "6:13 `spec.replicas` must be an integer, not `1e+20`"},
      {"      app: web\n  template", "      app: other\n  template",
       "13:9 `spec.selector` does not match the labels of `spec.template`"},
      {"    matchLabels:\n      app: web\n",
       "    matchExpressions: [{key: app, operator: Inn, values: [web]}]\n",
       "8:45 `spec.selector.matchExpressions[0].operator` must be In, NotIn, Exists or "
       "DoesNotExist, not `Inn`, did you mean `In`?"},
      {"    matchLabels:\n      app: web\n", "    {}\n",
       "8:5 `spec.selector` must select something: a selector must not be empty"},
      {"maxUnavailable: 1", "maxUnavailable: 0",
       "20:23 `spec.updateStrategy.rollingUpdate.maxUnavailable` and "
       "`spec.updateStrategy.rollingUpdate.maxSurge` cannot both be 0: no pod could change"},
      {"maxUnavailable: 1", "maxUnavailable: 1x",
       "20:23 `spec.updateStrategy.rollingUpdate.maxUnavailable` must be a number or a percentage, "
       "not `1x`"},
      {"maxUnavailable: 1", "partition: \"20\"",
       "20:18 `spec.updateStrategy.rollingUpdate.partition` must be a number or a percentage, not "
       "a "
       "string: take the quotes away"},
      {"maxUnavailable: 1", "podUpdatePolicy: InPlaceOnly\n      maxSurge: 1",
       "21:17 `spec.updateStrategy.rollingUpdate.maxSurge` cannot be used with InPlaceOnly: no pod "
       "is recreated"},
      {"maxUnavailable: 1", "podUpdatePolicy: InPlace",
       "20:24 `spec.updateStrategy.rollingUpdate.podUpdatePolicy` must be one of ReCreate, "
       "InPlaceIfPossible, InPlaceOnly, not `InPlace`"},
      {"maxUnavailable: 1", "scatterStrategy: [{key: a, value: b}, {key: a, value: b}]",
       "20:45 `spec.updateStrategy.rollingUpdate.scatterStrategy` has `a=b` twice"},
      {"    spec:\n      containers", "    spec:\n      restartPolicy: Never\n      containers",
       "15:22 `spec.template.spec.restartPolicy` must be Always"},
      {"      - name: main\n", "      - name: main\n        image: x\n      - name: main\n",
       "18:15 there are two containers `main` in `spec.template.spec.containers`"},
      {"replicas: 3", "replicas: 3\n  minReadySeconds: 10\n  progressDeadlineSeconds: 5",
       "8:28 `spec.progressDeadlineSeconds` must be more than `spec.minReadySeconds`"},
      {"replicas: 3", "replicas: 3\n  scaleStrategy: {podsToDelete: [a, a]}",
       "7:37 pod `a` is listed twice"},
      {"name: web", "name: Web",
       "4:9 `metadata.name` must have only lower case letters, digits, `-` and `.`, not `Web`"},
  };
  for (const Refusal& row : rows)
    EXPECT_EQ(errors_of(changed(row.from, row.to)), row.error) << row.to;
}

TEST(Read, NamesAndLabelsAreThoseOfKubernetes) {
  EXPECT_EQ(errors_of(changed("name: main", "name: Main_2")),
            "16:15 `spec.template.spec.containers[0].name` must have only lower case letters, "
            "digits and `-`, with a letter or digit first and last, not `Main_2`");
  EXPECT_EQ(errors_of(changed("  name: web", "  name: web\n  labels: {\"a b\": \"c d\"}")),
            "5:12 `a b` is not a key of a label: use letters, digits, `-`, `_` and `.`, with a "
            "letter or digit first and last; 5:19 `c d` is not a value of a label: use at most 63 "
            "letters, digits, `-`, `_` and `.`, with a letter or digit first and last");
  EXPECT_EQ(
      errors_of(changed("replicas: 3",
                        "replicas: 3\n  lifecycle: {inPlaceUpdate: {labelsHandler: {a: 1}}}")),
      "7:50 `spec.lifecycle.inPlaceUpdate.labelsHandler.a` must be a string, not `1`: put "
      "quotes around it");
}

TEST(Read, RulesBetweenFieldsAreToldBesideWrongFields) {
  const std::string text =
      replace_all(changed("replicas: 3", "replica: 3"), "maxUnavailable: 1", "maxUnavailable: 0");
  EXPECT_EQ(errors_of(replace_all(text, "    spec:\n", "    spec:\n      restartPolicy: Never\n")),
            "6:3 unknown field `spec.replica` of a CloneSet, did you mean `replicas`?; "
            "15:22 `spec.template.spec.restartPolicy` must be Always; "
            "21:23 `spec.updateStrategy.rollingUpdate.maxUnavailable` and "
            "`spec.updateStrategy.rollingUpdate.maxSurge` cannot both be 0: no pod could change");
  // What follows from a wrong field is not told again, and nothing is too strange to be read.
  EXPECT_EQ(read(changed("maxUnavailable: 1", "maxUnavailable: [1]")).errors.size(), 1u);
  for (const char* strange : {"x", "[1]", "{a: b}", "-1", "[[1]]", "[{a: 1}]"})
    for (const char* field :
         {"replicas", "selector", "template", "updateStrategy", "volumeClaimTemplates",
          "scaleStrategy", "lifecycle", "reserveOrdinals", "containers", "initContainers"})
      for (const char* kind : {"CloneSet", "StatefulSet", "DaemonSet", "SidecarSet", "ImagePullJob",
                               "ImageListPullJob"})
        EXPECT_FALSE(read(cat("apiVersion: apps.kruise.io/v1beta1\nkind: ", kind,
                              "\nmetadata: {name: web}\nspec:\n  ", field, ": ", strange, "\n"))
                         .errors.empty());
}

TEST(Read, AListHasImagesAndEachOnce) {
  const auto errors = [&](std::string_view images) {
    return read(cat("apiVersion: apps.kruise.io/v1beta1\nkind: ImageListPullJob\n"
                    "metadata: {name: list}\nspec:\n  images: ",
                    images, "\n"))
        .errors;
  };
  EXPECT_TRUE(errors("[\"a:1\", \"b:1\"]").empty());
  for (const char* wrong : {"[]", "x", "{}", "[\"\"]", "[\"a b\"]", "[a, a]", "[[a]]"})
    EXPECT_FALSE(errors(wrong).empty()) << wrong;
  std::string many = "[a0";
  for (int i = 1; i < 256; ++i)
    many += cat(", a", i);
  EXPECT_FALSE(errors(many + "]").empty());
}

TEST(Read, SeveralErrorsAreToldAtOnceAndHostileTextsEndInOne) {
  EXPECT_EQ(read(changed("replicas: 3", "replica: 3\n  replicass: 4")).errors.size(), 2u);
  EXPECT_EQ(read("a: 1\na: 2\n").errors.size(), 1u) << "a key that occurs twice";
  EXPECT_EQ(read("[").errors.size(), 1u);
  EXPECT_EQ(read("- 1").errors.size(), 1u);
  EXPECT_EQ(read("kind: List\napiVersion: v1\nitems: [1]").errors.size(), 1u);
  EXPECT_EQ(read(std::string(5000, '[')).errors.size(), 1u);
  EXPECT_TRUE(read("").objects.empty());
  const Manifests skipped =
      read(cat("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n---\n", clone_set),
           {.space = "", .skip_unknown = true});
  EXPECT_EQ(skipped.skipped, std::vector<std::string>{"Deployment d"});
  EXPECT_EQ(skipped.objects.size(), 1u);
}

TEST(Read, WhatCannotChangeIsRefused) {
  const Object before = read(clone_set).objects.at(0);
  const Object after = read(replace_all(clone_set, "app: web", "app: other")).objects.at(0);
  const std::vector<Error> errors = check_change(before, after);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message,
            "`spec.selector` of CloneSet `web` cannot change: delete it and create it again");
  EXPECT_TRUE(check_change(before, before).empty());
}

TEST(Read, WhatCannotChangeIsToldWithItsPlace) {
  const auto set = [](std::string_view more) {
    const Manifests found = read(
        cat("apiVersion: apps.kruise.io/v1beta1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n"
            "  selector: {matchLabels: {app: db}}\n  template: {metadata: {labels: {app: db}}, "
            "spec: {containers: [{name: a, image: b}]}}\n",
            more));
    EXPECT_TRUE(found.errors.empty()) << to_string(found.errors[0]);
    return found.objects.at(0);
  };
  const auto claim = [](std::string_view size, std::string_view more = "") {
    return cat(
        "  volumeClaimTemplates:\n  - {metadata: {name: data}, spec: {resources: {requests: "
        "{storage: ",
        size, "}}", more, "}}\n");
  };
  const auto told = [](const Object& before, const Object& after) {
    std::string all;
    for (const Error& error : check_change(before, after))
      all += cat(error.where.line, ":", error.where.column, " ", error.message, "\n");
    return all;
  };
  EXPECT_EQ(told(set(""), set("  serviceName: db\n")),
            "7:16 `spec.serviceName` of StatefulSet `db` cannot change\n");
  EXPECT_EQ(told(set("  serviceName: db\n"), set("")),
            "5:3 `spec.serviceName` of StatefulSet `db` cannot change\n");
  EXPECT_EQ(told(set(""), set("  podManagementPolicy: Parallel\n")),
            "7:24 `spec.podManagementPolicy` of StatefulSet `db` cannot change\n");
  EXPECT_EQ(told(set(""), set("  podManagementPolicy: OrderedReady\n")), "") << "the default";
  EXPECT_EQ(told(set(claim("1Gi")), set(claim("1Gi", ", volumeMode: Filesystem"))), "");
  EXPECT_EQ(told(set(claim("1Gi")), set(claim("2Gi"))),
            "8:3 `spec.volumeClaimTemplates` of StatefulSet `db` cannot change; with "
            "`volumeClaimUpdateStrategy` sizes may\n");
  const std::string may = "  volumeClaimUpdateStrategy: {type: OnPodRollingUpdate}\n";
  EXPECT_EQ(told(set(claim("1Gi")), set(cat(claim("2Gi"), may))), "");
  EXPECT_EQ(told(set(claim("1Gi")), set(cat(claim("2Gi", ", accessModes: [ReadWriteOnce]"), may))),
            "8:3 `spec.volumeClaimTemplates` of StatefulSet `db` cannot change\n");
}

TEST(Read, APartOfAVolumeIsOnlyOfOneThatIsFilled) {
  const auto mounted = [](std::string_view source, std::string_view part) {
    return errors_of(changed("      containers:\n      - name: main\n",
                             cat("      volumes: [{name: v, ", source,
                                 "}]\n      containers:\n      - name: main\n"
                                 "        volumeMounts: [{name: v, mountPath: /a, subPath: ",
                                 part, "}]\n")));
  };
  EXPECT_EQ(mounted("configMap: {name: c}", "a/b"), "");
  EXPECT_EQ(mounted("configMap: {name: c}", "../b"),
            "18:58 `subPath` must be a path inside the volume");
  EXPECT_EQ(mounted("emptyDir: {}", "a"),
            "18:58 `subPath` is supported for configMap, secret, downwardAPI and projected volumes "
            "only");
}

TEST(Read, NumbersThatMeanNothingAreRefused) {
  EXPECT_EQ(errors_of(changed("replicas: 3", "replicas: 200001")),
            "6:13 `spec.replicas` must be from 0 to 200000, not 200001");
  EXPECT_EQ(errors_of(changed("    spec:\n",
                              "    spec:\n      terminationGracePeriodSeconds: "
                              "9223372036854775807\n")),
            "15:38 `spec.template.spec.terminationGracePeriodSeconds` must be an integer from 0 to "
            "2147483647, not `9223372036854775807`");
  EXPECT_EQ(errors_of(changed("      containers:\n",
                              "      volumes: [{name: v, emptyDir: {}, "
                              "hostPath: {path: /}}]\n      containers:\n")),
            "15:41 a volume is of one sort only");
}

TEST(Read, WhatASidecarSetCannotDoIsNamed) {
  const auto set = [](std::string_view container, std::string_view more) {
    return errors_of(
        cat("apiVersion: apps.kruise.io/v1alpha1\nkind: SidecarSet\nmetadata: {name: logs}\nspec:\n"
            "  selector: {matchLabels: {app: web}}\n  containers:\n  - {name: log, image: log:1",
            container, "}\n", more));
  };
  EXPECT_EQ(set("", "  injectionStrategy: {paused: true}\n"), "");
  EXPECT_EQ(set("", "  injectionStrategy: {revision: {revisionName: logs-1, policy: Always}}\n"),
            "");
  EXPECT_EQ(set("", "  injectionStrategy: {revision: {policy: Partial}}\n"),
            "8:33 `spec.injectionStrategy.revision` needs `revisionName` or `customVersion`");
  EXPECT_EQ(
      set("", "  injectionStrategy: {revision: {customVersion: a, policy: Most}}\n"),
      "8:60 `spec.injectionStrategy.revision.policy` must be one of Always, Partial, not `Most`");
  EXPECT_EQ(set(", upgradeStrategy: {upgradeType: ColdUpgrade}", ""), "");
  EXPECT_EQ(set(", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: empty:1}", ""),
            "");
  EXPECT_EQ(set(", upgradeStrategy: {upgradeType: HotUpgrade}", ""),
            "7:5 `upgradeStrategy.upgradeType` HotUpgrade needs `hotUpgradeEmptyImage`: what the "
            "idle one of the two containers runs");
  EXPECT_EQ(set(", transferEnv: [{sourceContainerName: main, envName: A}]", ""), "");
  EXPECT_EQ(set(", transferEnv: [{envName: A}]", ""),
            "7:5 each of `transferEnv` needs `sourceContainerName` or `sourceContainerNameFrom`, "
            "and `envName` or `envNames`");
}

TEST(Read, PullJobs) {
  const std::string text =
      "apiVersion: apps.kruise.io/v1alpha1\nkind: ImagePullJob\nmetadata: {name: j}\nspec:\n"
      "  image: nginx:1.9.1\n  parallelism: \"3\"\n  completionPolicy: {type: Always}\n";
  const Workload job = workload_of(read(text).objects.at(0));
  EXPECT_EQ(job.pulls.image, "nginx:1.9.1");
  EXPECT_EQ(job.pulls.parallelism, Amount{3});
  EXPECT_EQ(job.pulls.timeout_seconds, 600);
  EXPECT_EQ(job.pulls.backoff_limit, 3);
  EXPECT_EQ(
      errors_of(cat(text, "  selector: {names: [a, a]}\n  podSelector: {}\n")),
      "9:16 `spec.selector` and `spec.podSelector` exclude each other; 8:25 node `a` is listed "
      "twice");
}

TEST(Read, ThePodTemplateIsCheckedAsAnApiServerDoes) {
  const auto main = [](std::string_view more) {
    return errors_of(changed("        image: web:1", cat("        image: web:1\n        ", more)));
  };
  const std::vector<std::pair<std::string, std::string>> cases{
      {"bogusField: 5",
       "18:9 unknown field `spec.template.spec.containers[0].bogusField` of a "
       "CloneSet"},
      {"comand: [sh]",
       "18:9 unknown field `spec.template.spec.containers[0].comand` of a CloneSet, "
       "did you mean `command`?"},
      {"imagePullPolicy: Sometimes",
       "18:26 `spec.template.spec.containers[0].imagePullPolicy` must be one of Always, "
       "IfNotPresent, Never, not `Sometimes`"},
      {"env: [{name: A, value: 5}]",
       "18:32 `spec.template.spec.containers[0].env[0].value` must be "
       "a string, not `5`: put quotes around it"},
      {"ports: [{containerPort: 80, hostPort: 99999}]",
       "18:47 `spec.template.spec.containers[0].ports[0].hostPort` must be from 0 to 65535, not "
       "`99999`"},
      {"resources: {limits: {memory: lots}}",
       "18:38 `spec.template.spec.containers[0].resources.limits.memory` must be an amount such as "
       "500m, 2 or 64Mi, not `lots`"},
      {"livenessProbe: {httpGet: {port: nope}}", "18:41 the container has no port `nope`"},
      {"livenessProbe: {periodSeconds: 3}",
       "18:24 `livenessProbe` needs exactly one of exec, httpGet and tcpSocket"},
      {"readinessProbe: {grpc: {port: 1}}",
       "18:32 `spec.template.spec.containers[0].readinessProbe.grpc` is not supported on engines"},
      {"volumeMounts: [{name: data, mountPath: /data}]", "18:31 there is no volume `data`"},
      {"command: sh", "18:18 `spec.template.spec.containers[0].command` must be a list, not `sh`"},
      {"ports: [{name: a, containerPort: 80}, {name: a, containerPort: 81}]",
       "18:54 there are two ports `a` in `spec.template.spec.containers[0]`"},
      {"resources: {requests: {cpu: 2}, limits: {cpu: 1500m}}",
       "18:37 `spec.template.spec.containers[0].resources.requests.cpu` must not be above the "
       "limit "
       "of 1500m"},
      {"livenessProbe: {tcpSocket: {port: 1}, successThreshold: 2}",
       "18:65 `spec.template.spec.containers[0].livenessProbe.successThreshold` must be 1"},
      {"env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.nme}}}]",
       "18:59 `spec.template.spec.containers[0].env[0].valueFrom.fieldRef.fieldPath`: a pod has no "
       "field `metadata.nme` that containers can use, did you mean `metadata.name`?"},
      {"env: [{name: A, value: x, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]",
       "18:32 a variable has `value` or `valueFrom`, not both"},
      {"env: [{name: A, valueFrom: {}}]",
       "18:36 `valueFrom` needs exactly one of fieldRef, resourceFieldRef, configMapKeyRef and "
       "secretKeyRef"},
      {"tty: maybe",
       "18:14 `spec.template.spec.containers[0].tty` must be true or false, not "
       "`maybe`"}};
  for (const auto& [wrong, message] : cases)
    EXPECT_EQ(main(wrong), message);
  const std::vector<std::string> good{
      R"(ports: [{name: http, containerPort: 80}]
        livenessProbe: {httpGet: {port: http, scheme: HTTPS}, periodSeconds: 3}
        lifecycle: {preStop: {sleep: {seconds: 1}}})",
      R"(resources: {limits: {memory: 64Mi, cpu: 2}, requests: {cpu: 100m}}
        securityContext: {runAsUser: 1000, capabilities: {drop: [ALL]}}
        env: [{name: A, value: "5"}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}])"};
  for (const std::string& right : good)
    EXPECT_EQ(main(right), "");
  EXPECT_EQ(errors_of(changed("    spec:\n      containers:",
                              "    spec:\n      hostnetwork: true\n      containers:")),
            "15:7 unknown field `spec.template.spec.hostnetwork` of a CloneSet, did you mean "
            "`hostNetwork`?");
  EXPECT_EQ(errors_of(changed("    spec:\n      containers:",
                              "    spec:\n      volumes: [{name: a, nfs: {server: b}}]\n"
                              "      containers:")),
            "15:32 `spec.template.spec.volumes[0].nfs` is not supported on engines");
}

TEST(Read, InAClusterItsServerKnowsThePods) {
  const auto errors = [](std::string_view more, std::string_view spec = "") {
    const std::string text = changed(
        "      containers:\n      - name: main\n        image: web:1",
        cat("      ", spec.empty() ? "terminationGracePeriodSeconds: 5" : spec,
            "\n      containers:\n      - name: main\n        image: web:1\n        ", more));
    std::string all;
    for (const Error& error : read(text, {.is_of_cluster = true}).errors)
      all += error.message;
    return all;
  };
  for (const char* const right :
       {"bogusField: 5", "readinessProbe: {grpc: {port: 1}}", "imagePullPolicy: Sometimes",
        "livenessProbe: {future: {port: 1}}", "resources: {claims: [{name: gpu}]}",
        "volumeMounts: [{name: data, mountPath: /data, subPathExpr: $(POD)}]",
        "volumeMounts: [{name: data, mountPath: /data, subPath: web}]",
        "env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.future}}}]",
        "volumeDevices: [{name: data, devicePath: /dev/data}]"})
    EXPECT_EQ(errors(right), "") << right;
  for (const char* const right :
       {"volumes: [{name: a, nfs: {server: b}}]", "hostnetwork: true",
        "volumes: [{name: a, projected: {sources: [{serviceAccountToken: {path: t}}]}}]",
        "volumes: [{name: a, csi: {driver: d}}, {name: b, future: {x: 1}}]",
        "resourceClaims: [{name: gpu, resourceClaimName: g}]", "dnsPolicy: Future"})
    EXPECT_EQ(errors("tty: true", right), "") << right;
  // What decisions stand on is checked as ever.
  EXPECT_EQ(errors("command: sh"),
            "`spec.template.spec.containers[0].command` must be a list, not `sh`");
  EXPECT_EQ(errors("imagePullPolicy: 5").substr(0, 58),
            "`spec.template.spec.containers[0].imagePullPolicy` must be");
  EXPECT_EQ(errors("tty: true", "restartPolicy: Never"),
            "`spec.template.spec.restartPolicy` must be Always");
  EXPECT_EQ(errors("tty: true", "volumes: {name: a}"),
            "`spec.template.spec.volumes` must be a list, not a dict");
}

// As in a sample of OpenKruise: it is known, and it is not done here.
TEST(Read, WhatASidecarOfOpenKruiseHasAndEnginesHaveNotIsNamed) {
  EXPECT_EQ(errors_of("apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: s}\n"
                      "spec:\n  selector: {matchLabels: {app: web}}\n  containers:\n"
                      "  - name: log\n    image: log:1\n"
                      "    resourcesPolicy: {targetContainersMode: sum}\n"),
            "9:22 `spec.containers[0].resourcesPolicy` is not supported on engines");
}

TEST(Read, AnnotationsOfPreDownloadAreChecked) {
  const auto with = [](std::string_view annotation) {
    return errors_of(changed("  name: web", cat("  name: web\n  annotations: {", annotation, "}")));
  };
  EXPECT_EQ(with("fettle/image-predownload-mode: bogus"),
            "5:48 annotation `fettle/image-predownload-mode` must be race or wait, not `bogus`");
  EXPECT_EQ(with("apps.kruise.io/image-predownload-parallelism: -1"),
            "5:63 annotation `apps.kruise.io/image-predownload-parallelism` must be a number of "
            "nodes or a percentage, not `-1`");
  EXPECT_EQ(with("fettle/image-predownload-mode: wait, "
                 "apps.kruise.io/image-predownload-parallelism: abc"),
            "");
}

TEST(Read, ANameThatYamlTakesForSomethingElseIsTold) {
  EXPECT_EQ(errors_of(changed("name: web", "name: y")),
            "4:9 `metadata.name` must be a string, not `true`: put quotes around it");
}

TEST(Read, ANamespaceOfTheWrongTypeIsNotTheDefault) {
  for (const auto& [space, found] :
       {std::pair("n", "`false`: put quotes around it"),
        std::pair("5", "`5`: put quotes around it"), std::pair("[x]", "a list")})
    EXPECT_EQ(errors_of(changed("  name: web\n", cat("  name: web\n  namespace: ", space, "\n"))),
              cat("5:14 `metadata.namespace` must be a string, not ", found));
  EXPECT_EQ(read(changed("  name: web\n", "  name: web\n  namespace:\n")).objects.at(0).space,
            "default");
}

TEST(Read, WhatWasShownInPlaceOfASecretIsNotItsValue) {
  EXPECT_EQ(errors_of(changed("        image: web:1\n",
                              "        image: web:1\n"
                              "        env: [{name: PASSWORD, value: '********'}]\n")),
            "18:39 `********` was shown in place of a secret: write its value, or let `get "
            "--show-secrets` show it");
  EXPECT_NE(errors_of("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: '********'}\n")
                .find("4:11 `********` was shown"),
            std::string::npos);
}

TEST(Read, ItemsOfTheWrongTypeAreNotPassedOver) {
  const auto with = [](std::string_view more) {
    return errors_of(changed("  updateStrategy:\n", cat(more, "\n  updateStrategy:\n")));
  };
  EXPECT_EQ(with("  lifecycle: {preDelete: {finalizersHandler: [5]}}"),
            "18:47 `spec.lifecycle.preDelete.finalizersHandler[0]` must be a string, not `5`: put "
            "quotes around it");
  EXPECT_EQ(errors_of(changed("    matchLabels:\n      app: web\n",
                              "    matchLabels: {app: web}\n    matchExpressions: [{key: app, "
                              "operator: In, values: [web, 5]}]\n")),
            "9:63 `spec.selector.matchExpressions[0].values[1]` must be a string, not `5`: put "
            "quotes around it");
  const std::string job =
      "apiVersion: apps.kruise.io/v1beta1\nkind: ImagePullJob\nmetadata: {name: j}\nspec:\n  "
      "image: i:1\n";
  EXPECT_EQ(errors_of(cat(job, "  selector: {names: [5]}\n")),
            "6:22 `spec.selector.names[0]` must be a string, not `5`: put quotes around it");
  EXPECT_EQ(errors_of(cat(job, "  pullSecrets: [{name: x}]\n")),
            "6:17 `spec.pullSecrets[0]` must be a string, not a dict");
}

TEST(Read, FieldsOfConfigMapsAndSecretsAreKnown) {
  EXPECT_EQ(errors_of("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndta: {a: b}\n"),
            "4:1 unknown field `dta` of a ConfigMap, did you mean `data`?");
  EXPECT_EQ(errors_of("apiVersion: v1\nkind: Secret\nmetadata: {name: c}\ntype: 5\n"
                      "stringData: {a: b}\nimmutable: true\n"),
            "4:7 `type` must be a string, not `5`: put quotes around it");
}

TEST(Read, AnnotationsAreADictOfScalars) {
  EXPECT_EQ(errors_of(changed("  name: web\n", "  name: web\n  annotations: [a]\n")),
            "5:16 `metadata.annotations` must be a dict");
  EXPECT_EQ(errors_of(changed("  name: web\n", "  name: web\n  annotations: {a: {b: c}}\n")),
            "5:20 `metadata.annotations.a` must be a string, not a dict");
}

TEST(Read, AKeyOfALabelIsCheckedAsKubernetesDoes) {
  const auto complaint = [](std::string_view key) {
    const Manifests found = read_manifests(
        cat("apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: web}\nspec:\n"
            "  selector: {matchLabels: {app: web}}\n  template:\n"
            "    metadata: {labels: {app: web, \"",
            key,
            "\": x}}\n"
            "    spec: {containers: [{name: a, image: b}]}\n"),
        "m.yaml", {});
    return found.errors.empty() ? std::string() : to_string(found.errors[0]);
  };
  for (const char* good : {"tier", "example.com/tier", "a-b_c.d"})
    EXPECT_EQ(complaint(good), "");
  for (const char* bad : {"a b", "-a", "a.", "example.com/", "ä"})
    EXPECT_NE(complaint(bad).find("is not a key of a label"), std::string::npos) << bad;
}

}  // namespace
}  // namespace fettle::workloads

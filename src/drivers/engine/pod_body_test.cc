#include "drivers/engine/pod_body.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "drivers/engine/pod_look.h"
#include "drivers/engine/pod_values.h"
#include "kinds/kinds.h"
#include "value/json.h"

namespace fettle {
namespace {

Attributes pod(const std::string& spec, const std::string& more = "") {
  const auto read =
      read_json(cat(R"({"name":"web-1","namespace":"shop","node":"n1","template":{)",
                    R"("metadata":{"labels":{"app":"web"}},"spec":{)", spec, "}}", more, "}"));
  EXPECT_TRUE(read) << to_string(read.error());
  const auto normal = pod_kind().normalise(read.value_or(Value()));
  EXPECT_TRUE(normal) << to_string(normal.error());
  return normal.value_or(Attributes());
}

Attributes one(const std::string& fields = "", const std::string& more = "") {
  return pod(cat(R"("containers":[{"name":"web","image":"a:1")", fields, "}]"), more);
}

const PodPlace pod_place{.network = "net",
                         .address = "10.64.0.9",
                         .host_address = "10.64.0.1",
                         .uid = "u1",
                         .holder = "h1"};
const Key key{"fleet", "pod", "n1|shop/web-1"};

std::vector<PodVolume> volumes_of(const Attributes& attributes) {
  const auto volumes = pod_volumes(key, attributes, pod_place);
  EXPECT_TRUE(volumes) << to_string(volumes.error());
  return volumes.value_or(std::vector<PodVolume>());
}

Value body(const Attributes& attributes) {
  const auto made = container_body(attributes, pod_containers(attributes)[0], pod_place,
                                   volumes_of(attributes), {});
  EXPECT_TRUE(made) << to_string(made.error());
  return made.value_or(Value());
}

/// The complaint about a pod that cannot be.
std::string refusal(const Attributes& attributes) {
  const auto volumes = pod_volumes(key, attributes, pod_place);
  if (!volumes)
    return volumes.error().message;
  const auto made =
      container_body(attributes, pod_containers(attributes)[0], pod_place, *volumes, {});
  return made ? "it is taken" : made.error().message;
}

TEST(PodBody, AContainerJoinsItsHolder) {
  EXPECT_EQ(write_json(body(one())),
            R"({"Env":[],"HostConfig":{"IpcMode":"container:h1","NetworkMode":"container:h1",)"
            R"("RestartPolicy":{"Name":"always"}},"Image":"a:1","Labels":{}})");
  EXPECT_EQ(body(pod(R"("shareProcessNamespace":true,"restartPolicy":"OnFailure","containers":)"
                     R"([{"name":"web","image":"a"}])"))
                .at("HostConfig"),
            *read_json(R"({"IpcMode":"container:h1","NetworkMode":"container:h1",)"
                       R"("PidMode":"container:h1","RestartPolicy":{"Name":"on-failure"}})"));
  EXPECT_EQ(body(pod(R"("hostNetwork":true,"restartPolicy":"Never","containers":)"
                     R"([{"name":"web","image":"a"}])"))
                .at("HostConfig"),
            *read_json(R"({"IpcMode":"container:h1","NetworkMode":"host",)"
                       R"("RestartPolicy":{"Name":"no"}})"));
}

TEST(PodBody, TheHolderHasTheNetworkTheNamesAndThePorts) {
  const Attributes attributes = pod(
      R"("subdomain":"db","hostAliases":[{"ip":"10.0.0.1","hostnames":["a","b"]}],)"
      R"("dnsConfig":{"nameservers":["1.1.1.1"],"options":[{"name":"ndots","value":"2"}]},)"
      R"("containers":[{"name":"web","image":"a","ports":[{"containerPort":80,"hostPort":8080},)"
      R"({"containerPort":53,"protocol":"UDP","hostPort":53,"hostIP":"127.0.0.1"},)"
      R"({"containerPort":81}]}])");
  const auto made = holder_body(attributes, pod_place, {}, {});
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(
      write_json(*made),
      R"({"ExposedPorts":{"53/udp":{},"80/tcp":{}},"HostConfig":{"Dns":["1.1.1.1"],)"
      R"("DnsOptions":["ndots:2"],"ExtraHosts":["a:10.0.0.1","b:10.0.0.1"],"IpcMode":"shareable",)"
      R"("NetworkMode":"net","PortBindings":{"53/udp":[{"HostIp":"127.0.0.1","HostPort":"53"}],)"
      R"("80/tcp":[{"HostIp":"","HostPort":"8080"}]}},"Hostname":"web-1",)"
      R"("Image":"localhost/fettle/pause:1","Labels":{},"NetworkingConfig":{"EndpointsConfig":)"
      R"({"net":{"Aliases":["web-1","web-1.db","db"],"IPAMConfig":{"IPv4Address":"10.64.0.9"}}}}})");
}

TEST(PodBody, CommandsAmountsAndRights) {
  const Value made = body(pod(
      R"("securityContext":{"runAsUser":7,"fsGroup":9},"containers":[{"name":"web","image":"a",)"
      R"--("command":["run","$(A)"],"args":["$$(A)"],"workingDir":"/w","env":[{"name":"A","value":)--"
      R"("1"}],"resources":{"limits":{"cpu":"500m","memory":"64Mi"},"requests":{"cpu":"250m"}},)"
      R"("securityContext":{"runAsGroup":8,"readOnlyRootFilesystem":true,)"
      R"("allowPrivilegeEscalation":false,"capabilities":{"add":["NET_ADMIN"],"drop":["ALL"]}}}])"));
  EXPECT_EQ(made.text_at("User"), "7:8");
  EXPECT_EQ(write_json(made.at("Entrypoint")), R"(["run","1"])");
  EXPECT_EQ(write_json(made.at("Cmd")), R"--(["$(A)"])--");
  EXPECT_EQ(made.text_at("WorkingDir"), "/w");
  const Value& host = made.at("HostConfig");
  EXPECT_EQ(host.integer_at("NanoCpus"), 500'000'000);
  EXPECT_EQ(host.integer_at("Memory"), 64 << 20);
  EXPECT_EQ(host.integer_at("CpuShares"), 256);
  EXPECT_EQ(write_json(host.at("GroupAdd")), R"(["9"])");
  EXPECT_TRUE(host.bool_at("ReadonlyRootfs"));
  EXPECT_EQ(write_json(host.at("SecurityOpt")), R"(["no-new-privileges"])");
  EXPECT_EQ(write_json(host.at("CapAdd")), R"(["NET_ADMIN"])");
  EXPECT_EQ(write_json(host.at("CapDrop")), R"(["ALL"])");
}

TEST(PodBody, OnlyWhatIsAnotherContainerHasAnotherDigest) {
  const auto digest = [](const Attributes& attributes) {
    return pod_containers(attributes)[0].digest;
  };
  const Digest before = digest(one());
  EXPECT_EQ(digest(one(R"(,"resources":{"limits":{"cpu":"1"}},"imagePullPolicy":"Always")")),
            before);
  EXPECT_EQ(digest(one("", R"(,"labels":{"a":"b"},"configs":{"ConfigMap/x":{"a":"1"}})")), before);
  EXPECT_NE(digest(one("", R"(,"images":{"web":"a:2"})")), before);
  const std::string takes =
      R"(,"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['app']"}}}])";
  EXPECT_NE(digest(one(takes)), digest(one(takes, R"(,"labels":{"app":"other"})")));
  EXPECT_EQ(digest(one(takes, R"(,"keep_environment":true)")),
            digest(one(takes, R"(,"keep_environment":true,"labels":{"app":"other"})")));
  EXPECT_EQ(holder_digest(one()), holder_digest(one("", R"(,"images":{"web":"a:2"})")));
  EXPECT_NE(holder_digest(one()),
            holder_digest(one(R"(,"ports":[{"containerPort":1,"hostPort":2}])")));
}

TEST(PodBody, VolumesAreOfTheEngineOrOfTheMachine) {
  const Attributes attributes = pod(
      R"("volumes":[{"name":"e","emptyDir":{}},{"name":"m","emptyDir":{"medium":"Memory"}},)"
      R"({"name":"h","hostPath":{"path":"/x"}},{"name":"d","hostPath":{"path":"/y","type":"Directory"}},)"
      R"({"name":"p","persistentVolumeClaim":{"claimName":"data"}},)"
      R"({"name":"s","projected":{"sources":[{"secret":{"name":"k"}},{"configMap":{"name":"c",)"
      R"("items":[{"key":"a","path":"deep/a","mode":256}]}}]}}],"containers":[{"name":"web",)"
      R"("image":"a","volumeMounts":[{"name":"e","mountPath":"/e"},{"name":"h","mountPath":"/h",)"
      R"("readOnly":true},{"name":"d","mountPath":"/d"},{"name":"s","mountPath":"/s"},)"
      R"({"name":"own","mountPath":"/own"}]}])",
      R"(,"claims":{"own":"own-web-1"},"configs":{"Secret/k":{"w":"1"},"ConfigMap/c":{"a":"2","b":"3"}})");
  const auto volumes = volumes_of(attributes);
  ASSERT_EQ(volumes.size(), 7u);
  EXPECT_EQ(volumes[0].there, volume_name({"fleet", "claim", "n1|shop/own-web-1"}));
  EXPECT_EQ(volumes[1].there, volume_name({"fleet", "pod", "n1|shop/web-1/e"}));
  EXPECT_EQ(volumes[2].sort, PodVolume::Sort::memory);
  EXPECT_EQ(volumes[5].there, volume_name({"fleet", "claim", "n1|shop/data"}));
  EXPECT_EQ(volumes[6].files, (std::map<std::string, std::string>{{"deep/a", "2"}, {"w", "1"}}));
  EXPECT_EQ(volumes[6].modes.at("deep/a"), 0400u);
  const Value made = body(attributes);
  const Value& host = made.at("HostConfig");
  EXPECT_EQ(write_json(host.at("Binds")), R"(["/x:/h:ro"])");
  EXPECT_EQ(write_json(host.at("Mounts").items()[1]),
            R"({"ReadOnly":false,"Source":"/y","Target":"/d","Type":"bind"})");
  EXPECT_TRUE(host.at("Mounts").items()[2].bool_at("ReadOnly")) << "what is filled is not written";
}

TEST(PodBody, WhatNoEngineCanGiveIsRefusedByName) {
  const auto with_volume = [](const std::string& volume, const std::string& mount = "") {
    return pod(cat(R"("volumes":[{"name":"v",)", volume,
                   R"(}],"containers":[{"name":"web","image":"a","volumeMounts":[{"name":"v",)",
                   R"("mountPath":"/v")", mount, "}]}]"));
  };
  const std::vector<std::pair<Attributes, std::string>> cases{
      {with_volume(R"("nfs":{})"),
       "volume `v`: engines support emptyDir, hostPath, configMap, secret, downwardAPI, projected "
       "and persistentVolumeClaim"},
      {with_volume(R"("emptyDir":{})", R"(,"subPath":"x")"),
       "container `web`: `subPath` of `v` is supported for configMap, secret, downwardAPI and "
       "projected volumes only"},
      {with_volume(R"("downwardAPI":{"items":[{"path":"a/b","fieldRef":{"fieldPath":)"
                   R"("metadata.name"}}]})",
                   R"(,"subPath":"b")"),
       "container `web`: volume `v` has no `b`"},
      {with_volume(R"("hostPath":{"path":"x"})"), "volume `v`: `x` is not an absolute path"},
      {with_volume(R"("configMap":{"name":"none"})"),
       "volume `v`: there is no ConfigMap `none` in the namespace"},
      {one(R"(,"volumeMounts":[{"name":"w","mountPath":"/w"}])"),
       "container `web` mounts `w`, which is not a volume of the pod"},
      {one(R"(,"securityContext":{"runAsNonRoot":true})"),
       "container `web`: `runAsNonRoot` needs a `runAsUser` other than 0"},
      {one(R"(,"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"spec.x"}}}])"),
       "`spec.x` is not a field that containers can use"},
      {one(R"(,"env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}])",
           R"(,"configs":{"Secret/s":{"other":"1"}})"),
       "variable `A`: the Secret `s` has no key `k`"}};
  for (const auto& [attributes, message] : cases)
    EXPECT_EQ(refusal(attributes), message);
  const Attributes leads_out = pod(
      R"("volumes":[{"name":"v","configMap":{"name":"c","items":[{"key":"a","path":"../a"}]}}],)"
      R"("containers":[{"name":"web","image":"a"}])",
      R"(,"configs":{"ConfigMap/c":{"a":"1"}})");
  EXPECT_EQ(refusal(leads_out), "`../a` is not a path inside a volume");
}

TEST(PodBody, ALongNameGivesAHostnameThatASystemTakes) {
  const auto host = [](const std::string& name) {
    const Attributes attributes = pod(R"("containers":[{"name":"web","image":"a:1"}])",
                                      cat(R"(,"hostname":")", name, R"(")"));
    const auto made = holder_body(attributes, pod_place, volumes_of(attributes), {});
    EXPECT_TRUE(made) << to_string(made.error());
    return std::string(made->text_at("Hostname"));
  };
  EXPECT_EQ(host("web-1"), "web-1");
  EXPECT_EQ(host(std::string(80, 'w')), std::string(63, 'w'));
  EXPECT_EQ(host(cat(std::string(61, 'w'), "--x", std::string(20, 'y'))), std::string(61, 'w'));
}

TEST(PodValues, NamesAreFilledInAsKubernetesDoes) {
  const std::map<std::string, std::string> known{{"A", "1"}};
  EXPECT_EQ(expanded("$(A)$(B)$$(A)$", known), "1$(B)$(A)$");
  EXPECT_EQ(expanded("$(A", known), "$(A");
  EXPECT_EQ(expanded("$$", known), "$");
}

TEST(PodLook, TimesAreThoseOfKubernetes) {
  EXPECT_EQ(kubernetes_time("2026-11-22T13:40:53.123456789Z"), "2026-11-22T13:40:53Z");
  EXPECT_EQ(kubernetes_time("2026-11-22T01:40:53.1+02:30"), "2026-11-21T23:10:53Z");
  EXPECT_EQ(kubernetes_time("2026-11-22T23:40:53-01:00"), "2026-11-23T00:40:53Z");
  EXPECT_EQ(kubernetes_time("0001-01-01T00:00:00Z"), "");
  EXPECT_EQ(kubernetes_time("2026-13-01T00:00:00Z"), "");
  EXPECT_EQ(kubernetes_time("soon"), "");
}

}  // namespace
}  // namespace fettle

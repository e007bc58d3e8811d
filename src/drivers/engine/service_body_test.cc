#include "drivers/engine/service_body.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "kinds/kinds.h"
#include "value/json.h"
#include "value/mask.h"

namespace fettle {
namespace {

Service service(const char* json) {
  const auto normal = service_kind().normalise(*read_json(json));
  EXPECT_TRUE(normal) << to_string(normal.error());
  return read<Service>(normal.value_or(Attributes()));
}

Placement place() {
  Placement placement;
  placement.network = "net";
  placement.address = "10.64.0.9";
  placement.alias = "web";
  placement.public_ports = {{"http", 20'001}};
  placement.labels = {{"fettle.key", "web"}};
  return placement;
}

Value body(const char* json) {
  const auto made = service_body(service(json), place());
  EXPECT_TRUE(made) << to_string(made.error());
  return made.value_or(Value());
}

TEST(ServiceBody, LeavesToTheImageWhatIsNotSaid) {
  EXPECT_EQ(
      write_json(body(R"({"image":"a"})")),
      R"({"Env":[],"HostConfig":{"Init":true,"NetworkMode":"net"},"Hostname":"web",)"
      R"("Image":"a","Labels":{"fettle.key":"web"},"NetworkingConfig":{"EndpointsConfig":)"
      R"({"net":{"Aliases":["web"],"IPAMConfig":{"IPv4Address":"10.64.0.9"},"MacAddress":"02:42:0a:40:00:09"}}}})");
}

TEST(ServiceBody, PortsArePublishedOnLoopbackOnly) {
  const Value made =
      body(R"({"image":"a","ports":{"http":{"number":80},"dns":{"number":53,"transport":"UDP"}}})");
  EXPECT_EQ(write_json(made.at("ExposedPorts")), R"({"53/udp":{},"80/tcp":{}})");
  EXPECT_EQ(write_json(made.at("HostConfig").at("PortBindings")),
            R"({"80/tcp":[{"HostIp":"127.0.0.1","HostPort":"20001"}]})");
}

TEST(ServiceBody, OnlyWhatIsAskedForIsPublished) {
  const Service quiet = service(R"({"image":"a"})");
  const Service loud = service(R"({"image":"a","publish_udp":true})");
  const Service pinned = service(R"({"image":"a","public_ports":{"p":{"number":9}}})");
  const ServicePort tcp{.id = "p", .transport = "TCP", .wait = {}},
      udp{.id = "p", .transport = "UDP", .wait = {}};
  EXPECT_TRUE(is_published(quiet, tcp));
  EXPECT_FALSE(is_published(quiet, udp));
  EXPECT_TRUE(is_published(loud, udp));
  EXPECT_TRUE(is_published(pinned, udp));
}

TEST(ServiceBody, ThePlaceholderBecomesTheAddress) {
  const Value made = body(R"({"image":"a","cmd":["--at=KURTOSIS_IP_ADDR_PLACEHOLDER:1"],)"
                          R"("env":{"ME":"KURTOSIS_IP_ADDR_PLACEHOLDER"}})");
  EXPECT_EQ(write_json(made.at("Cmd")), R"(["--at=10.64.0.9:1"])");
  EXPECT_EQ(write_json(made.at("Env")), R"(["ME=10.64.0.9"])");
}

TEST(ServiceBody, FilesBecomeVolumes) {
  const char* const files =
      R"({"image":"a","files":{"/etc/x":[{"artifact":"c","digest":"d1"},{"artifact":"e",)"
      R"("digest":"d2"}],"/data":{"directory":"data","volume":"v"}},"bind_mounts":{"/s":"/t"}})";
  EXPECT_EQ(write_json(body(files).at("HostConfig").at("Mounts")),
            R"([{"Target":"/etc/x","Type":"volume","VolumeOptions":{"NoCopy":true}},)"
            R"({"Source":"v","Target":"/data","Type":"volume"},)"
            R"({"Source":"/t","Target":"/s","Type":"bind"}])");
  const auto mounts = mounts_in(service(files).files);
  ASSERT_EQ(mounts.size(), 1u);
  EXPECT_EQ(mounts[0].digests, (std::vector<std::string>{"d1", "d2"}));
  for (const char* const path : {"/", "relative"})
    EXPECT_FALSE(service_body(
        read<Service>(
            Value::dict({{"image", "a"}, {"files", Value::dict({{path, Value::list({})}})}})),
        place()));
}

TEST(ServiceBody, FilesThatAreMovedHaveNoVolumeOfTheirOwn) {
  const char* const files =
      R"({"image":"a","files":{"/tmp/a":[{"artifact":"a","digest":"d1"}],)"
      R"("/tmp/b":[{"artifact":"b","digest":"d2"}],"/www":[{"artifact":"c","digest":"d3"}],)"
      R"("/data":{"directory":"d","volume":"v"}},"moved_files":{"/tmp/a/x.conf":"/etc/x/y.conf",)"
      R"("/tmp/b/one":"/data/in/one","/tmp/b/two":"/www/two"}})";
  EXPECT_EQ(write_json(body(files).at("HostConfig").at("Mounts")),
            R"([{"Target":"/www","Type":"volume","VolumeOptions":{"NoCopy":true}},)"
            R"({"Source":"v","Target":"/data","Type":"volume"}])");
  const Service made = service(files);
  std::string told;
  for (const Mount& mount : mounts_in(made.files, made.moved_files))
    for (const MovedFile& moved : mount.moved)
      told += cat(mount.digests[0], " ", moved.from, " ", moved.folder, " ", moved.to, "\n");
  EXPECT_EQ(told, "d1 x.conf / etc/x/y.conf\nd2 one /data in/one\nd2 two /www two\n");
}

TEST(ServiceBody, PlaceNamesHostsAndMemory) {
  const Value made =
      body(R"({"image":"a","working_dir":"/w","extra_hosts":{"b":"10.0.0.1"},"tmpfs":["/run"],)"
           R"("aliases":["other"],"user":{"uid":"node","gid":"staff"}})");
  EXPECT_EQ(made.text_at("WorkingDir"), "/w");
  EXPECT_EQ(made.text_at("User"), "node:staff");
  EXPECT_EQ(write_json(made.at("HostConfig").at("ExtraHosts")), R"(["b:10.0.0.1"])");
  EXPECT_EQ(write_json(made.at("HostConfig").at("Mounts")),
            R"([{"Target":"/run","Type":"tmpfs"}])");
  EXPECT_NE(write_json(made).find(R"("Aliases":["web","other"])"), std::string::npos);
}

TEST(ServiceBody, UserLimitsAndDevices) {
  const Value made = body(
      R"({"image":"a","user":{"uid":5},"cpu_max":1500,"memory_max":10,"devices":["/dev/x:/dev/y"],)"
      R"("gpu":{"count":2,"shm_size":1},"tini":false,"privileged":true,"host_pid":true,)"
      R"("restart":"always","tty":true,"labels":{"a":"b"}})");
  const Value& host = made.at("HostConfig");
  EXPECT_EQ(made.text_at("User"), "5");
  EXPECT_EQ(host.integer_at("NanoCpus"), 1'500'000'000);
  EXPECT_EQ(host.integer_at("Memory"), 10'000'000);
  EXPECT_EQ(host.integer_at("ShmSize"), 1'000'000);
  EXPECT_EQ(host.at("DeviceRequests").items()[0].integer_at("Count"), 2);
  EXPECT_EQ(host.at("Devices").items()[0].text_at("PathInContainer"), "/dev/y");
  EXPECT_FALSE(host.bool_at("Init", true));
  EXPECT_TRUE(host.bool_at("Privileged"));
  EXPECT_EQ(host.text_at("PidMode"), "host");
  EXPECT_EQ(host.at("RestartPolicy").text_at("Name"), "always");
  EXPECT_TRUE(made.bool_at("Tty"));
  EXPECT_EQ(write_json(made.at("Labels")), R"({"a":"b","fettle.key":"web"})");
}

TEST(ServiceBody, GpusAreAskedForByCountOrIdAndOnlyThen) {
  const auto host = [](const std::string& gpu) {
    return body(cat(R"({"image":"a","gpu":)", gpu, "}").c_str()).at("HostConfig");
  };
  const auto request = [&](const std::string& gpu) {
    return write_json(host(gpu).at("DeviceRequests").items()[0]);
  };
  EXPECT_EQ(request(R"({"count":-1})"),
            R"({"Capabilities":[["gpu"]],"Count":-1,"DeviceIDs":[],"Driver":"nvidia"})");
  EXPECT_EQ(request(R"({"device_ids":["0"],"driver":"amd"})"),
            R"({"Capabilities":[["gpu"]],"Count":0,"DeviceIDs":["0"],"Driver":"amd"})");
  EXPECT_EQ(request(R"({"count":1,"driver":{"docker":"x","kubernetes":"y"}})"),
            R"({"Capabilities":[["gpu"]],"Count":1,"DeviceIDs":[],"Driver":"x"})");
  const Value limits = host(R"({"shm_size":64,"ulimits":{"memlock":-1}})");
  EXPECT_EQ(limits.find("DeviceRequests"), nullptr);
  EXPECT_EQ(limits.integer_at("ShmSize"), 64'000'000);
  EXPECT_EQ(write_json(limits.at("Ulimits")), R"([{"Hard":-1,"Name":"memlock","Soft":-1}])");
}

TEST(Marks, AKeyIsFoundInItsLabelsAgain) {
  const Key key{"env", "service", "web"};
  std::map<std::string, std::string> labels;
  for (const auto& [name, value] : marks_of(key))
    labels[name] = value;
  EXPECT_EQ(key_in(labels), key);
  labels.erase("fettle.kind");
  EXPECT_FALSE(key_in(labels));
}

TEST(Marks, NamesAreAllowedAndTellThingsApart) {
  const Key a{"env", "directory", "my data"}, b{"env", "directory", "my_data"};
  EXPECT_EQ(volume_name(a).find(' '), std::string::npos);
  EXPECT_NE(volume_name(a), volume_name(b));
  EXPECT_EQ(uuid_of(a, "net").size(), 32u);
  EXPECT_NE(uuid_of(a, "net"), uuid_of(a, "other"));
}

TEST(Marks, SecretsAreRevealedAnywhere) {
  const Value value = Value::dict({{"a", Value::list({Value::secret("x"), Value(1)})}});
  EXPECT_EQ(write_json(reveal(value)), R"({"a":["x",1]})");
  EXPECT_FALSE(reveal(value).has_secret());
}

}  // namespace
}  // namespace fettle

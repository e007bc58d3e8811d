/// The forms of Kurtosis, as public scripts cut them apart.

#include "cli/kurtosis_forms.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "base/text.h"
#include "core/open_payload.h"
#include "value/json.h"

namespace fettle {
namespace {

class KurtosisForms : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
    ServiceView web;
    web.name = "web";
    web.uuid = "0123456789abcdef0123456789abcdef";
    web.status = "running";
    web.attributes = *read_json(
        R"({"image":"nginx","entrypoint":["sh"],"cmd":["-c","echo hi"],"env":{"A":"b","N":5},)"
        R"("ports":{"http":{"number":80,"application":"http"},"metrics":{"number":9090}}})");
    web.outputs = *read_json(
        R"({"uuid":"0123","ports":{"http":{"number":80,"transport":"TCP","public":32768},)"
        R"("metrics":{"number":9090,"transport":"TCP","public":32769}}})");
    ServiceView box;
    box.name = "box";
    box.uuid = "fedcba9876543210fedcba9876543210";
    box.status = "stopped";
    box.attributes = *read_json(R"({"image":"busybox"})");
    box.outputs = *read_json(R"({"uuid":"fedc","ports":{}})");
    view_.environment = {"shop", "00112233445566778899aabbccddeeff", Time(1764412800s), {}, false};
    view_.status = "running";
    view_.services = {box, web};
    view_.artifacts = {{"page", "aaaabbbbccccddddeeeeffff00001111", "d"}};
  }

  EnvironmentView view_;
};

/// What is behind a word on the first line that begins with it.
std::string behind(const std::string& text, std::string_view word) {
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with(word))
      return std::string(trim(line.substr(word.size())));
  return "nothing";
}

TEST_F(KurtosisForms, AnEnvironmentHasItsSections) {
  const std::string bar(41, '='), services_bar(42, '=');
  EXPECT_EQ(kurtosis_environment(view_, false),
            cat("Name:            shop\n"
                "UUID:            001122334455\n"
                "Status:          RUNNING\n"
                "Creation Time:   Sat, 29 Nov 2025 10:40:00 UTC\n"
                "Flags:           \n"
                "\n",
                bar, " Files Artifacts ", bar,
                "\n"
                "UUID           Name\n"
                "aaaabbbbcccc   page\n"
                "\n",
                services_bar, " User Services ", services_bar,
                "\n"
                "UUID           Name   Ports                                    Status\n"
                "fedcba987654   box    <none>                                   STOPPED\n"
                "0123456789ab   web    http: 80/tcp -> http://127.0.0.1:32768   RUNNING\n"
                "                      metrics: 9090/tcp -> 127.0.0.1:32769     \n"));
  EXPECT_EQ(behind(kurtosis_environment(view_, true), "UUID:"), view_.environment.uuid);
  view_.environment.detail = *read_json(R"({"production":true})");
  EXPECT_EQ(behind(kurtosis_environment(view_, false), "Flags:"), "production");
  // An enclave of Kurtosis runs before it has services.
  view_.status = "empty";
  EXPECT_EQ(behind(kurtosis_environment(view_, false), "Status:"), "RUNNING");
  view_.status = "stopped";
  EXPECT_EQ(behind(kurtosis_environment(view_, false), "Status:"), "STOPPED");
}

TEST_F(KurtosisForms, EnvironmentsAreListedAsTheyWereMade) {
  Environment later{"a", std::string(32, 'b'), Time(1764412801s), {}, false};
  EXPECT_EQ(kurtosis_environments({{later, "stopped"}, {view_.environment, "running"}}, false),
            "UUID           Name   Status    Creation Time\n"
            "001122334455   shop   RUNNING    Sat, 29 Nov 2025 10:40:00 UTC\n"
            "bbbbbbbbbbbb   a      STOPPED    Sat, 29 Nov 2025 10:40:01 UTC");
  EXPECT_EQ(kurtosis_environments({}, false), "UUID   Name   Status   Creation Time");
}

TEST_F(KurtosisForms, AServiceHasALineForEachOfItsWords) {
  const ServiceView& web = view_.services[1];
  EXPECT_EQ(kurtosis_service(web, dict_of(web.attributes), false),
            "Name: web\n"
            "UUID: 0123456789ab\n"
            "Status: RUNNING\n"
            "Image: nginx\n"
            "Ports:\n"
            "  http: 80/tcp -> http://127.0.0.1:32768\n"
            "  metrics: 9090/tcp -> 127.0.0.1:32769\n"
            "ENTRYPOINT:\n"
            "  sh\n"
            "CMD:\n"
            "  -c\n"
            "  echo hi\n"
            "ENV:\n"
            "  A: b\n"
            "  N: 5");
  EXPECT_EQ(behind(kurtosis_service(web, {}, true), "UUID:"), web.uuid);
  ServiceView stopped = web;
  stopped.status = "stopped";
  EXPECT_EQ(kurtosis_ports(stopped).at(0), "http: 80/tcp");
  stopped.outputs = {};
  EXPECT_EQ(kurtosis_ports(stopped), std::vector<std::string>{"<none>"});
}

TEST(KurtosisPort, IsJoinedFromItsParts) {
  const auto joined = [](std::string_view parts, const std::string& protocol) {
    const Result<std::string> text = kurtosis_port(parts, protocol, "32768");
    return text ? *text : text.error().message;
  };
  EXPECT_EQ(joined("protocol,ip,number", "http"), "http://127.0.0.1:32768");
  EXPECT_EQ(joined("protocol,ip,number", ""), "127.0.0.1:32768");
  EXPECT_EQ(joined("number", "http"), "32768");
  EXPECT_EQ(joined("protocol", "http"), "http");
  EXPECT_EQ(joined("protocol", ""), "");
  EXPECT_EQ(joined("ip", "http"), "127.0.0.1");
  EXPECT_EQ(joined("ip,number", "http"), "127.0.0.1:32768");
  EXPECT_EQ(joined("protocol,ip", "http"), "http://127.0.0.1");
  EXPECT_EQ(joined("number,ip", "http"),
            "the parts of a port must be in the order protocol, ip, number");
  EXPECT_EQ(joined("host", "http"),
            "unknown part `host` of a port, expected protocol, ip or number");
}

TEST(KurtosisTable, HasBlanksWhereALaterColumnIsEmpty) {
  EXPECT_EQ(kurtosis_table({{"", "Name"}, {"*", "docker"}, {"", ""}}),
            "    Name\n*   docker\n    ");
}

}  // namespace
}  // namespace fettle

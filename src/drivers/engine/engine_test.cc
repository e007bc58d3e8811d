#include "drivers/engine/engine.h"

#include <gtest/gtest.h>

#include "drivers/engine/containers.h"
#include "drivers/engine/images.h"
#include "drivers/engine/networks.h"
#include "drivers/engine/probe.h"
#include "value/json.h"

namespace fettle {
namespace {

TEST(EngineImages, ReferencesAreWrittenInFull) {
  EXPECT_EQ(full_reference("redis"), "docker.io/library/redis:latest");
  EXPECT_EQ(full_reference("a/b:1"), "docker.io/a/b:1");
  EXPECT_EQ(full_reference("localhost/a:1"), "localhost/a:1");
  EXPECT_EQ(full_reference("host:5000/a"), "host:5000/a:latest");
  EXPECT_EQ(full_reference("ghcr.io/a/b:x@sha256:12"), "ghcr.io/a/b@sha256:12");
  EXPECT_EQ(full_reference("sha256:12"), "sha256:12");
}

TEST(EngineImages, ProgressCountsBytesOrElseLayers) {
  const auto take = [](std::vector<const char*> lines) {
    PullProgress pull("a");
    for (const char* const line : lines)
      EXPECT_TRUE(pull.take(*read_json(line)));
    const Progress now = pull.now();
    return std::to_string(now.done) + "/" + std::to_string(now.total) + " " + now.text;
  };
  EXPECT_EQ(take({R"({"status":"Pulling from a","id":"latest"})",
                  R"({"status":"Downloading","progressDetail":{"current":5,"total":10},"id":"x"})",
                  R"({"status":"Downloading","progressDetail":{"current":1,"total":4},"id":"y"})",
                  R"({"status":"Download complete","id":"x"})"}),
            "11/14 pulling a, layer 1 of 2 (y 0.0 of 0.0 MB)");
  EXPECT_EQ(take({R"({"status":"Pulling fs layer","id":"x","progressDetail":{}})",
                  R"({"status":"Already exists","id":"y","progressDetail":{}})"}),
            "1/2 pulling a, layer 1 of 2");
}

TEST(EngineImages, AFailedPullSaysSoInItsStream) {
  PullProgress pull("a");
  EXPECT_EQ(pull.take(*read_json(R"({"error":"manifest unknown"})")).error().message,
            "cannot pull `a`: manifest unknown");
}

TEST(EngineStreams, LinesComeInAnyPieces) {
  std::vector<std::string> lines;
  const ByteSink sink = line_sink([&](std::string_view line) -> Status {
    lines.emplace_back(line);
    return {};
  });
  for (const char* const piece : {"a", "b\r\nc\n\n", "d", "\n"})
    ASSERT_TRUE(sink(piece));
  EXPECT_EQ(lines, (std::vector<std::string>{"ab", "c", "d"}));
}

TEST(EngineStreams, FramesAreTakenApartByteForByte) {
  std::string out, errors;
  const ByteSink sink = frame_sink([&](OutputStream stream, std::string_view bytes) -> Status {
    (stream == OutputStream::out ? out : errors) += bytes;
    return {};
  });
  const std::string frames("\1\0\0\0\0\0\0\3abc\2\0\0\0\0\0\0\2de\1\0\0\0\0\0\0\1f", 30);
  for (const char byte : frames)
    ASSERT_TRUE(sink({&byte, 1}));
  EXPECT_EQ(out, "abcf");
  EXPECT_EQ(errors, "de");
  EXPECT_FALSE(sink("no frames at all"));
}

TEST(EngineNetworks, BridgesHaveShortNamesThatDiffer) {
  EXPECT_LE(bridge_name("unix:///a", "net").size(), 15u);
  EXPECT_NE(bridge_name("unix:///a", "net"), bridge_name("unix:///b", "net"));
}

TEST(EngineProbe, ListenersAreFoundInTheKernelsTable) {
  constexpr std::string_view table =
      "  sl  local_address rem_address   st tx_queue rx_queue\n"
      "   0: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000\n"
      "   1: 0900400A:A1B2 0100400A:1F90 01 00000000:00000000 00:00000000\n"
      " 12: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000\n"
      " 11: 0B00007F:14E9 00000000:0000 07 00000000:00000000 00:00000000\n"
      "  3: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000\n"
      "  4: 00000000000000000000000001000000:1F91 00000000000000000000000000000000:0000 0A 0:0\n"
      "  5: 00000000000000000000000000000000:1F92 00000000000000000000000000000000:0000 0A 0:0\n"
      " 13: 0900400A:0044 0100400A:0043 07 00000000:00000000 00:00000000\n";
  const auto listens = [&](Socket::Sort sort, int port) {
    return has_listener(table, {sort, port});
  };
  EXPECT_TRUE(listens(Socket::Sort::tcp, 80));
  EXPECT_FALSE(listens(Socket::Sort::tcp, 8080));
  EXPECT_FALSE(listens(Socket::Sort::tcp, 0xA1B2));
  EXPECT_FALSE(listens(Socket::Sort::udp, 80));
  EXPECT_TRUE(listens(Socket::Sort::udp, 53));
  EXPECT_FALSE(listens(Socket::Sort::udp, 68)) << "it talks to somebody";
  EXPECT_FALSE(listens(Socket::Sort::udp, 0x14E9)) << "it listens to itself";
  EXPECT_FALSE(listens(Socket::Sort::tcp, 0x1F91));
  EXPECT_TRUE(listens(Socket::Sort::tcp, 0x1F92));
}

TEST(EngineProbe, AnAddressIsFoundInTheTableOfRoutes) {
  constexpr std::string_view table =
      "Main:\n"
      "  +-- 0.0.0.0/0 3 0 5\n"
      "     |-- 10.64.0.0\n"
      "        /24 link UNICAST\n"
      "     |-- 10.64.0.9\n"
      "        /32 host LOCAL\n"
      "     |-- 10.64.0.1\n"
      "        /32 link UNICAST\n";
  EXPECT_TRUE(has_address(table, "10.64.0.9"));
  EXPECT_FALSE(has_address(table, "10.64.0.1"));
  EXPECT_FALSE(has_address(table, "10.64.0.0"));
  EXPECT_FALSE(has_address(table, "10.64.0"));
}

TEST(EngineProbe, PausesGrowAndAreBounded) {
  EXPECT_EQ(probe_pause(0s), 5ms);
  EXPECT_EQ(probe_pause(1s), 100ms);
  EXPECT_EQ(probe_pause(1h), 250ms);
}

TEST(EngineCalls, FiltersAreJson) {
  EXPECT_EQ(filters({{"label", "a=b"}, {"label", "c"}, {"type", "x"}}),
            R"({"label":["a=b","c"],"type":["x"]})");
}

}  // namespace
}  // namespace fettle

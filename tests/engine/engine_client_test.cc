/// The client of the API, tunnels and registries, against real engines.

#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/process.h"
#include "base/text.h"
#include "base/wait.h"
#include "core/open_payload.h"
#include "drivers/engine/allocation.h"
#include "drivers/engine/archives.h"
#include "drivers/engine/connect.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/exec.h"
#include "drivers/engine/images.h"
#include "drivers/engine/networks.h"
#include "tests/engine/world.h"
#include "value/json.h"

namespace fettle {
namespace {

class EngineTest : public testing::TestWithParam<TestEngine::Sort> {
 protected:
  EngineTest() : address(running_engine(GetParam())), engine(http, address) {}
  ~EngineTest() override {
    for (const std::string& id : made_)
      EXPECT_TRUE(remove_container(engine, id, {}));
  }

  std::string start(const std::string& name, const std::string& body) {
    const auto created = create_container(engine, name, *read_json(body), {});
    EXPECT_TRUE(created) << to_string(created.error());
    made_.push_back(created->id);
    EXPECT_TRUE(start_container(engine, created->id, {}));
    return created->id;
  }
  std::string sleeper(const std::string& name) {
    return start(name, R"({"Image":"localhost/fettle/busybox:1","Cmd":["sleep","1000"],)"
                       R"("HostConfig":{"NetworkMode":"none","Init":true}})");
  }

  HttpClient http;
  EngineAddress address;
  Engine engine;

 private:
  std::vector<std::string> made_;
};

TEST_P(EngineTest, TheEngineIsTold) {
  const auto flavour = engine.flavour({});
  ASSERT_TRUE(flavour);
  EXPECT_EQ(*flavour == Engine::Flavour::podman, GetParam() == TestEngine::Sort::podman);
}

TEST_P(EngineTest, StatesAreToldAndNotCodes) {
  const std::string id = sleeper("client-states");
  EXPECT_TRUE(create_container(engine, "client-states",
                               *read_json(R"({"Image":"localhost/fettle/busybox:1"})"), {})
                  ->name_taken);
  EXPECT_TRUE(start_container(engine, id, {}));  // again
  EXPECT_EQ((*inspect_container(engine, id, {}))->status, "running");
  EXPECT_TRUE(*rename_container(engine, id, "client-renamed", {}));
  EXPECT_TRUE(*rename_container(engine, id, "client-renamed", {}));
  EXPECT_EQ((*inspect_container(engine, id, {}))->name, "client-renamed");
  EXPECT_TRUE(*stop_container(engine, id, 1s, {}));
  EXPECT_FALSE(*stop_container(engine, id, 1s, {}));
  EXPECT_EQ((*inspect_container(engine, id, {}))->status, "exited");
  EXPECT_TRUE(remove_container(engine, id, {}));
  EXPECT_TRUE(remove_container(engine, id, {}));
  EXPECT_FALSE(*inspect_container(engine, id, {}));
  EXPECT_FALSE(*rename_container(engine, id, "x", {}));
  EXPECT_FALSE(*stop_container(engine, id, 1s, {}));
}

TEST_P(EngineTest, WhatSomebodyPausedIsStartedAndStopped) {
  const std::string id = sleeper("client-paused");
  const auto pause = [&] {
    return engine.ask({.method = "POST", .path = cat("/containers/", id, "/pause")}, {})->ok();
  };
  ASSERT_TRUE(pause());
  EXPECT_EQ((*inspect_container(engine, id, {}))->status, "paused");
  const Status started = start_container(engine, id, {});
  EXPECT_TRUE(started) << to_string(started.error());
  EXPECT_EQ((*inspect_container(engine, id, {}))->status, "running");
  ASSERT_TRUE(pause());
  const auto stopped = stop_container(engine, id, 1s, {});
  ASSERT_TRUE(stopped) << to_string(stopped.error());
  EXPECT_TRUE(*stopped);
  EXPECT_EQ((*inspect_container(engine, id, {}))->status, "exited");
}

TEST_P(EngineTest, LimitsChangeInPlace) {
  const std::string id = sleeper("client-limits");
  EXPECT_TRUE(limit_container(engine, id, 50'000'000, 250'000'000, {}));
  std::string output;
  const auto take = [&](OutputStream, std::string_view bytes) -> Status {
    output += bytes;
    return {};
  };
  ASSERT_TRUE(run_exec(engine, id,
                       {.command = {"sh", "-c",
                                    "cat /sys/fs/cgroup/memory/memory.limit_in_bytes "
                                    "/sys/fs/cgroup/memory.max 2>/dev/null; true"}},
                       take, {}));
  EXPECT_TRUE(output.starts_with("49")) << output;  // in whole pages
}

TEST_P(EngineTest, ACommandEndsWithWhoeverListensToIt) {
  const std::string id = sleeper("client-left");
  const auto go = [](OutputStream, std::string_view) -> Status { return world_error("gone"); };
  for (int i = 0; i < 20; ++i)
    EXPECT_FALSE(run_exec(engine, id, {.command = {"yes"}}, go, {}));
  std::string output;
  const auto take = [&](OutputStream, std::string_view bytes) -> Status {
    output += bytes;
    return {};
  };
  // A killed process takes a moment to go.
  for (int i = 0; i < 100 && (i == 0 || output.find("yes") != output.npos); ++i) {
    output.clear();
    ASSERT_TRUE(pause_for(20ms, {}));
    ASSERT_TRUE(run_exec(engine, id, {.command = {"ps"}}, take, {}));
  }
  EXPECT_EQ(output.find("yes"), output.npos) << output;
}

TEST_P(EngineTest, ANetworkIsMadeOnceAndRangesDoNotOverlap) {
  const auto subnet = free_subnet(own_pools, 24, subnets_in_use(), 7);
  NetworkSpec spec{.name = "client-net",
                   .bridge = bridge_name(address.text, "client-net"),
                   .subnet = *subnet,
                   .gateway = address_text(subnet->address + 1)};
  const auto made = create_network(engine, spec, {});
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(create_network(engine, spec, {})->refusal, NetworkRefusal::name_taken);
  spec.name = "client-other";
  spec.bridge = bridge_name(address.text, "client-other");
  EXPECT_EQ(create_network(engine, spec, {})->refusal, NetworkRefusal::range_taken);
  const auto state = inspect_network(engine, "client-net", {});
  EXPECT_EQ((*state)->subnets, std::vector<Subnet>{*subnet});
  EXPECT_TRUE(remove_network(engine, "client-net", {}));
  EXPECT_TRUE(remove_network(engine, "client-net", {}));
  EXPECT_FALSE(*inspect_network(engine, "client-net", {}));
}

TEST_P(EngineTest, LogsKeepTheirStreamsApart) {
  const std::string id =
      start("client-logs", R"({"Image":"localhost/fettle/busybox:1",)"
                           R"("Cmd":["sh","-c","echo one; echo two >&2; sleep 0.2; echo three"],)"
                           R"("HostConfig":{"NetworkMode":"none"}})");
  EXPECT_EQ(*wait_container(engine, id, for_ever, {}), 0);
  std::string out, errors;
  const auto take = [&](OutputStream stream, std::string_view bytes) -> Status {
    (stream == OutputStream::out ? out : errors) += bytes;
    return {};
  };
  ASSERT_TRUE(read_logs(engine, id, {.follow = true}, false, take, {}));
  EXPECT_EQ(out, "one\nthree\n");
  EXPECT_EQ(errors, "two\n");
  EXPECT_EQ(last_log_lines(engine, id, 1, {}), "three");
}

TEST_P(EngineTest, ACommandCanBeGivenInput) {
  const std::string id = sleeper("client-input");
  auto open = open_exec(
      engine, id, {.command = {"sh", "-c", "read x; echo got $x; exit 5"}, .input = true}, {});
  ASSERT_TRUE(open) << to_string(open.error());
  ASSERT_TRUE(open->connection.write("hello\n", {}));
  std::string output;
  const ByteSink sink = frame_sink([&](OutputStream, std::string_view bytes) -> Status {
    output += bytes;
    return {};
  });
  std::array<char, 4096> buffer{};
  for (auto count = open->connection.read(buffer, {}); count && *count > 0;
       count = open->connection.read(buffer, {}))
    ASSERT_TRUE(sink({buffer.data(), *count}));
  EXPECT_EQ(output, "got hello\n");
  EXPECT_EQ(*exec_code(engine, open->id, {}), 5);
}

TEST_P(EngineTest, FilesGoInAndComeOut) {
  const std::string id = sleeper("client-files");
  const std::string large(5'000'000, 'x');
  const std::string tar = *pack_files({{"a/b", large}});
  ASSERT_TRUE(put_archive(engine, id, "/tmp", source_of(tar), {}));
  std::string back;
  EXPECT_TRUE(*get_archive(engine, id, "/tmp/a", sink_to(back, SIZE_MAX), {}));
  ArchiveReader reader(source_of(back));
  uint64_t size = 0;
  for (auto entry = reader.next(); entry && *entry; entry = reader.next())
    size += (*entry)->size;
  EXPECT_EQ(size, large.size());
  EXPECT_FALSE(*get_archive(engine, id, "/tmp/nowhere", sink_to(back, SIZE_MAX), {}));
  EXPECT_FALSE(get_archive(engine, "no-such-container", "/tmp", sink_to(back, SIZE_MAX), {}));
}

TEST_P(EngineTest, ImagesArePulledWithProgress) {
  const auto folder = TemporaryDirectory::make();
  const auto registry = TestRegistry::start(folder->path(), registry_port());
  ASSERT_TRUE(registry) << to_string(registry.error());
  const std::string reference = cat("127.0.0.1:", registry_port(), "/web:1");
  ASSERT_TRUE(import_image(engine, reference, {"CMD [\"true\"]"},
                           *source_of_file(Path(FETTLE_SOURCE_DIR) / "build/images/redis.tar"),
                           {}));
  const Status pushed = push_image(engine, reference, {});
  ASSERT_TRUE(pushed) << to_string(pushed.error());
  ASSERT_TRUE(remove_image(engine, reference, {}));
  ASSERT_EQ(*image_id(engine, reference, {}), "");

  World world(address, "pull");
  const auto pull = [&](const std::string& name, const char* policy) {
    return world.apply(Verb::create, "image", name,
                       Value::dict({{"reference", name}, {"pull", policy}}));
  };
  EXPECT_FALSE(world.observe("image", reference)->state);
  const auto pulled = pull(reference, "missing");
  ASSERT_TRUE(pulled) << to_string(pulled.error());
  EXPECT_EQ(dict_of(*world.observe("image", reference)->state).at("id"),
            dict_of(pulled->outputs).at("id"));
  ASSERT_FALSE(world.progress.empty());
  const Progress last = world.progress.back();
  EXPECT_GT(last.total, 0);
  EXPECT_EQ(last.done, last.total);

  world.calls.clear();
  EXPECT_EQ(pull(reference, "missing")->changes, pulled->changes);
  EXPECT_EQ(world.calls.size(), 1u);  // it exists: nothing is pulled
  EXPECT_EQ(pull(reference, "always")->outputs, pulled->outputs);

  // An image that the registry does not have, and one that it does not have in that version.
  for (const char* unknown : {"/nothing:1", "/web:none"}) {
    const std::string name = cat("127.0.0.1:", registry_port(), unknown);
    const auto missing = pull(name, "missing");
    ASSERT_FALSE(missing);
    const std::string said = to_string(missing.error());
    EXPECT_TRUE(said.starts_with(cat("cannot pull `", name, "`: "))) << said;
    EXPECT_NE(said.find("manifest unknown"), std::string::npos) << said;
  }
  EXPECT_TRUE(remove_image(engine, reference, {}));
}

TEST_P(EngineTest, AnEngineIsReachedThroughSsh) {
  const auto folder = TemporaryDirectory::make();
  int port = 19'000 + getpid() % 1'000;
  while (!is_port_free(port))
    ++port;
  const auto server = TestSshServer::start(folder->path(), port, cat("DOCKER_HOST=", address.text));
  ASSERT_TRUE(server) << to_string(server.error());
  const std::string path = getenv("PATH");
  setenv("PATH", cat((*server)->client().string(), ":", path).c_str(), 1);
  const auto connected = [&](int number) {
    return link_engine(
        http, *parse_engine_address(cat("ssh://127.0.0.1:", number), process_variable), {}, {});
  };
  const auto link = connected(port);
  EXPECT_TRUE(link) << to_string(link.error());
  if (link) {
    Engine far(http, link->address);
    EXPECT_TRUE(image_id(far, "localhost/fettle/busybox:1", {})->starts_with("sha256:"));
    // A connection that is used both ways, too.
    const auto created =
        create_container(far, cat("fettle-ssh-", getpid()),
                         Value::dict({{"Image", "localhost/fettle/busybox:1"},
                                      {"Cmd", Value::list({"sleep", "1000"})},
                                      {"HostConfig", Value::dict({{"NetworkMode", "none"}})}}),
                         {});
    ASSERT_TRUE(created) << to_string(created.error());
    EXPECT_TRUE(start_container(far, created->id, {}));
    std::string output;
    const auto code = run_exec(far, created->id, {.command = {"echo", "through"}},
                               [&](OutputStream, std::string_view bytes) -> Status {
                                 output += bytes;
                                 return {};
                               },
                               {});
    ASSERT_TRUE(code) << to_string(code.error());
    EXPECT_EQ(*code, 0);
    EXPECT_EQ(output, "through\n");
    EXPECT_TRUE(remove_container(far, created->id, {}));
  }
  // With a path: that of the engine's socket there.
  const auto at_socket = [&](const std::string& socket) {
    return link_engine(
        http, *parse_engine_address(cat("ssh://127.0.0.1:", port, socket), process_variable), {},
        {});
  };
  const auto by_path = at_socket(address.unix_socket);
  EXPECT_TRUE(by_path) << to_string(by_path.error());
  EXPECT_FALSE(at_socket("/no/such.sock"));
  const auto refused = connected(9);
  ASSERT_FALSE(refused) << "nobody listens there";
  const std::string said = to_string(refused.error());
  const size_t first = said.find("Connection refused");
  EXPECT_NE(first, said.npos) << said;
  EXPECT_EQ(said.find("Connection refused", first + 1), said.npos) << said;
  EXPECT_NE(said.find("over SSH, an engine needs a login without a question"), said.npos) << said;
  setenv("PATH", path.c_str(), 1);
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineTest,
                         testing::Values(TestEngine::Sort::podman, TestEngine::Sort::docker),
                         [](const auto& sort) { return to_string(sort.param); });

/// The number of processes with the mark of an engine below `root`.
size_t processes_of(const Path& root) {
  const auto found = run_process({.arguments = {"sh", "-c",
                                                cat("grep -lzsFx 'FETTLE_ENGINE=", root.string(),
                                                    "' /proc/[0-9]*/environ; true")}},
                                 {});
  return static_cast<size_t>(std::ranges::count(found->output, '\n'));
}

TEST(PrivatePodmanTest, SeveralLiveSideBySideAndLeaveNothing) {
  const Path root = Path(FETTLE_BINARY_DIR) / "engines" / cat("two-", getpid());
  PrivatePodman one({.root = root / "one"}), two({.root = root / "two"});
  const auto first = one.start({}), second = two.start({});
  ASSERT_TRUE(first) << to_string(first.error());
  ASSERT_TRUE(second) << to_string(second.error());
  EXPECT_EQ(*one.start({}), *first);  // found again
  EXPECT_TRUE(one.is_running({}));

  const Path images = Path(FETTLE_SOURCE_DIR) / "build/images";
  for (const char* const name : {"one", "two"})
    ASSERT_TRUE(TestEngine(TestEngine::Sort::podman, root / name).import(images, {"web"}));
  {
    World here(*parse_engine_address("unix://" + *first, process_variable), "same");
    World there(*parse_engine_address("unix://" + *second, process_variable), "same");
    const Value web = *read_json(
        R"({"image":"localhost/fettle/web:1","ports":{"http":{"number":80,"wait":"20s"}}})");
    for (World* const world : {&here, &there}) {
      const auto made = world->service("web", web);
      ASSERT_TRUE(made) << to_string(made.error());
      EXPECT_EQ(world->run("web", {"wget", "-qO-", "http://web/"}), "fettle\n");
    }
  }
  // A service that crashed is found dead and started again; its containers run on.
  const auto pid = read_file(root / "one/service.pid");
  ASSERT_EQ(kill(static_cast<pid_t>(std::stol(*pid)), SIGKILL), 0);
  EXPECT_EQ(*one.start({}), *first);
  World again(*parse_engine_address("unix://" + *first, process_variable), "same");
  EXPECT_TRUE(dict_of(*again.observe("service", "web")->state).text_at("status") == "running");

  for (PrivatePodman* const podman : {&one, &two}) {
    const Status stopped = podman->stop(true, {});
    EXPECT_TRUE(stopped) << to_string(stopped.error());
    EXPECT_FALSE(podman->is_running({}));
  }
  EXPECT_EQ(processes_of(root / "one") + processes_of(root / "two"), 0u);
  EXPECT_FALSE(file_exists(root / "one"));
  EXPECT_TRUE(remove_tree(root));
}

TEST(PrivatePodmanTest, IsTheLastResort) {
  const Path root = Path(FETTLE_BINARY_DIR) / "engines" / cat("last-", getpid());
  HttpClient http;
  std::string told;
  ConnectOptions options;
  options.private_root = root;
  options.notice = [&](const std::string& text) { told = text; };
  options.variables = [](const char*) { return std::optional<std::string>(); };
  if (!find_engines("", options.variables)->empty())
    GTEST_FAIL() << "this machine has an engine at the usual place";
  const auto link = connect_engine(http, options, {});
  ASSERT_TRUE(link) << to_string(link.error());
  EXPECT_TRUE(Engine(http, link->address).ping({}));
  EXPECT_NE(told.find("private Podman"), std::string::npos);
  EXPECT_TRUE(PrivatePodman({.root = root}).stop(true, {}));

  options.given = "unix:///nowhere/engine.sock";
  const auto nowhere = connect_engine(http, options, {});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(to_string(nowhere.error()),
            "no container engine answers at `unix:///nowhere/engine.sock`, which `--engine` names: "
            "there is no socket `/nowhere/engine.sock`");
}

TEST(PrivatePodmanTest, WithoutAnEngineTheErrorSaysWhatWasTriedAndHowToGetOne) {
  const auto folder = TemporaryDirectory::make();
  ASSERT_TRUE(make_directories(folder->path() / "podman"));
  const std::string socket = folder->path() / "podman/podman.sock";
  ASSERT_TRUE(write_file(socket, ""));
  HttpClient http;
  ConnectOptions options;
  options.private_root = "/run/not-here";
  options.variables = [&](const char* name) {
    return name == std::string_view("XDG_RUNTIME_DIR") ? std::optional(folder->path().string())
                                                       : std::optional<std::string>();
  };
  const auto link = connect_engine(http, options, {});
  ASSERT_FALSE(link);
  EXPECT_EQ(to_string(link.error()),
            cat("no container engine answers; tried `unix://", socket,
                "` (nothing answers at the socket `", socket,
                "`), and a private Podman: a private Podman cannot run in `/run/not-here`: it has "
                "its own `/run`; install Docker or Podman, start the "
                "one that is installed, or set `--engine` or `$DOCKER_HOST`; `fettle doctor` shows "
                "more"));
  options.may_start = false;
  EXPECT_FALSE(connect_engine(http, options, {}));
}

}  // namespace
}  // namespace fettle

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "packages/compose/project_value.h"
#include "value/json.h"

namespace fettle::compose {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> texts_at(const Value& asked, std::string_view key) {
  std::vector<std::string> texts;
  for (const Value& one : asked.at(key).items())
    texts.push_back(to_text(one));
  return texts;
}

/// What compose-go 2.16 makes of the projects in `tests/compose`, recorded by bench/peers.
TEST(ComposeProjects, AreReadAsComposeReadsThem) {
  const std::string folder = FETTLE_SOURCE_DIR "/tests/compose";
  const Result<std::string> lines = read_file(folder + "/projects.jsonl");
  ASSERT_TRUE(lines);
  size_t compared = 0;
  for (const std::string_view line : split(*lines, '\n')) {
    if (line.empty())
      continue;
    const Result<Value> asked = read_json(line);
    ASSERT_TRUE(asked);
    ProjectRequest request;
    request.folder = ClosedFolder(Path(cat(folder, "/", asked->text_at("folder"))));
    for (std::string& file : texts_at(*asked, "files"))
      request.files.push_back({std::move(file), {}});
    request.profiles = texts_at(*asked, "profiles");
    for (const Entry& one : asked->at("variables").entries())
      request.outside[one.key.str()] = to_text(one.value);
    Notes notes;
    const Result<Project> project = read_project(request, notes);
    ASSERT_TRUE(project) << asked->text_at("folder") << ": " << to_string(project.error());
    EXPECT_EQ(write_json(project_value(*project)), write_json(asked->at("value")))
        << asked->text_at("folder");
    ++compared;
  }
  EXPECT_EQ(compared, 13u);
}

class ComposeTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const Path path = folder_->path() / name;
    ASSERT_TRUE(make_directories(path.parent_path()));
    ASSERT_TRUE(write_file(path.string(), text));
  }

  Result<Project> project(const std::string& text) {
    write("compose.yml", text);
    ProjectRequest request;
    request.folder = ClosedFolder(folder_->path());
    request.files = {{"compose.yml", {}}};
    request.shown = [this](const std::string& path) {
      return fs::path(path).lexically_relative(folder_->path()).string();
    };
    notes_ = {};
    return read_project(request, notes_);
  }

  std::string error_of(const std::string& text) {
    const Result<Project> read = project(text);
    return read ? "no error" : to_string(read.error());
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  Notes notes_;
};

TEST_F(ComposeTest, ErrorsNameThePlaceAndWhatWasMeant) {
  const std::pair<const char*, const char*> cases[] = {
      {"services:\n  web:\n    imgae: a\n",
       "compose.yml:3:5: compose knows no `imgae` of a service, did you mean `image`?"},
      {"servces: {}\n",
       "compose.yml:1:1: compose knows no `servces` of a project, did you mean `services`?"},
      {"services:\n  a:\n    image: a\n    healthcheck: {test: a, retires: 3}\n",
       "compose.yml:4:28: compose knows no `retires` of `healthcheck`, did you mean `retries`?"},
      {"services:\n  a: {image: a, volumes: [{type: bind, sorce: ./x, target: /x}]}\n",
       "compose.yml:2:40: compose knows no `sorce` of `volumes`, did you mean `source`?"},
      {"services:\n  a: {image: a, deploy: {resources: {limits: {cpu: 1}}}}\n",
       "compose.yml:2:47: compose knows no `cpu` of `deploy.resources.limits`, did you mean "
       "`cpus`?"},
      {"services:\n  a: {image: a}\nvolumes: {data: {naem: x}}\n",
       "compose.yml:3:18: compose knows no `naem` of `volumes`, did you mean `name`?"},
      {"web:\n  image: a\n", "compose.yml:1:1: `web` stands outside of `services:`"},
      {"services:\n  web: {}\n",
       "compose.yml:2:3: the service `web` has neither an `image` nor a `build`"},
      {"services:\n  web: {image: a, depends_on: [dbb]}\n  db: {image: a}\n",
       "compose.yml:2:32: there is no service `dbb`, did you mean `db`?"},
      {"services:\n  a: {image: a, depends_on: [b]}\n  b: {image: a, depends_on: [a]}\n",
       "compose.yml:3:30: services need each other: `a` needs `b` needs `a`"},
      {"services:\n  a_b: {image: a}\n  a-b: {image: a}\n",
       "compose.yml:3:3: the services `a_b` and `a-b` would both be called `a-b`; "
       "`container_name` gives one of them another name"},
      {"services:\n  a: {image: a, ports: ['99999']}\n",
       "compose.yml:2:25: the port `99999` is none, expected "
       "`[[ADDRESS:]PUBLISHED:]PORT[/PROTOCOL]`"},
      {"services:\n  a: {image: a, volumes: ['data:/x']}\n",
       "compose.yml:2:27: the project has no volume `data`; it is listed in `volumes:`"},
      {"services:\n  a: {image: '${X:?set it}'}\n",
       "compose.yml:2:14: the variable `X` needs a value: set it"},
      {"services:\n  a: {image: a, privileged: maybe}\n",
       "compose.yml:2:29: `privileged` must be true or false, it is `maybe`"},
      {"services:\n  a: {image: a, profiles: [p]}\n  b: {image: a, depends_on: [a]}\n",
       "compose.yml:3:30: `b` needs `a`, which only runs with `--profile p`; `required: false` "
       "does without it"},
      {"services:\n  a: {image: a, env_file: no.env}\n", "no.env"},
      {"services:\n  a: {image: a, env_file: [{path: no.env, format: odd}]}\n",
       "compose.yml:2:51: there is no format `odd` of an `env_file`, expected `raw`"},
      {"services:\n  a: {image: a, volumes: [{type: bind, target: /x}]}\n",
       "compose.yml:2:27: a volume of the type `bind` needs a `source`"},
      {"services:\n  a: {image: a, extra_hosts: [x]}\n",
       "compose.yml:2:30: `extra_hosts`: `x` has no address, expected `NAME=ADDRESS`"},
      {"services:\n  a: {image: a, ports: ['1-40000', '1-40000/udp']}\n",
       "compose.yml:2:36: a file may have 65535 ports"},
      {"services:\n  a: [1]\n", "compose.yml:2:6: `a` must be a mapping, it is a list"},
      {"services:\n  a: {image: a}\n  a: {image: b}\n", "compose.yml:3:3: "},
      {"", "compose.yml: the compose file is empty"},
      {"services:\n  a: {extends: b, image: a}\n",
       "compose.yml:2:16: there is no service `b` in `compose.yml`"},
      {"services:\n  a: {extends: b}\n  b: {extends: a}\n",
       "extends itself: `a` extends `b` extends `a`"},
      {"services:\n  a: {build: {context: ., dockerfile: A, dockerfile_inline: FROM b}}\n",
       "compose.yml:2:14: a build has either a `dockerfile` or a `dockerfile_inline`"},
      {"services:\n  a: {build: {context: ., additional_contexts: {x: 'https://a.com/b.git'}}}\n",
       "compose.yml:2:52: the context `x` is `https://a.com/b.git`: it is a folder of the project, "
       "`service:NAME` or `docker-image://REFERENCE`; clone"},
      {"services:\n  a: {build: {context: ., additional_contexts: ['x=git@a.com:b']}}\n",
       "compose.yml:2:49: the context `x` is `git@a.com:b`: it is a folder"},
      {"services:\n  a: {build: {context: ., additional_contexts: {x: 'service:web'}}}\n  wep: "
       "{image: w}\n",
       "compose.yml:2:52: there is no service `web`, did you mean `wep`?"},
      {"services:\n  a: {build: {context: ., additional_contexts: {x: 'service:b'}}}\n  b: {image: "
       "w, profiles: [debug]}\n",
       "compose.yml:2:52: `a` is built with the image of `b`, which only runs with `--profile "
       "debug`"},
      {"services:\n  a: {build: {context: ., additional_contexts: {x: 'service:b'}}}\n  b: {image: "
       "w, depends_on: [a]}\n",
       "services need each other: `a` needs `b` needs `a`"},
      {"services:\n  a: {build: {context: ., secrets: [tokem]}}\nsecrets: {token: {content: x}}\n",
       "compose.yml:2:37: the project has no secret `tokem`, did you mean `token`?"},
      {"services:\n  a: {build: {context: ., secrets: [{target: x}]}}\n",
       "compose.yml:2:37: `secrets` must be a list of names, or of mappings with `source`"},
      {"services:\n  a: {build: {context: ., secrets: [t]}}\nsecrets: {t: {external: true}}\n",
       "compose.yml:2:37: the secret `t` comes from outside of the project"},
      {"services: {}\ninclude: [no.yml]\n", "compose.yml:2:11: `include`: reading `no.yml`: "},
      {"services:\n  a: {extends: {file: no.yml, service: a}}\n",
       "compose.yml:2:16: `extends`: reading `no.yml`: "},
      {"include: [{path: there.yml, env_file: no.env}]\n",
       "compose.yml:1:39: `env_file`: reading `no.env`: "},
      {"include: [compose.yml]\nservices: {}\n", "compose.yml:1:11: `compose.yml` includes itself"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_NE(error_of(text).find(expected), std::string::npos) << text << "\n" << error_of(text);
}

TEST_F(ComposeTest, NothingIsReadOutsideOfTheFolder) {
  write("inner/x", "");
  const auto in_inner = [&](const std::string& text) {
    write("inner/compose.yml", text);
    write("outside.yml", "services: {a: {image: secret}}\n");
    write("outside.env", "A=secret\n");
    ProjectRequest request;
    request.folder = ClosedFolder(folder_->path() / "inner");
    request.files = {{"compose.yml", {}}};
    Notes notes;
    const Result<Project> read = read_project(request, notes);
    return read ? std::string("read") : to_string(read.error());
  };
  for (const char* text : {"include: [../outside.yml]\n",
                           "services: {a: {extends: {file: ../outside.yml, service: a}}}\n",
                           "services: {a: {image: a, env_file: ../outside.env}}\n",
                           "services: {a: {image: a, env_file: /etc/hostname}}\n"})
    EXPECT_NE(in_inner(text).find("leads outside"), std::string::npos) << in_inner(text);
}

TEST_F(ComposeTest, ManyAnchorsAreReadAndBombsAreNot) {
  std::string many = "services:\n", bomb = "x0: &x0 [1, 2]\n",
              chain = "services:\n  s0: {image: a}\n";
  for (int i = 0; i < 10'000; ++i)
    many += cat("  s", i, ": &a", i, " {image: i}\n");
  const Result<Project> read = project(many);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->services.size(), 10'000u);
  for (int i = 1; i < 40; ++i)
    bomb += cat("x", i, ": &x", i, " [*x", i - 1, ", *x", i - 1, "]\n");
  EXPECT_NE(error_of(bomb).find("alias"), std::string::npos) << error_of(bomb);
  for (int i = 300; i > 0; --i)
    chain += cat("  s", i, ": {extends: s", i - 1, "}\n");
  EXPECT_NE(error_of(chain).find("more than 100 deep"), std::string::npos);
  std::string deep = "services: ";
  deep.append(5'000, '[');
  EXPECT_NE(error_of(deep), "no error");
}

TEST_F(ComposeTest, WhatGrowsAtEachStepIsBounded) {
  std::string text = "services:\n  s0:\n    image: a\n    labels:\n";
  for (int i = 0; i < 4'000; ++i)
    text += cat("      l", i, ": x\n");
  for (int i = 1; i < 400; ++i)
    text += cat("  s", i, ": {extends: s0}\n");
  EXPECT_NE(error_of(text).find("parts"), std::string::npos) << error_of(text);
}

TEST_F(ComposeTest, WideMappingsAreMerged) {
  constexpr int width = 20'000;
  std::string one = "services:\n  a:\n    image: a\n    environment:\n", other = one;
  for (int i = 0; i < width; ++i) {
    one += cat("      K", i, ": one\n");
    other += cat("      K", i + width / 2, ": other\n");
  }
  const Result<Project> read = project(cat(one, "---\n", other));
  ASSERT_TRUE(read) << to_string(read.error());
  const auto& made = read->services[0].environment;
  EXPECT_EQ(made.size(), size_t{width} * 3 / 2);
  EXPECT_EQ(made.at(cat("K", width / 2 - 1)), "one");
  EXPECT_EQ(made.at(cat("K", width / 2)), "other");
}

TEST_F(ComposeTest, WhatIsResetMayBeSaidAgain) {
  const Result<Project> read = project(
      "services:\n  a: {image: a, hostname: !reset x, environment: {A: a}, command: [a]}\n"
      "  b: {image: b}\n"
      "---\nservices:\n  a: {hostname: y, environment: !reset {}, command: !reset []}\n"
      "  b: !reset {}\n"
      "---\nservices:\n  a: {environment: {B: b}}\n");
  ASSERT_TRUE(read) << to_string(read.error());
  ASSERT_EQ(read->services.size(), 1u);
  const Service& service = read->services[0];
  EXPECT_EQ(service.hostname, "y");
  EXPECT_FALSE(service.command.is_given);
  EXPECT_EQ(service.environment.size(), 1u);
  EXPECT_TRUE(service.environment.contains("B"));
}

TEST_F(ComposeTest, CirclesOfFilesAreFound) {
  write("a.yml", "include: [b.yml]\n");
  write("b.yml", "include: [a.yml]\n");
  const std::string error = error_of("include: [a.yml]\nservices: {x: {image: a}}\n");
  EXPECT_NE(error.find("`a.yml` includes itself: compose.yml includes a.yml includes b.yml"),
            std::string::npos)
      << error;
}

TEST_F(ComposeTest, WhatHasNoEffectIsNotedOnceWithItsLines) {
  const Result<Project> read = project(
      "services:\n  a:\n    image: a\n    restart: always\n    networks: [front]\n"
      "  b:\n    image: b\n    restart: on-failure\n    deploy: {replicas: 3}\n"
      "    read_only: true\nnetworks: {front: }\n");
  ASSERT_TRUE(read) << to_string(read.error());
  const std::vector<std::string> texts = notes_.texts();
  const auto has = [&](const std::string& text) {
    return std::ranges::any_of(
        texts, [&](const std::string& one) { return one.find(text) != std::string::npos; });
  };
  EXPECT_TRUE(has("compose.yml:4:5: `restart` has no effect: services that end"));
  EXPECT_TRUE(has("(also in line 8)"));
  EXPECT_TRUE(has("compose.yml:11:1: networks have no effect"));
  EXPECT_TRUE(has("compose.yml:9:14: `replicas` of `deploy` has no effect"));
  EXPECT_TRUE(has("compose.yml:10:5: `read_only` has no effect"));
  EXPECT_EQ(texts.size(), 4u);
}

TEST_F(ComposeTest, PartsOfAServiceWithoutAnEffectAreNoted) {
  const Result<Project> read = project(
      "services:\n  a:\n    image: a\n    tmpfs: ['/t:size=1m']\n    volumes:\n"
      "    - {type: tmpfs, target: /u, tmpfs: {size: 1000, mode: 0700}}\n"
      "    - {type: volume, source: d, target: /d, read_only: true, volume: {subpath: x}}\n"
      "    - data:/e:ro\n    - {type: bind, source: ./b, target: /b, bind: {propagation: shared}}\n"
      "    configs: [{source: c, mode: 0400}]\n    secrets: [{source: s, uid: '3', gid: '4'}]\n"
      "    ulimits: {nofile: {soft: 10, hard: 20}, nproc: {soft: 3, hard: 3}}\n"
      "    deploy: {resources: {limits: {pids: 3}}}\n"
      "    healthcheck: {test: [CMD, a], start_interval: 5s}\n"
      "volumes: {d: , data: }\nconfigs: {c: {content: x}}\nsecrets: {s: {content: y}}\n");
  ASSERT_TRUE(read) << to_string(read.error());
  const std::string texts = join(notes_.texts(), "\n");
  for (const char* text :
       {"compose.yml:4:5: options of `tmpfs` have no effect", "compose.yml:6:47: `size` of `tmpfs`",
        "compose.yml:6:59: `mode` of `tmpfs`", "compose.yml:7:56: `read_only` of `volumes`",
        "(also in line 8)", "compose.yml:7:80: `subpath` of `volume`",
        "compose.yml:9:65: `propagation` of `bind`", "compose.yml:10:33: `mode` of `configs`",
        "compose.yml:11:32: `uid` of `secrets`", "compose.yml:11:42: `gid` of `secrets`",
        "compose.yml:12:40: `hard` of `nofile`", "compose.yml:13:41: `pids` of `limits`",
        "compose.yml:14:51: `start_interval` of `healthcheck`"})
    EXPECT_NE(texts.find(text), std::string::npos) << text << "\nin\n" << texts;
  EXPECT_EQ(texts.find("nproc"), std::string::npos);
}

TEST(ComposeNames, AreThoseOfKurtosis) {
  EXPECT_EQ(plain_name("My_Service"), "my-service");
  EXPECT_EQ(plain_name(" --a..b__c- "), "a-b-c");
}

}  // namespace
}  // namespace fettle::compose

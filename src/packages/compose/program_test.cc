#include "packages/compose/program.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"

namespace fettle::compose {
namespace {

class ComposeProgram : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const Path path = folder_->path() / name;
    ASSERT_TRUE(make_directories(path.parent_path()));
    ASSERT_TRUE(write_file(path.string(), text));
  }

  Program program(const std::string& text, bool allows_privileged = false) {
    write("compose.yml", text);
    ProjectRequest request;
    request.folder = ClosedFolder(folder_->path());
    request.files = {{"compose.yml", {}}};
    request.allows_privileged = allows_privileged;
    request.outside["PASS"] = "hush";
    Result<Program> made = compose_program(request);
    EXPECT_TRUE(made) << to_string(made.error());
    return made ? std::move(*made) : Program();
  }

  static bool has_warning(const Program& made, const std::string& text) {
    return std::ranges::any_of(
        made.warnings, [&](const std::string& one) { return one.find(text) != std::string::npos; });
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
};

TEST_F(ComposeProgram, NamesOrderAndPortsAreThoseOfKurtosis) {
  const Program made = program(
      "services:\n"
      "  web_app:\n    image: w\n    depends_on: [db, a]\n    ports: ['8080:80', '53/udp']\n"
      "    environment: {B: \"2\", A: 'x\"y'}\n    command: run it\n"
      "  db: {image: d, container_name: The.DB}\n"
      "  a: {image: a, depends_on: [db]}\n");
  EXPECT_EQ(made.text,
            "def run(plan):\n"
            "    plan.add_service(name = \"the-db\", config = ServiceConfig(image=\"d\", "
            "aliases=[\"db\", \"The.DB\"]))\n"
            "    plan.add_service(name = \"a\", config = ServiceConfig(image=\"a\"))\n"
            "    plan.add_service(name = \"web-app\", config = ServiceConfig(image=\"w\", "
            "ports={\"port0\": PortSpec(number=80, transport_protocol=\"TCP\", "
            "application_protocol=\"http\", wait=None), \"port1\": PortSpec(number=53, "
            "transport_protocol=\"UDP\", wait=None)}, public_ports={\"port0\": "
            "PortSpec(number=8080, transport_protocol=\"TCP\", application_protocol=\"http\", "
            "wait=None)}, publish_udp=True, cmd=[\"run\", \"it\"], env_vars={\"A\": \"x\\\"y\", "
            "\"B\": \"2\"}, aliases=[\"web_app\"]))\n");
  ASSERT_EQ(made.origins.size(), 4u);
  EXPECT_EQ(made.origins[3].line, 2);
}

TEST_F(ComposeProgram, VolumesAreFoldersOfTheEnvironmentOrFilesOfTheProject) {
  write("conf/site.conf", "x");
  write("my_html/index.html", "x");
  const Program made = program(
      "services:\n"
      "  web:\n    image: w\n    volumes:\n      - ./my_html/../my_html:/www\n"
      "      - ./conf/site.conf:/etc/site.conf:ro\n      - shared_data:/data\n      - /cache\n"
      "      - ./made:/made\n      - /etc/hosts:/hosts\n"
      "      - /var/run/docker.sock:/var/run/docker.sock\n"
      "  worker: {image: w, volumes: ['shared_data:/data', './made:/made']}\n"
      "volumes: {shared_data: }\n");
  EXPECT_EQ(made.text,
            "def run(plan):\n"
            "    plan.upload_files(src = \"./conf/site.conf\", name = \"web--volume1\")\n"
            "    plan.upload_files(src = \"./my_html\", name = \"web--volume0\")\n"
            "    plan.add_service(name = \"web\", config = ServiceConfig(image=\"w\", files={"
            "\"/cache\": Directory(persistent_key=\"web--volume3\"), \"/data\": "
            "Directory(persistent_key=\"shared-data\"), \"/made\": "
            "Directory(persistent_key=\"web--volume4\"), \"/tmp/web--volume1\": \"web--volume1\", "
            "\"/www\": \"web--volume0\"}, files_to_be_moved={\"/tmp/web--volume1/site.conf\": "
            "\"/etc/site.conf\"}))\n"
            "    plan.add_service(name = \"worker\", config = ServiceConfig(image=\"w\", files={"
            "\"/data\": Directory(persistent_key=\"shared-data\"), \"/made\": "
            "Directory(persistent_key=\"web--volume4\")}))\n");
  EXPECT_TRUE(has_warning(made, ":9:9: `./made` does not exist"));
  EXPECT_TRUE(has_warning(made, ":10:9: `/etc/hosts` is not mounted: it is outside"));
  EXPECT_TRUE(has_warning(made, ":11:9: `/var/run/docker.sock` is not mounted: allow it"));
}

TEST_F(ComposeProgram, NamesThatWouldBecomeOneStayApart) {
  const Program made = program(
      "services:\n"
      "  a:\n    image: a\n    configs: [c_d, c-d, ___]\n"
      "    volumes: ['A_b:/x', 'a-b:/y', 'same:/z']\n"
      "configs: {c_d: {content: one}, c-d: {content: two}, ___: {content: three}}\n"
      "volumes: {A_b: , a-b: , same: {name: a-b}}\n");
  EXPECT_EQ(made.text,
            "def run(plan):\n"
            "    plan.render_templates(config = {\"c-d\": struct(template=\"{{.text}}\", "
            "data={\"text\": \"one\"})}, name = \"config--c-d\")\n"
            "    plan.render_templates(config = {\"c-d-2\": struct(template=\"{{.text}}\", "
            "data={\"text\": \"two\"})}, name = \"config--c-d-2\")\n"
            "    plan.render_templates(config = {\"unnamed\": struct(template=\"{{.text}}\", "
            "data={\"text\": \"three\"})}, name = \"config--unnamed\")\n"
            "    plan.add_service(name = \"a\", config = ServiceConfig(image=\"a\", files={"
            "\"/tmp/config--c-d\": \"config--c-d\", \"/tmp/config--c-d-2\": \"config--c-d-2\", "
            "\"/tmp/config--unnamed\": \"config--unnamed\", \"/x\": "
            "Directory(persistent_key=\"a-b\"), \"/y\": Directory(persistent_key=\"a-b-2\"), "
            "\"/z\": Directory(persistent_key=\"a-b-2\")}, files_to_be_moved={"
            "\"/tmp/config--c-d-2/c-d-2\": \"/c-d\", \"/tmp/config--c-d/c-d\": \"/c_d\", "
            "\"/tmp/config--unnamed/unnamed\": \"/___\"}))\n");
}

TEST_F(ComposeProgram, RightsNeedPrivileged) {
  const std::string text =
      "services:\n  a:\n    image: a\n    privileged: true\n    cap_add: [NET_ADMIN, SYS_ADMIN]\n"
      "    devices: ['/dev/fuse', '/dev/sda:/dev/x']\n";
  const Program made = program(text);
  EXPECT_NE(made.text.find("capabilities=[\"NET_ADMIN\"], devices=[\"/dev/fuse\"]))"),
            std::string::npos)
      << made.text;
  EXPECT_TRUE(has_warning(made, ":4:17: `privileged` is not given to the service"));
  EXPECT_TRUE(has_warning(made, "the capability `SYS_ADMIN` is not given"));
  EXPECT_TRUE(has_warning(made, "the device `/dev/sda:/dev/x` is not given"));
  const Program both =
      program("services:\n  a:\n    image: a\n    privileged: true\n    pid: host\n");
  EXPECT_TRUE(has_warning(both, ":4:17: `privileged` is not given"));
  EXPECT_TRUE(has_warning(both, ":5:10: `pid: host` is not given"));
  const Program allowed = program(text, true);
  EXPECT_NE(allowed.text.find("privileged=True"), std::string::npos);
  EXPECT_TRUE(allowed.warnings.empty());
}

TEST_F(ComposeProgram, ConditionsBecomeReadyConditions) {
  const Program made = program(
      "services:\n"
      "  web:\n    image: w\n    depends_on:\n      db: {condition: service_healthy}\n"
      "      job: {condition: service_completed_successfully}\n"
      "      plain: {condition: service_healthy}\n"
      "  db:\n    image: d\n    healthcheck: {test: pg_isready, interval: 2s, timeout: 3s, "
      "retries: 4, start_period: 500ms}\n"
      "  job: {image: j}\n  plain: {image: p}\n");
  EXPECT_NE(made.text.find("ready_conditions=ReadyCondition(recipe=ExecRecipe(command=["
                           "\"/bin/sh\", \"-c\", \"pg_isready\"]), field=\"code\", "
                           "assertion=\"==\", target_value=0, interval=\"2s\", "
                           "timeout=\"20500ms\")"),
            std::string::npos)
      << made.text;
  EXPECT_NE(made.text.find("name = \"job\", config = ServiceConfig(image=\"j\", "
                           "ready_conditions=ReadyCondition(recipe=ExitRecipe(), field=\"code\", "
                           "assertion=\"==\", target_value=0, timeout=\"24h\"))"),
            std::string::npos)
      << made.text;
  EXPECT_TRUE(has_warning(made, ":7:7: `plain` has no `healthcheck` in the project"));
}

TEST_F(ComposeProgram, BuildsConfigsAndSecrets) {
  write("api/Other", "FROM x");
  write("site.conf", "x");
  const Program made = program(
      "services:\n"
      "  api:\n    build: {context: ./api, dockerfile: Other, target: run, args: [V=1]}\n"
      "    configs: [{source: site, target: /etc/site}]\n    secrets: [pass_word]\n"
      "  given: {build: {context: ., dockerfile_inline: \"FROM a\\nRUN b\\n\"}}\n"
      "  again: {image: a, build: ., user: 'node:1000', working_dir: /w, extra_hosts: "
      "['a:1.2.3.4'], "
      "tmpfs: /run, init: false}\n"
      "configs: {site: {file: ./site.conf}}\n"
      "secrets: {pass_word: {environment: PASS}}\n");
  EXPECT_EQ(made.text,
            "def run(plan):\n"
            "    plan.add_service(name = \"again\", config = ServiceConfig(image=ImageBuildSpec("
            "image_name=\"a\", build_context_dir=\".\"), user=User(uid=\"node\", gid=1000), "
            "tini_enabled=False, working_dir=\"/w\", extra_hosts={\"a\": \"1.2.3.4\"}, "
            "tmpfs=[\"/run\"]))\n"
            "    plan.upload_files(src = \"./site.conf\", name = \"config--site\")\n"
            "    plan.render_templates(config = {\"pass-word\": struct(template=\"{{.secret}}\", "
            "data={\"secret\": \"hush\"})}, name = \"secret--pass-word\")\n"
            "    plan.add_service(name = \"api\", config = ServiceConfig(image=ImageBuildSpec("
            "image_name=\"api-image\", build_context_dir=\"./api\", build_file=\"Other\", "
            "target_stage=\"run\", build_args={\"V\": \"1\"}), files={\"/tmp/config--site\": "
            "\"config--site\", \"/tmp/secret--pass-word\": \"secret--pass-word\"}, "
            "files_to_be_moved={\"/tmp/config--site/site.conf\": \"/etc/site\", "
            "\"/tmp/secret--pass-word/pass-word\": \"/run/secrets/pass_word\"}))\n"
            "    plan.add_service(name = \"given\", config = ServiceConfig(image=ImageBuildSpec("
            "image_name=\"given-image\", build_context_dir=\".\", "
            "dockerfile_inline=\"FROM a\\nRUN b\\n\")))\n");
  EXPECT_EQ(made.hidden, std::vector<std::string>{"hush"});
}

TEST_F(ComposeProgram, BuildsTakeContextsAndSecrets) {
  write("keys/api", "file-of-a-secret\n");
  const Program made = program(
      "services:\n"
      "  app:\n    build:\n      context: .\n"
      "      additional_contexts: {lib: ../lib, base: 'service:zbase', tools: "
      "'docker-image://t:1', made: 'service:other'}\n"
      "      secrets: [pass_word, {source: api, target: key, mode: 256}]\n"
      "  other: {image: 'o:1'}\n"
      "  zbase: {build: ./base}\n"
      "secrets: {pass_word: {environment: PASS}, api: {file: ./keys/api}}\n");
  EXPECT_EQ(made.text,
            "def run(plan):\n"
            "    plan.add_service(name = \"other\", config = ServiceConfig(image=\"o:1\"))\n"
            "    plan.add_service(name = \"zbase\", config = ServiceConfig(image=ImageBuildSpec("
            "image_name=\"zbase-image\", build_context_dir=\"./base\")))\n"
            "    plan.add_service(name = \"app\", config = ServiceConfig(image=ImageBuildSpec("
            "image_name=\"app-image\", build_context_dir=\".\", additional_contexts={\"base\": "
            "\"docker-image://zbase-image\", \"lib\": \"../lib\", \"made\": "
            "\"docker-image://o:1\", \"tools\": \"docker-image://t:1\"}, secrets={\"key\": "
            "\"file-of-a-secret\\n\", \"pass_word\": \"hush\"})))\n");
  EXPECT_EQ(made.hidden, (std::vector<std::string>{"hush", "file-of-a-secret\n"}));
  EXPECT_TRUE(has_warning(made,
                          ":6:61: `mode` of `secrets` has no effect: the mount in the "
                          "Dockerfile says it"));
}

}  // namespace
}  // namespace fettle::compose

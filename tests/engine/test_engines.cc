#include "tests/engine/test_engines.h"

#include <csignal>
#include <thread>

#include <sys/wait.h>

#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/enclosure.h"
#include "drivers/engine/images.h"
#include "drivers/engine/private_podman.h"
#include "drivers/engine/probe.h"
#include "drivers/engine/subnets.h"

namespace fettle {
namespace {

constexpr int start_rounds = 1'000;
constexpr auto start_interval = 20ms;

EngineAddress at(const Path& socket) {
  return {.text = cat("unix://", socket.string()),
          .unix_socket = socket.string(),
          .base = "http://engine",
          .ssh = {}};
}

Status await_ping(const Path& socket) {
  HttpClient http;
  Engine engine(http, at(socket));
  Status answered = world_error("never asked");
  for (int i = 0; i < start_rounds; ++i) {
    if (file_exists(socket) && (answered = engine.ping({})))
      return {};
    std::this_thread::sleep_for(start_interval);
  }
  return answered;
}

}  // namespace

PrivatePodmanOptions TestEngine::podman_options() const {
  PrivatePodmanOptions options{.root = root_};
  if (!plain_registry_.empty())
    options.plain_registries.push_back(plain_registry_);
  return options;
}

Result<EngineAddress> TestEngine::start() {
  if (sort_ == Sort::podman)
    return at(TRY(PrivatePodman(podman_options()).start({})));
  return at(TRY(start_docker()));
}

Status TestEngine::stop(bool wipe) {
  return sort_ == Sort::podman ? PrivatePodman(podman_options()).stop(wipe, {}) : stop_docker(wipe);
}

Result<std::string> TestEngine::start_docker() {
  Enclosure enclosure(root_);
  const Descriptor lock = TRY(enclosure.lock({}));
  const Path socket = root_ / "engine.sock";
  if (enclosure.process("service"))
    return socket.string();
  TRY(enclosure.end());
  const auto pool = free_subnet(own_pools, 16, subnets_in_use(), hash64(root_.string()));
  TRY(write_file(root_ / "daemon.json", "{}"));
  TRY(remove_tree(root_ / "docker.pid"));
  TRY(remove_tree(socket));
  const ProcessResult rules = TRY(run_process({.arguments = {"iptables", "-S", "FORWARD"}}, {}));
  TRY(write_file(root_ / "forward", rules.output.substr(0, rules.output.find('\n'))));
  TRY(enclosure.start());
  const std::string root = root_.string();
  Invocation command;
  command.arguments = {"dockerd",
                       "--config-file",
                       root + "/daemon.json",
                       "--data-root",
                       root + "/root",
                       "--exec-root",
                       root + "/exec",
                       "--pidfile",
                       root + "/docker.pid",
                       "--host",
                       cat("unix://", socket.string()),
                       "--bridge",
                       "none",  // so that several can live on one machine
                       "--default-address-pool",
                       cat("base=", to_string(*pool), ",size=24")};
  const pid_t service = TRY(enclosure.start_inside(command, root_ / "engine.log"));
  TRY(enclosure.remember("service", service));
  TRY(await_ping(socket).context(cat("starting dockerd, see `", root, "/engine.log`")));
  return socket.string();
}

Status TestEngine::stop_docker(bool wipe) {
  Enclosure enclosure(root_);
  if (enclosure.process("service")) {
    HttpClient http;
    Engine engine(http, at(root_ / "engine.sock"));
    for (const ContainerState& container : TRY(list_containers(engine, {}, {})))
      TRY(remove_container(engine, container.id, {}));
    TRY(engine.ask({.method = "POST", .path = "/networks/prune"}, {}));
  }
  const bool ran = enclosure.is_alive();
  TRY(enclosure.end());
  // Docker leaves the machine without forwarding; the setting from before its start is restored.
  if (ran && read_file(root_ / "forward").value_or("") == "-P FORWARD ACCEPT")
    TRY(run_process({.arguments = {"iptables", "-P", "FORWARD", "ACCEPT"}}, {}));
  if (wipe)
    return remove_tree(root_);
  return {};
}

Status TestEngine::import(const Path& folder, const std::vector<std::string>& names) {
  return import_test_images(at(root_ / "engine.sock"), folder, names);
}

Status import_test_images(const EngineAddress& address, const Path& folder,
                          const std::vector<std::string>& names) {
  HttpClient http;
  Engine engine(http, address);
  for (const std::string& name : names) {
    const std::string reference = cat("localhost/fettle/", name, ":1");
    if (!TRY(image_id(engine, reference, {})).empty())
      continue;
    const std::string text = TRY(read_file(folder / cat(name, ".changes")));
    std::vector<std::string> changes;
    for (const std::string_view line : split(trim(text), '\n'))
      changes.emplace_back(line);
    ByteSource tar = TRY(source_of_file(folder / cat(name, ".tar")));
    TRY(import_image(engine, reference, changes, std::move(tar), {}));
  }
  return {};
}

Status drop_test_images(const EngineAddress& address, const std::vector<std::string>& names) {
  HttpClient http;
  Engine engine(http, address);
  for (const std::string& name : names) {
    const EngineAnswer answer = TRY(
        engine.ask({.method = "DELETE", .path = cat("/images/localhost/fettle/", name, ":1")}, {}));
    if (!answer.ok() && answer.status != 404)
      return engine_error(answer);
  }
  return {};
}

Result<std::unique_ptr<TestRegistry>> TestRegistry::start(const Path& root, int port,
                                                          const Rules& rules) {
  TRY(make_directories(root / "data"));
  const std::string tls = rules.tls_folder.string();
  const std::string more =
      tls.empty() ? "" : cat(", tls: {certificate: ", tls, "/cert.pem, key: ", tls, "/key.pem}");
  // bcrypt of `secret-word`
  TRY(write_file(root / "users",
                 "bob:$2b$04$abcdefghijklmnopqrstuujV0zJ3tj1V5vPQQ5i8Bd/sbbeTbZTaC\n"));
  const std::string auth =
      rules.login ? cat("auth: {htpasswd: {realm: test, path: ", root.string(), "/users}}\n") : "";
  TRY(write_file(root / "registry.yml",
                 cat("version: 0.1\nstorage: {filesystem: {rootdirectory: ", root.string(),
                     "/data}, delete: {enabled: true}}\nhttp: {addr: \"127.0.0.1:", port, "\"",
                     more, "}\n", auth, "log: {level: warn, accesslog: {disabled: true}}\n")));
  Invocation command;
  command.arguments = {"docker-registry", "serve", (root / "registry.yml").string()};
  const pid_t pid = TRY(start_detached(command, root / "registry.log"));
  std::unique_ptr<TestRegistry> registry(new TestRegistry(pid));
  HttpClient http;
  for (int i = 0; i < start_rounds; ++i) {
    if (http.send({.url = cat(tls.empty() ? "http" : "https", "://127.0.0.1:", port, "/v2/"),
                   .tls = {.trusts_anybody = true}},
                  {}))
      return registry;
    std::this_thread::sleep_for(start_interval);
  }
  return world_error("the registry does not answer");
}

TestRegistry::~TestRegistry() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

Result<std::unique_ptr<TestSshServer>> TestSshServer::start(const Path& root, int port,
                                                            const std::string& variables) {
  const std::string at = root.string();
  TRY(make_directories(root / "client"));
  for (const char* key : {"host", "user"}) {
    const ProcessResult made = TRY(run_process(
        {.arguments = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", cat(at, "/", key)}},
        {}));
    if (made.code != 0)
      return world_error(cat("cannot make a key: ", made.errors));
  }
  TRY(write_file(root / "authorized", TRY(read_file(root / "user.pub"))));
  TRY(write_file(root / "sshd_config",
                 cat("Port ", port, "\nListenAddress 127.0.0.1\nHostKey ", at,
                     "/host\nPidFile none\nAuthorizedKeysFile ", at,
                     "/authorized\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
                     "SetEnv ",
                     variables, "\n")));
  TRY(write_file(root / "ssh_config", cat("Host *\n  IdentityFile ", at,
                                          "/user\n  IdentitiesOnly yes\n  "
                                          "UserKnownHostsFile ",
                                          at, "/known\n  StrictHostKeyChecking accept-new\n")));
  TRY(write_file(root / "client/ssh",
                 cat("#!/bin/sh\nexec ", find_program("ssh"), " -F ", at, "/ssh_config \"$@\"\n"),
                 0755));
  const bool made_run = !file_exists("/run/sshd");
  TRY(make_directories("/run/sshd"));
  Invocation command;
  command.arguments = {"/usr/sbin/sshd", "-D", "-e", "-f", at + "/sshd_config"};
  const pid_t pid = TRY(start_detached(command, root / "sshd.log"));
  std::unique_ptr<TestSshServer> server(new TestSshServer(root, pid, made_run));
  for (int i = 0; i < start_rounds; ++i) {
    if (accepts_connections("127.0.0.1", port, 1s))
      return server;
    std::this_thread::sleep_for(start_interval);
  }
  return world_error("sshd does not answer");
}

TestSshServer::~TestSshServer() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  if (made_run_)
    static_cast<void>(remove_tree("/run/sshd"));
}

}  // namespace fettle

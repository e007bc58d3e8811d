#include "drivers/engine/private_podman.h"

#include <algorithm>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include "base/hash.h"
#include "base/http.h"
#include "base/text.h"
#include "base/wait.h"
#include "drivers/engine/enclosure.h"
#include "drivers/engine/prerequisites.h"
#include "drivers/engine/subnets.h"

namespace fettle {
namespace {

constexpr Duration start_limit = 20s;
constexpr size_t longest_socket = 107;  ///< of a unix socket's path, as the kernel has it
constexpr uint64_t usual_files = 1'048'576;

struct Package {
  std::string_view program, name;
};
constexpr Package packages[] = {
    {"podman", "podman"},       {"runc", "runc"},
    {"conmon", "conmon"},       {"/usr/lib/podman/netavark", "netavark"},
    {"iptables", "iptables"},   {"/usr/lib/podman/aardvark-dns", "aardvark-dns"},
    {"catatonit", "catatonit"},
};

/// The folder of all that does not outlive the engine, in its own `/run`: Podman wants a path of at
/// most 50 letters.
std::string run_root(const Path& root) {
  return geteuid() == 0 ? "/run/containers" : root.string() + "/run";
}

uint64_t hash_of(const Path& root) { return hash64(root.string()); }

/// `hard:hard`, but no more than `most`.
std::string limit_text(int resource, uint64_t most) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource>(resource), &limit);
  const uint64_t hard =
      limit.rlim_max == RLIM_INFINITY ? most : std::min<uint64_t>(limit.rlim_max, most);
  return cat(hard, ":", hard);
}

bool answers(const Path& socket, Duration limit, const std::stop_token& stop) {
  HttpClient client;
  const auto answer = client.send({.url = "http://engine/_ping",
                                   .unix_socket = socket.string(),
                                   .connect_limit = limit,
                                   .time_limit = limit},
                                  stop);
  return answer && answer->status == 200;
}

std::string last_lines(const Path& path, size_t count) {
  const std::string text = read_file(path).value_or("");
  std::vector<std::string_view> lines = split(trim(text), '\n');
  lines.erase(lines.begin(), lines.end() - static_cast<long>(std::min(count, lines.size())));
  std::string last;
  for (const std::string_view line : lines)
    last += cat(last.empty() ? "" : "\n", line);
  return last;
}

}  // namespace

std::vector<std::string> PrivatePodman::missing_packages() {
  std::vector<std::string> missing;
  for (const Package& package : packages)
    if (find_program(package.program).empty())
      missing.emplace_back(package.name);
  return missing;
}

bool PrivatePodman::is_running(const std::stop_token& stop) const {
  return Enclosure(options_.root).process("service") && answers(socket(), 5s, stop);
}

/// A /16 for all networks of this engine, chosen once: existing networks must stay valid.
Result<std::string> PrivatePodman::choose_pool() const {
  const Path file = options_.root / "subnet";
  if (const auto chosen = read_file(file); chosen && parse_subnet(trim(*chosen)))
    return std::string(trim(*chosen));
  const auto pool = free_subnet(own_pools, 16, subnets_in_use(), hash_of(options_.root));
  if (!pool)
    return no_free_subnet(own_pools, 16);
  TRY(write_file(file, to_string(*pool)));
  return to_string(*pool);
}

Status PrivatePodman::write_settings(const std::string& pool) const {
  const std::string root = options_.root.string();
  const uint32_t base = parse_subnet(pool)->address;
  const std::string first = cat(address_text(base), "/24"), gateway = address_text(base + 1);
  const std::string processes = read_file("/proc/sys/kernel/pid_max").value_or("32768");
  const uint64_t most_processes = std::strtoull(processes.c_str(), nullptr, 10);
  TRY(make_directories(options_.root / "networks"));
  // Without this file, the default bridges of all engines have the same name and range.
  TRY(write_file(options_.root / "networks/podman.json",
                 cat("{\"name\": \"podman\", \"id\": \"", sha256_hex("podman"),
                     "\", \"driver\": \"bridge\", \"network_interface\": \"fe",
                     to_string(fingerprint(root)).substr(0, 12),
                     "\", \"subnets\": [{\"subnet\": \"", first, "\", \"gateway\": \"", gateway,
                     "\"}], \"ipam_options\": {\"driver\": \"host-local\"}}\n")));
  // `nproc` must not exceed pid_max, since Podman lowers its own limit to that. When the file of
  // events is rotated, old ones are sent again. An exec leaves two processes for
  // `exit_command_delay` seconds.
  TRY(write_file(options_.root / "containers.conf",
                 cat(R"([containers]
default_ulimits = ["nofile=)",
                     limit_text(RLIMIT_NOFILE, usual_files), R"(", "nproc=)",
                     limit_text(RLIMIT_NPROC, most_processes), R"("]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
events_logfile_path = ")",
                     root, R"(/events.log"
events_logfile_max_size = "1g"
exit_command_delay = 20
lock_type = "file"
tmp_dir = ")",
                     run_root(options_.root), R"(/libpod"
volume_path = ")",
                     root, R"(/root/volumes"
[network]
network_backend = "netavark"
network_config_dir = ")",
                     root, R"(/networks"
default_subnet = ")",
                     first, R"("
default_subnet_pools = [{base = ")",
                     pool, R"(", size = 24}]
)")));
  std::vector<std::string> registries{"127.0.0.1:5000", "localhost:5000"};
  registries.insert(registries.end(), options_.plain_registries.begin(),
                    options_.plain_registries.end());
  std::string text;
  for (const std::string& registry : registries)
    text += cat("[[registry]]\nlocation = \"", registry, "\"\ninsecure = true\n");
  return write_file(options_.root / "registries.conf", text);
}

Invocation PrivatePodman::podman(const std::vector<std::string>& arguments) const {
  const std::string root = options_.root.string();
  Invocation command{
      .arguments = {"podman", "--root", root + "/root", "--runroot", run_root(options_.root)}};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.environment = {{"CONTAINERS_CONF", root + "/containers.conf"},
                         {"CONTAINERS_REGISTRIES_CONF", root + "/registries.conf"},
                         {"FETTLE_ENGINE", root}};
  // With one of these variables, Podman talks to another one.
  command.without = {"CONTAINER_HOST", "CONTAINER_CONNECTION"};
  command.is_own = true;
  return command;
}

Result<std::string> PrivatePodman::start(std::stop_token stop) {
  if (options_.root.string().starts_with("/run/"))
    return user_error(cat("a private Podman cannot run in `", options_.root.string(),
                          "`: it has its own `/run`"));
  if (socket().string().size() > longest_socket)
    return user_error(cat("the path `", socket().string(), "` is too long for a socket"));
  if (const auto missing = missing_packages(); !missing.empty())
    return world_error(
        cat("a private Podman needs programs that are not installed: `apt-get "
            "install --no-install-recommends ",
            join(missing, " "), "`"));
  if (is_in_chroot())
    return world_error(no_chroot);
  const Enclosure enclosure(options_.root);
  const Descriptor lock = TRY(enclosure.lock(stop));
  if (is_running(stop))
    return socket().string();
  if (stop.stop_requested())  // then it is not known whether it runs
    return cancelled_error();
  const std::string pool = TRY(choose_pool());
  TRY(write_settings(pool));
  if (geteuid() == 0 && !enclosure.is_alive()) {
    TRY(Enclosure(options_.root).start());
  }
  if (const auto old = enclosure.process("service")) {
    kill(*old, SIGTERM);  // it is ours and does not answer
    for (int i = 0; i < 40 && enclosure.process("service"); ++i)
      TRY(pause_for(50ms, stop));
  }
  TRY(remove_tree(socket()));
  const Invocation command =
      podman({"system", "service", "--time", "0", cat("unix://", socket().string())});
  const Path log = options_.root / "engine.log";
  const pid_t service = geteuid() == 0 ? TRY(enclosure.start_inside(command, log))
                                       : TRY(start_detached(command, log));
  TRY(enclosure.remember("service", service));
  TRY(await_answer(service, stop));
  return socket().string();
}

Status PrivatePodman::await_answer(pid_t service, std::stop_token stop) const {
  const auto deadline = std::chrono::steady_clock::now() + start_limit;
  for (Duration pause = 5ms; std::chrono::steady_clock::now() < deadline;) {
    if (file_exists(socket()) && answers(socket(), 2s, stop))
      return {};
    if (waitpid(service, nullptr, WNOHANG) == service)
      break;
    TRY(pause_for(pause, stop));
    pause = std::min<Duration>(pause * 2, 50ms);
  }
  return world_error(cat("the private Podman (process ", service, ") does not answer; the end of `",
                         (options_.root / "engine.log").string(),
                         "` is: ", last_lines(options_.root / "engine.log", 5)));
}

Status PrivatePodman::stop(bool wipe, std::stop_token stop) {
  if (!file_exists(options_.root))
    return {};
  Enclosure enclosure(options_.root);
  const Descriptor lock = TRY(enclosure.lock(stop));
  // Runs the command instead of asking the service: containers outlive a service that crashed.
  Invocation end = podman(wipe ? std::vector<std::string>{"rm", "--all", "--force", "--time", "0"}
                               : std::vector<std::string>{"stop", "--all", "--time", "10"});
  end.time_limit = 120s;
  const std::string doing =
      cat(wipe ? "removing" : "stopping", " the containers of `", options_.root.string(), "`");
  if (enclosure.is_alive())
    (void)TRY(enclosure.run(end, stop).context(doing));
  else if (geteuid() != 0)
    (void)TRY(run_process(end, stop).context(doing));
  TRY(enclosure.end());
  for (const char* const name : {"holder.pid", "service.pid", "engine.sock"})
    TRY(remove_tree(options_.root / name));
  if (wipe)
    TRY(remove_tree(options_.root));
  return {};
}

}  // namespace fettle

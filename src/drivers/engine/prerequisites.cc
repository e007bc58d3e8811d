#include "drivers/engine/prerequisites.h"

#include <fcntl.h>
#include <pwd.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "base/text.h"
#include "drivers/engine/private_podman.h"

namespace fettle {
namespace {

constexpr const char* groups = "/sys/fs/cgroup";
constexpr long type_of_groups = 0x63677270, type_of_memory = 0x01021994;  // cgroup2, tmpfs

std::string user_name() {
  const passwd* const user = getpwuid(geteuid());
  return user == nullptr ? std::to_string(geteuid()) : user->pw_name;
}

void look_at_groups(std::vector<std::string>& lacks) {
  struct statfs about{};
  const bool are_there = statfs(groups, &about) == 0 &&
                         (about.f_type == type_of_groups || about.f_type == type_of_memory);
  if (!are_there)
    lacks.push_back(cat("no control groups are mounted at `", groups,
                        "`: mount them, or use an engine of another machine by `--engine`"));
  else if (geteuid() == 0 && access(groups, W_OK) != 0)
    lacks.push_back(cat("the control groups at `", groups,
                        "` cannot be written: remount them, or run outside of this container"));
}

/// Looks for what Podman needs beside itself without root.
void look_at_user(std::vector<std::string>& lacks) {
  if (find_program("slirp4netns").empty() && find_program("pasta").empty())
    lacks.emplace_back(
        "networks without root need slirp4netns or pasta: `apt-get install slirp4netns`");
  if (find_program("newuidmap").empty())
    lacks.emplace_back("users of containers without root need newuidmap: `apt-get install uidmap`");
  const std::string user = user_name();
  for (const char* file : {"/etc/subuid", "/etc/subgid"})
    if (!has_id_range(read_file(file).value_or(""), user, geteuid()))
      lacks.push_back(cat("`", file, "` has no range for `", user,
                          "`: `usermod --add-subuids 100000-165535 --add-subgids 100000-165535 ",
                          user, "`, as root"));
}

}  // namespace

bool has_id_range(std::string_view text, std::string_view user, unsigned id) {
  const std::string number = std::to_string(id);
  for (const std::string_view line : split(text, '\n')) {
    const auto parts = split(line, ':');
    if (parts.size() == 3 && (parts[0] == user || parts[0] == number) && parts[2] != "0" &&
        !trim(parts[2]).empty())
      return true;
  }
  return false;
}

bool is_in_chroot() {
  struct stat ours{};
  const Descriptor own(open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
  if (own.get() < 0 || stat("/", &ours) != 0)
    return false;
  const pid_t child = fork();
  if (child == 0) {
    // Whoever enters a namespace, even its own, stands at its root.
    struct stat first{};
    const bool is_known = setns(own.get(), CLONE_NEWNS) == 0 && stat("/", &first) == 0;
    _exit(is_known && (ours.st_dev != first.st_dev || ours.st_ino != first.st_ino) ? 1 : 0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 1;
}

std::vector<std::string> private_engine_lacks() {
  std::vector<std::string> lacks;
  if (const std::vector<std::string> missing = PrivatePodman::missing_packages(); !missing.empty())
    lacks.push_back(
        cat("a private Podman needs packages: `apt-get install "
            "--no-install-recommends ",
            join(missing, " "), "`"));
  if (is_in_chroot())
    lacks.emplace_back(no_chroot);
  look_at_groups(lacks);
  if (geteuid() != 0)
    look_at_user(lacks);
  return lacks;
}

}  // namespace fettle

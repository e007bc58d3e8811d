#include "cli/acts_door.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "base/text.h"

namespace fettle {
namespace {

struct ActOfKind {
  std::string_view kind, act;
};
constexpr std::array<ActOfKind, 6> acts_of_kinds{{{"file", "files"},
                                                  {"folder", "files"},
                                                  {"link", "files"},
                                                  {"command", "commands"},
                                                  {"handled", "handlers"},
                                                  {"state", "states"}}};

std::vector<std::string> variables_without_token() {
  std::vector<std::string> kept;
  for (char** one = environ; *one != nullptr; ++one)
    if (!std::string_view(*one).starts_with("FETTLE_TOKEN="))
      kept.emplace_back(*one);
  return kept;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// A session of its own: a signal from the terminal ends the agent, and with it the line.
Result<pid_t> spawn(int socket, std::vector<std::string> words) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, socket, STDOUT_FILENO);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &all);
  posix_spawnattr_setflags(&how,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> variables = variables_without_token();
  pid_t process = -1;
  const int failure = posix_spawn(&process, "/proc/self/exe", &files, &how,
                                  pointers_to(words).data(), pointers_to(variables).data());
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  if (failure != 0)
    return world_error(cat("cannot start what acts here: ", lower_case(std::strerror(failure))));
  return process;
}

}  // namespace

const std::vector<std::string>& known_acts() {
  static const std::vector<std::string> all{"engine", "files", "commands", "handlers", "states"};
  return all;
}

Result<std::set<std::string>> read_acts(const std::string& words) {
  std::set<std::string> acts;
  for (const std::string_view word : split(words, ',')) {
    if (std::ranges::find(known_acts(), word) == known_acts().end())
      return user_error(cat("`--acts` is a list of ", join(known_acts(), ", "), ", and `", word,
                            "` is none of them", suggestion(word, known_acts())));
    acts.emplace(word);
  }
  return acts;
}

std::string_view act_of_kind(std::string_view kind) {
  const auto found = std::ranges::find(acts_of_kinds, kind, &ActOfKind::kind);
  return found == acts_of_kinds.end() ? std::string_view() : found->act;
}

Result<Descriptor> start_acting(const std::set<std::string>& acts) {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return world_error(cat("cannot make a socket: ", lower_case(std::strerror(errno))));
  Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  std::vector<std::string> words{"fettle", "__acts"};
  words.insert(words.end(), acts.begin(), acts.end());
  const pid_t process = TRY(spawn(theirs.get(), std::move(words)));
  std::thread([process] { waitpid(process, nullptr, 0); }).detach();
  return ours;
}

}  // namespace fettle

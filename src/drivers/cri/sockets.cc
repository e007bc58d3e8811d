#include "drivers/cri/sockets.h"

#include <algorithm>
#include <array>
#include <set>

#include <sys/stat.h>

#include "base/text.h"

namespace fettle::cri {
namespace {

constexpr std::array<std::string_view, 10> places{
    "containerd/containerd.sock",
    "containerd.sock",
    "crio/crio.sock",
    "crio.sock",
    "cri-dockerd.sock",
    "cri-dockerd/cri-dockerd.sock",
    "k3s/containerd/containerd.sock",  // RKE2, too
    "k3s/cri-dockerd/cri-dockerd.sock",
    "k0s/containerd.sock",
    "k0s/run/containerd.sock",
};
constexpr std::string_view snap_place = "microk8s/common/run/containerd.sock";

bool is_digit_of_version(char c) { return c >= '0' && c <= '9'; }

/// The leading `1.6.20` of a version; empty: it begins with no number.
std::string_view numbers_of(std::string_view version) {
  size_t end = 0;
  while (end < version.size() && (is_digit_of_version(version[end]) ||
                                  (version[end] == '.' && end > 0 && end + 1 < version.size() &&
                                   is_digit_of_version(version[end + 1]))))
    ++end;
  return version.substr(0, end);
}

/// What may follow the numbers in a semantic version: `-rc.1`, `+k3s1`, both. Else it is left out.
bool is_semantic_rest(std::string_view rest) {
  const auto is_part = [](std::string_view words) {
    for (const std::string_view word : split(words, '.'))
      if (word.empty() || !std::ranges::all_of(word, [](char c) {
            return is_digit_of_version(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                   c == '-';
          }))
        return false;
    return true;
  };
  const size_t plus = rest.find('+');
  const std::string_view before = rest.substr(0, plus);
  if (!before.empty() && (before[0] != '-' || !is_part(before.substr(1))))
    return false;
  return plus == rest.npos || is_part(rest.substr(plus + 1));
}

}  // namespace

std::vector<Path> existing_sockets(const Path& run_folder, const Path& snap_folder) {
  std::vector<Path> candidates;
  for (const std::string_view place : places)
    candidates.push_back(run_folder / place);
  candidates.push_back(snap_folder / snap_place);
  std::set<std::pair<dev_t, ino_t>> known;
  std::vector<Path> found;
  for (Path& path : candidates) {
    struct stat about{};
    if (stat(path.c_str(), &about) == 0 && S_ISSOCK(about.st_mode) &&
        known.emplace(about.st_dev, about.st_ino).second)
      found.push_back(std::move(path));
  }
  return found;
}

std::string runtime_as_kubelets_tell(const RuntimeVersion& version) {
  std::string_view text = trim(version.version);
  if (text.starts_with('v'))
    text.remove_prefix(1);
  const std::string_view numbers = numbers_of(text);
  const bool is_semantic = std::ranges::count(numbers, '.') == 2;
  const std::string_view rest = text.substr(numbers.size());
  const bool keeps_rest = is_semantic && is_semantic_rest(rest);
  return cat(version.name, "://", numbers, keeps_rest ? rest : "");
}

std::vector<SocketAnswer> ask_sockets(HttpClient& http, const std::vector<Path>& sockets,
                                      const std::stop_token& stop) {
  std::vector<SocketAnswer> answers;
  for (const Path& socket : sockets)
    answers.push_back({socket, Client(http, socket).version(stop)});
  return answers;
}

Result<Path> choose_socket(const std::vector<SocketAnswer>& answers, std::string_view told) {
  std::vector<Path> alike;
  std::vector<std::string> seen;
  for (const SocketAnswer& answer : answers) {
    const std::string said = answer.version ? runtime_as_kubelets_tell(*answer.version)
                                            : printable(answer.version.error().message);
    seen.push_back(cat("`", answer.socket.string(), "`: ", said));
    if (answer.version && said == told)
      alike.push_back(answer.socket);
  }
  if (alike.size() == 1)
    return alike.front();
  const std::string name =
      told.empty() ? std::string("of an unknown version") : cat("`", told, "`");
  if (alike.size() > 1)
    return world_error(cat("the kubelet works with the runtime ", name,
                           ", and two sockets are of such a one: `", alike[0].string(), "` and `",
                           alike[1].string(), "`; name the right one with `--socket-file`"));
  if (seen.empty())
    return world_error(
        cat("there is no socket of a container runtime where they usually are; the "
            "kubelet works with one ",
            name, "; name its socket with `--socket-file`"));
  return world_error(cat("the kubelet works with the runtime ", name,
                         ", and no socket is of it: ", join(seen, ", ")));
}

}  // namespace fettle::cri

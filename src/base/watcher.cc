#include "base/watcher.h"

#include <array>
#include <filesystem>

#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fettle {
namespace {

constexpr size_t most_watched = 10'000;
/// A file that is being written is not reported before it is closed: otherwise a log would be
/// reported all the time.
constexpr uint32_t changes = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE |
                             IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

bool is_path(const std::string& what) { return what.starts_with('/'); }

/// The last folder on the way to a path that is there.
std::string nearest_folder(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  while (!std::filesystem::is_directory(folder, ignored) && folder.has_relative_path())
    folder = folder.parent_path();
  return folder;
}

/// The name below the folder that leads to a path.
std::string next_name(const std::string& folder, const std::string& path) {
  const size_t begin = folder == "/" ? 1 : folder.size() + 1;
  return path.substr(begin, path.find('/', begin) - begin);
}

}  // namespace

Watcher::Watcher()
    : bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      notices_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {}

std::string normal_path(const std::string& path) {
  std::string normal = std::filesystem::path(path).lexically_normal();
  while (normal.size() > 1 && normal.ends_with('/'))
    normal.pop_back();
  return normal;
}

void Watcher::add_path(std::string path) {
  path = normal_path(path);
  if (!is_path(path))
    return;
  const std::lock_guard lock(mutex_);
  if (known_.size() < most_watched && known_.insert(path).second) {
    new_.insert(std::move(path));
    ring();
  }
}

void Watcher::add_process(int process) {
  const std::lock_guard lock(mutex_);
  if (process > 0 && known_.size() < most_watched &&
      known_.insert(std::to_string(process)).second) {
    new_.insert(std::to_string(process));
    ring();
  }
}

void Watcher::ring() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(bell_.get(), &one, sizeof one);
}

std::set<std::string> Watcher::added() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(bell_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return std::exchange(new_, {});
}

void Watcher::watch_path(const std::string& path) {
  // A change between the two calls is seen by the next look.
  for (std::string folder, nearest; (nearest = nearest_folder(path)) != folder;) {
    folder = nearest;
    const int number = inotify_add_watch(notices_.get(), folder.c_str(), changes);
    if (number < 0)
      continue;
    folders_[number].path = folder;
    folders_[number].watched.insert(path);
  }
}

void Watcher::watch_process(const std::string& number) {
  Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, std::stoi(number), 0)));
  if (process.is_open())
    processes_[number] = std::move(process);
}

/// The paths that the notices tell of. Of what leads to a path it is looked for what is nearer now.
std::set<std::string> Watcher::changed() {
  std::set<std::string> told;
  alignas(inotify_event) std::array<char, 16'384> buffer;
  for (ssize_t size = 0; (size = read(notices_.get(), buffer.data(), buffer.size())) > 0;) {
    for (size_t at = 0; at < static_cast<size_t>(size);) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += sizeof(inotify_event) + event->len;
      const auto folder = folders_.find(event->wd);
      if (folder == folders_.end())
        continue;
      const bool is_gone = (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0;
      const std::string name(event->len > 0 ? event->name : "");
      for (const std::string& path : folder->second.watched)
        if (is_gone || next_name(folder->second.path, path) == name)
          told.insert(path);
      if (is_gone) {
        inotify_rm_watch(notices_.get(), event->wd);
        folders_.erase(folder);
      }
    }
  }
  for (const std::string& path : told)
    watch_path(path);
  return told;
}

void Watcher::run(const std::function<void(const std::string& what)>& tell, std::stop_token stop) {
  Poller poller(std::move(stop));
  while (true) {
    for (const std::string& what : added()) {
      is_path(what) ? watch_path(what) : watch_process(what);
      tell(what);
    }
    std::vector<pollfd> waited{{bell_.get(), POLLIN, 0}, {notices_.get(), POLLIN, 0}};
    for (const auto& [number, process] : processes_)
      waited.push_back({process.get(), POLLIN, 0});
    if (!poller.wait(waited, for_ever))
      return;
    for (const std::string& path : changed())
      tell(path);
    size_t at = 2;
    std::erase_if(processes_, [&](const auto& process) {
      const bool has_ended = waited[at++].revents != 0;
      if (has_ended)
        tell(process.first);
      return has_ended;
    });
  }
}

std::optional<WriteNotices> WriteNotices::open(const std::string& path) {
  const std::filesystem::path file(path);
  Descriptor notices(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!notices.is_open() || inotify_add_watch(notices.get(), file.parent_path().c_str(),
                                              IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) < 0)
    return std::nullopt;
  return WriteNotices(std::move(notices), file.filename());
}

Result<bool> WriteNotices::wait(Poller& poller, Duration limit) {
  const auto began = std::chrono::steady_clock::now();
  while (true) {
    pollfd waited{notices_.get(), POLLIN, 0};
    const Duration left = limit > Duration::zero() ? left_of(limit, began) : limit;
    if (TRY(poller.wait(std::span(&waited, 1), left)) == 0)
      return false;
    if (take())
      return true;
  }
}

bool WriteNotices::take() {
  bool is_written = false;
  alignas(inotify_event) std::array<char, 16'384> buffer;
  for (ssize_t size = 0; (size = read(notices_.get(), buffer.data(), buffer.size())) > 0;)
    for (size_t at = 0; at < static_cast<size_t>(size);) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += sizeof(inotify_event) + event->len;
      is_written |= (event->mask & IN_Q_OVERFLOW) != 0 || (event->len > 0 && name_ == event->name);
    }
  return is_written;
}

}  // namespace fettle

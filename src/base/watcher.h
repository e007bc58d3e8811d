#pragma once
/// Tells when a path comes, changes or goes, and when a process ends. What it tells may be late,
/// doubled or, when the system refuses, missing.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "base/file.h"
#include "base/wait.h"

namespace fettle {

/// The path in the form in which it is reported: without `.`, `..` and a last slash.
std::string normal_path(const std::string& path);

class Watcher {
 public:
  Watcher();

  /// An absolute path, which need not be there. From any thread, as all of these.
  void add_path(std::string path);
  void add_process(int process);

  /// Reports changed paths and processes (by number) until a stop is asked for. An added one is
  /// reported once at once, since it may have changed after somebody looked.
  void run(const std::function<void(const std::string& what)>& tell, std::stop_token stop);

 private:
  struct Folder {
    std::string path;
    std::set<std::string> watched;  ///< paths that it is the nearest folder of
  };

  void ring();
  std::set<std::string> added();
  void watch_path(const std::string& path);
  void watch_process(const std::string& number);
  std::set<std::string> changed();

  Descriptor bell_, notices_;
  std::mutex mutex_;
  std::set<std::string> known_, new_;  ///< paths, and numbers of processes

  // Used only by the thread that runs.
  std::map<int, Folder> folders_;                ///< by the number of the notices
  std::map<std::string, Descriptor> processes_;  ///< that have not ended, by number
};

/// Notices of writes to a file that others keep open, which `Watcher` leaves out. The file need not
/// be there; its folder has to be.
class WriteNotices {
 public:
  /// None: the system refuses.
  static std::optional<WriteNotices> open(const std::string& path);
  /// Waits for a write since the last call. False: the limit is over before. Errors are those of the
  /// poller.
  Result<bool> wait(Poller& poller, Duration limit);

 private:
  WriteNotices(Descriptor notices, std::string name)
      : notices_(std::move(notices)), name_(std::move(name)) {}
  /// Takes the notices that are there. Whether one is of the file.
  bool take();

  Descriptor notices_;
  std::string name_;  ///< of the file in its folder
};

}  // namespace fettle

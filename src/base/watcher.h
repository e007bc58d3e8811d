#pragma once
/// Tells when a path comes, changes or goes, and when a process ends. What it tells may be late,
/// doubled or, when the system refuses, missing.

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>

#include "base/file.h"

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

/// Calls `tell` when something is written to a file that others keep open, which `Watcher` leaves
/// out, until a stop is asked for. The file need not be there; its folder has to be. False at once:
/// the system refuses.
bool watch_writes(const std::string& path, const std::function<void()>& tell, std::stop_token stop);

}  // namespace fettle

#pragma once
/// Reads the files of a compose project as one: with variables filled in, with the files that they
/// include and extend, and merged.
///
/// Anybody may have written them, so nothing outside the folder is read, circles are found, and the
/// size of all parts together is limited: a chain of `extends` with lists that grow at each step
/// would otherwise turn a small file into gigabytes.

#include <functional>
#include <map>
#include <set>

#include "base/closed_folder.h"
#include "packages/compose/interpolation.h"

namespace fettle::compose {

/// Warnings with their places; one about several places is told once.
class Notes {
 public:
  void add(const Where& where, std::string message);
  /// In the order in which they were found: `compose.yml:3:5: … (also in line 9)`.
  std::vector<std::string> texts() const;

 private:
  struct Note {
    std::string message;
    std::vector<Where> places;
  };
  std::vector<Note> notes_;
  std::map<std::string, size_t> by_message_;
  std::set<std::string> told_;  ///< place and message
};

/// A file of the project that was named, or found.
struct ProjectFile {
  std::string path;                   ///< from the folder of the project
  std::optional<std::string> text{};  ///< of a file that is elsewhere
};

struct ProjectRequest {
  ClosedFolder folder{Path()};  ///< out of which nothing is read
  std::string inside{};         ///< the project's own folder in it
  std::string name{};           ///< of the project, for its variables
  std::vector<ProjectFile> files{};
  std::vector<std::string> profiles{};
  Variables outside{};          ///< of who runs it; they count before those of a `.env`
  bool has_env_file = false;    ///< `outside` has what an `--env-file` says: `.env` is not read
  bool takes_override = false;  ///< a `compose.override.yml` beside the only file counts, too
  bool allows_privileged = false;
  std::function<std::string(const std::string& path)> shown{};  ///< how a file is called
};

/// A path from the project's folder, as one in `folder`; one that leads out of it begins with `..`
/// or is no relative path.
std::string path_in_folder(const ProjectRequest& request, const std::string& path);
/// A file from the project's folder.
Result<std::string> read_project_file(const ProjectRequest& request, const std::string& path);
/// Its name in messages.
std::string shown_file(const ProjectRequest& request, const std::string& path);

struct LoadedProject {
  Node document{};
  Variables variables{};  ///< what `$NAME` means
};

/// Errors (`Blame::user`) have file, line and column.
Result<LoadedProject> load_project(const ProjectRequest& request, Notes& notes);

}  // namespace fettle::compose

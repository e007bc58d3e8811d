#pragma once
/// Paths as their user has them. A command that runs for somebody elsewhere works in a copy of his
/// files, which may be another copy each time: what is remembered of a path is the path at his place.

#include <string>
#include <string_view>

namespace fettle {

/// The folder that stands for `/` of the user, set once before anything is read. Empty: paths are
/// the user's own.
inline std::string& root_of_copies() {
  static std::string root;
  return root;
}

inline std::string user_path(std::string path) {
  const std::string& root = root_of_copies();
  if (!root.empty() && path.starts_with(root) &&
      (path.size() == root.size() || path[root.size()] == '/'))
    path.erase(0, root.size());
  return path;
}

}  // namespace fettle

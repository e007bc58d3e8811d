#pragma once
/// A Dockerfile as far as it decides what a build depends on: which images it is made from, and
/// what a builder must be able to do.
///
/// A builder would find all that, too, but only once the whole context was sent, and it would pull
/// images by itself: past our logins, and without a word about what changed. So the file is read
/// here. Commands in it are not judged; a builder says what is wrong with them.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fettle {

/// An image that the wanted stage is made from or takes files of.
struct BaseImage {
  std::string reference;
  int line = 0;
};

struct Dockerfile {
  std::vector<BaseImage> bases;  ///< each once, in the order of the file; no `scratch`
  int heredoc_line = 0;  ///< the first here-document of a stage that is needed; 0: there is none
  /// The text as it is sent: without the directive `syntax`, since an engine would pull the front
  /// end that it names, and without here-documents of stages that are not needed. Its lines stay
  /// where they are.
  std::string sent;
};

/// The stage `target` (empty: the last one) of a Dockerfile and what it needs. `arguments` fill
/// those that stand before the first FROM. Errors (`Blame::user`), with the place: no FROM, an
/// image without a name, no such stage, a front end of somebody else, a here-document without end,
/// mounts of secrets.
Result<Dockerfile> read_dockerfile(std::string_view text, const std::string& file,
                                   std::string_view target,
                                   const std::map<std::string, std::string>& arguments);

}  // namespace fettle

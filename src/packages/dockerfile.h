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

/// A secret that a command sees as a file while it runs.
struct SecretMount {
  std::string id;
  int line = 0;
  bool is_required = false;
};

struct Dockerfile {
  std::vector<BaseImage> bases;      ///< each once, in the order of the file; no `scratch`
  std::vector<SecretMount> secrets;  ///< of the stages that are needed, each once
  int heredoc_line = 0;  ///< the first here-document of a stage that is needed; 0: there is none
  /// The text as it is sent: without the directive `syntax`, since an engine would pull the front
  /// end that it names, without here-documents of stages that are not needed, and with the images
  /// of named contexts in their places. Its lines stay where they are.
  std::string sent;
};

/// What the file is read with.
struct DockerfileRequest {
  std::string target{};  ///< the stage; empty: the last one
  /// Fill those arguments that stand before the first FROM.
  std::map<std::string, std::string> arguments{};
  /// Images by the name that FROM and `from=` may call them: BuildKit's named contexts. Such a name
  /// also takes the place of a stage that is called so. Keys as `name_of_build` gives them.
  std::map<std::string, std::string> contexts{};
};

/// The wanted stage of a Dockerfile and what it needs. Errors (`Blame::user`), with the place: no
/// FROM, an image without a name, no such stage, a front end of somebody else, a here-document
/// without end, mounts of keys of ssh.
Result<Dockerfile> read_dockerfile(std::string_view text, const std::string& file,
                                   const DockerfileRequest& request);

}  // namespace fettle

#pragma once
/// What a builder reports while it works, as steps and lines for people.
///
/// Podman and Docker's old builder write texts, one step after another. BuildKit works on several
/// steps at once and reports a graph: messages of protobuf (`moby.buildkit.trace`), whose vertices
/// are steps and whose logs belong to one of them. Both become the same here: the step under way
/// with its last line, and for a failure the step that failed with its last lines.

#include <deque>
#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "core/driver.h"
#include "value/value.h"

namespace fettle {

class BuildOutput {
 public:
  explicit BuildOutput(std::string image) : image_(std::move(image)) {}
  /// Takes a line of the engine's answer. Errors: the build failed.
  Status take(const Value& line);
  /// What is under way. Empty: nothing was said since the last call.
  std::string news();
  /// The id of the image, `sha256:…`. Empty: it was not reported yet.
  const std::string& id() const { return id_; }

 private:
  struct Step {
    std::string name;
    std::string begun;                ///< of its last line
    std::deque<std::string> lines{};  ///< the last ones
  };
  Status take_trace(std::string_view bytes);
  Status take_vertex(std::string_view bytes);
  Status take_log(std::string_view bytes);
  void add(Step& step, std::string_view text);
  Error failure(std::string_view said) const;

  std::string image_, id_, news_;
  Step step_;  ///< of a builder that works on one at a time
  std::map<std::string, Step> steps_;
  std::string failed_;  ///< the key of the step that failed
  bool is_graph_ = false;
};

}  // namespace fettle

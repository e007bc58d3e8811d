#pragma once
/// Looks for resources that need each other in a circle, in a graph that is asked for piece by
/// piece.

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "value/name.h"

namespace fettle {

class CircleSearch {
 public:
  using Needs = std::function<Result<std::vector<Name>>(const Name&)>;
  explicit CircleSearch(Needs needs) : needs_(std::move(needs)) {}

  /// A circle that can be reached from `id`: the names on it, with the first again at the end.
  /// Empty: there is none. Nothing is asked for twice.
  Result<std::vector<Name>> from(const Name& id);

 private:
  struct OpenNode {
    Name id;
    std::vector<Name> needs;
    size_t next = 0;
  };
  std::vector<Name> circle(const Name& again) const;

  Needs needs_;
  std::unordered_map<Name, bool> seen_;  ///< true while it is on the path
  std::vector<OpenNode> path_;
};

/// `a -> b -> a`, shortened in the middle when it is long.
std::string circle_text(const std::vector<Name>& circle);

}  // namespace fettle

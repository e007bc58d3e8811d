#pragma once
/// JMESPath (the specification of jmespath.org), which `describe --filter` takes: an expression
/// that picks parts of a value.
///
///   JmesPath::read("[?resource[?name=='web']].name")->of(document)

#include <memory>
#include <string_view>

#include "base/result.h"
#include "value/value.h"

namespace fettle {

namespace jmespath {
struct Node;
}

class JmesPath {
 public:
  /// Errors (`Blame::user`): what was expected, and at which column.
  static Result<JmesPath> read(std::string_view text);
  /// Errors (`Blame::user`): a function that is not known, or is given what it does not take.
  Result<Value> of(const Value& value) const;

 private:
  std::shared_ptr<const jmespath::Node> root_;
};

}  // namespace fettle

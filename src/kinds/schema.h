#pragma once
/// Checks the attributes of a kind against a table of its fields and fills in the defaults, so that
/// an explicit default and an omitted field are equal.
///
///   static const Schema schema{{"image", Field::text}, {"ports", Field::dict, Value::dict({})}};

#include <initializer_list>
#include <string>
#include <vector>

#include "base/result.h"
#include "value/value.h"

namespace fettle {

struct Field {
  enum Type { text, integer, boolean, list, dict, any };
  std::string name;
  Type type;
  std::optional<Value> otherwise;  ///< the default; none: the field is required
};

class Schema {
 public:
  Schema(std::initializer_list<Field> fields) : fields_(fields) {}
  /// The attributes with every field present. A hole or an unknown may stand for a value of any
  /// type. Errors (`Blame::user`): not a dict, a missing field, an unknown one (with a suggestion),
  /// a wrong type.
  Result<Value> normalise(const Value& attributes) const;

 private:
  std::vector<Field> fields_;
};

}  // namespace fettle

/// Something that only stands in a description: there is nothing to be done for it, and others may
/// need it. A new value of one counts as a change.
///
/// attributes  {"value": any, "fail": it is never done}
/// outputs     {}

#include "kinds/kinds.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class MarkKind : public Kind {
 public:
  Name name() const override { return "mark"; }
  Sort sort() const override { return Sort::action; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{{"value", Field::any, Value()}, {"fail", Field::boolean, false}};
    return schema.normalise(attributes);
  }
};

}  // namespace

const Kind& mark_kind() {
  static const MarkKind kind;
  return kind;
}

}  // namespace fettle

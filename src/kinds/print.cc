/// A message for people.
///
/// attributes  {"message"}
/// outputs     {"message"}: its holes filled

#include "kinds/kinds.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class PrintKind : public Kind {
 public:
  Name name() const override { return "print"; }
  Sort sort() const override { return Sort::action; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{{"message", Field::any, {}}};
    return schema.normalise(attributes);
  }
};

}  // namespace

const Kind& print_kind() {
  static const PrintKind kind;
  return kind;
}

}  // namespace fettle

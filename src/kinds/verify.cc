/// An assertion about a value that is known only at run time.
///
/// attributes  {"value", "assertion", "target"}
/// outputs     {"value"}

#include "kinds/kinds.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class VerifyKind : public Kind {
 public:
  Name name() const override { return "verify"; }
  Sort sort() const override { return Sort::action; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{
        {"value", Field::any, {}}, {"assertion", Field::text, {}}, {"target", Field::any, {}}};
    return schema.normalise(attributes);
  }
};

}  // namespace

const Kind& verify_kind() {
  static const VerifyKind kind;
  return kind;
}

}  // namespace fettle

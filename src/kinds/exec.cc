/// A command inside a service.
///
/// attributes  {"service": name, "recipe": see recipe.h, "acceptable_codes": [0],
///             "skip_code_check"}
/// needs       the service, inside
/// outputs     {"code", "output", "extract": {key: value}}

#include "kinds/kinds.h"
#include "kinds/recipe.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class ExecKind : public Kind {
 public:
  Name name() const override { return "exec"; }
  Sort sort() const override { return Sort::action; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{{"service", Field::text, {}},
                               {"recipe", Field::dict, {}},
                               {"acceptable_codes", Field::list, Value::list({0})},
                               {"skip_code_check", Field::boolean, false}};
    return normalise_with_recipe(schema, attributes);
  }
  Role role(const Value&) const override { return Role::acts; }
};

}  // namespace

const Kind& exec_kind() {
  static const ExecKind kind;
  return kind;
}

}  // namespace fettle

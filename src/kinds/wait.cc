/// A recipe, again and again, until an assertion about its result holds.
///
/// attributes  {"service": name, "recipe": see recipe.h, "field", "assertion", "target",
///             "interval": duration, "timeout": duration, "started": hole on the service's output
///             of this name where a restart asks for waiting again}
/// needs       the service, inside
/// outputs     the recipe's, and {"tries", "duration": text}

#include "kinds/kinds.h"
#include "kinds/recipe.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class WaitKind : public Kind {
 public:
  Name name() const override { return "wait"; }
  Sort sort() const override { return Sort::action; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{{"service", Field::text, {}},    {"recipe", Field::dict, {}},
                               {"field", Field::text, {}},      {"assertion", Field::text, {}},
                               {"target", Field::any, {}},      {"interval", Field::text, "1s"},
                               {"timeout", Field::text, "10s"}, {"started", Field::any, Value()}};
    return normalise_with_recipe(schema, attributes);
  }
  Role role(const Value&) const override { return Role::reads; }
  /// A ready condition, which is awaited again after each start.
  bool awaits_host(const Value& attributes) const override {
    return !attributes.at("started").is_null();
  }
};

}  // namespace

const Kind& wait_kind() {
  static const WaitKind kind;
  return kind;
}

}  // namespace fettle

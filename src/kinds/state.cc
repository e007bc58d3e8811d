/// A call of a state function: it looks and acts in one, says whether it changed anything, and is
/// asked in every run.
///
/// attributes  {"state": where the function is, as `cloud.vpc`, "function", "id", "name": may hold
///             holes, "arguments": {parameter: value}, "settings": what is to be done around the
///             call, "failure": a text with which it fails instead of being called, or empty}
/// outputs     {"new_state", "old_state", "changes", "result": true, false or null, "comment",
///             "rerun_data"}

#include "kinds/kinds.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class StateKind : public Kind {
 public:
  Name name() const override {
    static const Name one("state");
    return one;
  }
  Sort sort() const override { return Sort::ensuring; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Value none = Value::dict({});
    static const Schema schema{{"state", Field::text, {}},      {"function", Field::text, {}},
                               {"id", Field::text, {}},         {"name", Field::text, {}},
                               {"arguments", Field::any, none}, {"settings", Field::dict, none},
                               {"failure", Field::text, ""}};
    return schema.normalise(attributes);
  }
};

}  // namespace

const Kind& state_kind() {
  static const StateKind kind;
  return kind;
}

}  // namespace fettle

/// A thing that code of users looks after: it is asked in every run whether the thing is as wanted,
/// and acts when it is not.
///
/// attributes  {"type": for messages, "fields": {name: value}: what the code compares,
///             "handler": {"name", "code": digest of a Starlark file among the blobs} or
///             {"name", "program": path}, with "deadline": duration of one call, "purged",
///             "report_only": it is looked at and nothing is done}
/// outputs     {"digest": of the code, so that the blob is kept, "compliant", "changes": {field:
///             {"current", "desired"}}}

#include "kinds/kinds.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class HandledKind : public Kind {
 public:
  Name name() const override { return "handled"; }
  Sort sort() const override { return Sort::ensuring; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{{"type", Field::text, {}},
                               {"fields", Field::dict, {}},
                               {"handler", Field::dict, {}},
                               {"purged", Field::boolean, false},
                               {"report_only", Field::boolean, false}};
    return schema.normalise(attributes);
  }
};

}  // namespace

const Kind& handled_kind() {
  static const HandledKind kind;
  return kind;
}

}  // namespace fettle

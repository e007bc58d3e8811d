/// A persistent directory: a volume that outlives the services that mount it and goes with the
/// environment.
///
/// attributes  {"size": MB, only an engine that reserves room uses it}
/// outputs     {"volume": name}
/// seen        {"volume"}

#include "kinds/kinds.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class DirectoryKind : public Kind {
 public:
  Name name() const override { return "directory"; }
  Sort sort() const override { return Sort::observable; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{{"size", Field::integer, 1024}};
    return schema.normalise(attributes);
  }
  /// What is in it is worth more than its size.
  bool in_place_changes(const Value&, const Value&) const override { return true; }
};

}  // namespace

const Kind& directory_kind() {
  static const DirectoryKind kind;
  return kind;
}

}  // namespace fettle

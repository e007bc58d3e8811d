/// The network of an environment.
///
/// attributes  {}
/// outputs     {"name", "id", "subnet": "10.64.3.0/24", "gateway": "10.64.3.1"}
/// seen        {"name", "id", "subnet", "gateway"}

#include "kinds/kinds.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class NetworkKind : public Kind {
 public:
  Name name() const override { return "network"; }
  Sort sort() const override { return Sort::observable; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{};
    return schema.normalise(attributes);
  }
};

}  // namespace

const Kind& network_kind() {
  static const NetworkKind kind;
  return kind;
}

}  // namespace fettle

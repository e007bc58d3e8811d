/// Start, stop and remove as things that happen to a service within its history.
///
/// attributes  {"service": name}
/// needs       the service, inside
/// outputs     {"uuid": the service's}

#include "kinds/kinds.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class TransitionKind : public Kind {
 public:
  TransitionKind(Name name, Presence leaves) : name_(std::move(name)), leaves_(leaves) {}
  Name name() const override { return name_; }
  Sort sort() const override { return Sort::action; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{{"service", Field::text, {}}};
    return schema.normalise(attributes);
  }
  Role role(const Value&) const override { return Role::acts; }
  std::optional<Presence> leaves_host() const override { return leaves_; }

 private:
  Name name_;
  Presence leaves_;
};

}  // namespace

const Kind& start_kind() {
  static const TransitionKind kind("start", Presence::running);
  return kind;
}
const Kind& stop_kind() {
  static const TransitionKind kind("stop", Presence::stopped);
  return kind;
}
const Kind& remove_kind() {
  static const TransitionKind kind("remove", Presence::absent);
  return kind;
}

}  // namespace fettle

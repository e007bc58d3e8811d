#include "kinds/transition.h"

#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {
namespace {

class TransitionKind : public KindOf<Transition, TransitionOutputs> {
 public:
  TransitionKind(std::string_view name, Presence leaves)
      : KindOf(name, Sort::action), leaves_(leaves) {}
  Role role(const Attributes&) const override { return Role::acts; }
  std::optional<Presence> leaves_host() const override { return leaves_; }

 private:
  Presence leaves_;
};

}  // namespace

const Members& Transition::members() {
  static const Members all{required<&Transition::service>("service", "name")};
  return all;
}

const Members& TransitionOutputs::members() {
  static const Members all{member<&TransitionOutputs::uuid>("uuid", "the service's")};
  return all;
}

const TypedKind& start_kind() {
  static const TransitionKind kind("start", Presence::running);
  return kind;
}
const TypedKind& stop_kind() {
  static const TransitionKind kind("stop", Presence::stopped);
  return kind;
}
const TypedKind& remove_kind() {
  static const TransitionKind kind("remove", Presence::absent);
  return kind;
}

}  // namespace fettle

#include "kinds/wait.h"

#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {
namespace {

class WaitKind : public KindOf<WaitFor, WaitOutputs> {
 public:
  WaitKind() : KindOf("wait", Sort::action) {}
  Role role(const Attributes&) const override { return Role::reads; }
  /// A ready condition, which is awaited again after each start.
  bool awaits_host(const Attributes& attributes) const override {
    const WaitFor wait = read<WaitFor>(attributes);
    return !wait.started.is_null() && !wait.recipe.is_exit();
  }

 protected:
  Result<Attributes> settle(Attributes normal) const override {
    return with_normal_recipe(std::move(normal));
  }
};

}  // namespace

const Members& WaitFor::members() {
  static const Members all{
      required<&WaitFor::service>("service", "name"),
      required<&WaitFor::recipe>("recipe", "a command, an HTTP request, or the end of the service"),
      required<&WaitFor::field>("field", "of the result: `code`, `output`, `body`, `extract.KEY`"),
      required<&WaitFor::assertion>("assertion",
                                    "`==`, `!=`, `<`, `<=`, `>`, `>=`, `IN`, `NOT_IN`"),
      required<&WaitFor::target>("target", "what the field is compared with"),
      member<&WaitFor::interval>("interval", "duration between the beginnings of two tries"),
      member<&WaitFor::timeout>("timeout", "duration after which it has failed"),
      member<&WaitFor::started>(
          "started",
          "hole on the service's output of this name, where a restart asks for waiting again")};
  return all;
}

const Members& WaitOutputs::members() {
  static const Members all{member<&WaitOutputs::tries>("tries", "how often it was tried"),
                           member<&WaitOutputs::duration>("duration", "how long it took, as text")};
  return all;
}

const TypedKind& wait_kind() {
  static const WaitKind kind;
  return kind;
}

}  // namespace fettle

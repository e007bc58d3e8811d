#include "kinds/exec.h"

#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {
namespace {

class ExecKind : public KindOf<Exec, ExecOutputs> {
 public:
  ExecKind() : KindOf("exec", Sort::action) {}
  Role role(const Attributes&) const override { return Role::acts; }

 protected:
  Result<Attributes> settle(Attributes normal) const override {
    return with_normal_recipe(std::move(normal));
  }
};

}  // namespace

const Members& Exec::members() {
  static const Members all{
      required<&Exec::service>("service", "name"), required<&Exec::recipe>("recipe", "a command"),
      member<&Exec::acceptable_codes>("acceptable_codes", "[integer]"),
      member<&Exec::skip_code_check>("skip_code_check", "every exit code is good")};
  return all;
}

const TypedKind& exec_kind() {
  static const ExecKind kind;
  return kind;
}

}  // namespace fettle

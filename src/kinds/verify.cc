#include "kinds/verify.h"

#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {

const Members& Verify::members() {
  static const Members all{required<&Verify::value>("value", "what is judged"),
                           required<&Verify::assertion>("assertion", "as that of a wait"),
                           required<&Verify::target>("target", "what it is compared with")};
  return all;
}

const Members& VerifyOutputs::members() {
  static const Members all{member<&VerifyOutputs::value>("value", "the judged value")};
  return all;
}

const TypedKind& verify_kind() {
  static const KindOf<Verify, VerifyOutputs> kind("verify", Sort::action);
  return kind;
}

}  // namespace fettle

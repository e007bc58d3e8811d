#include "kinds/mark.h"

#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {

const Members& Mark::members() {
  static const Members all{member<&Mark::value>("value", "any"),
                           member<&Mark::fail>("fail", "it is never done")};
  return all;
}

const TypedKind& mark_kind() {
  static const KindOf<Mark> kind("mark", Sort::action);
  return kind;
}

}  // namespace fettle

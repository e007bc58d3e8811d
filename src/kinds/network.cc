#include "kinds/network.h"

#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {

const Members& NetworkOutputs::members() {
  static const Members all{member<&NetworkOutputs::name>("name", "the engine's name for it"),
                           member<&NetworkOutputs::id>("id", "the engine's id for it"),
                           member<&NetworkOutputs::subnet>("subnet", "`10.64.3.0/24`"),
                           member<&NetworkOutputs::gateway>("gateway", "`10.64.3.1`")};
  return all;
}

const TypedKind& network_kind() {
  static const KindOf<Nothing, NetworkOutputs, NetworkOutputs> kind("network", Sort::observable);
  return kind;
}

}  // namespace fettle

#pragma once
/// The network of an environment.

#include "kinds/members.h"

namespace fettle {

struct NetworkOutputs {
  Name name, id, subnet, gateway;
  static const Members& members();
};

}  // namespace fettle

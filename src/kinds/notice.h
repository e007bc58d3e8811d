#pragma once
/// Something that is said once about an object, as an event of Kubernetes: the record is the proof
/// that it was said. The key's name is unlike that of every other thing to say:
/// `NAMESPACE/KIND/NAME|REASON|what it is about`.

#include "kinds/members.h"

namespace fettle {

struct ObjectNotice {
  Name type = "Normal", reason, object, text;
  static const Members& members();
};

}  // namespace fettle

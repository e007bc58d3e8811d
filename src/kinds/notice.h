#pragma once
/// A message that is given once about an object, like a Kubernetes event: the record is the proof
/// that it was given. The key's name differs from that of every other message:
/// `NAMESPACE/KIND/NAME|REASON|what it is about`.

#include "kinds/members.h"

namespace fettle {

struct ObjectNotice {
  Name type = "Normal", reason, object, text;
  static const Members& members();
};

}  // namespace fettle

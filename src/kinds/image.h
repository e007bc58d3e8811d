#pragma once
/// A container image, by its reference, on an engine. Its key's name is the reference; on a node,
/// `NODE|REFERENCE`; if the reference is a hole, any name that is not a reference.

#include "kinds/members.h"

namespace fettle {

struct Image {
  Hole<Name> reference, pull = "missing", node, digest, job;
  Hole<int64_t> attempts, timeout;
  List credentials;
  Dict labels, annotations;
  static const Members& members();
};

struct ImageOutputs {
  Value id{}, digest{};
  Name reference{};
  static const Members& members();
};

struct ImageSeen {
  Value id;
  static const Members& members();
};

}  // namespace fettle

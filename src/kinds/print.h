#pragma once
/// A message for people.

#include "kinds/members.h"

namespace fettle {

/// Attributes, and with their holes filled the outputs.
struct Message {
  Value message;
  static const Members& members();
};

}  // namespace fettle

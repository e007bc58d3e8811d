#pragma once
/// A thing that users' code looks after: in every run, the code is asked whether the thing is as
/// wanted, and acts if it is not.

#include "kinds/members.h"

namespace fettle {

struct HandlerCode {
  Hole<Name> name, code = Value(), program, interpreter;
  Hole<Name> deadline = Value();
  Dict files;
  static const Members& members();
};

struct HandledResource {
  Hole<Name> type;
  Dict fields;
  Dict handler;  ///< a `HandlerCode`
  Hole<bool> purged, report_only;
  static const Members& members();
};

struct HandledOutputs {
  Hole<Name> digest = Value();
  bool is_compliant = true;
  Dict changes;
  std::optional<bool> reloads;
  Dict facts;  ///< {name: {"value", "expires", "at"}}
  static const Members& members();
};

}  // namespace fettle

#pragma once
/// A command on a machine, and the conditions under which it runs. Without `creates`, `unless` and
/// `onlyif` it runs once, and again when its attributes change; with them also when they say so.

#include "kinds/members.h"

namespace fettle {

/// A request for a part of the command's output.
struct OutputRequest {
  Name form;    ///< `json`, `yaml`, `text` or empty: how the output is read
  List hidden;  ///< names of outputs that are secret
  static const Members& members();
};

struct HostCommand {
  Hole<Name> command, creates, unless, onlyif, reload;
  Hole<bool> reload_only;
  Hole<Name> cwd;
  Dict environment;
  Hole<Name> path;
  List returns = Value::list({0});
  Value timeout = 300;
  Hole<bool> skip_on_fail, purged;
  std::optional<OutputRequest> told;
  static const Members& members();
};

struct CommandOutputs {
  int64_t code = 0;
  bool has_run = false;
  Value output;
  static const Members& members();
};

/// Whether the outputs of a command also have `ToldOutputs`.
bool has_told(const Outputs& outputs);

/// In addition to them, on request.
struct ToldOutputs {
  Value out, errors, state;
  static const Members& members();
};

struct CommandSeen {
  bool is_due = false;
  Name why;
  static const Members& members();
};

}  // namespace fettle

#pragma once
/// A command on a machine, and what tells whether it has to run. Without `creates`, `unless` and
/// `onlyif` it runs once, and again when its attributes change; with them also when they say so.

#include "kinds/members.h"

namespace fettle {

/// What somebody wants to know of what a command printed.
struct ToldOutput {
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
  std::optional<ToldOutput> told;
  static const Members& members();
};

struct CommandOutputs {
  int64_t code = 0;
  bool has_run = false;
  Value output;
  static const Members& members();
};

/// Whether the outputs of a command have `ToldOutputs`, too.
bool has_told(const Outputs& outputs);

/// Beside them, where somebody asked for it.
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

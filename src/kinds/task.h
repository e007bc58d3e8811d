#pragma once
/// A command in a throw-away container, and the files that it leaves.

#include "kinds/members.h"

namespace fettle {

struct ContainerTask {
  Hole<Name> image, image_id;
  List command;
  Dict env;
  Dict files;  ///< as a service's
  List store;  ///< of `StoredPath`
  Hole<Name> timeout = "180s";
  List acceptable_codes = Value::list({0});
  Hole<bool> skip_code_check, privileged, host_pid;
  Dict bind_mounts, node_selectors;
  List tolerations;
  static const Members& members();
};

struct StoredPath {
  Hole<Name> path;
  static const Members& members();
};

struct TaskOutputs {
  int64_t code = 0;
  Value output;
  Dict files;
  static const Members& members();
};

}  // namespace fettle

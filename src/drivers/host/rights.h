#pragma once
/// Owners and modes of files of this machine.

#include <sys/stat.h>

#include <optional>
#include <string>

#include "base/file.h"
#include "kinds/owned.h"

namespace fettle {

struct Rights {
  uid_t owner = 0;
  gid_t group = 0;
  mode_t mode = 0;
};

/// What attributes ask for, on top of what is there or, for something new, of what the process
/// gives. Errors: there is no such user or group.
Result<Rights> wanted_rights(const Ownership& wanted, const struct stat* there, mode_t mode_of_new);

bool has_rights(const struct stat& there, const Rights& rights);
/// Does not follow links. The owner is set first, since a new owner removes bits of the mode.
Status set_rights(const Path& path, const Rights& rights);

/// The name of a user or group, else its number.
std::string name_of_user(uid_t user);
std::string name_of_group(gid_t group);

}  // namespace fettle

#pragma once
/// Checks what a private Podman needs on this machine, without starting anything.

#include <string>
#include <vector>

#include "base/file.h"

namespace fettle {

/// Whether the root folder of this process is not that of its mount namespace: then a namespace of
/// the engine's own would have another one.
bool is_in_chroot();
constexpr const char* no_chroot =
    "a private Podman cannot run in a chroot, where its mount namespace sees another root: name an "
    "engine by `--engine` or `$DOCKER_HOST`";

/// A line for each thing that is missing, with the way to get it. Empty: the engine can be started.
std::vector<std::string> private_engine_lacks();

/// Whether a file of ranges of ids (`/etc/subuid`) has a range for a user, by name or number.
bool has_id_range(std::string_view text, std::string_view user, unsigned id);

}  // namespace fettle

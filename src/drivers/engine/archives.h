#pragma once
/// Files into and out of containers, as tars. Works for created, running and stopped ones.

#include <string>

#include "drivers/engine/engine.h"

namespace fettle {

/// Unpacks a tar in a folder of the container, which must exist.
Status put_archive(Engine& engine, const std::string& container, const std::string& folder,
                   ByteSource tar, std::stop_token stop);
/// The tar of a file or folder, whose paths begin with its last component. False when there is
/// nothing at that path.
Result<bool> get_archive(Engine& engine, const std::string& container, const std::string& path,
                         const ByteSink& sink, std::stop_token stop);

}  // namespace fettle

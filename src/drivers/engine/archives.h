#pragma once
/// Moves files into and out of containers as tars. Works for created, running and stopped ones.

#include <string>

#include "drivers/engine/engine.h"

namespace fettle {

/// Unpacks a tar in a folder of the container. The folder must exist.
Status put_archive(Engine& engine, const std::string& container, const std::string& folder,
                   ByteSource tar, std::stop_token stop);
/// The tar of a file or folder; paths in it begin with the last component of its path. False: there
/// is nothing at that path.
Result<bool> get_archive(Engine& engine, const std::string& container, const std::string& path,
                         const ByteSink& sink, std::stop_token stop);

}  // namespace fettle

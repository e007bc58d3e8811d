#pragma once
/// The program of a pod's holder. It keeps the namespaces of the pod while the containers on it are
/// replaced, buries the children that they leave, and ends when it is told to. It does nothing
/// else, so it is written here as its few instructions and packed into an image of its own: nothing
/// has to be pulled, and no compiler for another processor is needed.

#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "drivers/engine/engine.h"

namespace fettle {

/// An ELF program for Linux without any library. Error: it does not exist for this architecture
/// (`amd64`, `arm64`, as engines call them).
Result<std::string> pause_program(std::string_view architecture);

/// The name of the image on every engine. Another program gets another tag.
constexpr std::string_view pause_image = "localhost/fettle/pause:1";

/// Makes sure that the engine has the image, for its processor.
Status ensure_pause_image(Engine& engine, const std::stop_token& stop);

}  // namespace fettle

#pragma once
/// The program that a pod's holder runs: it keeps the namespaces of the pod there while the
/// containers beneath it are replaced, buries the children that they leave, and ends when it is
/// told to. It does nothing else, so it is written out here by its few instructions and packed into
/// an image of its own: nothing has to be pulled, and no compiler for another processor is needed.

#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "drivers/engine/engine.h"

namespace fettle {

/// An ELF program for Linux without a single library. Error: an architecture (`amd64`, `arm64`, as
/// engines call them) that it is not written for.
Result<std::string> pause_program(std::string_view architecture);

/// What the image is called on every engine. Another program gets another tag.
constexpr std::string_view pause_image = "localhost/fettle/pause:1";

/// Has the engine know the image, for the processor that it runs on.
Status ensure_pause_image(Engine& engine, const std::stop_token& stop);

}  // namespace fettle

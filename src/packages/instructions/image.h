#pragma once
/// The `image` of a service or a task: a reference, an `ImageSpec` or an `ImageBuildSpec`.

#include "packages/instructions/instruction.h"

namespace fettle {

struct WantedImage {
  std::string reference;
  Value id;  ///< the hole on its id
};

/// The image, as a resource that is pulled or built ahead.
Result<WantedImage> wanted_image(InstructionCall& call, starlark::Value image);

}  // namespace fettle

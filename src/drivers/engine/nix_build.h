#pragma once
/// Builds images with Nix: `nix build` of a flake on this machine makes a tar of an image, which is
/// loaded into the engine.
///
/// Unlike a Dockerfile, whose commands run in the engine, a flake is evaluated and built here, and Nix
/// fetches what it names. So it runs in Nix's own sandbox and under no settings but the user's: those
/// of the flake (`nixConfig`) and links out of the context count for nothing.

#include "drivers/engine/site.h"
#include "kinds/build.h"

namespace fettle {

/// Builds and loads the image and gives it its name. Returns its id.
Result<std::string> build_by_nix(const Site& site, const ImageBuild& wanted,
                                 const ProgressSink& progress, const std::stop_token& stop);

}  // namespace fettle

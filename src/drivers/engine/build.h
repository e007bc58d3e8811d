#pragma once
/// Builds images on an engine: Docker by BuildKit, Podman by its own builder.
///
/// Docker's client talks to BuildKit through a session, a gRPC connection over which the builder
/// asks for files, secrets and logins. Files and logins need none: the context is a tar that is
/// streamed, and the images that a build starts from were pulled before, as resources. So a build is
/// one HTTP request (`version=2`), and a builder pulls nothing by itself. Only for secrets there is a
/// session (`build_session.h`); Podman gets them with the context.
///
/// Each image that was built has a second name, `localhost/fettle-build/HOME/NAME:ID`. A label would be
/// inherited by every image that somebody makes from it; a name says which image is ours, and keeps
/// an engine from removing it as one without a name.

#include "drivers/engine/site.h"

namespace fettle {

Result<Outcome> build_image(const Site& site, const Act& act, const ProgressSink& progress,
                            std::stop_token stop);

/// The images that this home has built and the engine still has.
Result<std::vector<ListedImage>> built_images(const Site& site, std::stop_token stop);
/// Removes both names of an image, so that it goes unless somebody gave it another one. False: a
/// container uses it.
Result<bool> remove_built_image(const Site& site, const ListedImage& image, std::stop_token stop);

}  // namespace fettle

#pragma once
/// Images that this home has built and that no environment has any more.
///
/// A build leaves an image when its environment goes or builds a newer one, and an engine keeps it:
/// a container of somebody else may run it. So they go only when somebody cleans up.

#include <string>
#include <vector>

#include "workplace/workplace.h"

namespace fettle {

struct OldImages {
  std::vector<std::string> removed;  ///< their names, sorted
  std::vector<std::string> used;     ///< by a container, so they stay
};

/// Removes them. Nothing is removed when the engine does not answer, or while an image is being
/// built, which may be one that nobody has yet.
Result<OldImages> remove_old_images(const Workplace& place);

}  // namespace fettle

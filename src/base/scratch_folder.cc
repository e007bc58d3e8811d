#include "base/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/text.h"

namespace fettle {

Result<ScratchFolder> ScratchFolder::make(const std::string& beside) {
  std::string pattern = cat(beside, "/.fettle-XXXXXX");
  if (mkdtemp(pattern.data()) == nullptr)
    return world_error(
        cat("cannot create a folder in `", beside, "`: ", lower_case(std::strerror(errno))));
  return ScratchFolder(std::move(pattern));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty())
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace fettle

#include "base/durable.h"

#include <unistd.h>

namespace fettle {

Status sync_to_disk(const Path& path) {
  const Descriptor open = TRY(open_to_read(path));
  if (fsync(open.get()) != 0)
    return file_error("cannot write", path);
  return {};
}

}  // namespace fettle

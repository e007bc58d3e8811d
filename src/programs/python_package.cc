#include "programs/python_package.h"

#include "base/hash.h"
#include "base/text.h"

namespace fettle {
namespace {

std::string digest_of_package() {
  Digest digest;
  for (const PackageFile& file : python_package())
    digest = combine(digest, combine(fingerprint(file.path), fingerprint(file.text)));
  return to_string(digest).substr(0, 16);
}

}  // namespace

Result<Path> unpack_python(const Path& home) {
  const Path folder = home / cat("python-", digest_of_package());
  if (file_exists(folder / "complete"))
    return folder;
  for (const PackageFile& file : python_package()) {
    const Path path = folder / file.path;
    TRY(make_directories(path.parent_path()));
    TRY(write_file(path, file.text));
  }
  TRY(write_file(folder / "complete", ""));
  return folder;
}

}  // namespace fettle

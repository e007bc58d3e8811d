#include "programs/python_package.h"

#include "base/hash.h"
#include "base/text.h"

namespace fettle {
namespace {

std::string digest_of_package() {
  Digest digest;
  for (const PythonFile& file : python_package())
    digest = combine(digest, combine(fingerprint(file.path), fingerprint(file.text)));
  return to_string(digest).substr(0, 16);
}

}  // namespace

Result<Path> unpack_python(const Path& home) {
  const Path folder = home / cat("python-", digest_of_package());
  // A machine that loses power may leave a file empty that was written long before: each is looked
  // at, not a mark that all were written.
  for (const PythonFile& file : python_package()) {
    const Path path = folder / file.path;
    if (const Result<uint64_t> size = size_of_file(path); size && *size == file.text.size())
      continue;
    TRY(make_directories(path.parent_path()));
    TRY(write_file(path, file.text));
  }
  return folder;
}

}  // namespace fettle

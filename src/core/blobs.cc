#include "core/blobs.h"

#include "base/text.h"

namespace fettle {

Result<std::string> Blobs::put(std::string_view bytes) {
  const std::unique_ptr<Draft> draft = TRY(begin());
  TRY(draft->add(bytes));
  return draft->finish();
}

Result<std::string> Blobs::put(const ByteSource& source) {
  const std::unique_ptr<Draft> draft = TRY(begin());
  TRY(pump(source, [&](std::string_view bytes) { return draft->add(bytes); }));
  return draft->finish();
}

Result<DigestSet> Blobs::find_all(const DigestSet& digests) {
  DigestSet found;
  for (const std::string& digest : digests)
    if (TRY(has(digest)))
      found.insert(digest);
  return found;
}

Error lost_content_error(std::string_view digest, std::string_view fate) {
  Error error = world_error(
      cat("the content `", digest, "` is ", fate, "; run or upload again to recreate it"));
  error.lost_content = std::string(digest);
  return error;
}

Result<std::string> read_blob(Blobs& blobs, std::string_view digest, size_t limit) {
  return read_all(TRY(blobs.open(digest)).source, limit);
}

}  // namespace fettle

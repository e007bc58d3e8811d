#pragma once
/// Contents by digest in a folder, and an index of them in the store. A content is written under a
/// separate name next to its place, `ab/cdef…`, synced, moved there, and only then listed in the
/// index with its size. So every listed content is whole, unless somebody else has changed it. A
/// look-up notices that by the size, and a read by the digest.

#include <atomic>
#include <functional>
#include <map>

#include "core/blobs.h"
#include "store/disk.h"

namespace fettle {

/// Everything known about contents except their bytes. Several threads may use it at once.
class BlobIndex {
 public:
  virtual ~BlobIndex() = default;
  /// Moves a file to its place and lists the content. Nothing is cleared meanwhile.
  virtual Status add(std::string_view digest, uint64_t size,
                     const std::function<Status()>& move) = 0;
  /// Its size, if it is listed. From now on it is kept as long as this process lives.
  virtual Result<std::optional<uint64_t>> find(std::string_view digest) = 0;
  /// The sizes of those of many that are listed and used, so that nothing clears them.
  virtual Result<std::map<std::string, uint64_t, std::less<>>> find_used(
      std::span<const std::string> digests) = 0;
  virtual Result<bool> is_listed(std::string_view digest) = 0;
  /// Notes that a listed content is lost.
  virtual Status strike(std::string_view digest) = 0;
  /// Contents without references that no living process has put.
  virtual Result<std::vector<std::string>> unused() = 0;
  /// Checks that a content is still unused, or not listed at all. If so, `remove` deletes the file,
  /// and the content is no longer listed.
  virtual Result<bool> remove_unused(std::string_view digest,
                                     const std::function<Status()>& remove) = 0;
  /// The name of our session, for files that are being written.
  virtual Result<std::string> session() = 0;
  /// Whether the process of a session lives.
  virtual Result<bool> is_alive(std::string_view session) = 0;
};

/// An index of contents in the store of this machine, on a connection of its own, which is opened
/// when it is first needed.
std::unique_ptr<BlobIndex> make_sqlite_blob_index(const std::string& path);

class FileBlobs : public Blobs {
 public:
  FileBlobs(Disk& disk, BlobIndex& index, Path folder)
      : disk_(disk), index_(index), folder_(std::move(folder)) {}
  Result<std::unique_ptr<Draft>> begin() override;
  Result<bool> has(std::string_view digest) override;
  Result<DigestSet> find_all(const DigestSet& digests) override;
  Result<Blob> open(std::string_view digest) override;
  Result<size_t> clear() override;

 private:
  class FileDraft;
  Path place_of(std::string_view digest) const;
  Result<bool> list_again(std::string_view digest);
  Result<std::vector<std::string>> unlisted();
  Status clear_drafts();

  Disk& disk_;
  BlobIndex& index_;
  Path folder_;
  std::atomic<unsigned> count_{0};
};

}  // namespace fettle

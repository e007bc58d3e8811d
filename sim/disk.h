#pragma once
/// A disk in memory that forgets what was not synced when the power goes: bytes of files that were
/// written, names in folders that were given or taken. Each of these may have reached the disk all
/// the same, or in part.

#include <map>
#include <memory>
#include <string>

#include "base/prng.h"
#include "store/disk.h"

namespace fettle::sim {

class SimDisk : public Disk {
 public:
  Result<std::unique_ptr<File>> create(const Path& path) override;
  Status rename(const Path& from, const Path& to) override;
  Status make_folder(const Path& path) override;
  Status sync_folder(const Path& path) override;
  Result<std::optional<uint64_t>> size(const Path& path) override;
  Result<ByteSource> read(const Path& path) override;
  Status remove(const Path& path) override;
  Result<std::vector<std::string>> list(const Path& path) override;

  void cut_power(Prng& prng);
  /// From now on every write fails, as on a full disk, until it is false again.
  void set_full(bool full) { full_ = full; }
  /// Something beside us changes a file; nothing when there is none.
  enum class Harm { remove, truncate, change };
  void harm(Prng& prng, Harm harm);

 private:
  struct Inode {
    std::string bytes;   ///< as a process sees it
    std::string synced;  ///< as it is after a loss of power
  };
  class SimFile;
  using Names = std::map<std::string, std::shared_ptr<Inode>>;

  Names names_;    ///< as a process sees them
  Names durable_;  ///< as they are after a loss of power
  bool full_ = false;
};

}  // namespace fettle::sim

#include "sim/disk.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace fettle::sim {
namespace {

Error no_file(const Path& path) { return world_error(cat("there is no `", path.string(), "`")); }
Error full_error() { return world_error("no space left on device"); }

bool is_in(const std::string& name, const Path& folder) {
  return Path(name).parent_path() == folder;
}

}  // namespace

class SimDisk::SimFile : public Disk::File {
 public:
  SimFile(const SimDisk& disk, std::shared_ptr<Inode> inode)
      : disk_(disk), inode_(std::move(inode)) {}
  Status write(std::string_view bytes) override {
    if (disk_.full_)
      return full_error();
    inode_->bytes += bytes;
    return {};
  }
  Status sync() override {
    if (disk_.full_)
      return full_error();
    inode_->synced = inode_->bytes;
    return {};
  }

 private:
  const SimDisk& disk_;
  std::shared_ptr<Inode> inode_;
};

Result<std::unique_ptr<Disk::File>> SimDisk::create(const Path& path) {
  if (full_)
    return full_error();
  const auto [place, is_new] = names_.emplace(path.string(), std::make_shared<Inode>());
  if (!is_new)
    return world_error(cat("there is a `", path.string(), "` already"));
  return std::unique_ptr<File>(std::make_unique<SimFile>(*this, place->second));
}

Status SimDisk::rename(const Path& from, const Path& to) {
  const auto found = names_.find(from.string());
  if (found == names_.end())
    return no_file(from);
  names_[to.string()] = found->second;
  names_.erase(from.string());
  return {};
}

Status SimDisk::make_folder(const Path&) { return full_ ? Status(full_error()) : Status(); }

Status SimDisk::sync_folder(const Path& path) {
  std::erase_if(durable_, [&](const auto& entry) { return is_in(entry.first, path); });
  for (const auto& [name, inode] : names_)
    if (is_in(name, path))
      durable_[name] = inode;
  return {};
}

Result<std::optional<uint64_t>> SimDisk::size(const Path& path) {
  const auto found = names_.find(path.string());
  return found == names_.end() ? std::optional<uint64_t>()
                               : std::optional<uint64_t>(found->second->bytes.size());
}

Result<ByteSource> SimDisk::read(const Path& path) {
  const auto found = names_.find(path.string());
  if (found == names_.end())
    return no_file(path);
  return source_of(found->second->bytes);
}

Status SimDisk::remove(const Path& path) {
  names_.erase(path.string());
  return {};
}

Result<std::vector<std::string>> SimDisk::list(const Path& path) {
  std::vector<std::string> found;
  for (const auto& [name, inode] : names_)
    if (is_in(name, path))
      found.push_back(Path(name).filename().string());
  return found;
}

void SimDisk::cut_power(Prng& prng) {
  std::set<std::string> all;
  for (const Names* names : {&names_, &durable_})
    for (const auto& [name, inode] : *names)
      all.insert(name);
  for (const std::string& name : all) {
    const auto now = names_.find(name);
    const bool was_given = now != names_.end();
    const bool is_unsynced =
        durable_.contains(name) != was_given || (was_given && durable_.at(name) != now->second);
    // What was not synced may have come to the disk by itself.
    if (!is_unsynced || !prng.chance(50))
      continue;
    if (was_given)
      durable_[name] = now->second;
    else
      durable_.erase(name);
  }
  names_ = durable_;
  for (auto& [name, inode] : names_) {
    if (inode->bytes != inode->synced && prng.chance(50))
      inode->synced = inode->bytes.substr(0, prng.below(inode->bytes.size() + 1));
    inode->bytes = inode->synced;
  }
}

void SimDisk::harm(Prng& prng, Harm harm) {
  if (names_.empty())
    return;
  auto found = names_.begin();
  std::advance(found, static_cast<std::ptrdiff_t>(prng.below(names_.size())));
  std::string& bytes = found->second->bytes;
  if (harm == Harm::truncate)
    bytes.resize(prng.below(bytes.size() + 1));
  else if (harm == Harm::change && !bytes.empty())
    bytes[prng.below(bytes.size())] ^= 1;
  found->second->synced = bytes;
  if (harm == Harm::remove) {
    durable_.erase(found->first);
    names_.erase(found);
  }
}

}  // namespace fettle::sim

#include "store/blobs.h"

#include "base/hash.h"
#include "base/text.h"
#include "store/references.h"

namespace fettle {
namespace {

constexpr std::string_view draft_prefix = "new-";

}  // namespace

class FileBlobs::FileDraft : public Blobs::Draft {
 public:
  FileDraft(FileBlobs& blobs, Path path, std::unique_ptr<Disk::File> file)
      : blobs_(blobs), path_(std::move(path)), file_(std::move(file)) {}
  ~FileDraft() override {
    if (!path_.empty())
      static_cast<void>(blobs_.disk_.remove(path_));
  }

  Status add(std::string_view bytes) override {
    hash_.add(bytes);
    size_ += bytes.size();
    return file_->write(bytes);
  }

  Result<std::string> finish() override {
    const std::string digest = hash_.hex();
    const Path place = blobs_.place_of(digest);
    // A file of the full size is good; any other is written again.
    if (TRY(blobs_.has(digest)))
      return digest;
    TRY(file_->sync());
    file_.reset();
    TRY(blobs_.disk_.make_folder(place.parent_path()));
    TRY(blobs_.index_.add(digest, size_, [&] { return blobs_.disk_.rename(path_, place); }));
    path_.clear();
    TRY(blobs_.disk_.sync_folder(place.parent_path()));
    return digest;
  }

 private:
  FileBlobs& blobs_;
  Path path_;
  std::unique_ptr<Disk::File> file_;
  Sha256 hash_;
  uint64_t size_ = 0;
};

Path FileBlobs::place_of(std::string_view digest) const {
  return folder_ / digest.substr(0, 2) / digest.substr(2);
}

Result<std::unique_ptr<Blobs::Draft>> FileBlobs::begin() {
  TRY(disk_.make_folder(folder_));
  const Path path = folder_ / cat(draft_prefix, TRY(index_.session()), "-", count_++);
  std::unique_ptr<Disk::File> file = TRY(disk_.create(path));
  return std::unique_ptr<Draft>(std::make_unique<FileDraft>(*this, path, std::move(file)));
}

Result<bool> FileBlobs::has(std::string_view digest) {
  if (!is_digest(digest))
    return false;
  // In this order: a listed content is kept from here on.
  const std::optional<uint64_t> listed = TRY(index_.find(digest));
  const std::optional<uint64_t> size = TRY(disk_.size(place_of(digest)));
  if (listed && size == listed)
    return true;
  if (listed)
    TRY(index_.strike(digest));
  return size && !listed ? list_again(digest) : Result<bool>(false);
}

/// What is not as it should be is looked at by itself.
Result<DigestSet> FileBlobs::find_all(const DigestSet& digests) {
  std::vector<std::string> asked;
  std::vector<Path> places;
  for (const std::string& digest : digests)
    if (is_digest(digest)) {
      asked.push_back(digest);
      places.push_back(place_of(digest));
    }
  const auto used = TRY(index_.find_used(asked));
  const std::vector<std::optional<uint64_t>> sizes = TRY(disk_.sizes(places));
  DigestSet found;
  for (size_t i = 0; i < asked.size(); ++i) {
    const auto listed = used.find(asked[i]);
    const bool is_whole = listed != used.end() && sizes[i] == listed->second;
    if (is_whole || TRY(has(asked[i])))
      found.insert(std::move(asked[i]));
  }
  return found;
}

/// Lists a file that no index knows, since the store was lost: it counts if its bytes match its
/// name.
Result<bool> FileBlobs::list_again(std::string_view digest) {
  Sha256 hash;
  uint64_t size = 0;
  const Result<ByteSource> file = disk_.read(place_of(digest));
  // Somebody may be clearing it at the moment.
  if (!file)
    return false;
  TRY(pump(*file, [&](std::string_view bytes) -> Status {
    hash.add(bytes);
    size += bytes.size();
    return {};
  }));
  if (hash.hex() != digest)
    return false;
  TRY(index_.add(digest, size, []() -> Status { return {}; }));
  return TRY(disk_.size(place_of(digest))) == size;
}

Result<Blob> FileBlobs::open(std::string_view digest) {
  if (!TRY(has(digest)))
    return lost_content_error(digest);
  Blob blob;
  blob.size = TRY(disk_.size(place_of(digest))).value_or(0);
  ByteSource source = TRY(disk_.read(place_of(digest)));
  blob.source = [this, source = std::move(source), wanted = std::string(digest),
                 hash = std::make_shared<Sha256>(),
                 is_read = false](std::span<char> into) mutable -> Result<size_t> {
    if (is_read)
      return size_t{0};
    const size_t count = TRY(source(into));
    hash->add({into.data(), count});
    if (count > 0 || into.empty())
      return count;
    is_read = true;
    if (hash->hex() == wanted)
      return count;
    // It is gone from now on, so the act that made it is due again.
    TRY(index_.strike(wanted));
    TRY(disk_.remove(place_of(wanted)));
    return lost_content_error(wanted, "damaged");
  };
  return blob;
}

Result<size_t> FileBlobs::clear() {
  size_t cleared = 0;
  std::vector<std::string> unused = TRY(index_.unused());
  for (std::string& digest : TRY(unlisted()))
    unused.push_back(std::move(digest));
  for (const std::string& digest : unused)
    cleared +=
        TRY(index_.remove_unused(digest, [&] { return disk_.remove(place_of(digest)); })) ? 1 : 0;
  TRY(clear_drafts());
  return cleared;
}

/// Files that reached their place and were never listed, because their process was killed.
Result<std::vector<std::string>> FileBlobs::unlisted() {
  std::vector<std::string> found;
  for (const std::string& folder : TRY(disk_.list(folder_)))
    if (folder.size() == 2)
      for (const std::string& name : TRY(disk_.list(folder_ / folder)))
        if (const std::string digest = folder + name;
            is_digest(digest) && !TRY(index_.is_listed(digest)))
          found.push_back(digest);
  return found;
}

Status FileBlobs::clear_drafts() {
  for (const std::string& name : TRY(disk_.list(folder_))) {
    if (!name.starts_with(draft_prefix))
      continue;
    const std::string_view session =
        std::string_view(name).substr(draft_prefix.size(), name.rfind('-') - draft_prefix.size());
    if (!TRY(index_.is_alive(session)))
      TRY(disk_.remove(folder_ / name));
  }
  return {};
}

}  // namespace fettle

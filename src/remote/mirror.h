#pragma once
/// The files of a client, on the server, at the paths that they have at the client below a folder of
/// ours: a command of a server runs there as it would at the client.
///
/// The obvious way is an upload for each command into a folder of its own. A second run of a large
/// package would then send all of it again, and paths, of which a command may make something that it
/// keeps, would differ from run to run. So there are few mirrors, the first that is free is taken,
/// and a mirror keeps what it has: only what has changed is written. Contents are kept by their
/// digests for all mirrors, and asked for once.
///
/// Invariants:
/// * A mirror belongs to one command at a time (`lock`).
/// * Below `root` stands what the request lists, and nothing else.
/// * Nothing is written through a link: what would stand below one is refused before.
/// * A content is what its digest says, or it is refused.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/lock_file.h"
#include "remote/growing_file.h"
#include "remote/request.h"

namespace fettle {

/// How many commands run at once.
constexpr int most_commands = 16;

class Mirror {
 public:
  /// `folder`: of all mirrors. None: all are in use.
  static Result<std::optional<Mirror>> take(const Path& folder);

  /// What stands for `/` of the client.
  const std::string& root() const { return root_; }
  /// Makes `root` what the entries say, as far as contents are known, and tells of which entries
  /// they are not. Errors (`Blame::user`): two entries have one path, or one is below what is no
  /// folder.
  Result<std::vector<size_t>> place(std::vector<FileEntry> entries);
  const std::string& path_of(size_t entry) const { return entries_[entry].path; }
  /// A content that was asked for, piece by piece. Error: more, or something else, than announced.
  Status begin_content(size_t entry);
  Status add_content(std::string_view bytes);
  /// Whether all of it is there; if so, it is kept and stands in its place.
  Result<bool> end_content();
  /// All is there: from here on, what a command changes is noticed.
  Status finish();
  /// What a command has made or changed below these paths, folders before what is in them.
  Result<std::vector<FileEntry>> changed(const std::vector<std::string>& paths) const;

 private:
  /// Tells whether something is still what we made.
  struct Stamp {
    uint64_t inode = 0;
    int64_t changed_ns = 0;
    bool operator==(const Stamp&) const = default;
  };
  struct PlacedFile {
    FileEntry entry;
    Stamp stamp;
  };
  struct ArrivingContent {
    size_t entry = 0;
    uint64_t size = 0;
    GrowingFile file{};
    std::unique_ptr<Sha256> hash{};
  };

  Mirror(const Path& folder, int number, LockFile lock);
  static std::optional<Stamp> stamp_of(const std::string& path);
  void remove_remains() const;
  void read_list();
  Status clear_away();
  Status make(const FileEntry& entry) const;
  Status copy_content(const FileEntry& entry) const;
  std::string real(std::string_view path) const { return cat(root_, path); }
  std::string content_path(std::string_view digest) const;

  std::string own_, root_, contents_;
  std::string list_;  ///< what is written about `placed_`
  LockFile lock_;
  std::map<std::string, PlacedFile> placed_;  ///< of the command before
  std::vector<FileEntry> entries_;            ///< sorted by path
  std::map<std::string, Stamp> stamps_;
  ArrivingContent arriving_;
  std::set<std::string> arrived_;  ///< the digests of those that came whole for this command
};

/// Removes the contents that were not used for longest, until the rest has at most so many bytes.
void prune_contents(const Path& folder, uint64_t bytes);

}  // namespace fettle

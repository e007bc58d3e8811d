#include "store/database_disk.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "store/columns.h"
#include "store/value_lists.h"

namespace fettle {
namespace {

/// Small enough to be held a few times in memory, large enough for few messages.
constexpr size_t piece_size = size_t{1} << 20;

/// What fits into one piece is written in one transaction, so it costs one commit and not three: on
/// a shared store each waits for a disk.
class DatabaseFile : public Disk::File {
 public:
  DatabaseFile(std::shared_ptr<LazyDatabase> database, std::string path)
      : lazy_(std::move(database)), path_(std::move(path)) {}

  Status write(std::string_view bytes) override {
    while (!bytes.empty()) {
      if (open_.size() == piece_size)
        TRY(write_piece());
      const std::string_view part = bytes.substr(0, piece_size - open_.size());
      open_ += part;
      bytes.remove_prefix(part.size());
    }
    return {};
  }

  Status sync() override {
    if (id_ == 0)
      return write_whole();
    TRY(write_piece());
    const std::lock_guard lock(lazy_->mutex);
    return TRY(TRY(lazy_->open())->query("UPDATE files SET size=? WHERE id=?"))
        .bind(size_)
        .bind(id_)
        .run();
  }

 private:
  Status write_whole() {
    const std::lock_guard lock(lazy_->mutex);
    Database& database = *TRY(lazy_->open());
    Transaction transaction = TRY(Transaction::begin(database, {}));
    const int64_t id = TRY(insert_file(database, static_cast<int64_t>(open_.size())));
    if (!open_.empty())
      TRY(insert_piece(database, id));
    return transaction.commit();
  }

  Status write_piece() {
    const std::lock_guard lock(lazy_->mutex);
    Database& database = *TRY(lazy_->open());
    if (id_ == 0)
      id_ = TRY(insert_file(database, 0));
    TRY(insert_piece(database, id_));
    ++pieces_;
    size_ += static_cast<int64_t>(open_.size());
    open_.clear();
    return {};
  }

  Result<int64_t> insert_file(Database& database, int64_t size) const {
    Query made = TRY(database.query(
        "INSERT INTO files(path, size) VALUES(?,?) ON CONFLICT DO NOTHING RETURNING id"));
    made.bind(std::string_view(path_)).bind(size);
    if (!TRY(made.step()))
      return world_error(cat("cannot create `", path_, "` in the store: it exists"));
    return made.number(0);
  }

  Status insert_piece(Database& database, int64_t id) const {
    return TRY(database.query("INSERT INTO file_pieces VALUES(?,?,?)"))
        .bind(id)
        .bind(pieces_)
        .bind_kept(open_)
        .run();
  }

  std::shared_ptr<LazyDatabase> lazy_;
  std::string path_;
  std::string open_;  ///< the last piece
  int64_t id_ = 0;    ///< 0: nothing is written yet
  int64_t pieces_ = 0, size_ = 0;
};

class DatabaseDisk : public Disk {
 public:
  explicit DatabaseDisk(std::shared_ptr<LazyDatabase> database) : lazy_(std::move(database)) {}

  /// Nobody sees it before it is synced, or has a full piece.
  Result<std::unique_ptr<File>> create(const Path& path) override {
    return std::unique_ptr<File>(std::make_unique<DatabaseFile>(lazy_, path.native()));
  }

  /// Within the transaction of the index, in which nobody else renames to the same place.
  Status rename(const Path& from, const Path& to) override {
    const std::lock_guard lock(lazy_->mutex);
    TRY(TRY(lazy_->open())
            ->take({.kind = Turn::file, .world = static_cast<int64_t>(hash64(to.native()))}));
    TRY(remove(to));
    TRY(TRY(query("UPDATE files SET path=? WHERE path=?"))
            .bind(to.native())
            .bind(from.native())
            .run());
    if (TRY(lazy_->open())->changes() == 0)  // whoever lost the connection may have lost the draft
      return world_error(cat("there is no `", from, "` in the store"));
    return {};
  }
  Status make_folder(const Path&) override { return {}; }
  Status sync_folder(const Path&) override { return {}; }

  Result<std::optional<uint64_t>> size(const Path& path) override {
    const std::lock_guard lock(lazy_->mutex);
    Query found = TRY(query("SELECT size FROM files WHERE path=?"));
    found.bind(path.native());
    if (!TRY(found.step()))
      return std::optional<uint64_t>();
    return std::optional(static_cast<uint64_t>(found.number(0)));
  }

  Result<std::vector<std::optional<uint64_t>>> sizes(std::span<const Path> paths) override {
    static const std::string sql =
        cat("SELECT path, size FROM files WHERE path IN ", places_of_list());
    std::vector<std::string> names;
    for (const Path& path : paths)
      names.push_back(path.native());
    const std::lock_guard lock(lazy_->mutex);
    std::unordered_map<std::string, uint64_t> known;
    TRY(ask_in_lists(*TRY(lazy_->open()), sql, names, [&](const Query& row) {
      known.insert_or_assign(std::string(row.text(0)), static_cast<uint64_t>(row.number(1)));
    }));
    std::vector<std::optional<uint64_t>> found;
    for (const std::string& name : names) {
      const auto place = known.find(name);
      found.push_back(place == known.end() ? std::nullopt : std::optional(place->second));
    }
    return found;
  }

  Result<ByteSource> read(const Path& path) override {
    const std::lock_guard lock(lazy_->mutex);
    Query found = TRY(query("SELECT id FROM files WHERE path=?"));
    found.bind(path.native());
    if (!TRY(found.step()))
      return world_error(cat("there is no `", path, "` in the store"));
    return ByteSource([lazy = lazy_, id = found.number(0), next = int64_t{0}, piece = std::string(),
                       begin = size_t{0}](std::span<char> into) mutable -> Result<size_t> {
      if (begin == piece.size()) {
        piece = TRY(piece_of(*lazy, id, next++));
        begin = 0;
      }
      const size_t count = std::min(into.size(), piece.size() - begin);
      std::copy_n(piece.data() + begin, count, into.data());
      begin += count;
      return count;
    });
  }

  Status remove(const Path& path) override {
    const std::lock_guard lock(lazy_->mutex);
    return TRY(query("DELETE FROM files WHERE path=?")).bind(path.native()).run();
  }

  /// `/` is followed by `0` in the order of bytes.
  Result<std::vector<std::string>> list(const Path& path) override {
    const std::lock_guard lock(lazy_->mutex);
    const std::string begin = cat(path.native(), "/"), end = cat(path.native(), "0");
    Query files = TRY(query("SELECT path FROM files WHERE path>? AND path<? ORDER BY path"));
    files.bind(std::string_view(begin)).bind(std::string_view(end));
    std::set<std::string> names;
    while (TRY(files.step())) {
      const std::string_view rest = files.text(0).substr(begin.size());
      names.emplace(rest.substr(0, rest.find('/')));
    }
    return std::vector<std::string>(names.begin(), names.end());
  }

 private:
  Result<Query> query(const char* sql) { return TRY(lazy_->open())->query(sql); }

  /// Empty: behind the last one.
  static Result<std::string> piece_of(LazyDatabase& lazy, int64_t id, int64_t number) {
    const std::lock_guard lock(lazy.mutex);
    Query found =
        TRY(TRY(lazy.open())->query("SELECT bytes FROM file_pieces WHERE file=? AND number=?"));
    found.bind(id).bind(number);
    return TRY(found.step()) ? std::string(found.blob(0)) : std::string();
  }

  std::shared_ptr<LazyDatabase> lazy_;
};

}  // namespace

std::unique_ptr<Disk> make_database_disk(std::shared_ptr<LazyDatabase> database) {
  return std::make_unique<DatabaseDisk>(std::move(database));
}

}  // namespace fettle

#include "store/sql_blob_index.h"

#include <map>

#include "base/text.h"
#include "base/token.h"
#include "store/columns.h"
#include "store/value_lists.h"

namespace fettle {
namespace {

constexpr std::string_view lock_prefix = "session-";

/// A content that was put and has no references yet belongs to the session that put it. The session
/// has a lock, which ends with the process.
class SqlBlobIndex : public BlobIndex {
 public:
  explicit SqlBlobIndex(std::shared_ptr<LazyDatabase> database) : lazy_(std::move(database)) {}
  ~SqlBlobIndex() override {
    const std::lock_guard lock(lazy_->mutex);
    if (lock_ != nullptr)
      lock_->leave_nothing();
    lock_.reset();
  }

  Status add(std::string_view digest, uint64_t size, const std::function<Status()>& move) override {
    const std::lock_guard lock(lazy_->mutex);
    database_ = TRY(lazy_->open());
    const std::string mine = TRY(session_here());
    Transaction transaction = TRY(Transaction::begin(*database_, {turn_of_users}));
    TRY(move());
    TRY(TRY(database_->query("INSERT INTO blobs VALUES(?,?,?) ON CONFLICT(digest) DO UPDATE SET "
                             "size=excluded.size, session=excluded.session"))
            .bind(digest)
            .bind(static_cast<int64_t>(size))
            .bind(mine)
            .run());
    return transaction.commit();
  }

  Result<std::optional<uint64_t>> find(std::string_view digest) override {
    const std::lock_guard lock(lazy_->mutex);
    database_ = TRY(lazy_->open());
    Query query = TRY(database_->query(
        "SELECT size, session, EXISTS (SELECT 1 FROM record_uses u WHERE u.digest=b.digest UNION "
        "ALL SELECT 1 FROM version_uses u WHERE u.digest=b.digest) FROM blobs b WHERE digest=?"));
    query.bind(digest);
    if (!TRY(query.step()))
      return std::optional<uint64_t>();
    const auto size = static_cast<uint64_t>(query.number(0));
    const bool is_mine = lock_ != nullptr && lock_->is_held() && query.text(1) == session_;
    if (query.number(2) != 0 || is_mine)
      return std::optional(size);
    static_cast<void>(query.step());
    const std::string mine = TRY(session_here());
    Transaction transaction = TRY(Transaction::begin(*database_, {turn_of_users}));
    TRY(TRY(database_->query("UPDATE blobs SET session=? WHERE digest=?"))
            .bind(mine)
            .bind(digest)
            .run());
    const bool is_there = database_->changes() > 0;
    TRY(transaction.commit());
    return is_there ? std::optional(size) : std::nullopt;
  }

  Result<std::map<std::string, uint64_t, std::less<>>> find_used(
      std::span<const std::string> digests) override {
    static const std::string sql =
        cat("SELECT digest, size FROM blobs b WHERE digest IN ", places_of_list(),
            " AND (EXISTS (SELECT 1 FROM record_uses u WHERE u.digest=b.digest) OR EXISTS (SELECT "
            "1 FROM version_uses u WHERE u.digest=b.digest))");
    const std::lock_guard lock(lazy_->mutex);
    database_ = TRY(lazy_->open());
    std::map<std::string, uint64_t, std::less<>> found;
    TRY(ask_in_lists(*database_, sql, digests, [&](const Query& row) {
      found.insert_or_assign(std::string(row.text(0)), static_cast<uint64_t>(row.number(1)));
    }));
    return found;
  }

  Result<bool> is_listed(std::string_view digest) override {
    const std::lock_guard lock(lazy_->mutex);
    database_ = TRY(lazy_->open());
    return is_listed_here(digest);
  }

  Status strike(std::string_view digest) override {
    const std::lock_guard lock(lazy_->mutex);
    database_ = TRY(lazy_->open());
    Transaction transaction = TRY(Transaction::begin(*database_, {}));
    TRY(TRY(database_->query("DELETE FROM blobs WHERE digest=?")).bind(digest).run());
    return transaction.commit();
  }

  Result<std::vector<std::string>> unused() override {
    const std::lock_guard lock(lazy_->mutex);
    database_ = TRY(lazy_->open());
    Query query = TRY(database_->query(
        "SELECT digest, session FROM blobs b WHERE NOT EXISTS (SELECT 1 FROM record_uses u WHERE "
        "u.digest=b.digest) AND NOT EXISTS (SELECT 1 FROM version_uses u WHERE "
        "u.digest=b.digest) ORDER BY digest"));
    std::vector<std::string> found;
    std::map<std::string, bool, std::less<>> alive;
    while (TRY(query.step())) {
      const std::string session(query.text(1));
      if (!alive.contains(session))
        alive[session] = TRY(is_alive_here(session));
      if (!alive[session])
        found.emplace_back(query.text(0));
    }
    return found;
  }

  Result<bool> remove_unused(std::string_view digest,
                             const std::function<Status()>& remove) override {
    const std::lock_guard lock(lazy_->mutex);
    database_ = TRY(lazy_->open());
    Transaction transaction = TRY(Transaction::begin(*database_, {turn_of_clearing}));
    // An unlisted content may be in use all the same.
    Query query = TRY(database_->query(
        "SELECT coalesce(b.session, '') FROM (SELECT ? AS digest) d LEFT JOIN blobs b ON "
        "b.digest=d.digest WHERE NOT EXISTS (SELECT 1 FROM record_uses u WHERE u.digest=d.digest) "
        "AND NOT EXISTS (SELECT 1 FROM version_uses u WHERE u.digest=d.digest)"));
    query.bind(digest);
    if (!TRY(query.step()) || TRY(is_alive_here(query.text(0))))
      return false;
    static_cast<void>(query.step());
    TRY(remove());
    TRY(TRY(database_->query("DELETE FROM blobs WHERE digest=?")).bind(digest).run());
    TRY(transaction.commit());
    database_->give_way();
    return true;
  }

  Result<std::string> session() override {
    const std::lock_guard lock(lazy_->mutex);
    database_ = TRY(lazy_->open());
    return session_here();
  }

  Result<bool> is_alive(std::string_view session) override {
    const std::lock_guard lock(lazy_->mutex);
    database_ = TRY(lazy_->open());
    return is_alive_here(session);
  }

 private:
  /// Our session, which starts when it is first needed.
  Result<std::string> session_here() {
    while (lock_ == nullptr) {
      session_ = TRY(new_token("a session")).substr(0, 16);
      lock_ = TRY(database_->take_lock(cat(lock_prefix, session_)));
    }
    lock_->regain();
    return session_;
  }

  Result<bool> is_listed_here(std::string_view digest) {
    Query query = TRY(database_->query("SELECT 1 FROM blobs WHERE digest=?"));
    query.bind(digest);
    return query.step();
  }

  Result<bool> is_alive_here(std::string_view session) {
    if (session.empty() || session.find('/') != session.npos)
      return false;
    return database_->is_locked(cat(lock_prefix, session));
  }

  std::shared_ptr<LazyDatabase> lazy_;
  Database* database_ = nullptr;  ///< once it was needed
  std::unique_ptr<StoreLock> lock_;
  std::string session_;
};

}  // namespace

Result<Database*> LazyDatabase::open() {
  if (database_ == nullptr)
    database_ = TRY(connect_());
  return database_.get();
}

std::unique_ptr<BlobIndex> make_sql_blob_index(std::shared_ptr<LazyDatabase> database) {
  return std::make_unique<SqlBlobIndex>(std::move(database));
}

}  // namespace fettle

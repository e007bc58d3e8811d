#include "store/database.h"

#include <chrono>
#include <thread>

#include "base/hash.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr std::chrono::milliseconds longest_piece{3};
constexpr std::chrono::minutes longest_wait{2};

std::string name_of(std::string_view what, std::string_view environment) {
  return cat(what, "-", to_string(fingerprint(environment)));
}

}  // namespace

Error Database::changed_key_error() const {
  return world_error(cat("the key of secrets of the store `", name(),
                         "` was changed meanwhile, and nothing more was written: call the command "
                         "again"));
}

Result<Transaction> Transaction::begin(Database& database, std::initializer_list<Turn> turns) {
  TRY(database.begin(turns));
  return Transaction(&database);
}

Result<Transaction> Transaction::begin_reading(Database& database) {
  TRY(database.begin_reading());
  return Transaction(&database);
}

Transaction::~Transaction() {
  if (database_ != nullptr)
    database_->roll_back();
}

Status Transaction::commit() {
  TRY(database_->commit());
  database_ = nullptr;
  return {};
}

Status in_pieces(Database& database, const std::optional<Turn>& turn,
                 const std::function<Result<bool>()>& step, const std::function<Status()>& check) {
  for (bool more = true; more;) {
    Transaction transaction =
        TRY(turn ? Transaction::begin(database, {*turn}) : Transaction::begin(database, {}));
    if (check)
      TRY(check());
    const auto end = std::chrono::steady_clock::now() + longest_piece;
    do
      more = TRY(step());
    while (more && std::chrono::steady_clock::now() < end);
    TRY(transaction.commit());
    if (more)
      database.give_way();
  }
  return {};
}

Result<std::unique_ptr<StoreLock>> wait_for_lock(Database& database, std::string_view name) {
  const auto limit = std::chrono::steady_clock::now() + longest_wait;
  while (true) {
    if (std::unique_ptr<StoreLock> lock = TRY(database.take_lock(name)))
      return Result<std::unique_ptr<StoreLock>>(std::move(lock));
    if (std::chrono::steady_clock::now() > limit)
      return world_error(
          cat("the lock `", name, "` of the store `", database.name(), "` stays taken"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string push_lock_name(std::string_view environment) { return name_of("push", environment); }
std::string edit_lock_name(std::string_view environment) { return name_of("edit", environment); }

}  // namespace fettle

#include <list>

#include "base/text.h"
#include "store/columns.h"
#include "store/content_codec.h"
#include "store/key_command.h"
#include "store/record_codec.h"
#include "store/store_keys.h"
#include "store/store_opening.h"
#include "verbs/stores/store_tables.h"
#include "verbs/stores/stores.h"

namespace fettle {
namespace {

/// A column with sealed parts, and how its bytes are read.
struct SealedColumn {
  const char* table;
  const char* keys;  ///< as those of `StoreTable::columns`
  const char* name;
  Status (*read)(std::string_view bytes, const Database& database, SealedParts& parts);
};

Status read_value(std::string_view bytes, const Database& database, SealedParts& parts) {
  TRY(value_of(bytes, database, &parts));
  return {};
}
Status read_record(std::string_view bytes, const Database& database, SealedParts& parts) {
  TRY(decode(bytes, database.seal(), &parts));
  return {};
}
Status read_content(std::string_view bytes, const Database& database, SealedParts& parts) {
  TRY(decode_content(bytes, {}, database.seal(), &parts));
  return {};
}

constexpr SealedColumn sealed_columns[] = {
    {"environments", "t:name", "detail", read_value},
    {"records", "t:environment t:kind t:name", "body", read_record},
    {"events", "n:sequence", "detail", read_value},
    {"notes", "t:environment t:name", "value", read_value},
    {"cache", "t:name", "value", read_value},
    {"versions", "n:world n:number", "detail", read_value},
    {"contents", "n:id", "body", read_content},
};

/// The rows of one column that have sealed parts, sealed anew.
class ColumnRotation {
 public:
  ColumnRotation(const SealedColumn& column, Database& database, std::list<std::string>& texts,
                 const Seal& next, KeyRotation& rotation)
      : column_(column), database_(database), texts_(texts), next_(next), rotation_(rotation) {
    std::string where;
    for (const std::string_view key : split(column.keys, ' ')) {
      types_ += key[0];
      where += cat(where.empty() ? "" : " AND ", key.substr(2), "=?");
      names_ += cat(", ", key.substr(2));
    }
    update_ =
        texts.emplace_back(cat("UPDATE ", column.table, " SET ", column.name, "=? WHERE ", where))
            .c_str();
  }

  /// Rows that change are remembered while others are read.
  Status run(const std::stop_token& stop) {
    TRY(each_row(
        database_, texts_, cat("SELECT ", column_.name, names_, " FROM ", column_.table),
        [this](const Query& row) { return look(row); }, stop));
    for (const Row& row : rows_)
      TRY(write(row));
    return {};
  }

 private:
  struct Row {
    std::string bytes;
    std::vector<std::string> texts;
    std::vector<int64_t> numbers;
  };

  /// What cannot be read stays as it is: `store check` names it.
  Status look(const Query& row) {
    const std::string_view bytes = row.blob(0);
    SealedParts parts;
    if (!column_.read(bytes, database_, parts) || parts.empty())
      return {};
    Row found{std::string(bytes), {}, {}};
    size_t renewed = 0;
    for (const std::string_view part : parts) {
      const std::optional<std::string> plain = database_.seal()->open(part);
      rotation_.unreadable += plain ? 0 : 1;
      if (!plain)
        continue;
      // What is sealed is as long as before, and so is everything around it.
      const std::string sealed = next_.close(*plain);
      found.bytes.replace(static_cast<size_t>(part.data() - bytes.data()), part.size(), sealed);
      ++renewed;
    }
    rotation_.secrets += renewed;
    for (size_t i = 0; i < types_.size(); ++i) {
      const int at = static_cast<int>(i) + 1;
      found.texts.emplace_back(types_[i] == 't' ? row.text(at) : std::string_view());
      found.numbers.push_back(types_[i] == 'n' ? row.number(at) : 0);
    }
    if (renewed > 0)
      rows_.push_back(std::move(found));
    return {};
  }

  Status write(const Row& row) {
    Query update = TRY(database_.query(update_));
    update.bind_kept(row.bytes);
    for (size_t i = 0; i < types_.size(); ++i)
      if (types_[i] == 'n')
        update.bind(row.numbers[i]);
      else
        update.bind_kept_text(row.texts[i]);
    return update.run();
  }

  const SealedColumn& column_;
  Database& database_;
  std::list<std::string>& texts_;
  const Seal& next_;
  KeyRotation& rotation_;
  std::string types_, names_;
  const char* update_;
  std::vector<Row> rows_;
};

Result<Seal> next_key(const std::string& file, bool is_by_command) {
  if (file.empty() && is_by_command)
    return user_error(
        "$FETTLE_KEY_COMMAND gives the keys: make one (`head -c 64 /dev/urandom`), put it where "
        "the command reads it, and name its file with `--key-file`");
  if (file.empty())
    return Seal::random();
  const std::string bytes = TRY(read_file(file));
  const std::optional<Seal> key = Seal::from_bytes(bytes);
  if (!key)
    return user_error(cat("`", file, "` is not a key: it has ", bytes.size(), " bytes instead of ",
                          Seal::key_size, "; without `--key-file`, one is made"));
  return *key;
}

}  // namespace

Result<KeyRotation> rotate_key(const std::string& address, const std::string& home,
                               const std::string& file, const std::stop_token& stop) {
  std::list<std::string> texts;
  const std::unique_ptr<Database> database = TRY(open_database(address, home));
  const bool is_file = database->dialect() == Database::Dialect::sqlite;
  const bool is_by_command = !is_file && !key_command().empty();
  const Seal next = TRY(next_key(file, is_by_command));
  KeyRotation rotation;
  rotation.store = database->name();
  rotation.before = database->seal()->id();
  rotation.after = next.id();
  if (rotation.before == rotation.after)
    return user_error(cat("`", file, "` is the key that the store `", database->name(), "` has"));
  TRY(check_nobody_acts(*database, "change the key"));
  // Whoever dies after the end of the transaction must find it here.
  if (!is_by_command) {
    const Path kept = path_of_key(home, rotation.after);
    TRY(make_directories(kept.parent_path()));
    TRY(next.keep(kept));
    rotation.key_file = kept.string();
  } else {
    TRY(check_command_gives(database->name(), next));
  }
  if (is_file)  // what is replaced leaves no bytes behind
    TRY(database->execute("PRAGMA secure_delete=ON"));
  Transaction transaction = TRY(begin_sealing_anew(*database));
  TRY(check_nobody_acts(*database, "change the key"));
  for (const SealedColumn& column : sealed_columns)
    TRY(ColumnRotation(column, *database, texts, next, rotation).run(stop));
  TRY(put_key(*database, next));
  TRY(transaction.commit());
  if (is_file)
    TRY(database->execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  return rotation;
}

}  // namespace fettle

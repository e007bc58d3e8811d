#include "base/invariant.h"
#include "base/text.h"
#include "sim/memory.h"
#include "store/database_disk.h"
#include "store/sql_store.h"

namespace fettle::sim {
namespace {

/// All of a team have the same key.
std::unique_ptr<LossyDatabase> connect(LossyServer& server, std::function<Loss(Saying)> loss) {
  auto database = std::make_unique<LossyDatabase>(server, std::move(loss));
  database->use(Seal(Seal::SealKey{}));
  return database;
}

/// Contents on a connection of their own, as the program has them.
class SharedContents {
 public:
  SharedContents(LossyServer& server, std::function<Loss(Saying)> loss)
      : server_(server), loss_(std::move(loss)) {}
  FileBlobs& blobs() { return blobs_; }
  void lose_connection() {
    if (database_ != nullptr && !database_->is_in_transaction())
      database_->lose();
  }

 private:
  LossyServer& server_;
  std::function<Loss(Saying)> loss_;
  LossyDatabase* database_ = nullptr;
  std::shared_ptr<LazyDatabase> lazy_ =
      std::make_shared<LazyDatabase>([this]() -> Result<std::unique_ptr<Database>> {
        auto database = connect(server_, loss_);
        database_ = database.get();
        return std::unique_ptr<Database>(std::move(database));
      });
  std::unique_ptr<Disk> disk_ = make_database_disk(lazy_);
  std::unique_ptr<BlobIndex> index_ = make_sql_blob_index(lazy_);
  FileBlobs blobs_{*disk_, *index_, "blobs"};
};

class ServerProcess : public Memory::Process, public Edit {
 public:
  ServerProcess(LossyServer& server, WriteHooks hooks)
      : hooks_(std::move(hooks)),
        contents_(server, hooks_.loss),
        seen_(server, {}),
        observer_(server, {}) {
    auto database = connect(server, hooks_.loss);
    database_ = database.get();
    store_ = make_sql_store(std::move(database));
  }

  Status open() {
    auto begun = TRY(store_->begin_edit("e", this_process("a process", Time())));
    if (auto* edit = std::get_if<std::unique_ptr<Edit>>(&begun))
      edit_ = std::move(*edit);
    else
      hooks_.complain("somebody who is gone has the right to act");
    return edit_ == nullptr ? Status(world_error("the right to act was lost")) : Status();
  }
  /// Its connection is lost, and somebody else is faster.
  void be_overtaken() {
    database_->lose();
    is_overtaken_ = true;
  }

  Edit& edit() override { return *this; }
  FileBlobs& blobs() override { return contents_.blobs(); }
  FileBlobs& blobs_as_seen() override { return seen_.blobs(); }
  Result<Known> known() override { return store_->known("e"); }
  void lose_connections() override {
    database_->lose();
    contents_.lose_connection();
  }

  const Name& environment() const override { return edit_->environment(); }
  uint64_t number() const override { return edit_->number(); }
  Status write(std::span<const Change> changes) override {
    if (changes.empty())
      return {};
    TRY(hooks_.before());
    Status written = edit_->write(changes);
    const bool is_written = database_->has_happened();
    if (written && !is_written)
      hooks_.complain("a write that is told as done was not made");
    if (is_written && is_overtaken_)
      hooks_.complain("somebody writes who was overtaken");
    if (is_overtaken_ && *observer_.is_locked(edit_lock_name("e")))
      hooks_.complain("somebody who was overtaken keeps others out");
    if (is_written)
      if (Status after = hooks_.after(changes); written)
        return after;
    return written;
  }
  Status put_environment(const Environment&) override { return {}; }
  Status put_note(std::string_view, const Value&) override { return {}; }
  Status begin_removal() override { return {}; }
  Status remove_environment() override { return {}; }

 private:
  WriteHooks hooks_;
  SharedContents contents_, seen_;
  LossyDatabase observer_;
  LossyDatabase* database_ = nullptr;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Edit> edit_;
  bool is_overtaken_ = false;
};

class ServerMemory : public Memory {
 public:
  Result<std::unique_ptr<Process>> begin(WriteHooks hooks) override {
    auto process = std::make_unique<ServerProcess>(server_, std::move(hooks));
    TRY(process->open());
    last_ = process.get();
    return std::unique_ptr<Process>(std::move(process));
  }

  const Known& known() override {
    if (std::exchange(read_at_, server_.commits()) != server_.commits() || !is_read_) {
      Result<Known> read = observer_->known("e");
      INVARIANT(read);
      known_ = *std::move(read);
      is_read_ = true;
    }
    return known_;
  }

  void take_right() override {
    last_->be_overtaken();
    const auto begun = observer_->begin_edit("e", this_process("somebody", Time()));
    INVARIANT(begun && std::holds_alternative<std::unique_ptr<Edit>>(*begun));
  }
  void clean() override {
    SharedContents others(server_, {});
    INVARIANT(others.blobs().clear());
  }

 private:
  LossyServer server_;
  std::unique_ptr<Store> observer_ = make_sql_store(connect(server_, {}));
  ServerProcess* last_ = nullptr;
  Known known_;
  uint64_t read_at_ = 0;
  bool is_read_ = false;
};

}  // namespace

std::unique_ptr<Memory> make_server_memory() { return std::make_unique<ServerMemory>(); }

}  // namespace fettle::sim

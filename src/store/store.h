#pragma once
/// What is remembered between runs: environments, records, events, small lists and caches. Narrow,
/// so that a shared database can stand behind it later. Several processes may use one store at
/// once.
///
/// Everybody may read. Who acts on an environment writes through an `Edit`, the lease that only one
/// process has at a time; who only says what should be writes through a `Wish`, a short transaction
/// that needs no lease (`store/edit.h`). Nothing else writes what belongs to an environment.

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "core/event.h"
#include "core/record.h"
#include "store/holder.h"
#include "versions/versions.h"

namespace fettle {

class Edit;
class Wish;

struct Environment {
  Name name;
  std::string uuid;  ///< 32 hexadecimal digits
  Time created;
  Value detail;  ///< what faces keep with it: `{"production": true, "stopped": true, …}`
  bool is_removing = false;  ///< its removal was begun and has not ended
};

class Store {
 public:
  virtual ~Store() = default;

  virtual Result<std::vector<Environment>> environments() = 0;
  virtual Result<std::optional<Environment>> environment(const Name& name) = 0;
  virtual Result<Known> known(const Name& environment) = 0;

  /// Events of an environment (all when it is empty) after a sequence number, oldest first.
  virtual Result<std::vector<Event>> events(const Name& environment, uint64_t after,
                                            size_t limit) = 0;
  /// The last events about one key, newest first.
  virtual Result<std::vector<Event>> events_of(const Key& key, size_t limit) = 0;
  /// The same about all keys of its kind whose names begin with its name.
  virtual Result<std::vector<Event>> events_below(const Key& key, size_t limit) = 0;
  /// Every key of an environment that an event is about, by kind and name.
  virtual Result<std::vector<Key>> keys_of_events(const Name& environment) = 0;

  /// Small things of an environment by name: its list of executed instructions, its settings. None
  /// when it is not there.
  virtual Result<std::optional<Value>> note(const Name& environment, std::string_view name) = 0;

  /// Another number when another process has written since it was asked for last. Takes
  /// microseconds.
  virtual Result<int64_t> stamp() = 0;
  /// Calls `tell` when somebody, this process included, may have written: from the thread that
  /// calls it, until a stop is asked for. False at once: the system cannot tell. From any thread.
  virtual bool watch(const std::function<void()>& tell, std::stop_token stop) = 0;

  /// What environments should be, version by version.
  virtual Versions& versions() = 0;

  /// The right to act on an environment, which need not be there yet; the holder when somebody else
  /// has it. A holder whose process is gone has lost it.
  virtual Result<std::variant<std::unique_ptr<Edit>, Holder>> begin_edit(const Name& environment,
                                                                         const Holder& me) = 0;
  /// Who acts on an environment just now.
  virtual Result<std::optional<Holder>> holder(const Name& environment) = 0;

  /// One transaction: all that `say` writes or, when it fails, nothing. Errors (`Blame::world`):
  /// the environment is being removed.
  virtual Status wish(const Name& environment, const std::function<Status(Wish&)>& say) = 0;

  /// What can be found out again and takes long: digests of folders. Belongs to no environment.
  virtual Result<std::optional<Value>> cached(std::string_view name) = 0;
  virtual Status cache(std::string_view name, const Value& value, Time now) = 0;

  /// Forgets events that are older than `before`, but for the last ones of what is still known, and
  /// what was cached or is left over from before. In pieces, so that nobody waits for long.
  virtual Result<size_t> forget_before(Time before) = 0;
};

}  // namespace fettle

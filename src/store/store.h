#pragma once
/// The memory between runs: environments, records, events, small lists and caches. The interface is
/// narrow, so that a shared database can implement it later. Several processes may use one store at
/// once.
///
/// Any process may read. A process that acts on an environment writes through an `Edit`, a lease
/// that only one process has at a time. A process that only describes a wanted state writes through
/// a `Wish`, a short transaction that needs no lease (`store/edit.h`). Nothing else writes data of
/// an environment.

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

/// The note of an environment whose store may lack its last records (`store/postgres_place.h`): why.
/// Whoever acts on it looks for what they were about, and takes the note away.
inline constexpr std::string_view failed_over_note = "failed_over";

struct Environment {
  Name name;
  std::string uuid;  ///< 32 hexadecimal digits
  Time created;
  Value detail;              ///< written by faces: `{"production": true, "stopped": true, …}`
  bool is_removing = false;  ///< its removal has started and not ended
};

class Store {
 public:
  virtual ~Store() = default;

  virtual Result<std::vector<Environment>> environments() = 0;
  virtual Result<std::optional<Environment>> environment(const Name& name) = 0;
  virtual Result<Known> known(const Name& environment) = 0;

  /// The events of an environment after a sequence number, the oldest first. An empty name means
  /// all environments.
  virtual Result<std::vector<Event>> events(const Name& environment, uint64_t after,
                                            size_t limit) = 0;
  /// The last events about one key, the newest first.
  virtual Result<std::vector<Event>> events_of(const Key& key, size_t limit) = 0;
  /// The last events about all keys of the same kind whose names start with its name.
  virtual Result<std::vector<Event>> events_below(const Key& key, size_t limit) = 0;
  /// Every key of an environment that an event is about, by kind and name.
  virtual Result<std::vector<Key>> keys_of_events(const Name& environment) = 0;

  /// Small data of an environment by name: its list of executed instructions, its settings. None:
  /// there is no such note.
  virtual Result<std::optional<Value>> note(const Name& environment, std::string_view name) = 0;

  /// A number that changes if another process has written since the last call. Takes microseconds.
  virtual Result<int64_t> stamp() = 0;
  /// Calls `tell` at once, and then when any process, including this one, may have written something
  /// that can be read now. It does so on the calling thread, until a stop is requested. Returns
  /// false if the system cannot tell, or no longer. May be called from any thread.
  virtual bool watch(const std::function<void()>& tell, std::stop_token stop) = 0;

  /// The versions of environments: their wanted states.
  virtual Versions& versions() = 0;

  /// The right to act on an environment, which need not exist yet, or the holder if another process
  /// has the right. A holder whose process is gone has lost it.
  virtual Result<std::variant<std::unique_ptr<Edit>, Holder>> begin_edit(const Name& environment,
                                                                         const Holder& me) = 0;
  /// The process that acts on an environment at the moment.
  virtual Result<std::optional<Holder>> holder(const Name& environment) = 0;

  /// One transaction: everything that `say` writes or, if it fails, nothing. Errors
  /// (`Blame::world`): the environment is being removed.
  virtual Status wish(const Name& environment, const std::function<Status(Wish&)>& say) = 0;

  /// Values that can be computed again, but slowly: digests of folders. They belong to no
  /// environment.
  virtual Result<std::optional<Value>> cached(std::string_view name) = 0;
  virtual Status cache(std::string_view name, const Value& value, Time now) = 0;

  /// Forgets events older than `before`, except the last ones of things that are still known, and
  /// older cached values and leftovers. It works in pieces, so that others do not wait for long.
  virtual Result<size_t> forget_before(Time before) = 0;

  /// Whether the right can be taken away from `holder`. Errors: the store is a file, where a right
  /// ends with its process, or the server does not let us end its session (`Blame::user`); `holder`
  /// has the right no more.
  virtual Status check_take_away(const Name& environment, const Holder& holder) = 0;
  /// Takes the right away from `holder`, which may be a process on a machine that is gone: whatever
  /// it still writes is refused, and names `me`. Whoever waits for the right gets it. `told` is
  /// written at the same moment. Errors: those of the check.
  virtual Status take_away(const Name& environment, const Holder& holder, const Holder& me,
                           const Event& told) = 0;
};

}  // namespace fettle

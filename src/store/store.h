#pragma once
/// What is remembered between runs: environments, records, events, leases, and small lists and
/// caches. Narrow, so that a shared database can stand behind it later.
///
/// Nothing that was written is lost when the process dies at any moment: every `write` is one
/// transaction. Several processes may use one store at once.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/event.h"
#include "core/record.h"
#include "versions/versions.h"

namespace fettle {

struct Environment {
  Name name;
  std::string uuid;  ///< 32 hexadecimal digits
  Time created;
  Value detail;  ///< what faces keep with it: `{"production": true, "stopped": true, …}`
};

/// One change of a transaction.
struct Change {
  enum Type { record, forget, event } type = record;
  Key key;
  RecordPointer written;
  Event logged;
};

/// Who works on an environment.
struct Holder {
  int64_t process = 0;
  std::string process_started;  ///< tells a process id that was used again
  std::string boot;             ///< tells process ids of another boot or machine
  std::string what;             ///< for people: `fettle run examples/shop`
  Time since;
};

class Store {
 public:
  virtual ~Store() = default;

  virtual Result<std::vector<Environment>> environments() = 0;
  virtual Result<std::optional<Environment>> environment(const Name& name) = 0;
  /// Adds it or changes its detail.
  virtual Status put_environment(const Environment& environment) = 0;
  /// Takes an environment away with all its records and lists. Its events stay.
  virtual Status remove_environment(const Name& name) = 0;

  virtual Result<Known> known(const Name& environment) = 0;
  virtual Status write(std::span<const Change> changes) = 0;

  /// Events of an environment (all when it is empty) after a sequence number, oldest first.
  virtual Result<std::vector<Event>> events(const Name& environment, uint64_t after,
                                            size_t limit) = 0;
  /// The last events about one key, newest first.
  virtual Result<std::vector<Event>> events_of(const Key& key, size_t limit) = 0;

  /// Takes the lease of an environment; the one who has it when somebody else does. A holder whose
  /// process is gone loses it.
  virtual Result<std::optional<Holder>> acquire(const Name& environment, const Holder& me) = 0;
  virtual Status release(const Name& environment, const Holder& me) = 0;

  /// Small things by name: an environment's list of executed instructions, a digest of a tree of
  /// files. None when it is not there. Writing null takes it away.
  virtual Result<std::optional<Value>> note(const Name& environment, std::string_view name) = 0;
  virtual Status put_note(const Name& environment, std::string_view name, const Value& value) = 0;

  /// What environments should be, version by version.
  virtual Versions& versions() = 0;
};

/// This process, as a holder.
Holder this_process(std::string what, Time now);
/// Whether that process still runs on this machine.
bool is_alive(const Holder& holder);

}  // namespace fettle

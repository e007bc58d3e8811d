#pragma once
/// The two ways to write. An `Edit` is for who acts, and there is one at a time for an environment;
/// a `Wish` is for who says what should be, at any time, for instance while a controller acts for
/// days.

#include <span>

#include "store/store.h"

namespace fettle {

/// One change of a transaction.
struct Change {
  /// `moved`: what was logged about `key` is about `logged.key` from now on, of the same kind. All
  /// those of a transaction are done at once, at its end.
  enum Type { record, forget, event, moved } type = record;
  Key key;
  RecordPointer written;
  Event logged;
};

/// The right to act on an environment, given back at the end. Each call is one transaction. Errors
/// (`Blame::world`): somebody else has the right now; nothing is written then.
class Edit {
 public:
  virtual ~Edit() = default;
  virtual const Name& environment() const = 0;
  /// Grows with each edit of any environment; tells what was written in this one.
  virtual uint64_t number() const = 0;

  virtual Status write(std::span<const Change> changes) = 0;
  /// Adds the environment or changes its detail. One whose removal had begun stays.
  virtual Status put_environment(const Environment& environment) = 0;
  /// Null takes it away.
  virtual Status put_note(std::string_view name, const Value& value) = 0;
  /// From now on nobody wishes anything of it any more.
  virtual Status begin_removal() = 0;
  /// Takes it away with all its records, versions and lists. Its events stay.
  virtual Status remove_environment() = 0;
};

/// What may be written without the right to act.
class Wish {
 public:
  virtual ~Wish() = default;
  /// Makes the environment when there is none.
  virtual Status ensure_environment(const Environment& otherwise) = 0;
  virtual Result<std::optional<Value>> note(std::string_view name) = 0;
  /// Null takes it away.
  virtual Status put_note(std::string_view name, const Value& value) = 0;
  /// Adds the version that was staged. Error (`Blame::world`): another one was added meanwhile.
  virtual Status commit(Staged& staged, Time now) = 0;
  /// The version is then the one released last, also when it was released before. Errors
  /// (`Blame::user`): there is no such version, or it never was released and a newer one is.
  virtual Status release(uint64_t number, Time now) = 0;
};

}  // namespace fettle

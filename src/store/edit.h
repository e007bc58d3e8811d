#pragma once
/// The two ways to write. An `Edit` is for code that acts; an environment has one at a time. A
/// `Wish` is for code that describes a wanted state, at any time, even while a controller acts for
/// days.

#include <span>

#include "store/store.h"

namespace fettle {

/// One change of a transaction.
struct Change {
  /// `moved`: everything logged about `key` is about `logged.key` from now on, which has the same
  /// kind. All moves of a transaction happen at once, at its end.
  enum Type { record, forget, event, moved } type = record;
  Key key;
  RecordPointer written;
  Event logged;
};

/// The right to act on an environment, which is given back at the end. Each call is one
/// transaction. Errors (`Blame::world`): somebody else now has the right; then nothing is written.
class Edit {
 public:
  virtual ~Edit() = default;
  virtual const Name& environment() const = 0;
  /// Grows with each edit of any environment. It marks everything written in this one.
  virtual uint64_t number() const = 0;

  virtual Status write(std::span<const Change> changes) = 0;
  /// Adds the environment or changes its detail. If its removal had started, it stays.
  virtual Status put_environment(const Environment& environment) = 0;
  /// Null removes the note.
  virtual Status put_note(std::string_view name, const Value& value) = 0;
  /// From now on, every wish about the environment is refused.
  virtual Status begin_removal() = 0;
  /// Removes the environment with all its records, versions and lists. Its events stay.
  virtual Status remove_environment() = 0;
};

/// The changes that need no right to act.
class Wish {
 public:
  virtual ~Wish() = default;
  /// Creates the environment if there is none.
  virtual Status ensure_environment(const Environment& otherwise) = 0;
  virtual Result<std::optional<Value>> note(std::string_view name) = 0;
  /// Null removes the note.
  virtual Status put_note(std::string_view name, const Value& value) = 0;
  /// Adds the staged version. Error (`Blame::world`): another one was added meanwhile.
  virtual Status commit(StagedVersion& staged, Time now) = 0;
  /// Makes a version the one released last, even if it was released before. Errors (`Blame::user`):
  /// there is no such version, or it was never released and a newer one was.
  virtual Status release(uint64_t number, Time now) = 0;
};

}  // namespace fettle

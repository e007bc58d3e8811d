#pragma once
/// The objects of some types as they are by now: as reflectors tell of them, and as answers to our
/// own writes say.
///
/// Whoever decides only on what a watch has told does everything twice: the answer to a write is
/// here long before the event about it, and until then the object looks as if nobody had written.
/// So answers are taken in as well, and what a watch tells of an object is passed over while it is
/// older than the last answer about it.
///
/// What has changed is gathered until somebody takes it; ten changes of an object are one.
///
/// Invariants: an object never goes back behind an answer, and does not come back by one after its
/// end was told; whatever `find` answers has been, or will be, among `take_changed`.
///
/// Safe from many threads at once.

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "base/condition.h"
#include "kubernetes/reflector.h"

namespace fettle::kubernetes {

/// An object, by its kind and name.
struct ObjectKey {
  std::string kind;
  ObjectName name;
  auto operator<=>(const ObjectKey&) const = default;
};

class ObjectCache {
 public:
  explicit ObjectCache(const std::vector<ResourceType>& types);
  ~ObjectCache();
  ObjectCache(const ObjectCache&) = delete;
  ObjectCache& operator=(const ObjectCache&) = delete;

  /// `changed` is called when there is something to be taken, from any thread; it must not wait,
  /// nor call back. An empty one ends that: it is not called any more once this has returned.
  void listen(std::function<void()> changed);
  /// Objects of a type will not be told of. Before any are.
  void leave_out(std::string_view kind);
  bool follows(std::string_view kind) const;
  /// What is kept of each object of a type; if nobody says, all. `part` is called by one at a time,
  /// must not wait, nor call back, and leaves the metadata that says which object it is. Before any
  /// are told of.
  void keep_part(std::string_view kind, std::function<Value(const Value&)> part);
  /// For the reflector of a type.
  ObjectListener& listener(std::string_view kind);
  /// An object as the server has just answered it.
  void take_answer(std::string_view kind, const Value& object);

  /// Null: there is none. Of a type that is not followed there is nothing.
  Value find(std::string_view kind, const ObjectName& name) const;
  std::vector<Value> all(std::string_view kind) const;
  std::set<ObjectKey> take_changed();

  /// Waits until all that there is has been told of every type. Error: a stop was asked for.
  Status await_sync(const std::stop_token& stop);
  /// The kinds of which not all has been told yet.
  std::vector<std::string> unsynced() const;
  /// When the server last said something, by kind; none: it has not yet.
  std::map<std::string, std::optional<Instant>> heard() const;

 private:
  struct Item {
    Value object;
    Name answered{};  ///< the version of the last answer, until a watch has told of it
  };
  class Shelf;

  void note_end(std::string uid);
  void tell();

  std::mutex telling_;
  std::function<void()> changed_;
  mutable std::mutex mutex_;
  Condition synced_;
  std::map<std::string, std::unique_ptr<Shelf>, std::less<>> shelves_;
  std::set<ObjectKey> open_;
  std::set<std::string> ended_;  ///< the UIDs of the last objects that ended
  std::deque<std::string> ended_in_order_;
};

/// Whether a version is older than another one of the same object. Servers count them, so the
/// numbers can be compared; of anything else nobody knows.
bool is_older(std::string_view version, std::string_view other);

}  // namespace fettle::kubernetes

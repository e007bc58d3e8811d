#pragma once
/// Follows all objects of a type: lists them, watches, and tells what comes, changes and goes.
///
/// The obvious loop lists every few seconds: ten thousand pods are 36 MB each time. A watch alone
/// loses what happens while it is away, and it is away often: a server ends each after some minutes,
/// restarts, or forgets the version from which it should go on (410). Then everything is listed
/// anew, and what vanished meanwhile is told by nobody, for a list has no deletions. And a peer that
/// is gone looks like a fleet in which nothing happens.
///
/// So a `Reflector` remembers of each object its UID and version. It is a pure state machine: pages,
/// events and the time go in, commands come out (`ReflectorStep`); `follow` is the loop around it.
///
///   list    in a stream where the server can (`sendInitialEvents`), else in pages
///   watch   from the version of the list, later from that of the last event or bookmark
///   wait    twice as long after each failure, with jitter, or as long as the server wants
///
/// Invariants:
/// * A listener is told of each object in the order of its versions, never of one version twice,
///   and of the end of an object before another one of its name.
/// * After `synced`, what it was told is what there is, and no end is missing. A list that breaks
///   off tells no ends.
/// * A watch goes on where the last one ended, so that nothing between them is lost.
///
/// Lists are read as of now and not from a server's cache, so a list never shows less than was told
/// before, except from a store that was put back: that one counts. A watch from a version that such a
/// store has not reached yet says nothing, not even bookmarks, so after a silence there is a list.

#include <map>
#include <string>

#include "base/prng.h"
#include "kubernetes/client.h"
#include "kubernetes/kept_name.h"

namespace fettle::kubernetes {

/// Whoever is told. Called on the client's thread or that of `follow`, by one at a time; must not
/// wait.
class ObjectListener {
 public:
  virtual ~ObjectListener() = default;
  /// It is new, or has changed.
  virtual void put(const ObjectName& name, const Value& object) = 0;
  /// It is there no more.
  virtual void gone(const ObjectName& name, const std::string& uid) = 0;
  /// All that there is has been told; after each list.
  virtual void synced() = 0;
  /// All that there was at this version has been told of, and the end of whatever was told of before
  /// and was no longer there.
  virtual void listed(std::string_view version) { (void)version; }
  /// The server has said something about the type, if only that nothing has changed. Told by
  /// `follow`.
  virtual void heard(Instant) {}
};

struct ReflectorSettings {
  ResourceType type{};
  std::string space{};  ///< empty: all namespaces
  std::string label_selector{}, field_selector{};
  bool streams_lists = true;  ///< unless the server refuses to
  int page = 500;
  Duration watch_limit = 5min;  ///< up to twice as long
  /// A server sends a bookmark each minute. 0: silence is fine, and a store is never put back.
  Duration idle_limit = 150s;
  Duration shortest_pause = 800ms, longest_pause = 30s;
  JsonReader read{};  ///< of lists and events, perhaps of less than the whole objects
};

/// What to do next.
struct ReflectorStep {
  enum class Kind { list, watch, wait };
  Kind kind = Kind::list;
  ListOptions list{};
  WatchOptions watch{};
  Instant until{};  ///< for `wait`
};

class Reflector {
 public:
  Reflector(ReflectorSettings settings, ObjectListener& listener, uint64_t seed)
      : settings_(std::move(settings)),
        listener_(listener),
        prng_(seed),
        streams_(settings_.streams_lists) {}

  const ReflectorSettings& settings() const { return settings_; }
  ObjectListener& listener() { return listener_; }
  ReflectorStep begin(Instant now) { return list_anew(now); }
  /// A step has ended.
  ReflectorStep take_page(const ApiResult<ListPage>& page, Instant now);
  ReflectorStep end_watch(const ApiResult<void>& result, Instant now);
  ReflectorStep wake(Instant now);
  /// During a watch.
  void take(const WatchEvent& event);

  bool is_synced() const { return is_synced_; }
  size_t objects() const { return known_.size(); }

 private:
  enum class Stage { listing, streaming, watching };
  struct Known {
    Name uid, version;
    uint64_t list = 0;  ///< the last one that had it
  };
  using AllKnown = std::map<KeptName, Known, KeptNameLess>;

  ReflectorStep list_anew(Instant now);
  ReflectorStep watch(Instant now);
  ReflectorStep wait(Instant now, std::optional<Duration> at_least = {});
  void learn(const Value& object);
  void forget(AllKnown::iterator known);
  void complete();

  const ReflectorSettings settings_;
  ObjectListener& listener_;
  Prng prng_;
  bool streams_;
  Stage stage_ = Stage::listing;
  AllKnown known_;
  uint64_t list_ = 0;
  std::string rest_;       ///< of the pages
  bool is_whole_ = false;  ///< the next list comes on one page, since pages expire
  std::string version_;    ///< from which to go on; empty: there has to be a list
  bool is_synced_ = false;
  Instant watch_began_{};
  size_t heard_ = 0;  ///< events of this watch
  int failures_ = 0;  ///< in a row
};

/// Follows until a stop is asked for; uses the thread.
void follow(Client& client, Reflector& reflector, std::stop_token stop);

}  // namespace fettle::kubernetes

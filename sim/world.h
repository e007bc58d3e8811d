#pragma once
/// The simulated world: things with attributes, hosts that remember what was done in them, and a
/// driver that acts on it all at once. Latency and faults are added by the simulation around it.

#include <map>
#include <string>
#include <vector>

#include "core/driver.h"
#include "core/kind.h"

namespace fettle::sim {

/// The kinds of the simulated world: `host`, `file` (changes in place), `pack` (the same, with a
/// content), `config` (looks for itself what is to be done), `value` (an action with outputs),
/// `act` (in a host's history), `look` (reads in a host), `copy` (uses a host as it was before the
/// run), `drop`, `halt` and `wake` (remove, stop and start their host).
class SimKinds : public Kinds {
 public:
  const Kind* find(const Name& name) const override;
};

struct Thing {
  Attributes attributes;
  uint64_t id = 0;  ///< a new one each time it is made anew
  bool runs = true;
  std::map<Key, uint64_t>
      heard;  ///< of a file: how often each need of it had really changed when it acted
  std::vector<std::string> log;  ///< of a host: `name digest` of each act that succeeded in it
  uint64_t life = 0;             ///< of a host: another one each time it is started
};

class World {
 public:
  Observation observe(const Key& key) const;
  /// The whole effect of an act, at once. An act inside a host that is not there, or does not run,
  /// fails; so does one that embeds a content that cannot be read.
  Result<Outcome> apply(const Act& act, Blobs& blobs);
  /// Somebody else takes a thing away.
  void lose(const Key& key) { things.erase(key); }
  /// Somebody else starts every host again that runs.
  void restart_hosts();

  std::map<Key, Thing> things;
  std::map<Key, uint64_t> changes;  ///< how often an act changed something, recorded or not
  uint64_t next_id = 1;
  uint64_t next_life = 1;
  uint64_t values_run = 0;

 private:
  Result<Outcome> apply_to_thing(const Act& act, Blobs& blobs);
  Result<Outcome> apply_in_host(const Act& act);
};

/// The content that a `pack` with these attributes puts.
std::string content_of_pack(const Key& key, const Value& attributes);

}  // namespace fettle::sim

#pragma once
/// Versions of an environment: pushed, listed, read, compared and released.

#include "versions/commit.h"
#include "versions/versions.h"
#include "workplace/edit.h"

namespace fettle {

struct Pushed {
  uint64_t number = 0;
  std::vector<SetChange> changes;
  size_t kept_sets = 0;
  bool is_released = false;
  std::vector<Error> refused_settings;
};

/// A setting by name that comes with a version.
using NewSetting = std::pair<std::string, std::string>;

/// Decides, stages, and adds the version in a short transaction, in which the environment is made
/// when there is none, gets `settings`, but for those that it refuses, and the version is released
/// as they say. A dry run only decides. Waits for others who push to the same environment, and for
/// nobody who acts on it. Old versions are forgotten in the end.
Result<Pushed> push_version(const Workplace& place, const Name& environment, Push push,
                            Claims claims, bool is_dry,
                            const std::vector<NewSetting>& settings = {});

/// A resource of a version with all that sets say about it together.
struct WholeItem {
  Item item;                       ///< needs that lead nowhere are left out
  Name set;                        ///< empty: shared
  std::vector<Name> contributors;  ///< named sets that share it
  enum class State { available, undefined, skipped_for_undefined } state = State::available;
};

std::string_view to_string(WholeItem::State state);

struct WholeVersion {
  VersionHead head;
  std::vector<WholeItem> items;  ///< sorted by set and id
  std::vector<Unknown> unknowns;
};

/// The newest version for none; `only` reads one set instead of all.
Result<WholeVersion> read_version(const Workplace& place, const Name& environment,
                                  std::optional<uint64_t> number,
                                  std::optional<Name> only = std::nullopt);

struct ItemDifference {
  enum class Type { added, changed, moved, removed } type = Type::added;
  Name id;
  Name set, set_before;
  std::vector<std::string> fields;  ///< of a changed one
  /// Attributes; null: not there. `resource_state` is among them when it differs.
  Value before, after;
};
std::string_view to_string(ItemDifference::Type type);
/// A field of attributes; null pointer when it is not there, which is not null.
const Value* field_of(const Value& attributes, const std::string& field);
/// What differs, in time proportional to what was touched between the two. From a newer version to
/// an older one it says what going back would change.
Result<std::vector<ItemDifference>> diff_versions(const Workplace& place, const Name& environment,
                                                  uint64_t from, uint64_t to);

struct SetHead {
  Name name;
  size_t items = 0;
};
Result<std::vector<SetHead>> list_sets(const Workplace& place, const Name& environment,
                                       std::optional<uint64_t> number);

}  // namespace fettle

#pragma once
/// Pushes, lists, reads, compares and releases the versions of an environment.

#include "versions/commit.h"
#include "versions/versions.h"
#include "workplace/edit.h"

namespace fettle {

struct PushResult {
  uint64_t number = 0;
  std::vector<SetChange> changes;
  size_t kept_sets = 0;
  bool is_released = false;
  std::vector<Error> refused_settings;
};

/// A setting that comes with a version: name and value.
using NewSetting = std::pair<std::string, std::string>;

/// Decides, stages, and adds the version in a short transaction. In that transaction the
/// environment is made if there is none and gets `settings`, except refused ones, and the version
/// is released if they say so. A dry run only decides. Waits for others who push to the same
/// environment, but not for those who act on it. At the end, old versions are forgotten.
Result<PushResult> push_version(const Workplace& place, const Name& environment, Push push,
                                Claims claims, bool is_dry,
                                const std::vector<NewSetting>& settings = {});

/// A resource of a version with all that sets say about it.
struct WholeItem {
  Item item;                       ///< without needs that lead nowhere
  Name set;                        ///< empty: it is shared
  std::vector<Name> contributors;  ///< the named sets that share it
  enum class State { available, undefined, skipped_for_undefined } state = State::available;
};

std::string_view to_string(WholeItem::State state);

struct WholeVersion {
  VersionHead head;
  std::vector<WholeItem> items;  ///< sorted by set and id
  std::vector<Unknown> unknowns;
};

/// Reads a version; none: the newest. `only` reads one set instead of all.
Result<WholeVersion> read_version(const Workplace& place, const Name& environment,
                                  std::optional<uint64_t> number,
                                  std::optional<Name> only = std::nullopt);

struct ItemDifference {
  enum class Type { added, changed, moved, removed } type = Type::added;
  Name id;
  Name set, set_before;
  std::vector<std::string> fields;  ///< names of fields, if it changed
  /// Attributes; null: not there. `resource_state` is among them if it differs.
  Value before, after;
};
std::string_view to_string(ItemDifference::Type type);
/// A field of attributes. A null pointer means that it is not there, which is not the value null.
const Value* field_of(const Value& attributes, const std::string& field);
/// The differences between two versions, in time proportional to what was touched between them.
/// From a newer version to an older one, they say what going back would change.
Result<std::vector<ItemDifference>> diff_versions(const Workplace& place, const Name& environment,
                                                  uint64_t from, uint64_t to);

struct SetHead {
  Name name;
  size_t items = 0;
};
Result<std::vector<SetHead>> list_sets(const Workplace& place, const Name& environment,
                                       std::optional<uint64_t> number);

}  // namespace fettle

#pragma once
/// Versions of an environment: pushed, listed, read, compared and released.

#include "verbs/workplace.h"
#include "versions/commit.h"
#include "versions/versions.h"

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

/// Decides and stores in one transaction; a dry run only decides. Then the environment gets
/// `settings`, but for those that it refuses, old versions are forgotten, and the new one is
/// released as the settings say.
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
};
/// What differs, in time proportional to what was touched between the two.
Result<std::vector<ItemDifference>> diff_versions(const Workplace& place, const Name& environment,
                                                  uint64_t older, uint64_t newer);

struct SetHead {
  Name name;
  size_t items = 0;
};
Result<std::vector<SetHead>> list_sets(const Workplace& place, const Name& environment,
                                       std::optional<uint64_t> number);

/// Settings of an environment, in the original's words.
struct Setting {
  std::string name, value, otherwise, help;
};
Result<std::vector<Setting>> settings(const Workplace& place, const Name& environment);
Result<std::string> setting(const Workplace& place, const Name& environment,
                            const std::string& name);
/// Errors (`Blame::user`): there is no such setting, or it does not take this value.
Status set_setting(const Workplace& place, const Name& environment, const std::string& name,
                   const std::string& value);

/// Whether the setting `auto_full_compile` asks for a full export now: a time of it passed since
/// the last one.
Result<bool> full_export_is_due(const Workplace& place, const Name& environment);

}  // namespace fettle

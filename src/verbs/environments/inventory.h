#pragma once
/// The contents of an environment apart from services and files: versions, resources, orphans.

#include "verbs/environments/environments.h"
#include "workplace/orphans.h"

namespace fettle {

struct Inventory {
  size_t versions = 0, resources = 0;  ///< `resources`: without orphans
  uint64_t newest = 0, released = 0;   ///< numbers of versions, 0: none; `released`: the last one
  bool is_fleet = false;               ///< its versions are of manifests, not of a model
  std::vector<Orphan> orphans;
  std::string machine{};  ///< whose files, commands and states are its (`--on`); empty: this one's
};
Result<Inventory> take_inventory(const Workplace& place, const Name& environment);

}  // namespace fettle

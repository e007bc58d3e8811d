#pragma once
/// Makes sure that each path has one owner. The target of a reference is known only when it is
/// filled in. So this wraps the drivers that write paths, and refuses an act on a path that another
/// state of the run manages.

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "core/driver.h"
#include "states/intent.h"

namespace fettle {

class PathOwners {
 public:
  /// Adds the paths that are known before anything runs. From any thread.
  void put(const states::StatesIntent& intent);
  /// The wrapped driver, which lives as long as this object.
  Driver* around(const Name& name, Driver* driver);

 private:
  class OwnerHoldings;
  /// The other state that manages the path of an act. Empty: none, and from now on the path is the
  /// act's.
  std::string other_owner(const Act& act);

  std::mutex mutex_;
  std::map<std::string, Key> owners_;
  std::set<Key> seconds_;
  std::map<Name, std::shared_ptr<Driver>> drivers_;
};

}  // namespace fettle

#pragma once
/// One path, one owner: where references lead is known when they are filled in. Around the drivers
/// that write paths, this refuses an act on a path that another state of the run manages.

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
  /// What is known before anything runs. From any thread.
  void put(const states::StatesIntent& intent);
  /// The driver with this around it, which lives as long as this.
  Driver* around(const Name& name, Driver* driver);

 private:
  class Owned;
  /// Who else manages the path of an act; empty: nobody, and it is its from now on.
  std::string other_owner(const Act& act);

  std::mutex mutex_;
  std::map<std::string, Key> owners_;
  std::set<Key> seconds_;
  std::map<Name, std::shared_ptr<Driver>> drivers_;
};

}  // namespace fettle

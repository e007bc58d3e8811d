#pragma once
/// Finds the resource sets that contribute an instance: the set of the nearest instance in its
/// construction chain, including itself, that is in a set or constructs one. An instance with
/// several chains is contributed by the set of each.

#include <unordered_map>

#include "model/model.h"
#include "value/name.h"

namespace fettle::model {

/// The number of a set. 0 is the rest; the others count the instances of `std::ResourceSet`.
using SetNumber = uint32_t;

class Ownership {
 public:
  /// Contributors are found only if somebody will ask for them.
  Ownership(const Model& model, bool with_contributors);

  size_t set_count() const { return names_.size(); }
  const fettle::Name& name(SetNumber set) const { return names_[set]; }
  const Instance& instance(SetNumber set) const { return *sets_[set]; }

  /// The set of which the instance is a member. 0: there is none.
  SetNumber member_of(const Instance& instance) const { return member_of_[instance.number]; }
  /// A second set of which it is a member. 0: there is none.
  SetNumber also_member_of(const Instance& instance) const;
  /// The set that the instance is in or constructs. 0: there is none.
  SetNumber direct(const Instance& instance) const { return direct_[instance.number]; }

  /// The contributors, in the order of their numbers; never empty.
  std::span<const SetNumber> contributors(const Instance& instance) const;
  std::span<const SetNumber> contributors(Contributor by) const;

 private:
  void find_sets();
  void find_contributors();
  void find_direct();
  void link_children();
  void spread(SetNumber set, std::vector<uint32_t>& open);
  bool visit(uint32_t number, SetNumber set);

  const Model& model_;
  std::vector<fettle::Name> names_{fettle::Name()};
  std::vector<const Instance*> sets_{nullptr};
  std::vector<SetNumber> member_of_, direct_;
  std::unordered_map<uint32_t, SetNumber> also_member_of_;
  std::vector<uint32_t> children_begin_, children_;  ///< by contributor
  static constexpr SetNumber none = UINT32_MAX;
  std::vector<SetNumber> first_;
  std::unordered_map<uint32_t, std::vector<SetNumber>> several_;
};

}  // namespace fettle::model

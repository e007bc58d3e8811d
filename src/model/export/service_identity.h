#pragma once
/// Finds what distinguishes the service of a set from all other services, and whether a name
/// follows from it: the name must be made from it, and it must be readable in the name.

#include <map>
#include <optional>
#include <string>

#include "model/export/origins.h"
#include "model/export/ownership.h"

namespace fettle::model {

/// One of the values that together name something.
struct NamePart {
  Source source{};     ///< without an instance: a function gave it
  std::string text{};  ///< of what a function gave
};

/// How much of an identity is in a name.
struct IdentityMatch {
  bool is_whole = false;
  std::vector<std::string> has, lacks;  ///< keys of the identity of which it has most
};

class ServiceIdentities {
 public:
  ServiceIdentities(const Model& model, const Ownership& ownership);

  IdentityMatch match(SetNumber set, std::span<const NamePart> name);

 private:
  struct Key {
    enum class From : uint8_t { key, set_name, allocation };
    From from;
    std::string name;
    std::string text;
    Source source;                     ///< of a key and of the set's name
    const Instance* holder = nullptr;  ///< of the key of another instance: that instance
  };
  /// Keys that together belong to nobody else.
  using Identity = std::vector<Key>;
  class Name;

  const std::vector<Identity>& identities(SetNumber set);
  void add_keys(const Instance& of, const Index& index, const std::string& path, Identity& keys,
                int depth) const;
  bool is_made_of(const Origin& origin, const Key& key, SetNumber set);
  bool may_hold_name(const Origin& origin, const Key& name, SetNumber set);
  const Instance* service(SetNumber set) const { return model_.maker(ownership_.instance(set)); }

  const Model& model_;
  const Ownership& ownership_;
  Origins origins_;
  std::multimap<SetNumber, std::string> allocated_;
  std::optional<SetNumber> known_set_;  ///< of which set the identities are known
  std::vector<Identity> known_;
  std::unordered_map<SetNumber, Origin> names_;  ///< of the names of sets
};

}  // namespace fettle::model

#pragma once
/// Who set which fields of an object, for server-side apply.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "value/value.h"

namespace fettle::kubernetes {

/// Steps from the root, such as `f:spec` or `k:{"name":"a"}`, joined by a byte that is in none.
using FieldPath = std::string;

class FieldOwners {
 public:
  struct Owner {
    std::string manager;
    std::string operation;  ///< `Apply` or `Update`
    std::string subresource;
    auto operator<=>(const Owner&) const = default;
  };
  struct Conflict {
    std::string manager;
    FieldPath field;
  };

  /// An update by `owner` changed `before` to `after`.
  void update(const Owner& owner, const Value& before, const Value& after, Time now);
  /// Fields that others own and that `applied` wants to be otherwise than they are.
  std::vector<Conflict> conflicts(const Owner& owner, const Value& live,
                                  const Value& applied) const;
  /// What applying makes of `live`; `owner` owns the fields of `applied` then.
  Value apply(const Owner& owner, const Value& live, const Value& applied, bool is_forced,
              Time now);
  /// As `metadata.managedFields` has it.
  Value written(std::string_view api_version) const;

 private:
  struct Owned {
    std::set<FieldPath> fields;
    Time since;
  };
  std::map<Owner, Owned> owned_;
};

/// `.spec.replicas`
std::string shown_field(const FieldPath& path);

}  // namespace fettle::kubernetes

#pragma once
/// The types that the API server of the tests serves, and what it demands of their objects.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kubernetes/resource_type.h"
#include "value/value.h"

namespace fettle::kubernetes {

struct TypeRules {
  ResourceType type;
  std::string singular;
  std::string list_kind;
  bool has_status = false;
  bool has_generation = false;
  bool is_custom = false;
  Value scale{};                      ///< the paths of a definition; null: none
  Value schema{};                     ///< null: nothing is checked
  std::vector<std::string> fields{};  ///< that can be selected, beside name and namespace
};

/// The built-in ones.
std::vector<TypeRules> built_in_types();
/// Of a CustomResourceDefinition, one for each version that is served.
std::vector<TypeRules> types_of_definition(const Value& definition);

/// Rules in CEL that are known, by their text.
using KnownRules = std::map<std::string, std::function<bool(const Value& self)>>;

/// What is wrong with an object: fields and messages.
struct Cause {
  std::string field;
  std::string message;
};
/// `object` without what the schema does not know; `causes`: what it refuses.
Value pruned(const Value& object, const TypeRules& rules, const KnownRules& known,
             std::vector<Cause>& causes);

/// Whether labels or fields are as a selector wants. Error: what it is not.
Result<bool> selects_labels(std::string_view selector, const Value& object);
Result<bool> selects_fields(std::string_view selector, const Value& object, const TypeRules& rules);

}  // namespace fettle::kubernetes

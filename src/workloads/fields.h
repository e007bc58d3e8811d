#pragma once
/// The table of all fields that manifests may have: which kinds have a field, what it may be, and
/// the member of a workload that holds it.

#include <span>
#include <string_view>
#include <vector>

#include "workloads/workload.h"

namespace fettle::workloads {

struct Field {
  enum class Type {
    text,
    integer,
    boolean,
    list,
    items,  ///< a list of dicts, whose fields stand in this table
    texts,  ///< a list of texts
    dict,
    map,       ///< of texts
    selector,  ///< of labels: `matchLabels` and `matchExpressions`
    amount,
    count,  ///< a number, which may stand in quotes
    none,   ///< OpenKruise has it, and fettle does not
    any
  };

  /// C, S, D, J for ImagePullJob, L for ImageListPullJob, K for SidecarSet; lower case: only v1alpha1
  const char* kinds;
  const char* path;  ///< `[]`: each item of a list
  Type type;
  int64_t least = 0;
  int64_t most = 0x7fffffff;
  const char* words = "";  ///< texts that are allowed, with a `|` between
  /// Null: the field is more than one member, and `workload.cc` reads it.
  void (*set)(Workload& workload, const Value& value) = nullptr;
};

std::span<const Field> all_fields();

/// The letter of a kind in `Field::kinds`.
char letter_of(std::string_view kind);

/// The texts of a list, such as `spec.pullSecrets`. Anything else has none.
std::vector<Name> names_listed(const Value& list);

/// Sets the members whose fields a document has; the others keep their values.
void read_fields(const Value& document, Workload& workload);

}  // namespace fettle::workloads

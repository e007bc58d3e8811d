#pragma once
/// The seeds' resolver: which instructions of a submitted plan have already been run, by the
/// overlap of its beginning with the end of the list of what was executed in the environment
/// before.
///
/// It sees instructions only as text, with the services and artifacts that they are about, and asks
/// each type for its rule; the rules stand with the instructions. The plan by needs (`make_plan`) is the default; this one is for those who rely on the list.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "value/value.h"

namespace fettle {

/// One instruction, submitted or executed.
struct ListedInstruction {
  std::string type;                   ///< `add_service`
  std::string text;                   ///< canonical, equal texts are the same instruction
  std::vector<std::string> services;  ///< that it adds or runs on
  std::vector<std::string> mounts;    ///< artifacts that its services mount
  std::map<std::string, std::string>
      artifacts;                       ///< that it makes: name -> digest where it is known
  bool force = false;                  ///< asks to be run whatever was before
  std::vector<std::string> actions{};  ///< the keys of what it did: `exec/web#1f0c`

  bool operator==(const ListedInstruction&) const = default;
};

enum class Overlap {
  equal,   ///< already run: skipped
  update,  ///< run again: an update of what was run, or it depends on one
  added,   ///< not run before: run and appended
};

struct Resolution {
  size_t start = 0;                ///< the executed list is kept up to here
  std::vector<Overlap> decisions;  ///< one a submitted instruction
};

/// What the resolver knows of a type of instruction.
struct OverlapRule {
  /// What two of the type have in common when the one is equal to or an update of the other.
  enum class Identity {
    text,
    services,        ///< the same, in this order
    services_among,  ///< those of the executed one are among those of the submitted one
    artifacts,       ///< the names of what they make
  };
  /// What makes an instruction an update when it was updated before.
  enum class DependsOn { nothing, services, mounts };

  Identity identity = Identity::text;
  DependsOn depends_on = DependsOn::nothing;
  bool is_resolvable = true;        ///< a plan with one that is not is run whole
  bool adds_services = false;       ///< an update of it is one of its services
  bool sets_services = false;       ///< it changes the config of a service that was added before
  bool compares_digests = false;    ///< other contents are an update
  bool reads_its_artifact = false;  ///< the argument `name` is an artifact that it depends on
};
/// The rule of a type.
using OverlapRules = const OverlapRule& (*)(std::string_view type);

/// The smallest place in the executed list from where the submitted plan overlaps with its end;
/// with none, everything is run behind it.
Resolution resolve_overlap(const std::vector<ListedInstruction>& executed,
                           const std::vector<ListedInstruction>& submitted, OverlapRules rules);

/// The list as it is stored.
Value to_value(const std::vector<ListedInstruction>& list);
/// What cannot be read is left out.
std::vector<ListedInstruction> listed_instructions(const Value& value);

}  // namespace fettle

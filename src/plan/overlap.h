#pragma once
/// The seeds' resolver: which instructions of a submitted plan have already been run, by the
/// overlap of its beginning with the end of the list of what was executed in the environment
/// before.
///
/// It sees instructions only as text, with the services and artifacts that they are about. The plan
/// by needs (`make_plan`) is the default; this one is for those who rely on the list.

#include <cstddef>
#include <map>
#include <string>
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

/// The smallest place in the executed list from where the submitted plan overlaps with its end;
/// with none, everything is run behind it. `remove_service`, `start_service` and `stop_service`
/// cannot be resolved: with one of them everything is run.
Resolution resolve_overlap(const std::vector<ListedInstruction>& executed,
                           const std::vector<ListedInstruction>& submitted);

/// The list as it is stored.
Value to_value(const std::vector<ListedInstruction>& list);
/// What cannot be read is left out.
std::vector<ListedInstruction> listed_instructions(const Value& value);

}  // namespace fettle

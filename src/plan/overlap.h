#pragma once
/// The seeds' resolver (`--resolver overlap`): it finds the instructions of a submitted package
/// that need not run because they were executed in the same environment before.
///
/// The resolver knows very little of the past: one list, the instructions executed in this
/// environment, in their order. An instruction is a type, a text, and the names of the services and
/// artifacts that it is about. Nothing says what it did or what it relied on.
///
/// The obvious way is to skip an instruction whose text is in the list. It is wrong, because an
/// equal text need not have an equal effect: after `exec(db, "load v1")` and `exec(db, "load v2")`,
/// a submitted `exec(db, "load v1")` has to run again. To compare the two lists from their
/// beginnings is wrong, too: several packages may run in turn in one environment, so the list
/// seldom begins with the submitted one. Order alone stands for dependency here. Therefore only an
/// *overlap* counts: the end of the executed list, without a gap, against the beginning of the
/// submitted one. The longest overlap is taken. For example, where `C` is an update of `c`:
///
///     executed    a  b  c
///     submitted      b  C  d      start 1: `b` is equal, `C` an update, `d` added
///     afterwards  a  b  C  d
///
/// Two instructions *match* when their types and identities are the same (`OverlapRule`): two
/// `add_service` of one name match, whatever their configs; two `exec` match only when their texts
/// are equal. In an overlap all pairs match, and each submitted instruction is *equal* or an
/// *update*. It is an update when its text differs, when it is forced, when what it makes has
/// another digest (where the rule compares digests), or when something that it depends on was
/// updated by an instruction before it. An `add_service` is also an update when a `set_service` of
/// the same service is new or has another text.
///
/// Invariants:
/// * The result depends on the two lists and the rules alone.
/// * There is one decision for each submitted instruction. After the first `added`, all are
///   `added`.
/// * An overlap reaches the end of the executed list. So the executed list up to `start`, followed
///   by the submitted list, is the executed list once all of it has run.
/// * A submitted list with an instruction that cannot be resolved (`remove_service`) overlaps with
///   nothing: all of it runs.
///
/// The rules stand with the instructions (`src/packages/instructions/`); this file knows no type by
/// its name. The default is the resolver by needs (`plan/decide.h`), which knows what each act
/// relied on; this one is for those who rely on the list. `docs/resolver.md` compares the two.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "value/value.h"

namespace fettle {

/// One instruction, submitted or executed.
struct ListedInstruction {
  std::string type;                   ///< such as `add_service`
  std::string text;                   ///< canonical: equal texts are the same instruction
  std::vector<std::string> services;  ///< those that it adds or runs on
  std::vector<std::string> mounts;    ///< artifacts that its services mount
  std::map<std::string, std::string> artifacts;  ///< that it makes: name to digest, where known
  bool force = false;                            ///< it asks to run, whatever ran before
  std::vector<std::string> actions{};            ///< the keys of what it did: `exec/web#1f0c`

  bool operator==(const ListedInstruction&) const = default;
};

enum class Overlap {
  equal,   ///< was run already: skipped
  update,  ///< run again: an update of what ran, or it depends on one
  added,   ///< did not run before: run and appended
};

struct Resolution {
  size_t start = 0;                ///< the executed list is kept up to here
  std::vector<Overlap> decisions;  ///< one a submitted instruction
};

/// The rules for one type of instruction.
struct OverlapRule {
  /// The things that two instructions of the type must share for one to be equal to the other, or
  /// an update of it.
  enum class Identity {
    text,
    services,        ///< the same services, in this order
    services_among,  ///< the executed one's services are among the submitted one's
    artifacts,       ///< the names of the artifacts that they make
  };
  /// The instruction is an update when one of these was updated before.
  enum class DependsOn { nothing, services, mounts };

  Identity identity = Identity::text;
  DependsOn depends_on = DependsOn::nothing;
  bool is_resolvable = true;        ///< a plan with one that is not runs whole
  bool adds_services = false;       ///< an update of it is one of its services
  bool sets_services = false;       ///< it changes the config of a service that was added before
  bool compares_digests = false;    ///< other contents are an update
  bool reads_its_artifact = false;  ///< the argument `name` is an artifact that it depends on
};
/// Gives the rule of a type.
using OverlapRules = const OverlapRule& (*)(std::string_view type);

/// Finds the smallest place from where the submitted plan overlaps with the end of the executed
/// list. If there is none, everything runs behind that list.
Resolution resolve_overlap(const std::vector<ListedInstruction>& executed,
                           const std::vector<ListedInstruction>& submitted, OverlapRules rules);

/// Writes the list as it is stored.
Value to_value(const std::vector<ListedInstruction>& list);
/// Reads the list, and leaves out what it cannot read.
std::vector<ListedInstruction> listed_instructions(const Value& value);

}  // namespace fettle

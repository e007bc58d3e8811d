#pragma once
/// The data of a resource: its wanted attributes, the outputs of its act, and the state seen in the
/// world.
///
/// Each of the three is a dict whose members only its kind knows. As plain values they could be
/// mistaken for one another, and readers would use names in quotes: nothing would detect a member
/// that was renamed, or that has another type than the reader expects. So each is its own type, and
/// the struct of its kind (`kinds/members.h`) reads and writes it:
///
///     const Service service = read<Service>(resource.attributes);
///
/// Invariants:
/// * No member can be looked up by its name: the class has no `find` and no `at`.
/// * The core, the store and the plan keep payloads, compare them and look for holes in them. Code
///   that stores, shows or compares the dicts of all kinds includes `core/open_payload.h`;
///   `tests/tidy_test.cc` lists these files.

#include <utility>
#include <vector>

#include "value/value.h"

namespace fettle {

template <typename Kind>
class Payload {
 public:
  Payload() = default;
  Payload(Value dict) : dict_(std::move(dict)) {}  // NOLINT: what is written is what it holds

  bool is_null() const { return dict_.is_null(); }
  bool has_deferred() const { return dict_.has_deferred(); }
  bool has_unknown() const { return dict_.has_unknown(); }
  bool has_secret() const { return dict_.has_secret(); }
  Digest digest() const { return dict_.digest(); }
  friend bool operator==(const Payload&, const Payload&) = default;

 private:
  friend struct OpenPayload;
  Value dict_;
};

/// The wanted attributes, possibly with holes.
using Attributes = Payload<struct AttributesOf>;
/// The results of an act, which other resources embed; null before the first one.
using Outputs = Payload<struct OutputsOf>;
/// The state in which a thing was found.
using State = Payload<struct StateOf>;

/// Whether the thing should be absent. This is the one member that means the same for all kinds
/// that have it, so code that shows or refers to a thing can ask without knowing its kind.
bool is_purged(const Attributes& attributes);

/// The holes to be filled before the act.
std::vector<Output> holes(const Attributes& attributes);

/// The attributes with every secret replaced by its value, for drivers.
Attributes reveal(const Attributes& attributes);

}  // namespace fettle

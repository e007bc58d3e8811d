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
/// * Nobody looks a member up by its name: the class has no `find` and no `at`.
/// * The core, the store and the plan keep payloads, compare them and look for holes in them. Who
///   must have the dict itself, because it stores, shows or compares dicts of all kinds, includes
///   `core/open_payload.h`; `tests/tidy_test.cc` lists these files.

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

/// As they are wanted; there may be holes in them.
using Attributes = Payload<struct AttributesOf>;
/// What an act left behind and others embed; null as long as there is nothing.
using Outputs = Payload<struct OutputsOf>;
/// How something was found.
using State = Payload<struct StateOf>;

/// Whether the thing is to be away. This is the one member that means the same for all kinds that
/// have it: who shows or refers to something asks, whatever it is.
bool is_purged(const Attributes& attributes);

/// What is to be filled in before the act.
std::vector<Output> holes(const Attributes& attributes);

/// The same with what is inside of secrets in their place, for who passes it on to the world.
Attributes reveal(const Attributes& attributes);

}  // namespace fettle

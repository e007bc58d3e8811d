#pragma once
/// The names of a state. `web: {cloud.vm.present: […]}` is
///
///   cloud.vm_|-web_|-web_|-present   its tag, under which results are shown
///   cloud.vm_|-web_|-web_|-          its memory's
///   cloud.vm_|-web_|-web             its key's name: `absent` finds what `present` left
///
/// The third part is the ID again, and the name only for one of `names`, as in Idem since 25: a
/// state with a new `name` is the same state. Only this code writes or reads these strings.

#include <optional>
#include <string>
#include <string_view>

#include "value/name.h"

namespace fettle {

struct StateTag {
  Name state;       ///< `cloud.vm`
  Name id;          ///< of the declaration
  Name entry{};     ///< one of its `names`; empty: it has none
  Name function{};  ///< `present`; empty in the key and in memory

  static constexpr std::string_view separator = "_|-";

  /// Parses any of the three strings. None: it is not one, or names no state.
  static std::optional<StateTag> parse(std::string_view text);

  /// `cloud.vm.present` of a tag, without reading more of it; `.` for anything else.
  static std::string reference_in(std::string_view tag);

  /// The third part.
  const Name& name() const { return entry.empty() ? id : entry; }
  std::string key() const;
  std::string memory() const;
  std::string tag() const;
  /// The name of an addition to the state: its `guard`, `check` or `look`.
  std::string beside(std::string_view what) const;
  /// As people read it: `file:motd`, or `file:motd[/etc/motd]` for one of several names; an
  /// addition to the state follows in parentheses.
  std::string shown() const;

  bool operator==(const StateTag&) const = default;
  auto operator<=>(const StateTag&) const = default;
};

/// Whether an ID or a name may be a part of a tag.
bool is_tag_part(std::string_view text);

}  // namespace fettle

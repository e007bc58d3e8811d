#pragma once
/// What a state is known by. `web: {cloud.vm.present: […]}` is
///
///   cloud.vm_|-web_|-web_|-present   its tag, under which results are told
///   cloud.vm_|-web_|-web_|-          its memory's
///   cloud.vm_|-web_|-web             its key's name: what `absent` finds and `present` left
///
/// The third part is the ID again, and the name only of one of `names`, as in Idem since 25: a
/// state that is called otherwise is the same one. Everything that writes or reads these texts does
/// it here.

#include <optional>
#include <string>
#include <string_view>

#include "value/name.h"

namespace fettle {

struct StateTag {
  Name state;       ///< `cloud.vm`
  Name id;          ///< of the declaration
  Name entry{};     ///< which one of its `names`; empty: it has none
  Name function{};  ///< `present`; empty: of the key and of memory

  static constexpr std::string_view separator = "_|-";

  /// Of any of the three texts. Nothing: it is none, or names no state.
  static std::optional<StateTag> parse(std::string_view text);

  /// `cloud.vm.present` of a tag, which is all that is read of it; `.` of what is none.
  static std::string reference_in(std::string_view tag);

  /// The third part.
  const Name& name() const { return entry.empty() ? id : entry; }
  std::string key() const;
  std::string memory() const;
  std::string tag() const;
  /// The name of something beside the state: its `guard`, `check` or `look`.
  std::string beside(std::string_view what) const;
  /// As people read it: `file:motd`, and of one of several names `file:motd[/etc/motd]`; what stands
  /// beside the state follows in parentheses.
  std::string shown() const;

  bool operator==(const StateTag&) const = default;
  auto operator<=>(const StateTag&) const = default;
};

/// Whether an ID or a name may be a part of a tag.
bool is_tag_part(std::string_view text);

}  // namespace fettle

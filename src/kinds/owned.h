#pragma once
/// The common part of files, folders and links on a machine: their path, owner and mode, and that
/// they may be wanted absent.

#include "core/kind.h"
#include "kinds/members.h"

namespace fettle {

/// Mode, owner and group of a file or folder; null: it does not matter.
struct Ownership {
  const Hole<Name>&mode, &owner, &group;
};
template <typename PathStruct>
Ownership ownership_of(const PathStruct& wanted) {
  return {wanted.mode, wanted.owner, wanted.group};
}

/// The state of something at a path. `uid` and `gid` are digits.
struct PathSeen {
  Name type{};
  Value digest{}, mode{}, owner{}, group{}, uid{}, gid{}, leads_to{}, content{};
  static const Members& members();
};

/// A path must be absolute, without a zero byte.
Status check_path(const Hole<Name>& path);

/// A path in its only form: `/a//b/` is `/a/b`.
std::string place_of_path(std::string_view path);

/// Mode, owner and group as the world has them. A mode is four octal digits, as `ls` and `chmod`
/// write it. Inmanta: the digits of an integer are meant octal, so that `mode = 644` is `0644`.
Status normalise_ownership(Hole<Name>& mode, Hole<Name>& owner, Hole<Name>& group);

/// The members of the ownership in which the world differs from the wish.
std::vector<std::string> ownership_that_differs(const Ownership& wanted, const PathSeen& seen);

/// The attributes as they were applied: the outputs say how each hole was filled.
Attributes as_applied(const Record& known);

/// The answer if the thing should be absent, or something of another type exists; none if it exists
/// and has the type.
std::optional<Comparison> compare_presence(bool is_purged, const Observation& seen,
                                           std::string_view type);

/// The drift of some members.
Comparison drift_of(std::vector<std::string> fields);

}  // namespace fettle

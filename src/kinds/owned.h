#pragma once
/// The common part of files, folders and links of a machine: where they are, who owns them, who may
/// do what, and that they may be wanted away.

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

/// How something is found at a path. `uid` and `gid` are digits.
struct PathSeen {
  Name type{};
  Value digest{}, mode{}, owner{}, group{}, uid{}, gid{}, leads_to{}, content{};
  static const Members& members();
};

/// A path must be absolute, without a zero byte.
Status check_path(const Hole<Name>& path);

/// A path written in one way only: `/a//b/` is `/a/b`.
std::string place_of_path(std::string_view path);

/// Mode, owner and group as the world has them. A mode is four octal digits, as `ls` and `chmod`
/// write it. Inmanta: the digits of an integer are meant octal, so that `mode = 644` is `0644`.
Status normalise_ownership(Hole<Name>& mode, Hole<Name>& owner, Hole<Name>& group);

/// Members of the ownership in which the world differs from what is wanted.
std::vector<std::string> ownership_that_differs(const Ownership& wanted, const PathSeen& seen);

/// The attributes as they were applied: of those that held a hole, the outputs say with what it was
/// filled.
Attributes as_applied(const Record& known);

/// The answer when something is to be away, or something of another type is there; none when it is
/// there and of the type.
std::optional<Comparison> compare_presence(bool is_purged, const Observation& seen,
                                           std::string_view type);

/// The drift of some members.
Comparison drift_of(std::vector<std::string> fields);

}  // namespace fettle

#pragma once
/// The common part of files, folders and links of a machine: who owns them, who may do what, and
/// that they may be wanted away.

#include "core/kind.h"

namespace fettle {

/// `"path"` of attributes must be an absolute path without a zero byte.
Status check_path(const Value& attributes, std::string_view field);

/// The place of what is at `"path"`, written in one way only: `/a//b/` is `/a/b`.
std::string place_of_path(const Value& attributes, const Value& outputs);

/// A mode as `ls` and `chmod` write it, of four octal digits. Inmanta: the digits of an integer are
/// meant octal, so that `mode = 644` is `0644`. Null stays null. Error: not a mode.
Result<Value> normal_mode(const Value& mode);

/// An owner or group as text; null: it does not matter.
Result<Value> normal_owner(const Value& owner);

/// The attributes with mode, owner and group normalised.
Result<Value> normal_rights(const Value& attributes);

/// Fields of mode, owner and group in which the world differs from what is wanted. `seen` has
/// `mode`, `owner`, `group` as names and `uid`, `gid` as digits.
std::vector<std::string> rights_that_differ(const Value& wanted, const Value& seen);

/// The attributes as they were applied: of those that held a hole, the outputs say with what it was
/// filled.
Value as_applied(const Record& known);

/// The answer when something is to be away, or something of another type is there; none when it is
/// there and of the type.
std::optional<Comparison> compare_presence(const Value& wanted, const Observation& seen,
                                           std::string_view type);

/// The drift of some fields.
Comparison drift_of(std::vector<std::string> fields);

}  // namespace fettle

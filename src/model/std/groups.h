#pragma once
/// The plugins of `std` by group, one file each. One more plugin is a row in its group's table; one
/// more group is a function here and a row in `plugins.cc`.

#include "model/machine.h"

namespace fettle::model {

using Arguments = std::span<const Datum>;

/// Whether a value is of a type; else `error` says what it must be.
inline bool wants(const Datum& value, Tag tag, std::string_view what, std::string& error) {
  if (value.tag == tag)
    return true;
  error = std::string("the argument must be ").append(what);
  return false;
}

std::span<const Plugin> control_plugins();
std::span<const Plugin> lists_plugins();
std::span<const Plugin> strings_plugins();
std::span<const Plugin> dicts_plugins();
std::span<const Plugin> reflection_plugins();
std::span<const Plugin> environment_plugins();

}  // namespace fettle::model

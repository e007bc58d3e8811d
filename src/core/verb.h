#pragma once
/// The acts on a resource.

#include <string_view>

namespace fettle {

enum class Verb {
  keep,
  create,
  update,
  replace,
  start,
  stop,
  remove,
  forget,
  run,
  ensure,
  blocked
};

std::string_view to_string(Verb verb);

/// Whether a verb asks a driver to act.
constexpr bool acts(Verb verb) {
  return verb != Verb::keep && verb != Verb::forget && verb != Verb::blocked;
}

}  // namespace fettle

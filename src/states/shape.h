#pragma once
/// The types of the parameters of built-in states.

#include <string>

#include "value/value.h"

namespace fettle::states {

/// Longer waits and limits are mistakes: a year.
constexpr double longest_seconds = 366.0 * 24 * 3600;

enum class Shape : uint8_t {
  any,
  text,  ///< not empty
  dict,
  list,
  seconds,     ///< a number from 0 to a year
  time_limit,  ///< seconds, more than 0
  duration,    ///< `2m`, or seconds
  count,       ///< a whole number from 1 on
  mode,        ///< octal digits up to 07777
  umask,       ///< octal digits up to 0777
  user,        ///< a name, or a number
  exit_codes,  ///< a list of numbers from 0 to 255
  statuses,    ///< a status of HTTP, or a list of them
  method,      ///< of HTTP
  headers,     ///< of HTTP
  url,
  variables,  ///< of an environment: a dict, or a list of dicts
  refs,       ///< one ref, or a list of them
  restart,    ///< `always` or `no`
  outcome     ///< true, false or `Random`
};

/// `must be a list, not "x"`. Empty: the value fits. What a reference in it gives is known later.
std::string complaint(Shape shape, const Value& given);

}  // namespace fettle::states

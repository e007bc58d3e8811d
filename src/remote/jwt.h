#pragma once
/// A JWT (RFC 7519): what somebody says of a third one, signed (RFC 7515).
///
/// Many of its attacks are in what a reader is kind about: an algorithm that the token itself may
/// choose (`none`, a shared secret), a field that stands twice and that another program reads
/// otherwise, two texts for the same bytes. So its form is exact, and whatever is not known to be right
/// is wrong.

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "value/value.h"

namespace fettle {

struct Jwt {
  std::string algorithm;    ///< `RS256`
  std::string key;          ///< its `kid`: the name of the key
  Value claims;             ///< a dict
  std::string signed_part;  ///< the text that is signed
  std::string signature;    ///< its bytes
};

/// Of the whole text, in bytes: what fits into the header of a request with all else.
constexpr size_t longest_jwt = 12'288;
constexpr uint32_t deepest_jwt = 8;

/// Whether a text is meant to be one. No token of `tokens.h` is.
bool is_like_jwt(std::string_view text);
/// Error (`Blame::user`): the rule of its form that does not hold. It has nothing of the text in it.
Result<Jwt> read_jwt(std::string_view text);

/// How far the clocks of others may be off.
constexpr Duration clock_leeway = 60s;
/// What `exp`, `nbf` and `iat` say against it now; none: it counts.
struct TimeFault {
  bool is_over = false;  ///< it has counted
  std::string why;
};
std::optional<TimeFault> time_fault(const Value& claims, Time now);
/// Whether `aud` is this text, or a list of texts with it.
bool is_for_audience(const Value& claims, std::string_view audience);

}  // namespace fettle

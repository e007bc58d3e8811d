#include "remote/jwt.h"

#include <algorithm>
#include <cmath>

#include "base/base64.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::string_view begin_of_json = "eyJ";  // `{"`
constexpr size_t longest_key_name = 256;
/// The year 9999.
constexpr int64_t last_second = 253'402'300'799;

/// A part that is an object of JSON.
Result<Value> object_in(std::string_view part, std::string_view what) {
  const Result<std::string> bytes = base64url_decode(part);
  if (!bytes)
    return user_error(cat("its ", what, " is no base64url"));
  Result<Value> value = read_json(*bytes);
  if (!value || !value->is_dict())
    return user_error(cat("its ", what, " is no object of JSON, or has a field twice"));
  if (value->depth() > deepest_jwt)
    return user_error(cat("its ", what, " is nested deeper than ", deepest_jwt));
  return value;
}

/// None: there is no such claim. Error: it is no moment.
Result<std::optional<Time>> moment_at(const Value& claims, std::string_view name) {
  const Value* const value = claims.find(name);
  if (value == nullptr)
    return std::optional<Time>();
  int64_t seconds = -1;
  if (value->is_integer())
    seconds = value->integer().value_or(-1);
  else if (value->is_real() && value->real() >= 0 && value->real() < last_second)
    seconds = static_cast<int64_t>(std::floor(value->real()));
  if (seconds < 0 || seconds > last_second)
    return user_error(cat("`", name, "` is no moment"));
  return std::optional(Time(std::chrono::seconds(seconds)));
}

std::optional<TimeFault> fault_of_moments(const Value& claims, Time now, Status& read) {
  const auto moment = [&](std::string_view name) {
    const Result<std::optional<Time>> at = moment_at(claims, name);
    if (!at)
      read = at.error();
    return at ? *at : std::nullopt;
  };
  const std::optional<Time> expires = moment("exp"), begins = moment("nbf"), issued = moment("iat");
  if (!expires)
    return TimeFault{false, "it has no `exp`"};
  if (now - clock_leeway >= *expires)
    return TimeFault{true, cat("`exp`: it expired at ", write_moment(*expires))};
  for (const auto& [name, at] : {std::pair("nbf", begins), std::pair("iat", issued)})
    if (at && *at > now + clock_leeway)
      return TimeFault{false,
                       cat("`", name, "`: it is from ", write_moment(*at), ", later than now")};
  return std::nullopt;
}

}  // namespace

bool is_like_jwt(std::string_view text) {
  return text.starts_with(begin_of_json) && text.find('.') != text.npos;
}

Result<Jwt> read_jwt(std::string_view text) {
  if (text.size() > longest_jwt)
    return user_error(cat("it has more than ", longest_jwt, " bytes"));
  const std::vector<std::string_view> parts = split(text, '.');
  if (parts.size() != 3)
    return user_error("it has not three parts");
  const Value header = TRY(object_in(parts[0], "header"));
  // Whoever does not understand what must be understood takes it for something else.
  if (header.find("crit") != nullptr)
    return user_error("its header has `crit`");
  if (const Value* const type = header.find("typ");
      type != nullptr && (!type->is_text() || lower_case(type->text().str()) != "jwt"))
    return user_error("`typ` is not JWT");
  Jwt jwt;
  jwt.algorithm = header.text_at("alg");
  jwt.key = header.text_at("kid");
  if (jwt.algorithm.empty())
    return user_error("its header has no `alg`");
  if (jwt.key.empty() || jwt.key.size() > longest_key_name)
    return user_error("its header has no `kid`, or a longer one than any key has");
  jwt.claims = TRY(object_in(parts[1], "claims"));
  const Result<std::string> signature = base64url_decode(parts[2]);
  if (!signature || signature->empty())
    return user_error("its signature is no base64url");
  jwt.signature = *signature;
  jwt.signed_part = text.substr(0, parts[0].size() + 1 + parts[1].size());
  return jwt;
}

std::optional<TimeFault> time_fault(const Value& claims, Time now) {
  Status read;
  std::optional<TimeFault> fault = fault_of_moments(claims, now, read);
  return read ? fault : TimeFault{false, read.error().message};
}

bool is_for_audience(const Value& claims, std::string_view audience) {
  const Value& given = claims.at("aud");
  if (given.is_text())
    return given.text().view() == audience;
  const auto items = items_of(given);
  return std::ranges::all_of(items, [](const Value& one) { return one.is_text(); }) &&
         std::ranges::any_of(items,
                             [&](const Value& one) { return one.text().view() == audience; });
}

}  // namespace fettle

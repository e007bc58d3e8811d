#pragma once
/// What the fields of a request say, by the same rules for commands and for hooks.

#include <string>
#include <string_view>

#include <boost/beast/http/fields.hpp>

namespace fettle {

constexpr std::string_view bearer_scheme = "Bearer ";

/// Empty: it was not sent, or twice. Of several, none may count: another program would read another
/// one.
inline std::string single_field(const boost::beast::http::fields& fields, std::string_view name) {
  const auto [from, to] = fields.equal_range({name.data(), name.size()});
  return from == to || std::next(from) != to ? std::string() : std::string(from->value());
}

/// Whether it says from which page it comes.
inline bool is_from_browser(const boost::beast::http::fields& fields) {
  return fields.count("Origin") > 0 || fields.count("Sec-Fetch-Site") > 0 ||
         fields.count("Cookie") > 0;
}

}  // namespace fettle

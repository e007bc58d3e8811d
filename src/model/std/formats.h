#pragma once
/// Whether a text has a form: dates and times as pydantic reads them, UUIDs, URLs, mail addresses,
/// IP addresses, paths that exist.

#include <filesystem>
#include <string_view>

#include "model/std/address.h"
#include "value/json.h"

namespace fettle::model {

/// `2020-01-31`, a moment at midnight, or whole days as seconds since 1970.
bool is_date(std::string_view text);
/// `2020-01-31T12:00:00.5+01:00`, a date, or seconds since 1970.
bool is_date_time(std::string_view text);
/// `12:00`, `12:00:00.5Z`.
bool is_time(std::string_view text);

/// 0: the text is no UUID. Otherwise the digit of its version (`f` for one without a version).
char uuid_version(std::string_view text);
inline bool is_uuid(std::string_view text) { return uuid_version(text) != 0; }
template <int version>
bool is_uuid_version(std::string_view text) {
  return uuid_version(text) == '0' + version;
}

bool is_any_url(std::string_view text);
bool is_http_url(std::string_view text);
bool is_postgres_url(std::string_view text);
bool is_redis_url(std::string_view text);
bool is_email(std::string_view text);
/// `Name <a@b.com>`, or the address alone.
bool is_name_email(std::string_view text);

/// Whether it is an address of version 4 or 6; 0: of either.
template <int version>
bool is_address(std::string_view text) {
  const std::optional<Address> address = read_address(text);
  return address && (version == 0 || address->version == version);
}
template <int version>
bool is_interface(std::string_view text) {
  const std::optional<Interface> interface = read_interface(text);
  return interface && (version == 0 || interface->address.version == version);
}
template <int version>
bool is_network(std::string_view text) {
  return is_interface<version>(text) && read_interface(text)->is_network();
}

inline bool is_file_path(std::string_view text) { return std::filesystem::is_regular_file(text); }
/// An empty text means the current folder.
inline bool is_folder_path(std::string_view text) {
  return text.empty() || std::filesystem::is_directory(text);
}
inline bool is_json(std::string_view text) { return read_json(text).has_value(); }

}  // namespace fettle::model

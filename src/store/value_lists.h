#pragma once
/// Questions about many values. A store on another machine answers one in the time of a round trip,
/// and a thousand questions in a thousand: so as many values as fit go into one. The two databases
/// share no way to pass a list, hence a fixed number of places, of which the last ones may repeat a
/// value.

#include <algorithm>
#include <span>
#include <string>

#include "base/text.h"
#include "store/database.h"

namespace fettle {

inline constexpr size_t values_at_once = 64;

/// `(?,?,…)`, behind `IN`.
inline std::string places_of_list() {
  std::string places = "(?";
  for (size_t i = 1; i < values_at_once; ++i)
    places += ",?";
  return places + ")";
}

/// Calls `ask` with a query for each group of values, bound to `sql`, which must stay in place as
/// long as the database.
template <typename Ask>
Status ask_in_lists(Database& database, const std::string& sql, std::span<const std::string> values,
                    const Ask& ask) {
  for (; !values.empty(); values = values.subspan(std::min(values_at_once, values.size()))) {
    Query query = TRY(database.query(sql.c_str()));
    for (size_t i = 0; i < values_at_once; ++i)
      query.bind(std::string_view(values[std::min(i, values.size() - 1)]));
    while (TRY(query.step()))
      ask(query);
  }
  return {};
}

}  // namespace fettle

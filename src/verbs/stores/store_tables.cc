#include "verbs/stores/store_tables.h"

#include "base/text.h"

namespace fettle {
namespace {

constexpr StoreTable all_tables[] = {
    {"environments", "t:name t:uuid n:created b:detail n:removing"},
    {"records", "t:environment t:kind t:name b:body"},
    {"events",
     "n:sequence n:time n:type t:environment t:kind t:name n:verb t:because_kind t:because_name "
     "t:text b:detail"},
    {"leases", "t:environment n:token n:process t:machine t:what n:since n:role"},
    {"counters", "t:name n:value"},
    {"notes", "t:environment t:name b:value"},
    {"cache", "t:name b:value n:written"},
    {"versions", "n:world n:number n:created n:released b:detail"},
    {"contents", "n:id b:digest b:body"},
    {"pieces", "n:id n:world t:set_name t:name"},
    {"spans", "n:piece n:since n:until n:world n:content b:digest"},
    {"holdings", "n:world b:key b:value n:piece n:since n:until"},
    {"staging", "n:world n:number"},
    {"record_uses", "t:digest t:environment t:kind t:name"},
    {"version_uses", "t:digest n:world n:number"},
};

}  // namespace

std::span<const StoreTable> store_tables() { return all_tables; }

Status check_nobody_acts(Database& database, std::string_view what) {
  Query names = TRY(database.query("SELECT environment, what FROM leases ORDER BY environment"));
  while (TRY(names.step()))
    if (TRY(database.is_locked(edit_lock_name(names.text(0)))))
      return world_error(cat("`", names.text(0), "` is being changed by `", names.text(1),
                             "`: ", what, " when that has ended"));
  return {};
}

Status each_row(Database& database, std::list<std::string>& texts, const std::string& select,
                const RowLook& look, const std::stop_token& stop) {
  const bool is_in_parts = database.dialect() == Database::Dialect::postgres;
  const std::string cursor = cat("rows_", texts.size());
  if (is_in_parts)
    TRY(database.execute(cat("DECLARE ", cursor, " CURSOR FOR ", select).c_str()));
  const std::string& part =
      texts.emplace_back(is_in_parts ? cat("FETCH 500 FROM ", cursor) : select);
  for (bool more = true; more;) {
    more = false;
    Query rows = TRY(database.query(part.c_str()));
    while (TRY(rows.step())) {
      TRY(look(rows));
      if (stop.stop_requested())
        return cancelled_error();
      more = is_in_parts;
    }
  }
  return is_in_parts ? database.execute(cat("CLOSE ", cursor).c_str()) : Status();
}

}  // namespace fettle

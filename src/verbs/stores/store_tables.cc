#include "verbs/stores/store_tables.h"

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

}  // namespace fettle

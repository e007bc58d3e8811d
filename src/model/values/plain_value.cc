#include "model/values/plain_value.h"

#include "base/budget.h"
#include "model/values/convert.h"

namespace fettle::model {
namespace {

struct PlainMaker {
  using Product = Result<Value>;
  const SpecialValue& special;
  Budget& budget;

  Product unset() const { return Value(); }
  Product null() const { return Value(); }
  Product boolean(bool value) const { return Value(value); }
  Product integer(int64_t value) const { return Value(value); }
  Product large(std::string_view digits) const { return Value::big_integer(digits); }
  Product real(double value) const { return Value(value); }
  Product text(std::string_view text) const { return Value(text); }
  Product unknown() const { return special(Datum::unknown()); }
  Product reference(const Datum& datum) const { return special(datum); }
  Product instance(Instance* instance) const { return special(Datum::of(instance)); }

  Product list(const List& list) const {
    std::vector<Value> items;
    items.reserve(list.items.size());
    if (!budget.has_room(items.capacity() * sizeof(Value)))
      return user_error(budget.refusal());
    for (const Datum& item : list.items)
      items.push_back(TRY(to_value(item, special)));
    return Value::list(std::move(items));
  }

  Product dict(const Dict& dict) const {
    std::vector<Entry> entries;
    entries.reserve(dict.entries.size());
    for (const DictEntry& entry : dict.entries)
      entries.push_back({fettle::Name(entry.key->view), TRY(to_value(entry.value, special))});
    return Value::dict(std::move(entries));
  }
};

}  // namespace

Result<Value> to_value(const Datum& datum, const SpecialValue& special) {
  // A shared part is written at each place.
  Budget& budget = Budget::current();
  if (!budget.spend(4))
    return user_error(budget.refusal());
  return convert(datum, PlainMaker{special, budget});
}

}  // namespace fettle::model

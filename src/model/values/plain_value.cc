#include "model/values/plain_value.h"

#include "base/budget.h"
#include "model/values/convert.h"

namespace fettle::model {
namespace {

struct PlainMaker {
  using Made = Result<Value>;
  const SpecialValue& special;
  Budget& budget;

  Made unset() const { return Value(); }
  Made null() const { return Value(); }
  Made boolean(bool value) const { return Value(value); }
  Made integer(int64_t value) const { return Value(value); }
  Made large(std::string_view digits) const { return Value::big_integer(digits); }
  Made real(double value) const { return Value(value); }
  Made text(std::string_view text) const { return Value(text); }
  Made unknown() const { return special(Datum::unknown()); }
  Made reference(const Datum& datum) const { return special(datum); }
  Made instance(Instance* instance) const { return special(Datum::of(instance)); }

  Made list(const List& list) const {
    std::vector<Value> items;
    items.reserve(list.items.size());
    if (!budget.has_room(items.capacity() * sizeof(Value)))
      return user_error(budget.refusal());
    for (const Datum& item : list.items)
      items.push_back(TRY(to_value(item, special)));
    return Value::list(std::move(items));
  }

  Made dict(const Dict& dict) const {
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

#include "model/values/plain_value.h"

#include "base/budget.h"

namespace fettle::model {

Result<Value> to_value(const Datum& datum, const SpecialValue& special) {
  // A part that is shared becomes one wherever it is.
  Budget& budget = Budget::current();
  if (!budget.spend(4))
    return user_error(budget.refusal());
  switch (datum.tag) {
    case Tag::unset:
    case Tag::null:
      return Value();
    case Tag::boolean:
      return Value(datum.boolean);
    case Tag::integer:
      return Value(datum.integer);
    case Tag::large:
      return Value::big_integer(datum.view());
    case Tag::floating:
      return Value(datum.floating);
    case Tag::text:
      return Value(datum.view());
    case Tag::list: {
      std::vector<Value> items;
      items.reserve(datum.list->items.size());
      if (!budget.has_room(items.capacity() * sizeof(Value)))
        return user_error(budget.refusal());
      for (const Datum& item : datum.list->items)
        items.push_back(TRY(to_value(item, special)));
      return Value::list(std::move(items));
    }
    case Tag::dict: {
      std::vector<Entry> entries;
      entries.reserve(datum.dict->entries.size());
      for (const DictEntry& entry : datum.dict->entries)
        entries.push_back({fettle::Name(entry.key->view), TRY(to_value(entry.value, special))});
      return Value::dict(std::move(entries));
    }
    case Tag::reference:
    case Tag::unknown:
    case Tag::instance:
      return special(datum);
  }
  return Value();
}

}  // namespace fettle::model

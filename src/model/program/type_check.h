#pragma once
/// Checks values against types: primitives, lists of them, and references to them.

#include <algorithm>

#include "model/program/program.h"

namespace fettle::model {

/// Checks one value, or an element of a list, against the base of a type. If it does not fit, `why`
/// says what is wrong.
bool is_item_of(const Program& program, const Type& type, const Datum& value, Reason& why);
/// Checks a value that is no list where one is expected: only a reference to a list will do.
bool stands_for_list(const Program& program, const Type& type, const Datum& value, Reason& why);

/// Checks a value against a type. `check_item` judges the elements, or the value of a type that is
/// no list.
template <typename CheckItem>
bool is_of(const Program& program, const Type& type, const Datum& value, Reason& why,
           CheckItem check_item) {
  if (value.tag == Tag::unknown || (value.tag == Tag::null && type.is_nullable))
    return true;
  if (!type.is_list)
    return check_item(value);
  if (value.tag != Tag::list)
    return stands_for_list(program, type, value, why);
  return std::ranges::all_of(value.list->items, [&](const Datum& item) {
    return item.tag == Tag::unknown || check_item(item);
  });
}

/// The same for a type without a constraint.
bool is_of(const Program& program, const Type& type, const Datum& value, Reason& why);

}  // namespace fettle::model

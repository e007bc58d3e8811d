#include "model/program/type_check.h"

#include "base/text.h"
#include "model/program/text_form.h"

namespace fettle::model {
namespace {

bool is_primitive(Base base, const Datum& value) {
  switch (base) {
    case Base::any:
    case Base::constrained:
      return true;
    case Base::string:
      return value.tag == Tag::text;
    case Base::integer:
      return value.is_whole();
    case Base::floating:
      return value.tag == Tag::floating;
    case Base::boolean:
      return value.tag == Tag::boolean;
    case Base::number:
      return value.is_number();
    case Base::list:  // of values
      return value.tag == Tag::list &&
             std::ranges::none_of(value.list->items,
                                  [](const Datum& item) { return item.tag == Tag::instance; });
    case Base::dict:
      return value.tag == Tag::dict;
  }
  return false;
}

bool refuse(const Program& program, const Datum& value, std::string_view type, Reason& why) {
  why = {cat("Invalid value '", shown(program, value), "', expected ", type)};
  return false;
}

/// A reference stands for a value of one type.
bool refers(const Program& program, const Type& type, std::string_view name, const Datum& value,
            Reason& why) {
  if (type.base == Base::any ||
      (type.base != Base::constrained && name == value.reference->element))
    return true;
  why = {
      cat("Invalid value: ", shown(program, value), " is not a subtype of Reference[", name, "]")};
  return false;
}

std::string_view item_name(const Type& type) {
  return std::string_view(type.name).substr(0, type.name.find('['));
}

}  // namespace

bool is_item_of(const Program& program, const Type& type, const Datum& value, Reason& why) {
  if (value.tag == Tag::reference)
    return refers(program, type, item_name(type), value, why);
  return is_primitive(type.base, value) || refuse(program, value, item_name(type), why);
}

bool stands_for_list(const Program& program, const Type& type, const Datum& value, Reason& why) {
  if (value.tag == Tag::reference)
    return refers(program, type, type.name, value, why);
  return refuse(program, value, type.name, why);
}

bool is_of(const Program& program, const Type& type, const Datum& value, Reason& why) {
  return is_of(program, type, value, why,
               [&](const Datum& one) { return is_item_of(program, type, one, why); });
}

}  // namespace fettle::model

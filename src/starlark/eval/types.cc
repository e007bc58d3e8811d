/// Names of types, and which values count as true.

#include <array>

#include "starlark/eval/ops.h"

namespace fettle::starlark {

std::string_view type_name_of(Kind kind) {
  static constexpr std::array<std::string_view, static_cast<size_t>(Kind::count)> names = {
      "",       "",        "",         "",       "",          "",
      "",       "int",     "float",    "string", "bytes",     "list",
      "tuple",  "dict",    "set",      "range",  "function",  "builtin_function_or_method",
      "struct", "module",  "",         "",       "time.time", "time.duration",
      "regex",  "unknown", "NoneType", "bool"};
  return names[static_cast<size_t>(kind)];
}

void note_look(Value v) {
  if (is_kind(v, Kind::unknown))
    v.object()->flags |= Object::looked_at;
}

std::string_view type_name_of(Value v) {
  note_look(v);
  if (is_kind(v, Kind::record))
    return as<Record>(v)->type->name;
  if (is_kind(v, Kind::view)) {
    switch (as<View>(v)->view_kind()) {
      case ViewKind::bytes_elems:
        return "bytes.elems";
      case ViewKind::elems:
      case ViewKind::elem_ords:
        return "string.elems";
      default:
        return "string.codepoints";
    }
  }
  return type_name_of(kind_of(v));
}

bool truth(Value v) {
  if (v.is_bool())
    return v.is_true();
  if (v.is_small())
    return v.small() != 0;
  if (v.is_packed_float())
    return v.packed_float() != 0;
  if (v.is_short_text())
    return !v.short_text().empty();
  if (!v.is_object())
    return false;
  const Object* o = v.object();
  switch (o->kind) {
    case Kind::boxed_float:
      return static_cast<const BoxedFloat*>(o)->number != 0;
    case Kind::bytes:
    case Kind::tuple:
      return o->count > 0;
    case Kind::list:
      return static_cast<const List*>(o)->size > 0;
    case Kind::dict:
    case Kind::set:
      return static_cast<const Dict*>(o)->live > 0;
    case Kind::range:
      return static_cast<const Range*>(o)->length > 0;
    case Kind::duration:
      return static_cast<const DurationObject*>(o)->nanoseconds > 0;
    case Kind::unknown:
      note_look(v);
      return true;
    default:
      return true;
  }
}

}  // namespace fettle::starlark

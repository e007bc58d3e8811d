/// Freezing, of a value and all that it refers to, without native stack.

#include "starlark/eval/ops.h"
#include "starlark/eval/structure.h"
#include "starlark/eval/table.h"

namespace fettle::starlark {

void freeze_value(Value root, bool share) {
  const uint8_t wanted = share ? Object::frozen | Object::shared : Object::frozen;
  if (!root.is_object() || (root.object()->flags & wanted) == wanted)
    return;
  std::vector<Object*> gray;
  const auto visit = [&](Value v) {
    if (v.is_object())
      gray.push_back(v.object());
  };
  visit(root);
  while (!gray.empty()) {
    Object* o = gray.back();
    gray.pop_back();
    const bool container = o->kind == Kind::list || o->kind == Kind::dict || o->kind == Kind::set;
    if ((o->flags & wanted) == wanted)
      continue;
    if (!share && (o->flags & Object::shared))
      continue;
    if (container && !o->is_frozen())
      o->count = 0;
    o->flags |= wanted;
    const auto visit_all = [&](Value* values, size_t count) {
      for (size_t i = 0; i < count; ++i)
        visit(values[i]);
    };
    switch (o->kind) {
      case Kind::string:
      case Kind::bytes:
        if (o->flags & Object::indirect)
          static_cast<String*>(o)->buffer()->flags |= wanted;
        break;
      case Kind::list: {
        auto* list = static_cast<List*>(o);
        if (list->array() != nullptr)
          list->array()->flags |= wanted;
        visit_all(list->items, list->size);
        break;
      }
      case Kind::tuple:
        visit_all(static_cast<Tuple*>(o)->items(), o->count);
        break;
      case Kind::dict:
      case Kind::set: {
        auto* dict = static_cast<Dict*>(o);
        if (dict->entries != nullptr)
          Dict::owner(dict->entries)->flags |= wanted;
        if (dict->index != nullptr)
          Dict::owner(dict->index)->flags |= wanted;
        table_each(dict, [&](const TableEntry& entry) {
          visit(entry.key);
          visit(entry.value);
          return true;
        });
        break;
      }
      case Kind::function: {
        auto* function = static_cast<Function*>(o);
        if (function->defaults != nullptr)
          gray.push_back(function->defaults);
        visit_all(function->cells(), o->count);
        break;
      }
      case Kind::cell:
        visit(static_cast<Cell*>(o)->value);
        break;
      case Kind::builtin:
        visit(static_cast<Builtin*>(o)->self);
        break;
      case Kind::structure:
      case Kind::module: {
        auto* structure = static_cast<Structure*>(o);
        structure->shape->flags |= wanted;
        for (uint32_t i = 0; i < structure->shape->count; ++i)
          visit(structure->shape->names()[i]);
        visit(structure->constructor);
        visit_all(structure->values(), o->count);
        break;
      }
      case Kind::record:
        visit_all(static_cast<Record*>(o)->values(), o->count);
        break;
      case Kind::view:
        visit(static_cast<View*>(o)->text);
        break;
      case Kind::regex:
        visit(static_cast<RegexObject*>(o)->pattern);
        break;
      default:
        break;
    }
  }
}

}  // namespace fettle::starlark

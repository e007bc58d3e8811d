#pragma once
/// The references of an object, for walks over everything that is reachable.

#include "starlark/values/objects.h"

namespace fettle::starlark {

/// Calls `storage(object)` for storage that only its owner refers to and that refers to nothing
/// itself, and `values(first, count)` for the values, until one returns false.
template <typename Storage, typename Values>
void each_reference(Object* object, Storage&& storage, Values&& values) {
  const auto one = [&](Value value) { return values(&value, size_t{1}); };
  switch (object->kind) {
    case Kind::string:
    case Kind::bytes:
      if (object->flags & Object::indirect)
        storage(static_cast<String*>(object)->buffer());
      break;
    case Kind::list: {
      auto* list = static_cast<List*>(object);
      if (Array* array = list->array(); array != nullptr)
        storage(array);
      values(list->items, size_t{list->size});
      break;
    }
    case Kind::tuple:
      values(static_cast<Tuple*>(object)->items(), size_t{object->count});
      break;
    case Kind::dict:
    case Kind::set: {
      auto* dict = static_cast<Dict*>(object);
      if (dict->entries == nullptr)
        break;
      storage(Dict::owner(dict->entries));
      if (dict->index != nullptr)
        storage(Dict::owner(dict->index));
      for (uint32_t i = dict->first; i < dict->used; ++i) {
        if (!one(dict->entries[i].key) || !one(dict->entries[i].value))
          break;
      }
      break;
    }
    case Kind::function: {
      auto* function = static_cast<Function*>(object);
      if (function->defaults != nullptr)
        one(Value::object(function->defaults));
      values(function->cells(), size_t{function->count});
      break;
    }
    case Kind::builtin:
      one(static_cast<Builtin*>(object)->self);
      break;
    case Kind::cell:
      one(static_cast<Cell*>(object)->value);
      break;
    case Kind::shape:
      values(static_cast<Shape*>(object)->names(), size_t{object->count});
      break;
    case Kind::structure:
    case Kind::module: {
      auto* structure = static_cast<Structure*>(object);
      one(Value::object(structure->shape));
      one(structure->constructor);
      values(structure->values(), size_t{structure->count});
      break;
    }
    case Kind::record:
      values(static_cast<Record*>(object)->values(), size_t{object->count});
      break;
    case Kind::view:
      one(static_cast<View*>(object)->text);
      break;
    case Kind::regex:
      one(static_cast<RegexObject*>(object)->pattern);
      break;
    default:
      break;
  }
}

}  // namespace fettle::starlark

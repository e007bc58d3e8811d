/// Freezes a value and all that it refers to, without recursion.

#include "starlark/eval/ops.h"
#include "starlark/values/references.h"

namespace fettle::starlark {

void freeze_value(Value root, bool share) {
  const uint8_t wanted = share ? Object::frozen | Object::shared : Object::frozen;
  if (!root.is_object() || (root.object()->flags & wanted) == wanted)
    return;
  std::vector<Object*> gray = {root.object()};
  while (!gray.empty()) {
    Object* o = gray.back();
    gray.pop_back();
    if ((o->flags & wanted) == wanted || (!share && (o->flags & Object::shared)))
      continue;
    // The iterations that run over it.
    if ((o->kind == Kind::list || o->kind == Kind::dict || o->kind == Kind::set) && !o->is_frozen())
      o->count = 0;
    o->flags |= wanted;
    each_reference(
        o, [&](Object* storage) { storage->flags |= wanted; },
        [&](const Value* values, size_t count) {
          for (size_t i = 0; i < count; ++i) {
            if (values[i].is_object())
              gray.push_back(values[i].object());
          }
          return true;
        });
  }
}

}  // namespace fettle::starlark

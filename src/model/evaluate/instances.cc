#include "model/evaluate/instances.h"

#include "base/text.h"
#include "model/program/text_form.h"

namespace fettle::model {

Instance* Instances::make(Entity* entity, Place at, uint32_t depth, Contributor maker) {
  const size_t slots = entity->slots.size();
  auto* made =
      static_cast<Instance*>(program_.arena.take(offsetof(Instance, cells) + slots * sizeof(Cell)));
  made->entity = entity;
  made->number = static_cast<uint32_t>(instances_.size());
  made->depth = depth;
  made->at = at;
  made->maker = maker;
  std::uninitialized_default_construct_n(made->cells, slots);
  instances_.push_back(made);
  selected_.push_back(false);
  return made;
}

bool Instances::begins(const Implementation* implementation, const Instance* instance) {
  return begun_.insert({implementation, reinterpret_cast<const Frame*>(instance)}).second;
}

/// Keys are texts, as in the original: 1, 1.0 and true differ.
void Instances::append_key_of(std::string& key, const Datum& datum) const {
  if (datum.tag == Tag::unknown)
    key += cat("?", datum.integer);
  else if (datum.tag == Tag::floating || datum.tag == Tag::boolean)
    key += cat(quoted(program_, datum), ";");
  else
    append_key(key, datum);
}

}  // namespace fettle::model

#include "model/evaluate/frames.h"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace fettle::model {

Frame* new_frame(Arena& arena, size_t cells) {
  auto* frame = static_cast<Frame*>(arena.take(offsetof(Frame, cells) + cells * sizeof(Cell)));
  frame->owner = nullptr;
  frame->depth = 0;
  frame->is_nested = false;
  std::uninitialized_default_construct_n(frame->cells, cells);
  return frame;
}

Frame* new_frame(Arena& arena, Frame& parent, size_t cells) {
  Frame* const frame = new_frame(arena, cells);
  frame->parent = &parent;
  frame->depth = parent.depth;
  frame->is_nested = true;
  return frame;
}

Frame* new_frame(Arena& arena, Instance& self, size_t cells) {
  Frame* const frame = new_frame(arena, cells);
  frame->owner = &self;
  frame->depth = self.depth;
  return frame;
}

Frame* new_element_frame(Arena& arena, Frame& around, const Datum& element, size_t cells) {
  Frame* const frame = new_frame(arena, around, cells);
  frame->cells[0].value = element;
  if (element.tag == Tag::instance)
    frame->depth = std::max(frame->depth, element.instance->depth);
  return frame;
}

}  // namespace fettle::model

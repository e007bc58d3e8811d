#pragma once
/// Frames: the variables of one block in one run of it.

#include "model/program/instance.h"

namespace fettle::model {

/// A frame for a block outside of all implementations.
Frame* new_frame(Arena& arena, size_t cells);
/// A frame for a block within another one.
Frame* new_frame(Arena& arena, Frame& parent, size_t cells);
/// A frame for an implementation.
Frame* new_frame(Arena& arena, Instance& self, size_t cells);
/// A frame for a loop or a comprehension, with the element in its first cell. What it makes for an
/// instance counts as made by that instance: a loop that feeds the relation it reads is found by
/// the depth.
Frame* new_element_frame(Arena& arena, Frame& around, const Datum& element, size_t cells);

}  // namespace fettle::model

#pragma once
/// Memory for what lives as long as the model of a compile: trees, texts, lists and dicts.

#include "starlark/syntax/arena.h"

namespace fettle::model {

using Arena = starlark::Arena;

}  // namespace fettle::model

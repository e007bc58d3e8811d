#pragma once
/// Where a compile keeps what lives as long as its model: trees, texts, lists and dicts.

#include "starlark/syntax/arena.h"

namespace fettle::model {

using Arena = starlark::Arena;

}  // namespace fettle::model

#pragma once
/// What is done to a store as a whole.

#include "documents/parts.h"
#include "verbs/stores/stores.h"

namespace fettle {

/// `store`, how many of what it has, and `problems`.
Value document_of(const StoreTally& tally);

}  // namespace fettle

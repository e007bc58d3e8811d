#pragma once
/// What is done to a store as a whole.

#include "documents/parts.h"
#include "verbs/stores/stores.h"

namespace fettle {

/// `store`, how many of what it has, and `problems`.
Value document_of(const StoreTally& tally);
/// `store`, `key_before`, `key`, `key_file`, `secrets`, `unreadable`.
Value document_of(const KeyRotation& rotation);

}  // namespace fettle

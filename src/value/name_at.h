#pragma once
/// A text of a dict without a copy: names of pods are kept in some places, and each of them would
/// have its own.

#include "value/value.h"

namespace fettle {

/// The text at a key, shared with the dict. Empty: there is none, or it is no text.
inline Name name_at(const Value& dict, std::string_view key) {
  const Value* const found = dict.find(key);
  return found != nullptr && found->is_text() ? found->text() : Name();
}

}  // namespace fettle

#pragma once
/// The dict of a payload, for the few places that handle payloads of all kinds: they store, hash,
/// show or compare them, or fill their holes. All other code reads the struct of a kind.

#include "core/payload.h"

namespace fettle {

struct OpenPayload {
  template <typename Kind>
  static const Value& dict_of(const Payload<Kind>& payload) {
    return payload.dict_;
  }
};

template <typename Kind>
const Value& dict_of(const Payload<Kind>& payload) {
  return OpenPayload::dict_of(payload);
}

}  // namespace fettle

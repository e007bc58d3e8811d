#pragma once
/// The dict of a payload, for the few who handle payloads of all kinds: who stores, hashes, shows or
/// compares them, or fills their holes. Everybody else reads the struct of a kind.

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

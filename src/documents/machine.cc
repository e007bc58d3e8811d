#include "documents/machine.h"

#include "base/text.h"
#include "documents/parts.h"

namespace fettle {

Value value_of(const EngineState& state) {
  return Value::dict({{"address", text_or_null(state.address)},
                      {"flavour", text_or_null(lower_case(state.flavour))},
                      {"why", text_or_null(state.why)},
                      {"private", Value::dict({{"status", state.own},
                                               {"folder", state.folder},
                                               {"address", state.socket}})}});
}

}  // namespace fettle

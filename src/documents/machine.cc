#include "documents/machine.h"

#include "base/text.h"

namespace fettle {

Value document_of(const EngineState& state) {
  return Value::dict({{"address", text_or_null(state.address)},
                      {"flavour", text_or_null(lower_case(state.flavour))},
                      {"why", text_or_null(state.why)},
                      {"private", Value::dict({{"status", state.own},
                                               {"folder", state.folder},
                                               {"address", state.socket}})}});
}

Value document_of(const std::vector<Diagnosis>& lines, bool is_well) {
  std::vector<Value> found;
  for (const Diagnosis& line : lines)
    found.push_back(Value::dict({{"ok", line.good}, {"text", line.text}}));
  return Value::dict({{"ok", is_well}, {"found", Value::list(std::move(found))}});
}

Value document_of(const PullTally& tally) {
  return Value::dict({{"succeeded", tally.succeeded}, {"failed", tally.failed}});
}

Value document_of(const Build& build) {
  return Value::dict({{"version", build.version},
                      {"commit", text_or_null(build.commit)},
                      {"libraries", build.libraries}});
}

}  // namespace fettle

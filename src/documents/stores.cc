#include "documents/stores.h"

namespace fettle {

Value document_of(const StoreTally& tally) {
  std::vector<Value> problems(tally.problems.begin(), tally.problems.end());
  return Value::dict({{"store", tally.store},
                      {"environments", tally.environments},
                      {"records", tally.records},
                      {"events", tally.events},
                      {"versions", tally.versions},
                      {"contents", tally.contents},
                      {"problems", Value::list(std::move(problems))}});
}

Value document_of(const KeyRotation& rotation) {
  return Value::dict({{"store", rotation.store},
                      {"key_before", rotation.before},
                      {"key", rotation.after},
                      {"key_file", text_or_null(rotation.key_file)},
                      {"secrets", rotation.secrets},
                      {"unreadable", rotation.unreadable}});
}

}  // namespace fettle

#include "documents/environments.h"

#include "documents/resources.h"

namespace fettle {

Value environment_value(const Environment& environment) {
  return Value::dict({{"name", environment.name},
                      {"uuid", environment.uuid},
                      {"created", to_string(environment.created)}});
}

Value orphan_values(const std::vector<Orphan>& orphans) {
  std::vector<Value> values;
  for (const Orphan& orphan : orphans)
    values.push_back(orphan_value(orphan));
  return Value::list(std::move(values));
}

}  // namespace fettle

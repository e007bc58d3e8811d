#include "kinds/engine_needs.h"

#include "kinds/kinds.h"
#include "kinds/service.h"

namespace fettle {

Need network_need(const Name& environment) {
  return {{{environment, network_kind().name(), environment_network}}};
}

Value image_id_hole(const Name& image) {
  return Value::deferred({Part(Output{image_kind().name(), image, "id"})});
}

void EngineNeeds::add(Resource& service, const Name& image, const Value& reference) {
  service.needs.push_back(network_need(environment_));
  Service made = read<Service>(service.attributes);
  made.image_id = image_id_hole(image);
  service.attributes = write(made);
  references_.emplace(image, reference);
}

std::vector<Resource> EngineNeeds::resources() const {
  std::vector<Resource> needed;
  if (references_.empty())
    return needed;
  needed.push_back(made(network_kind(), environment_network, Value::dict({})));
  for (const auto& [image, reference] : references_)
    needed.push_back(made(image_kind(), image.view(), Value::dict({{"reference", reference}})));
  return needed;
}

Resource EngineNeeds::made(const Kind& kind, std::string_view name, const Value& attributes) const {
  Resource resource;
  resource.key = {environment_, kind.name(), name};
  resource.driver = "engine";
  resource.attributes = kind.normalise(attributes).value_or(attributes);
  return resource;
}

}  // namespace fettle

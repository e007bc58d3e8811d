#include "documents/services.h"

#include "base/text.h"

namespace fettle {

Value ports_value(const ServiceView& service) {
  const Value& ports = service.outputs.at("ports");
  if (!ports.is_dict())
    return ports;
  std::vector<Entry> told;
  for (const Entry& entry : ports.entries()) {
    if (!entry.value.is_dict()) {
      told.push_back(entry);
      continue;
    }
    const Value& asked = service.attributes.at("ports").at(entry.key);
    const std::string_view application = asked.text_at("application");
    std::vector<Entry> entries(entry.value.entries().begin(), entry.value.entries().end());
    entries.push_back({"application", application.empty() ? Value() : Value(application)});
    const int64_t open = entry.value.integer_at("public");
    entries.push_back({"url", open <= 0 || application.empty()
                                  ? Value()
                                  : Value(cat(application, "://127.0.0.1:", open))});
    told.push_back({entry.key, Value::dict(std::move(entries))});
  }
  return Value::dict(std::move(told));
}

Value service_value(const ServiceView& service) {
  return Value::dict({{"name", service.name},
                      {"uuid", service.uuid},
                      {"status", service.status},
                      {"container", service.container},
                      {"ip_address", service.outputs.at("ip_address")},
                      {"ports", ports_value(service)},
                      {"image", service.attributes.at("image")}});
}

}  // namespace fettle

#include "documents/services.h"

#include "base/text.h"
#include "workplace/field_changes.h"

namespace fettle {
namespace {

Value port_value(const Value& port, const Value& asked) {
  const std::string_view application = asked.text_at("application");
  const int64_t open = port.integer_at("public");
  std::vector<Entry> entries(port.entries().begin(), port.entries().end());
  entries.push_back({"application", text_or_null(application)});
  entries.push_back({"url", open <= 0 || application.empty()
                                ? Value()
                                : Value(cat(application, "://127.0.0.1:", open))});
  return Value::dict(std::move(entries));
}

Value ports_value(const ServiceView& service) {
  const Value& ports = service.outputs.at("ports");
  if (!ports.is_dict())
    return ports;
  std::vector<Entry> told;
  for (const Entry& entry : ports.entries())
    told.push_back(
        {entry.key, entry.value.is_dict()
                        ? port_value(entry.value, service.attributes.at("ports").at(entry.key))
                        : entry.value});
  return Value::dict(std::move(told));
}

}  // namespace

Value value_of(const ServiceView& service) {
  return Value::dict({{"name", service.name},
                      {"uuid", service.uuid},
                      {"status", service.status},
                      {"container", service.container},
                      {"ip_address", service.outputs.at("ip_address")},
                      {"ports", ports_value(service)},
                      {"image", service.attributes.at("image")}});
}

Value briefs_of(const std::vector<ServiceView>& services) {
  std::vector<Value> values;
  for (const ServiceView& service : services)
    values.push_back(Value::dict({{"name", service.name},
                                  {"uuid", service.uuid},
                                  {"status", service.status},
                                  {"ports", ports_value(service)}}));
  return Value::list(std::move(values));
}

Value document_of(const Workplace& place, const ServiceView& service, const Value& attributes) {
  std::vector<Entry> entries{{"name", service.name},
                             {"uuid", service.uuid},
                             {"status", service.status},
                             {"container", service.container},
                             {"attributes", shown(place, attributes)},
                             {"outputs", service.outputs}};
  if (!service.error.empty())
    entries.push_back({"error", service.error});
  return Value::dict(std::move(entries));
}

Value put_document(std::string_view name, const Value& outputs) {
  return Value::dict({{"name", name}, {"outputs", outputs}});
}

Value transit_document(std::string_view name, std::string_view status, bool is_changed) {
  return Value::dict({{"name", name}, {"status", status}, {"changed", is_changed}});
}

Value port_document(std::string_view protocol, int64_t number) {
  return Value::dict({{"protocol", protocol}, {"ip", "127.0.0.1"}, {"number", number}});
}

}  // namespace fettle

#include "documents/services.h"

#include "base/text.h"
#include "core/open_payload.h"
#include "kinds/service.h"
#include "workplace/field_changes.h"

namespace fettle {
namespace {

Value port_value(const Value& port, const Value& asked) {
  const Name application = read_one<&Port::application>(asked).get();
  const int64_t open = read_one<&PortOutputs::public_port>(port).value_or(0);
  std::vector<Entry> entries(port.entries().begin(), port.entries().end());
  entries.push_back({"application", text_or_null(application)});
  entries.push_back({"url", open <= 0 || application.empty()
                                ? Value()
                                : Value(cat(application, "://127.0.0.1:", open))});
  return Value::dict(std::move(entries));
}

Value ports_value(const ServiceView& service) {
  if (service.outputs.is_null())
    return {};
  const Dict asked = read_one<&Service::ports>(service.attributes),
             ports = read_one<&ServiceOutputs::ports>(service.outputs);
  std::vector<Entry> told;
  for (const Entry& entry : ports.entries())
    told.push_back({entry.key, port_value(entry.value, asked.at(entry.key))});
  return Value::dict(std::move(told));
}

}  // namespace

Value value_of(const ServiceView& service) {
  return Value::dict(
      {{"name", service.name},
       {"uuid", service.uuid},
       {"status", service.status},
       {"container", service.container},
       {"ip_address", service.outputs.is_null()
                          ? Value()
                          : Value(read_one<&ServiceOutputs::ip_address>(service.outputs))},
       {"ports", ports_value(service)},
       {"image", read_one<&Service::image>(service.attributes).value()}});
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

Value document_of(const Workplace& place, const ServiceView& service,
                  const Attributes& attributes) {
  std::vector<Entry> entries{{"name", service.name},
                             {"uuid", service.uuid},
                             {"status", service.status},
                             {"container", service.container},
                             {"attributes", shown(place, attributes)},
                             {"outputs", dict_of(service.outputs)}};
  if (!service.error.empty())
    entries.push_back({"error", service.error});
  return Value::dict(std::move(entries));
}

Value put_document(std::string_view name, const Outputs& outputs) {
  return Value::dict({{"name", name}, {"outputs", dict_of(outputs)}});
}

Value transit_document(std::string_view name, std::string_view status, bool is_changed) {
  return Value::dict({{"name", name}, {"status", status}, {"changed", is_changed}});
}

Value port_document(std::string_view protocol, int64_t number) {
  return Value::dict({{"protocol", protocol}, {"ip", "127.0.0.1"}, {"number", number}});
}

}  // namespace fettle

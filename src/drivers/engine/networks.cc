#include "drivers/engine/networks.h"

#include "base/hash.h"
#include "base/text.h"
#include "drivers/engine/marks.h"

namespace fettle {
namespace {

NetworkState network_of(const Value& item) {
  NetworkState state;
  state.id = item.text_at("Id");
  state.name = item.text_at("Name");
  state.driver = item.text_at("Driver");
  state.labels = labels_in(item.at("Labels"));
  const Value& configs = item.at("IPAM").at("Config");
  if (configs.is_list()) {
    for (const Value& config : configs.items()) {
      if (const auto subnet = parse_subnet(config.text_at("Subnet"))) {
        state.subnets.push_back(*subnet);
        if (state.gateway.empty())
          state.gateway = config.text_at("Gateway");
      }
    }
  }
  return state;
}

}  // namespace

std::string bridge_name(std::string_view engine, std::string_view network) {
  return "fe" + to_string(fingerprint(cat(engine, " ", network))).substr(0, 12);
}

Result<CreatedNetwork> create_network(Engine& engine, const NetworkSpec& spec,
                                      std::stop_token stop) {
  const Value range = Value::dict({{"Subnet", to_string(spec.subnet)}, {"Gateway", spec.gateway}});
  const EngineAnswer answer = TRY(engine.ask(
      {.method = "POST",
       .path = "/networks/create",
       .body = Value::dict(
           {{"Name", spec.name},
            {"CheckDuplicate", true},  // else Docker makes a second one of that name
            {"Driver", "bridge"},
            {"IPAM", Value::dict({{"Driver", "default"}, {"Config", Value::list({range})}})},
            {"Options", Value::dict({{"com.docker.network.bridge.name", spec.bridge}})},
            {"Labels", labels_value(spec.labels)}})},
      stop));
  if (answer.ok())
    return CreatedNetwork{.id = std::string(answer.body.text_at("Id")), .said = {}};
  const std::string said = lower_case(answer.message());
  if (said.find("already exists") != said.npos || said.find("name already used") != said.npos)
    return CreatedNetwork{.id = {}, .refusal = NetworkRefusal::name_taken, .said = {}};
  for (const char* const words : {"overlap", "already used", "already being used", "conflict"})
    if (said.find(words) != said.npos)
      return CreatedNetwork{
          .id = {}, .refusal = NetworkRefusal::range_taken, .said = answer.message()};
  return engine_error(answer);
}

Result<std::optional<NetworkState>> inspect_network(Engine& engine, const std::string& name,
                                                    std::stop_token stop) {
  const EngineAnswer answer = TRY(engine.ask({.path = "/networks/" + percent_encode(name)}, stop));
  if (answer.status == 404)
    return std::optional<NetworkState>();
  if (!answer.ok())
    return engine_error(answer);
  return std::optional(network_of(answer.body));
}

Result<std::vector<NetworkState>> list_networks(Engine& engine,
                                                const std::vector<std::string>& labels,
                                                std::stop_token stop) {
  const EngineAnswer answer =
      TRY(engine.ask({.path = "/networks", .query = {{"filters", label_filters(labels)}}}, stop));
  if (!answer.ok() || !answer.body.is_list())
    return engine_error(answer);
  std::vector<NetworkState> found;
  for (const Value& item : answer.body.items())
    found.push_back(network_of(item));
  return found;
}

Status remove_network(Engine& engine, const std::string& name, std::stop_token stop) {
  const EngineAnswer answer =
      TRY(engine.ask({.method = "DELETE", .path = "/networks/" + percent_encode(name)}, stop));
  if (answer.ok() || answer.status == 404)
    return {};
  return engine_error(answer);
}

}  // namespace fettle

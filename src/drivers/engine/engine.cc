#include "drivers/engine/engine.h"

#include <map>
#include <memory>

#include "base/text.h"
#include "base/wait.h"
#include "drivers/engine/conflict.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr int spoken_version = 41;
constexpr std::string_view podman_prefix = "/v4.0.0/libpod";

/// Newer engines refuse old clients, and name the oldest version that they accept.
int wanted_version(std::string_view message) {
  constexpr std::string_view mark = "inimum supported API version is 1.";
  const size_t at = message.find(mark);
  return at == message.npos ? 0
                            : std::atoi(std::string(message.substr(at + mark.size(), 4)).c_str());
}

}  // namespace

std::string EngineAnswer::message() const {
  const std::string_view said = body.text_at("message", body.text_at("cause"));
  if (!said.empty())
    return std::string(trim(said));
  return trim(text).empty() ? cat("status ", status) : std::string(trim(text));
}

Error engine_error(const EngineAnswer& answer) {
  return world_error(cat("the engine refused: ", answer.message()));
}

Engine::Engine(HttpClient& http, EngineAddress address, CallObserver observer, WaitLimits limits)
    : http_(http),
      address_(std::move(address)),
      observer_(std::move(observer)),
      limits_(limits),
      minor_version_(spoken_version) {}

HttpRequest Engine::make_request(EngineCall call, const std::string& prefix) const {
  HttpRequest request;
  request.method = std::move(call.method);
  request.url = address_.base + prefix + call.path;
  for (const auto& [key, value] : call.query)
    add_parameter(request.url, key, value);
  request.unix_socket = address_.unix_socket;
  request.tls = address_.tls;
  request.connect_limit = limits_.connect;
  request.silence_limit = limits_.silence > 0s ? limits_.silence + call.quiet : 0s;
  request.still_at_it = std::move(call.still_at_it);
  request.time_limit =
      call.time_limit == 0s ? limits_.whole : std::max<Duration>(0s, call.time_limit);
  request.headers = std::move(call.headers);
  if (call.source) {
    request.source = std::move(call.source);
    request.headers.push_back({"Content-Type", "application/x-tar"});
  } else if (!call.body.is_null()) {
    request.body = write_json(call.body, {.show_secrets = true});
    request.headers.push_back({"Content-Type", "application/json"});
  }
  request.sink = std::move(call.sink);
  return request;
}

HttpRequest Engine::request(EngineCall call) const {
  return make_request(std::move(call), cat("/v1.", minor_version_.load()));
}

Result<EngineAnswer> Engine::send(EngineCall call, const std::string& prefix,
                                  std::stop_token stop) {
  if (observer_)
    TRY(observer_(call));
  std::optional<Error> refused;  // by the caller's own sink: not a fault of the connection
  if (call.sink)
    call.sink = [&refused, sink = std::move(call.sink)](std::string_view bytes) -> Status {
      Status taken = sink(bytes);
      if (!taken)
        refused = taken.error();
      return taken;
    };
  const Duration general = call.time_limit == 0s ? limits_.whole : Duration(0);
  const std::string doing = std::move(call.doing);
  const Instant begun = instant_from_clock();
  Result<HttpResponse> sent = http_.send(make_request(std::move(call), prefix), stop);
  if (refused)
    return std::move(*refused);
  if (!sent && is_cancelled(sent.error()))
    return std::move(sent).error();
  if (!sent && general > 0s && has_taken(begun, general))
    sent.error().message =
        cat("it took longer than `--transfer-timeout` (", to_string(general), ")");
  sent = std::move(sent).context("talking to the engine at `" + address_.text + "`");
  HttpResponse response = TRY(doing.empty() ? std::move(sent) : std::move(sent).context(doing));
  if (flavour_.load(std::memory_order_relaxed) == Flavour::unknown)
    flavour_ = response.header("libpod-api-version").empty() ? Flavour::docker : Flavour::podman;
  EngineAnswer answer{.status = response.status, .body = {}, .text = std::move(response.body)};
  if (answer.text.starts_with('{') || answer.text.starts_with('['))
    if (auto body = read_json(answer.text, {}, Duplicates::last_wins))
      answer.body = std::move(*body);
  return answer;
}

Result<EngineAnswer> Engine::ask(EngineCall call, std::stop_token stop) {
  constexpr int tries = 5;
  constexpr Duration pause = 100ms;
  if (call.source)
    return send(std::move(call), cat("/v1.", minor_version_.load()), stop);
  for (int i = 1;; ++i) {
    EngineAnswer answer = TRY(send(call, cat("/v1.", minor_version_.load()), stop));
    const int wanted = answer.status == 400 ? wanted_version(answer.message()) : 0;
    if (wanted > minor_version_)
      minor_version_ = wanted;
    else if (!passes_by_itself(answer) || i == tries)
      return answer;
    else
      TRY(pause_for(pause, stop));
  }
}

Result<EngineAnswer> Engine::ask_podman(EngineCall call, std::stop_token stop) {
  return send(std::move(call), std::string(podman_prefix), std::move(stop));
}

Status Engine::ping(std::stop_token stop) {
  const EngineAnswer answer = TRY(ask({.path = "/_ping", .time_limit = limits_.connect}, stop));
  if (!answer.ok())
    return engine_error(answer);
  return {};
}

std::function<Status(const std::stop_token&)> Engine::answers() {
  return [this](const std::stop_token& stop) {
    return ping(stop).context(cat("nothing was received for ", to_string(limits_.silence)));
  };
}

Result<Engine::Flavour> Engine::flavour(std::stop_token stop) {
  if (flavour_ == Flavour::unknown)
    TRY(ping(stop));
  return flavour_.load();
}

std::string filters(const std::vector<std::pair<std::string, std::string>>& conditions) {
  std::map<std::string, std::vector<Value>> by_key;
  for (const auto& [key, value] : conditions)
    by_key[key].emplace_back(value);
  std::vector<Entry> entries;
  for (auto& [key, values] : by_key)
    entries.push_back({key, Value::list(std::move(values))});
  return write_json(Value::dict(std::move(entries)));
}

std::vector<std::pair<std::string, std::string>> texts_of(const Value& dict) {
  std::vector<std::pair<std::string, std::string>> texts;
  if (dict.is_dict())
    for (const Entry& entry : dict.entries())
      texts.emplace_back(entry.key.str(), to_text(entry.value));
  return texts;
}

ByteSink line_sink(std::function<Status(std::string_view)> take) {
  auto begun = std::make_shared<std::string>();
  return [begun, take = std::move(take)](std::string_view bytes) -> Status {
    while (!bytes.empty()) {
      const size_t end = bytes.find('\n');
      begun->append(bytes.substr(0, end));
      if (end == bytes.npos)
        return {};
      bytes.remove_prefix(end + 1);
      const std::string line = std::exchange(*begun, {});
      if (!trim(line).empty())
        TRY(take(trim(line)));
    }
    return {};
  };
}

}  // namespace fettle

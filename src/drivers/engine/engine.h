#pragma once
/// A client of the Docker Engine API 1.41, as Docker and Podman serve it. This file holds what all
/// calls share; the calls themselves stand by noun in containers.h, images.h, networks.h,
/// volumes.h, exec.h, archives.h and events.h, and hide the differences of the two engines: they
/// ask for the state that follows, not for a status code, since Podman answers 500 where Docker
/// answers 409, 403, 404 or 400.

#include <atomic>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/http.h"
#include "drivers/engine/address.h"
#include "value/value.h"

namespace fettle {

/// What an engine answered.
struct EngineAnswer {
  int status = 0;
  Value body;        ///< null when it was no JSON
  std::string text;  ///< as it came
  bool ok() const { return status >= 200 && status < 400; }
  /// The engine's own words.
  std::string message() const;
};

struct EngineCall {
  std::string method = "GET";
  std::string path;  ///< after the version: `/containers/json`
  std::vector<std::pair<std::string, std::string>> query{};
  Value body{};         ///< sent as JSON, secrets too; null: none
  ByteSource source{};  ///< instead: a tar
  ByteSink sink{};      ///< gets the body of a success
  /// Of the whole call; 0 is that of the engine's limits, `for_ever` none.
  Duration time_limit{0};
  Duration quiet{0};  ///< how much longer than otherwise the engine may be silent
  /// For what may be silent as long as the engine is at it: asks whether it is.
  std::function<Status(const std::stop_token& stop)> still_at_it{};
  std::vector<HttpHeader> headers{};
};

/// Told of every call before it is made; an error keeps it from being made. For traces and tests.
using CallObserver = std::function<Status(const EngineCall&)>;

class Engine {
 public:
  enum class Flavour { unknown, docker, podman };

  Engine(HttpClient& http, EngineAddress address, CallObserver observer = {},
         WaitLimits limits = {});

  /// Any answer, of whatever status; an error only when there was none.
  Result<EngineAnswer> ask(EngineCall call, std::stop_token stop);
  /// The same for Podman's own API, which the nouns use where the common one lacks something.
  Result<EngineAnswer> ask_podman(EngineCall call, std::stop_token stop);
  /// The request of a call, for those who send it themselves.
  HttpRequest request(EngineCall call) const;

  /// Known from the first answer on; asks when there was none yet.
  Result<Flavour> flavour(std::stop_token stop);
  /// Whether an engine answers.
  Status ping(std::stop_token stop);
  /// The same question, for calls of which an engine tells nothing while it is at them.
  std::function<Status(const std::stop_token&)> answers();
  const EngineAddress& address() const { return address_; }
  const WaitLimits& limits() const { return limits_; }

 private:
  Result<EngineAnswer> send(EngineCall call, const std::string& prefix, std::stop_token stop);
  HttpRequest make_request(EngineCall call, const std::string& prefix) const;

  HttpClient& http_;
  EngineAddress address_;
  CallObserver observer_;
  WaitLimits limits_;
  std::atomic<Flavour> flavour_{Flavour::unknown};
  std::atomic<int> minor_version_;  ///< of the API: 41 is 1.41
};

/// The error of an answer that is none of those expected.
Error engine_error(const EngineAnswer& answer);

/// A filter of a list, as the engine reads it: `{"label":["a=b"]}`.
std::string filters(const std::vector<std::pair<std::string, std::string>>& conditions);

/// The texts of a dict, by key.
std::vector<std::pair<std::string, std::string>> texts_of(const Value& dict);

/// Hands each line that arrives to `take`, without its end; lines may come in any pieces.
ByteSink line_sink(std::function<Status(std::string_view)> take);

}  // namespace fettle

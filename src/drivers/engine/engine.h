#pragma once
/// A client of the Docker Engine API 1.41, as Docker and Podman serve it. This file has what all
/// calls share. The calls stand by noun in containers.h, images.h, networks.h, volumes.h, exec.h,
/// archives.h and events.h, and hide the differences between the two engines: they ask for the
/// state after a call and not for its status code, since Podman answers 500 where Docker answers
/// 409, 403, 404 or 400.

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

/// The answer of an engine.
struct EngineAnswer {
  int status = 0;
  Value body;        ///< null: it was no JSON
  std::string text;  ///< as received
  bool ok() const { return status >= 200 && status < 400; }
  /// The message in the engine's own words.
  std::string message() const;
};

struct EngineCall {
  std::string method = "GET";
  std::string path;  ///< after the version: `/containers/json`
  std::vector<std::pair<std::string, std::string>> query{};
  Value body{};         ///< sent as JSON, including secrets; null: none
  ByteSource source{};  ///< sent instead: a tar
  ByteSink sink{};      ///< gets the body of a success
  /// For the whole call. 0: that of the engine's limits; `for_ever`: none.
  Duration time_limit{0};
  Duration quiet{0};  ///< how much longer than usual the engine may be silent
  /// For calls that may be silent as long as the engine works on them: asks whether it does.
  std::function<Status(const std::stop_token& stop)> still_at_it{};
  std::vector<HttpHeader> headers{};
  /// What this is for, such as `pulling `alpine``: said where the engine did not answer, or not in
  /// time. What it says itself, and what `sink` says, names its thing already.
  std::string doing{};
};

/// Called before each call. An error prevents the call. For traces and tests.
using CallObserver = std::function<Status(const EngineCall&)>;

class Engine {
 public:
  enum class Flavour { unknown, docker, podman };

  Engine(HttpClient& http, EngineAddress address, CallObserver observer = {},
         WaitLimits limits = {});

  /// Any answer, whatever its status. An error only if there was none.
  Result<EngineAnswer> ask(EngineCall call, std::stop_token stop);
  /// The same for Podman's own API, which the nouns use if the common one lacks something.
  Result<EngineAnswer> ask_podman(EngineCall call, std::stop_token stop);
  /// The request of a call, for callers that send it themselves.
  HttpRequest request(EngineCall call) const;

  /// The first answer shows it. If there was none yet, the engine is asked.
  Result<Flavour> flavour(std::stop_token stop);
  /// Checks whether the engine answers.
  Status ping(std::stop_token stop);
  /// The same question, for calls during which an engine reports nothing.
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
  std::atomic<int> minor_version_;  ///< of the API: 41 means 1.41
};

/// The error for an answer that is none of the expected ones.
Error engine_error(const EngineAnswer& answer);

/// The filter of a list as the engine reads it: `{"label":["a=b"]}`.
std::string filters(const std::vector<std::pair<std::string, std::string>>& conditions);

/// The texts of a dict, by key.
std::vector<std::pair<std::string, std::string>> texts_of(const Value& dict);

/// Passes each complete line to `take`, without its end. Lines may arrive in any pieces.
ByteSink line_sink(std::function<Status(std::string_view)> take);

}  // namespace fettle

#pragma once
/// What requests show of who we are, kept fresh.
///
/// A token in a pod is replaced every hour, one of a cloud's plugin every quarter of an hour, and a
/// controller runs for months. To read it once fails after an hour; to run the plugin for each
/// request takes seconds each time. So a token file is read again when it was read a minute ago, and
/// a plugin runs again when what it said has expired, or when the server refused it.
///
/// Safe from many threads. Only one runs a plugin, others wait for it, and get its error as well: a
/// plugin that hangs would hang for each of them in turn.

#include <mutex>
#include <stop_token>

#include "base/time.h"
#include "kubernetes/config.h"

namespace fettle::kubernetes {

/// What a request shows.
struct Proof {
  std::vector<HttpHeader> headers;
  std::string certificate_text, key_text;  ///< of a plugin; else empty
  uint64_t number = 0;                     ///< of the answers of a plugin
};

class Credentials {
 public:
  /// How long a token that was read counts.
  static constexpr Duration token_file_age = 1min;
  /// What expires so soon is not used any more.
  static constexpr Duration leeway = 10s;
  static constexpr Duration plugin_limit = 1min;
  /// Between the end of a run and the next one, when it failed or the server refuses what it said.
  static constexpr Duration plugin_pause = 2s;

  explicit Credentials(const Config& config) : config_(config) {}

  /// May read a file or run a plugin.
  Result<Proof> proof(Moment now, const std::stop_token& stop);
  /// The server answered 401 to this proof. True: another one may be had.
  bool refuse(const Proof& proof, Instant now);

 private:
  Status ask_plugin(const ExecPlugin& plugin, Instant now, const std::stop_token& stop);
  Status run_plugin(const ExecPlugin& plugin, const std::stop_token& stop);
  Status read_token(Instant now);

  const Config config_;
  std::timed_mutex mutex_;
  std::string token_;  ///< of a file or a plugin
  std::optional<Instant> read_at_;
  Proof told_;  ///< by the plugin, without headers
  std::optional<Time> expires_;
  bool has_told_ = false;
  std::optional<Instant> ran_at_;  ///< when the last run ended
  std::optional<Error> failure_;   ///< of the last run
};

/// What the plugin said, as `Proof` (a token as a header) and when it expires. Errors: it is not
/// what was agreed.
struct PluginAnswer {
  Proof proof;
  std::string token;
  std::optional<Time> expires;
};
Result<PluginAnswer> read_plugin_answer(std::string_view json, const ExecPlugin& plugin);

}  // namespace fettle::kubernetes

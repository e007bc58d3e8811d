#include "kubernetes/credentials.h"

#include "base/base64.h"
#include "base/process.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle::kubernetes {
namespace {

constexpr size_t longest_answer = 1 << 20;
constexpr std::chrono::milliseconds look_interval(20);

/// What a plugin gets in `$KUBERNETES_EXEC_INFO`.
std::string exec_info(const ExecPlugin& plugin, const Config& config) {
  std::vector<Entry> spec{{"interactive", false}};
  if (plugin.gets_cluster_info) {
    std::vector<Entry> cluster{{"server", config.server}};
    if (!config.tls.server_name.empty())
      cluster.push_back({"tls-server-name", config.tls.server_name});
    if (config.tls.trusts_anybody)
      cluster.push_back({"insecure-skip-tls-verify", true});
    if (!config.tls.authorities_text.empty())
      cluster.push_back({"certificate-authority-data", base64_encode(config.tls.authorities_text)});
    spec.push_back({"cluster", Value::dict(std::move(cluster))});
  }
  return write_json(Value::dict({{"apiVersion", plugin.api_version},
                                 {"kind", "ExecCredential"},
                                 {"spec", Value::dict(std::move(spec))}}));
}

Result<std::string> one_line(std::string_view token, std::string_view of) {
  const std::string_view text = trim(token);
  if (text.empty() || text.find_first_of(std::string_view("\r\n\0", 3)) != text.npos)
    return world_error(cat("the token of ", of, " is ", text.empty() ? "empty" : "no single line"));
  return std::string(text);
}

}  // namespace

Result<PluginAnswer> read_plugin_answer(std::string_view json, const ExecPlugin& plugin) {
  const std::string name = cat("`", printable(plugin.command), "`");
  Result<Value> read = read_json(json, plugin.command);
  if (!read)  // the text may hold a secret
    return world_error(cat(name, " did not write JSON to its standard output"));
  if (read->text_at("kind") != "ExecCredential" ||
      read->text_at("apiVersion") != plugin.api_version)
    return world_error(cat(name, " must write an `ExecCredential` of `", plugin.api_version,
                           "`, not `", printable(read->text_at("kind")), "` of `",
                           printable(read->text_at("apiVersion")), "`"));
  const Value& status = read->at("status");
  PluginAnswer answer;
  answer.proof.certificate_text = status.text_at("clientCertificateData");
  answer.proof.key_text = status.text_at("clientKeyData");
  if (answer.proof.certificate_text.empty() != answer.proof.key_text.empty())
    return world_error(cat(name, " wrote only one of `clientCertificateData` and `clientKeyData`"));
  if (const std::string_view token = status.text_at("token"); !token.empty())
    answer.token = TRY(one_line(token, name));
  else if (answer.proof.key_text.empty())
    return world_error(cat(name, " wrote neither a `token` nor a certificate"));
  if (const std::string_view end = status.text_at("expirationTimestamp"); !end.empty())
    answer.expires = TRY(read_moment(end).context(cat("reading what ", name, " wrote")));
  return answer;
}

Status Credentials::run_plugin(const ExecPlugin& plugin, const std::stop_token& stop) {
  const std::string name = cat("`", printable(plugin.command), "`");
  Invocation call{.arguments = {plugin.command}, .environment = plugin.environment};
  call.arguments.insert(call.arguments.end(), plugin.arguments.begin(), plugin.arguments.end());
  call.environment.emplace_back("KUBERNETES_EXEC_INFO", exec_info(plugin, config_));
  call.session = true;
  call.time_limit = plugin_limit;
  call.output_limit = longest_answer;
  Result<ProcessResult> ended = run_process(call, stop);
  if (!ended && find_program(plugin.command).empty() && !is_cancelled(ended.error()))
    return user_error(cat("the plugin ", name, ", which signs in to the cluster, is not installed",
                          plugin.install_hint.empty() ? "" : ": ", printable(plugin.install_hint)));
  if (!ended)
    return std::move(ended).error().context(cat("signing in to the cluster by ", name));
  if (ended->code != 0)
    return world_error(cat("the plugin ", name, ", which signs in to the cluster, ended with ",
                           ended->code, ": ", printable(clipped(trim(ended->errors), 500))));
  PluginAnswer answer = TRY(read_plugin_answer(ended->output, plugin));
  answer.proof.number = told_.number + 1;
  told_ = std::move(answer.proof);
  token_ = std::move(answer.token);
  expires_ = answer.expires;
  has_told_ = true;
  return {};
}

/// Those who have waited for a run are not older than its end, and share what came of it.
Status Credentials::ask_plugin(const ExecPlugin& plugin, Instant now, const std::stop_token& stop) {
  if (failure_ && now < *ran_at_ + Duration(plugin_pause))
    return *failure_;
  const Instant began = instant_from_clock();
  const Status ran = run_plugin(plugin, stop);
  ran_at_ = now + (instant_from_clock() - began);
  failure_.reset();
  if (!ran && !is_cancelled(ran.error()))
    failure_ = ran.error();
  return ran;
}

Status Credentials::read_token(Instant now) {
  const Path& file = config_.identity.token_file;
  const auto read = [&]() -> Result<std::string> {
    return one_line(TRY(read_file(file)), cat("`", file.string(), "`"));
  };
  Result<std::string> token = read();
  // While it is being replaced, the last one goes on.
  if (!token && token_.empty())
    return std::move(token).error();
  if (token)
    token_ = std::move(*token);
  read_at_ = now;
  return {};
}

Result<Proof> Credentials::proof(Moment now, const std::stop_token& stop) {
  std::unique_lock lock(mutex_, std::defer_lock);
  while (!lock.try_lock_for(look_interval))
    if (stop.stop_requested())
      return cancelled_error();
  const Identity& identity = config_.identity;
  if (identity.plugin && (!has_told_ || (expires_ && now.wall + leeway >= *expires_)))
    TRY(ask_plugin(*identity.plugin, now.instant, stop));
  if (!identity.token_file.empty() &&
      (!read_at_ || now.instant >= *read_at_ + Duration(token_file_age)))
    TRY(read_token(now.instant));
  Proof proof = told_;
  const std::string& token = token_.empty() ? identity.token : token_;
  if (!token.empty())
    proof.headers.push_back({"Authorization", "Bearer " + token});
  else if (!identity.user.empty())
    proof.headers.push_back(
        {"Authorization", "Basic " + base64_encode(cat(identity.user, ":", identity.password))});
  for (const HttpHeader& header : identity.impersonation)
    proof.headers.push_back(header);
  return proof;
}

bool Credentials::refuse(const Proof& proof, Instant now) {
  const std::lock_guard lock(mutex_);
  if (config_.identity.plugin) {
    if (proof.number == told_.number && ran_at_ && now < *ran_at_ + Duration(plugin_pause))
      return false;  // it would say the same
    has_told_ = has_told_ && proof.number != told_.number;
    return true;
  }
  read_at_.reset();
  return !config_.identity.token_file.empty();
}

}  // namespace fettle::kubernetes

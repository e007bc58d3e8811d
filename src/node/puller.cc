#include "node/puller.h"

#include <algorithm>

#include "base/base64.h"
#include "base/text.h"
#include "kinds/image_reference.h"
#include "kinds/registry_login.h"

namespace fettle::node {
namespace {

const kubernetes::ResourceType secret_type{"", "v1", "secrets", "Secret"};

/// What OpenKruise's daemon says of itself to the plugins of a runtime.
constexpr const char* pulled_by = "apps.kruise.io/pulling-image-by";
constexpr const char* pulled_by_daemon = "kruise-daemon";

std::string registry_of(const std::string& reference) {
  const std::string full = full_reference(reference);
  return full.substr(0, full.find('/'));
}

/// The data of a Secret as texts. What is no base64 is left out.
Value revealed_data(const Value& secret) {
  std::vector<Entry> entries;
  for (const char* const key : {".dockerconfigjson", ".dockercfg"})
    if (const auto text = base64_decode_strictly(secret.at("data").text_at(key)))
      entries.push_back({key, *text});
  return Value::dict(std::move(entries));
}

PullOutcome outcome_of_error(const cri::GrpcError& error) {
  using Kind = PullOutcome::Kind;
  const bool is_away = !error.is_answer && error.code == cri::GrpcCode::unavailable;
  const bool is_refused = error.is_answer && error.code == cri::GrpcCode::invalid_argument;
  return {.kind = is_away      ? Kind::away
                  : is_refused ? Kind::refused
                               : Kind::failed,
          .message = error.message};
}

/// Whether another login may do better.
bool may_be_the_login(const cri::GrpcError& error) {
  return error.is_answer && error.code != cri::GrpcCode::deadline_exceeded &&
         error.code != cri::GrpcCode::invalid_argument &&
         error.code != cri::GrpcCode::unimplemented;
}

/// One error as it is; several with who was refused.
std::string all_errors(const std::vector<std::pair<std::string, std::string>>& errors) {
  if (errors.size() == 1)
    return errors.front().second;
  std::vector<std::string> texts;
  for (const auto& [who, what] : errors)
    texts.push_back(cat(who, ": ", what));
  return join(texts, "; ");
}

}  // namespace

PullOutcome Puller::carry_out(const PullCommand& command, const std::stop_token& stop) const {
  return command.kind == PullCommand::Kind::look ? look(command.order, stop) : pull(command, stop);
}

PullOutcome Puller::look(const ImageOrder& order, const std::stop_token& stop) const {
  const auto image = runtime_.image_status(order.reference(), stop);
  if (!image && image.error().is_answer && image.error().code == cri::GrpcCode::not_found)
    return {.kind = PullOutcome::Kind::absent};
  if (!image)
    return outcome_of_error(image.error());
  if (!*image)
    return {.kind = PullOutcome::Kind::absent};
  return {.kind = PullOutcome::Kind::there, .image_id = (*image)->id};
}

Puller::Logins Puller::read_logins(const ImageOrder& order, const std::stop_token& stop) const {
  Logins logins;
  const std::string registry = registry_of(order.reference());
  for (const kubernetes::ObjectName& name : order.secrets) {
    const auto secret = client_.get(secret_type, name, stop);
    if (!secret) {
      logins.failures.push_back(cat("the secret `", kubernetes::to_string(name),
                                    "` cannot be read: ", printable(secret.error().message)));
      continue;
    }
    for (const RegistryLogin& login : logins_in(revealed_data(*secret), registry)) {
      const bool is_known = std::ranges::any_of(logins.all, [&](const cri::PullLogin& other) {
        return other.username == login.username && other.password == login.password;
      });
      if (!is_known)
        logins.all.push_back({.username = login.username, .password = login.password});
    }
  }
  return logins;
}

PullOutcome Puller::pull(const PullCommand& command, const std::stop_token& stop) const {
  const Instant end = instant_from_clock() + command.limit;
  cri::PullRequest request{.image = command.order.reference(),
                           .login = {},
                           .labels = command.order.labels,
                           .annotations = command.order.annotations};
  request.annotations.try_emplace(pulled_by, pulled_by_daemon);
  const Logins logins = read_logins(command.order, stop);
  std::vector<std::optional<cri::PullLogin>> tries(logins.all.begin(), logins.all.end());
  tries.emplace_back();
  std::vector<std::pair<std::string, std::string>> errors;
  for (std::optional<cri::PullLogin>& login : tries) {
    const std::string who =
        login ? cat("as `", printable(login->username), "`") : "without a login";
    request.login = std::move(login);
    const Duration left = end - instant_from_clock();
    if (left <= Duration(0))
      break;
    const auto called = runtime_.pull_image(request, left, stop);
    if (called)
      return pulled(command.order, *called, stop);
    if (!may_be_the_login(called.error())) {
      PullOutcome outcome = outcome_of_error(called.error());
      if (called.error().code == cri::GrpcCode::deadline_exceeded)
        outcome.message = cat("it was not pulled within ", fettle::to_string(command.limit));
      return outcome;
    }
    errors.emplace_back(who, called.error().message);
  }
  std::vector<std::string> texts = logins.failures;
  texts.insert(texts.begin(),
               errors.empty() ? cat("it was not pulled within ", fettle::to_string(command.limit))
                              : all_errors(errors));
  return {.kind = PullOutcome::Kind::failed, .message = join(texts, "; ")};
}

/// The id, as the kubelet will know it. Some runtimes call an image otherwise when they have pulled
/// it.
PullOutcome Puller::pulled(const ImageOrder& order, const std::string& called,
                           const std::stop_token& stop) const {
  PullOutcome found = look(order, stop);
  if (found.kind == PullOutcome::Kind::there)
    return found;
  return {.kind = PullOutcome::Kind::there,
          .image_id = called.starts_with("sha256:") ? called : std::string()};
}

}  // namespace fettle::node

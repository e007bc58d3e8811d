#pragma once
/// `POST /hooks/NAME`: a forge, or anybody whom the owner of a schedule has told its secret, says
/// that the schedule should run now. With git that is a look: it runs if there is a new commit.
///
/// Who calls proves that he knows the secret, as GitHub does it (an HMAC of the body), as GitLab
/// does it (the secret itself), or as a bearer. Nothing of the body is read before. A schedule that
/// is not there, one without a hook, and a wrong proof have the same answer. What was let in is a
/// number in the schedule's state, so many calls are one run.
///
/// `Host` is not looked at, unlike for commands: what a browser could be made to send proves nothing.

#include <string>
#include <string_view>

#include "remote/session.h"
#include "remote/upgrade.h"

namespace fettle {

/// The largest body of a call, in bytes.
constexpr size_t most_hook_bytes = 4 << 20;
/// How many calls are read at once; more are told to come later.
constexpr size_t most_hook_calls = 8;

/// A request. Fields that were not sent are empty, and so are those that were sent twice.
struct HookCall {
  std::string method{}, target{};
  std::string signature{};      ///< `X-Hub-Signature-256`
  std::string gitlab_token{};   ///< `X-Gitlab-Token`
  std::string authorization{};  ///< `Bearer …`
  std::string event{};          ///< `X-GitHub-Event`, or `X-Gitlab-Event`
  bool is_from_browser = false;
  std::string body{};
};

/// Whether it has exactly one proof.
bool has_one_proof(const HookCall& call);
/// Whether its proof is one of this secret. An empty secret is nobody's.
bool is_proven(const HookCall& call, std::string_view secret);

/// Why there is nothing to do: another branch was pushed, or nothing was. Empty: it is to look.
/// `branch`: the one that is followed; empty: the default one. Error (`Blame::user`): the body is no
/// JSON.
Result<std::string> reason_to_ignore(const HookCall& call, const std::string& branch);

bool is_hook_request(const UpgradeRequest& request);
/// Reads the rest of a request whose first `bytes` have come, and does what it asks for. The whole
/// reply.
std::string hook_reply(const Descriptor& socket, std::string bytes, const ServeSettings& settings,
                       const Caller& caller);

}  // namespace fettle

#pragma once
/// Looks for an image in the node's runtime, or pulls it, until it is done or stopped.
///
/// A private image is pulled with the Secrets that its order names. They are read at each attempt:
/// a password that was put right helps the next one. Which Secret is for which registry stands
/// inside them, several may be, and some may be old; so the logins are tried in turn, and at last
/// none.

#include "drivers/cri/client.h"
#include "kubernetes/client.h"
#include "node/pulls.h"

namespace fettle::node {

class Puller {
 public:
  /// Both must outlive it.
  Puller(kubernetes::Client& client, const cri::Client& runtime)
      : client_(client), runtime_(runtime) {}

  PullOutcome carry_out(const PullCommand& command, const std::stop_token& stop) const;

 private:
  struct Logins {
    std::vector<cri::PullLogin> all;
    std::vector<std::string> failures;  ///< of Secrets that cannot be read
  };
  PullOutcome look(const ImageOrder& order, const std::stop_token& stop) const;
  PullOutcome pull(const PullCommand& command, const std::stop_token& stop) const;
  PullOutcome pulled(const ImageOrder& order, const std::string& called,
                     const std::stop_token& stop) const;
  Logins read_logins(const ImageOrder& order, const std::stop_token& stop) const;

  kubernetes::Client& client_;
  const cri::Client& runtime_;
};

}  // namespace fettle::node

#pragma once
/// What OpenKruise stores of the words of others.
///
/// Its webhook writes defaults into templates, and its manager compares a template with those of
/// revisions byte by byte, in the form that Go gives to it. The obvious way is a table of the
/// defaults and of that form here. It would be right for one version of OpenKruise with one set of
/// feature gates, and every error in it updates pods. So OpenKruise is asked itself: the server is
/// told to write the words without any effect (a dry run), and shows what its webhook makes of them.
///
/// Two things must not be taken for an answer. A server that does not know yet that the webhook
/// stands shows what it was sent. So the question lacks the field `revisionHistoryLimit`, which the
/// webhook always writes. And the webhook gives no defaults to a template that does not change: so
/// the question has an annotation more.

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubernetes/client.h"
#include "verbs/cluster/install.h"

namespace fettle {

class UpstreamWords {
 public:
  UpstreamWords(kubernetes::Client& client, const ClusterPatience& patience, std::stop_token stop);

  /// `parts`: fields of the spec. The whole object as it would be stored with them in it. None: the
  /// webhook does not answer, the server refuses (`refusal`), or the object is gone.
  Result<std::optional<Value>> ask(const kubernetes::ResourceType& type, const Value& object,
                                   const Value& parts);

  /// It was asked, and nobody answered; nobody is asked any more.
  bool is_silent() const { return is_silent_; }
  /// Why the last question was refused.
  const std::string& refusal() const { return refusal_; }

 private:
  kubernetes::Client& client_;
  ClusterPatience patience_;
  const std::stop_token stop_;
  std::string refusal_;
  bool is_silent_ = false;
};

}  // namespace fettle

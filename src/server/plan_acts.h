#pragma once
/// What the page of one's own does: it carries out the plan that it shows.
///
/// A run takes long, and must not end with a tab, or with the page. So it is a process of its own, with
/// the command that the page names and the plan that was seen; what it does is told by the store, as of
/// any other run. Whoever asked for it is answered when it has ended.
///
/// At a server of commands, the page posts commands instead (`remote/page_door.h`).

#include <list>
#include <memory>

#include "server/http_listener.h"
#include "server/routes.h"

namespace fettle {

/// Used on the thread of the queue only.
class PlanActs {
 public:
  /// `program` is this program.
  PlanActs(std::string program, const Path& home);
  /// What was begun goes on.
  ~PlanActs();
  PlanActs(const PlanActs&) = delete;
  PlanActs& operator=(const PlanActs&) = delete;

  /// `body`: `source`, and `plan`, that of a package or a model, as `plan` gives it (`kept`). Replies
  /// with `code` and `output` (null: nobody knows) when it has ended. Errors: the environment is kept by something else
  /// by now, or somebody carries a plan of it out.
  Status begin(const RouteCall& call, const std::string& body,
               const std::shared_ptr<WebPeer>& peer);
  /// Asks the one that this page has begun to stop, as Ctrl-C does. Error: there is none.
  Status cancel(const RouteCall& call);
  /// Answers for those that have ended.
  void sweep();

 private:
  struct Act;

  const std::string program_;
  const Path home_, folder_;
  std::list<Act> acts_;
  size_t count_ = 0;
};

}  // namespace fettle

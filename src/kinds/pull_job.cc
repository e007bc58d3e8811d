#include "kinds/pull_job.h"

#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {

const Members& FailedPull::members() {
  static const Members all{member<&FailedPull::error>("error", "the message"),
                           member<&FailedPull::wish>("wish", "digest of the wish"),
                           member<&FailedPull::since>("since", "time")};
  return all;
}

const Members& PullJobState::members() {
  static const Members all{
      member<&PullJobState::started>("started", "time"),
      given<&PullJobState::completed>("completed", "time"),
      given<&PullJobState::desired>("desired", "of one that is complete: how many nodes"),
      given<&PullJobState::succeeded>("succeeded", "of one that is complete: on how many nodes"),
      given<&PullJobState::revision>("revision", "of the rollout for which it was made"),
      given<&PullJobState::digest>("digest", "the image that the tag means in this rollout"),
      given<&PullJobState::error>("error", "of one that is complete: why it has failed"),
      given<&PullJobState::failed>("failed", "{node: {\"error\", \"wish\", \"since\"}}"),
      given<&PullJobState::failed_nodes>("failed_nodes", "[node] of one that is complete")};
  return all;
}

const Members& PullJob::members() {
  static const Members all{
      required<&PullJob::name>("name", "text"),
      required<&PullJob::space>("namespace", "text"),
      member<&PullJob::owner>("owner", "`CloneSet/NAME`; empty: somebody's"),
      required<&PullJob::image>("image", "reference"),
      member<&PullJob::labels>("labels", "{key: text}"),
      member<&PullJob::annotations>("annotations", "{key: text}"),
      member<&PullJob::spec>("spec", "as an ImagePullJob's, with all its defaults"),
      given<&PullJob::state>("state", "its memory")};
  return all;
}

const TypedKind& pull_job_kind() {
  static const KindOf<PullJob> kind("pull_job", Sort::action);
  return kind;
}

}  // namespace fettle

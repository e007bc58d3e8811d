#pragma once
/// Pulling is the slowest part of an update in place. So images are pulled ahead on the nodes that
/// will need them: as soon as a template changes, with one job for each changed image, on the nodes
/// in the order in which their pods will change.

#include <memory>

#include "workloads/decide/pulls.h"
#include "workloads/pods/in_place.h"

namespace fettle::workloads {

/// Whether images are pulled ahead now.
bool pre_downloads(const Rollout& rollout);
/// Emits the jobs of the rollout. `queue`: the pods that are still to change.
void pre_download(Rollout& rollout, InPlace& in_place, const UpdateQueue& queue);

/// Marks for each candidate whether all images that it will run are on its node.
void mark_images(Rollout& rollout, InPlace& in_place, const Revision& target, const Order& order);

/// In mode `wait`, missing images hold pods, which are then passed over. Call `mark_images` before.
class MissingImages {
 public:
  MissingImages(Rollout& rollout, InPlace& in_place, const Revision& target);
  ~MissingImages();
  bool hold(uint32_t row) const;

 private:
  Rollout& rollout_;
  std::unique_ptr<class ImagesByTemplate> images_;  ///< none: nothing is waited for
};

/// The name of a job: that of the workload, and five characters made from the revision and the
/// image.
Name pull_job_name(std::string_view workload, std::string_view revision, std::string_view image);

/// The spec of a job as it is shown (the seed's shape). `excluded`: values of the revision label
/// that need no pull.
Value pull_job_document(const PullSpec& spec, const Value& selector, std::vector<Value> excluded);

/// The pull that the job of a rollout asks for.
PullSpec pull_spec_of(const Workload& workload, const Value& pod_template, const Name& image);

}  // namespace fettle::workloads

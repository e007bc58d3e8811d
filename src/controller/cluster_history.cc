#include "controller/cluster_history.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "cluster/names.h"
#include "cluster/objects.h"
#include "workloads/names.h"

namespace fettle {
namespace {

using cluster::moment_at;

/// Whoever reports in the newer form leaves the fields of the older one empty.
Time time_of_event(const Value& object) {
  Time last = moment_at(object.at("series"), "lastObservedTime");
  for (const char* field : {"lastTimestamp", "eventTime", "firstTimestamp"})
    if (last == Time())
      last = moment_at(object, field);
  return last == Time() ? moment_at(object.at("metadata"), "creationTimestamp") : last;
}

/// When a pod was made or updated last.
struct LastChange {
  Time time;
  std::string text;
};

LastChange last_change(const Value& pod) {
  const cluster::ObjectMeta meta = cluster::meta_of(pod);
  const std::string name = cat("pod `", meta.space, "/", meta.name, "`");
  LastChange change{meta.created, cat(name, " was made")};
  const Value state = cluster::json_annotation(pod, cluster::annotation::update_state);
  const Time updated = moment_at(state, "updateTimestamp");
  if (updated >= change.time && updated != Time())
    change = {updated, cat(name, " was updated in place")};
  const std::string_view revision =
      pod.at("metadata").at("labels").text_at(workloads::label::revision);
  if (!revision.empty())
    change.text += cat("; it has revision `", revision, "`");
  return change;
}

}  // namespace

ClusterEvent event_of_cluster(const Value& object) {
  const Value& about = object.at("involvedObject");
  ClusterEvent event;
  event.object =
      cat(about.text_at("kind"), "/", about.text_at("namespace"), "/", about.text_at("name"));
  event.type = object.text_at("type", "Normal");
  event.reason = object.text_at("reason");
  event.text = trim(object.text_at("message"));
  event.time = time_of_event(object);
  event.count =
      std::max<int64_t>({1, object.integer_at("count"), object.at("series").integer_at("count")});
  return event;
}

std::vector<ClusterEvent> events_in_order(const std::vector<Value>& objects) {
  std::vector<ClusterEvent> events;
  for (const Value& object : objects)
    events.push_back(event_of_cluster(object));
  std::ranges::stable_sort(events, [](const ClusterEvent& a, const ClusterEvent& b) {
    return std::tie(a.time, a.object, a.reason) < std::tie(b.time, b.object, b.reason);
  });
  return events;
}

std::string unseen_text(const Value& workload) {
  const int64_t newest = workload.at("metadata").integer_at("generation", 1);
  const int64_t seen = workload.at("status").integer_at("observedGeneration");
  if (seen >= newest)
    return {};
  return seen == 0 ? std::string("no controller has seen it yet")
                   : cat("its controller has seen generation ", seen, " of ", newest);
}

std::vector<std::string> status_lines(const Value& workload, std::string_view reason) {
  std::vector<std::string> lines;
  if (std::string unseen = unseen_text(workload); !unseen.empty())
    lines.push_back(std::move(unseen));
  const Value& status = workload.at("status");
  if (const std::string_view said = status.text_at("reason"); !said.empty() && said != reason)
    lines.push_back(cat("its controller says: ", status.text_at("phase"),
                        status.text_at("phase").empty() ? "" : ": ", said));
  for (const Value& condition : items_of(status.at("conditions"))) {
    const std::string_view text = condition.text_at("message");
    if (text.empty() || text == reason)
      continue;
    const Time since = moment_at(condition, "lastTransitionTime");
    lines.push_back(cat(since == Time() ? std::string() : cat(to_string(since), " "),
                        condition.text_at("type"), " is ", condition.text_at("status"), ": ",
                        text));
  }
  return lines;
}

std::vector<std::string> pull_lines(const Value& status) {
  std::vector<std::string> lines;
  for (const Value& pull : items_of(status.at("imagePulls"))) {
    const int64_t present = pull.integer_at("present"), nodes = pull.integer_at("nodes");
    const size_t failed = items_of(pull.at("failed")).size();
    if (present < nodes || pull.integer_at("pulling") > 0)
      lines.push_back(cat("ImagePullJob `", pull.text_at("job"), "` pulls image ",
                          pull.text_at("image"), ": ", present, " of ", nodes,
                          nodes == 1 ? " node has it" : " nodes have it",
                          failed == 0 ? std::string() : cat(", and ", failed, " failed")));
  }
  return lines;
}

std::string last_act_on(const std::vector<Value>& pods) {
  std::optional<LastChange> last;
  for (const Value& pod : pods)
    if (LastChange change = last_change(pod); !last || change.time > last->time)
      last = std::move(change);
  return last ? cat("last act: ", to_string(last->time), " ", last->text) : std::string();
}

}  // namespace fettle

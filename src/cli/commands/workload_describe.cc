/// `describe workload`: all about one of them at a glance.

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/workload_common.h"
#include "cli/print.h"
#include "documents/workloads.h"
#include "verbs/fleet/pod_document.h"
#include "verbs/fleet/pods.h"
#include "verbs/fleet/workload_views.h"

namespace fettle {
namespace {

/// The object with its status, as it may be told.
Result<Value> object_asked(const Workplace& place, const Name& fleet, const Name& owner) {
  std::vector<std::string> names;
  for (const workloads::Object& object : TRY(objects_with_status(place, fleet))) {
    if (object.owner() == owner)
      return shown(place, shown_document(object));
    names.push_back(object.owner().str());
  }
  return user_error(cat("there is no `", owner_text(owner), "`", suggestion(owner, names)));
}

void line(std::string_view name, const Value& value) {
  if (!value.is_null())
    print(
        cat(name, ":", std::string(name.size() < 15 ? 16 - name.size() : 1, ' '), to_text(value)));
}

/// Describes an ImagePullJob.
void print_job(const Value& document) {
  if (const Value& owners = document.at("metadata").at("ownerReferences"); owners.is_list())
    for (const Value& owner : owners.items())
      line("Owner", cat(owner.text_at("kind"), "/", owner.text_at("name")));
  line("Image", document.at("spec").at("image"));
  const Value& failed = document.at("status").at("failedNodes");
  if (failed.is_list() && !failed.items().empty()) {
    std::vector<std::string> nodes;
    for (const Value& node : failed.items())
      nodes.push_back(node == Value("") ? "this machine" : to_text(node));
    line("Failed on", join(nodes, ", "));
  }
}

void print_counts(const Value& status) {
  line("Phase", status.at("phase"));
  line("Reason", status.at("reason"));
  line("Message", status.at("message"));
  line("Selector", status.at("labelSelector"));
  line("Revision", status.at("updateRevision"));
  line("Before", status.at("currentRevision"));
  if (!status.at("updatedReplicas").is_null())
    line("Replicas",
         cat(to_text(status.at("replicas")), " in total, ", to_text(status.at("readyReplicas")),
             " ready, ", to_text(status.at("updatedReplicas")), " updated, ",
             to_text(status.at("updatedAvailableReplicas")), " of these available"));
  if (!status.at("matchedPods").is_null())
    line("Pods",
         cat(to_text(status.at("matchedPods")), " have it, ", to_text(status.at("updatedPods")),
             " updated, ", to_text(status.at("readyPods")), " ready"));
  if (!status.at("desired").is_null())
    line("Nodes", cat(to_text(status.at("desired")), " in total, ", to_text(status.at("succeeded")),
                      " have the image, ", to_text(status.at("failed")), " failed"));
}

void print_pulls(const Value& pulls) {
  if (!pulls.is_list())
    return;
  print("Pulls:");
  std::vector<std::vector<std::string>> rows{{"  IMAGE", "NODES", "PRESENT", "PULLING", "FAILED"}};
  for (const Value& pull : pulls.items())
    rows.push_back({cat("  ", pull.text_at("image")), to_text(pull.at("nodes")),
                    to_text(pull.at("present")), to_text(pull.at("pulling")),
                    std::to_string(pull.at("failed").items().size())});
  print(table(rows));
}

void print_pods(const std::vector<Value>& pods) {
  if (pods.empty())
    return;
  print("Pods:");
  std::vector<std::vector<std::string>> rows{{"  POD", "NODE", "STATUS", "READY", "REVISION"}};
  for (const Value& pod : pods) {
    std::string ready = "False";
    if (const Value& conditions = pod.at("status").at("conditions"); conditions.is_list())
      for (const Value& each : conditions.items())
        if (each.text_at("type") == "Ready")
          ready = each.text_at("status");
    const Value& metadata = pod.at("metadata");
    rows.push_back({cat("  ", metadata.text_at("name")),
                    node_text(pod.at("spec").text_at("nodeName")), pod_row_text(pod).status, ready,
                    std::string(metadata.at("labels").text_at("controller-revision-hash"))});
  }
  print(table(rows));
}

Result<int> workload_describe(Face& face) {
  size_t used = 0;
  const Name owner = TRY(owner_asked(face, 0, used));
  if (face.parsed.arguments.size() > used)
    return user_error(cat("`", printable(face.parsed.argument(used)), "` is not expected here"));
  Workplace* place = TRY(face.workplace());
  const Name fleet = fleet_of(face);
  const Value document = TRY(object_asked(*place, fleet, owner));
  std::vector<Value> pods;
  for (Value& pod : TRY(pods_of(*place, fleet, owner)))
    pods.push_back(shown(*place, pod));
  std::vector<std::vector<std::string>> rows{{"  TIME", "TYPE", "REASON", "TEXT"}};
  const std::vector<NoticeView> notices = TRY(notices_of(*place, fleet, owner));
  for (const NoticeView& notice : notices)
    rows.push_back({cat("  ", to_string(notice.time)), notice.type, notice.reason, notice.text});
  if (face.json) {
    print_json_of_original(description_document(document, std::move(pods), notices));
    return 0;
  }
  line("Name", document.at("metadata").at("name"));
  line("Kind", document.at("kind"));
  line("Namespace", document.at("metadata").at("namespace"));
  if (document.at("kind") == Value("ImagePullJob"))
    print_job(document);
  print_counts(document.at("status"));
  print_pulls(document.at("status").at("imagePulls"));
  print_pods(pods);
  if (!notices.empty()) {
    print("Events:");
    print(table(rows));
  }
  return 0;
}

}  // namespace

Command workload_describe_command() {
  return CommandGroup{"workloads", workload_options()}.reader(
      "describe workload", "KIND/NAME", 1, 2,
      "Describes a workload: its progress, pods, pulls and events.\n"
      "Also `fettle describe KIND NAME`.",
      {"fettle describe workload cloneset/web", "fettle describe cloneset web"}, workload_describe);
}

}  // namespace fettle

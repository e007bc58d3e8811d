/// `diff -f`, which is `plan -f`: what would become of manifests.

#include "verbs/fleet/workload_plan.h"
#include "documents/plans.h"

#include <algorithm>

#include "base/text.h"
#include "cli/commands/workload_common.h"
#include "cli/print.h"

namespace fettle {
namespace {

constexpr int changes_are_due = 4;

using workloads::PodTurn;
using workloads::PullTurn;

/// A node as people read it: without nodes there is this machine.
std::string node_text(const Name& node) { return node.empty() ? "this machine" : node.str(); }

std::string nodes_text(const std::vector<Name>& nodes) {
  std::vector<std::string> texts;
  for (const Name& node : nodes)
    texts.push_back(node_text(node));
  return join(texts, ", ");
}

Colour colour_of(PodTurn::Sort sort) {
  switch (sort) {
    case PodTurn::Sort::create:
    case PodTurn::Sort::restore:
      return Colour::green;
    case PodTurn::Sort::in_place:
      return Colour::yellow;
    case PodTurn::Sort::stays:
      return Colour::grey;
    default:
      return Colour::red;
  }
}

void print_pulls(const WorkloadPlan& plan, const Name& owner) {
  for (const PullTurn& pull : plan.rollout.pulls) {
    if (pull.owner != owner)
      continue;
    if (pull.nodes.empty()) {
      print(cat("  image ", pull.image, " is present on ", nodes_text(pull.present)));
      continue;
    }
    print(
        cat("  pull ", pull.image, " on ", nodes_text(pull.nodes),
            pull.nodes.size() < 2 ? std::string() : cat(", ", pull.at_once, " at a time"),
            pull.present.empty() ? std::string() : cat("; present on ", nodes_text(pull.present))));
  }
}

void print_turns(const Face& face, const WorkloadPlan& plan, const Name& owner) {
  size_t batch = 0;
  for (const PodTurn& turn : plan.rollout.turns) {
    if (turn.owner != owner)
      continue;
    if (turn.batch != batch && turn.batch != 0)
      print(in(Colour::bold, cat("  batch ", turn.batch), face.colour));
    batch = turn.batch;
    print(cat("    ", in(colour_of(turn.sort), to_string(turn.sort), face.colour), " ", turn.pod,
              turn.node.empty() ? std::string() : cat(" on ", turn.node),
              in(Colour::grey, cat(": ", turn.why), face.colour)));
  }
}

/// Prints what commands have changed since the last apply and the manifest says otherwise.
void print_taken_back(const Face& face, const StoredObject& object) {
  const auto text = [](const Value& value) {
    return value.is_null() ? std::string("nothing") : write_json(value, {.indent = 0});
  };
  for (const workloads::TakenBack& field : object.taken_back)
    print(cat("  ", in(Colour::yellow, "takes back", face.colour), " ", field.path, ": ",
              text(field.before), " -> ", text(field.after)));
}

void print_plan(const Face& face, const WorkloadPlan& plan) {
  std::vector<Name> owners;
  const auto add = [&](const Name& owner) {
    if (std::ranges::find(owners, owner) == owners.end())
      owners.push_back(owner);
  };
  for (const StoredObject& object : plan.objects)
    add(object.owner);
  for (const PodTurn& turn : plan.rollout.turns)
    add(turn.owner);
  for (const PullTurn& pull : plan.rollout.pulls)
    add(pull.owner);
  for (const Name& owner : owners) {
    const auto object = std::ranges::find(plan.objects, owner, &StoredObject::owner);
    print(cat(in(Colour::bold, owner_text(owner), face.colour), " ",
              object == plan.objects.end() ? std::string_view("stored") : to_string(object->fate)));
    if (object != plan.objects.end())
      print_taken_back(face, *object);
    print_pulls(plan, owner);
    print_turns(face, plan, owner);
  }
  for (const std::string& warning : plan.rollout.warnings)
    print(in(Colour::yellow, cat("warning: ", warning), face.colour));
  if (plan.is_settled())
    print("no pod changes");
  if (plan.rollout.is_cut)
    print("the rollout continues beyond what is shown here");
}

Result<int> workload_diff(Face& face) {
  std::unique_ptr<FleetAccess> fleet = TRY(cluster_fleet_asked(face));
  std::vector<workloads::Object> objects = TRY(objects_asked(face));
  if (fleet == nullptr)
    fleet = TRY(fleet_asked(face));
  const WorkloadPlan plan = TRY(plan_workloads(*fleet, std::move(objects)));
  if (face.json)
    print_json(document_of(plan));
  else
    print_plan(face, plan);
  return face.parsed.flag("detailed-exitcode") && !plan.is_settled() ? changes_are_due : 0;
}

}  // namespace

Command workload_plan_command() {
  Command command = CommandGroup{"workloads", look_options()}.reader(
      "diff", "", 0, 0,
      "Shows what manifests would change, pod by pod and in order, and which images are pulled "
      "where.\n"
      "Also `fettle plan -f FILE`. Stores and changes nothing.",
      {"fettle diff -f web.yaml", "fettle plan -f web.yaml --detailed-exitcode",
       "fettle plan -f web.yaml --kubeconfig ~/.kube/config"},
      workload_diff,
      {file_option(),
       {{"--skip-unknown"}, "", "skip unknown kinds"},
       {{"--detailed-exitcode"}, "", "exit code 4 when something is due"}});
  command.needs_no_state = is_about_cluster;
  return command;
}

}  // namespace fettle

/// The nodes of this home.

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/workload_common.h"
#include "cli/print.h"
#include "documents/nodes.h"
#include "verbs/fleet/nodes.h"

namespace fettle {
namespace {

Result<std::map<std::string, std::string>> labels_asked(const Face& face) {
  std::map<std::string, std::string> labels;
  for (const std::string& label : face.parsed.all("label")) {
    const size_t equals = label.find('=');
    if (equals == label.npos || equals == 0)
      return user_error(cat("`--label` needs KEY=VALUE, not `", printable(label), "`"));
    labels[label.substr(0, equals)] = label.substr(equals + 1);
  }
  return labels;
}

std::string labels_text(const NodeSpec& node) {
  std::vector<std::string> texts;
  for (const auto& [key, text] : node.labels)
    texts.push_back(cat(key, "=", text));
  return texts.empty() ? "<none>" : join(texts, ",");
}

/// Says which controllers have not heard of it yet. What was said about a node holds all the same.
Status tell_deaf(const Face& face, const Workplace& place) {
  for (const Name& environment : TRY(await_controllers(place)))
    print_warning(face, cat("the controller of `", environment,
                            "` has not learned of it yet and may still act on the old state"));
  return {};
}

Result<int> node_ls(Face& face) {
  Workplace* place = TRY(face.workplace());
  const std::vector<NodeView> nodes = TRY(look_at_nodes(*place));
  std::vector<std::vector<std::string>> rows{
      {"NAME", "STATUS", "ENGINE", "PODS", "PULLS", "LABELS"}};
  for (const NodeView& view : nodes) {
    rows.push_back({view.node.name,
                    cat(view.answers ? "Ready" : "NotReady",
                        view.node.is_cordoned ? ",SchedulingDisabled" : ""),
                    view.node.engine, std::to_string(view.pods), std::to_string(view.node.pulls),
                    labels_text(view.node)});
    if (!view.answers && !face.json)
      print_error(cat("node `", view.node.name, "` does not answer: ", view.why));
  }
  if (face.json)
    print_json(document_of(nodes));
  else
    print(table(rows));
  return 0;
}

Result<int> node_add(Face& face) {
  Workplace* place = TRY(face.workplace());
  NodeSpec node{.name = face.parsed.argument(0), .engine = face.parsed.text("engine")};
  if (node.engine.empty())
    return user_error(
        "`--engine` must be the address of the node's engine: `unix:///path`, `tcp://host:port`, "
        "`ssh://user@host` or `agent://host`");
  node.labels = TRY(labels_asked(face));
  node.pulls =
      static_cast<int>(std::clamp<int64_t>(TRY(face.parsed.number("pulls", node.pulls)), 0, 1'000));
  TRY(add_node(*place, node));
  NodeView added{.node = node, .why = {}};
  for (NodeView& view : TRY(look_at_nodes(*place)))
    if (view.node.name == node.name)
      added = std::move(view);
  TRY(tell_deaf(face, *place));
  if (!added.answers)
    print_warning(face, cat("node `", node.name, "` does not answer yet: ", added.why));
  if (face.json)
    print_json(value_of(added));
  else if (!face.quiet)
    print(cat("node `", node.name, "` added"));
  return 0;
}

Status say(const Face& face, const std::string& name, std::string_view done) {
  if (face.json)
    print_json(status_document(name, done));
  else if (!face.quiet)
    print(cat("node `", name, "` ", done));
  return {};
}

Result<int> node_rm(Face& face) {
  TRY(remove_node(*TRY(face.workplace()), face.parsed.argument(0), face.parsed.flag("lost")));
  TRY(tell_deaf(face, *TRY(face.workplace())));
  TRY(say(face, face.parsed.argument(0), "removed"));
  return 0;
}

Result<int> cordon(Face& face) {
  TRY(cordon_node(*TRY(face.workplace()), face.parsed.argument(0), true));
  TRY(tell_deaf(face, *TRY(face.workplace())));
  TRY(say(face, face.parsed.argument(0), "cordoned"));
  return 0;
}

Result<int> uncordon(Face& face) {
  TRY(cordon_node(*TRY(face.workplace()), face.parsed.argument(0), false));
  TRY(tell_deaf(face, *TRY(face.workplace())));
  TRY(say(face, face.parsed.argument(0), "uncordoned"));
  return 0;
}

/// Its pods go, and come back elsewhere.
Result<int> drain(Face& face) {
  Workplace& place = *TRY(face.workplace());
  const std::string name = face.parsed.argument(0);
  const Drain draining = TRY(drain_node(place, name, face.parsed.flag("force")));
  if (draining.blocked > 0)
    return failed_code;
  TRY(tell_deaf(face, place));
  if (!face.parsed.flag("wait", true)) {
    TRY(say(face, name, "draining"));
    return 0;
  }
  int code = 0;
  for (const auto& [fleet, owners] : draining.owners)
    code = std::max(code, TRY(bring_about(face, place, fleet, nullptr, owners)));
  const std::vector<Key> left = TRY(pods_on(place, name));
  if (left.empty() || face.json)
    TRY(say(face, name, left.empty() ? "drained" : "draining"));
  if (left.empty())
    return code;
  print_error(cat("node `", name, "` is not drained: ", left.size(),
                  left.size() == 1 ? " pod is" : " pods are", " still there; `--force` takes ",
                  left.size() == 1 ? "it" : "them", " away at once"));
  return code == 0 ? gave_up_waiting : code;
}

std::vector<CommandOption> drain_options() {
  std::vector<CommandOption> options = wait_options();
  options.push_back({{"--force"}, "", "take all pods away at once, whatever that costs"});
  return options;
}

}  // namespace

std::vector<Command> node_commands() {
  const CommandGroup group{"workloads", {}};
  return {
      group.make("node add", "NAME", 1, 1,
                 "Adds a node: an engine that may run pods, at the address of `--engine`.",
                 {"fettle node add n1 --engine ssh://me@n1 --label zone=a",
                  "fettle node add n2 --engine tcp://n2:2376 --pulls 4",
                  "fettle node add n3 --engine agent://n3 --server team"},
                 node_add,
                 {{{"--label"}, "KEY=VALUE", "a label of the node; may be repeated", true},
                  {{"--pulls"}, "COUNT", "how many images it pulls at a time (2)"}}),
      group.reader("node ls", "", 0, 0, "Lists the nodes, and whether they answer.",
                   {"fettle node ls", "fettle node ls --output json"}, node_ls),
      group.make("node rm", "NAME", 1, 1, "Removes a node that runs nothing.",
                 {"fettle node rm n1", "fettle node drain n1 && fettle node rm n1"}, node_rm,
                 {{{"--lost"}, "", "the node never comes back: forget everything on it"}}),
      group.make("node cordon", "NAME", 1, 1, "Keeps new pods away from a node.",
                 {"fettle node cordon n1", "fettle node cordon n1 --output json"}, cordon),
      group.make("node uncordon", "NAME", 1, 1, "Allows new pods on a node again.",
                 {"fettle node uncordon n1", "fettle node uncordon n1 --output json"}, uncordon),
      group.make("node drain", "NAME", 1, 1,
                 "Cordons a node, and has its pods replaced elsewhere, as many at a time as their "
                 "workloads may be without.",
                 {"fettle node drain n1", "fettle node drain n1 --force"}, drain, drain_options()),
  };
}

}  // namespace fettle

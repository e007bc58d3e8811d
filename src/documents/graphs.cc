#include "documents/graphs.h"

#include <algorithm>

#include "documents/events.h"
#include "documents/workloads.h"
#include "kinds/pod.h"
#include "verbs/environments/explain.h"

namespace fettle {
namespace {

Value node_value(const GraphNode& node) {
  return Value::dict({{"id", node.id},
                      {"kind", node.kind},
                      {"label", node.label},
                      {"state", node.state},
                      {"origin", text_or_null(node.origin)},
                      {"members", node.members},
                      {"group", !node.key.has_value()},
                      {"rank", node.place.rank},
                      {"row", node.place.row}});
}

std::vector<Entry> run_entries(const RunPast& run) {
  return {{"run", run.sequence},
          {"began", to_string(run.began)},
          {"ended", run.ended ? Value(to_string(*run.ended)) : Value()},
          {"what", run.what},
          {"outcome", text_or_null(run.outcome)},
          {"counts", run.counts}};
}

Value act_value(const RunAct& act) {
  return Value::dict({{"key", value_of(act.key)},
                      {"verb", to_string(act.verb)},
                      {"began", to_string(act.began)},
                      {"ended", to_string(act.ended)},
                      {"outcome", act.outcome},
                      {"text", act.text}});
}

double seconds_in(Duration duration) { return std::chrono::duration<double>(duration).count(); }

Value attempt_value(const Key& key, const Record& record, bool is_at_work) {
  const Attempt& attempt = *record.attempt;
  const Course* const course = attempt.course ? &*attempt.course : nullptr;
  return Value::dict({{"key", value_of(key)},
                      {"origin", text_or_null(attempt.resource->origin)},
                      {"state", state_of(record, is_at_work)},
                      {"verb", to_string(attempt.verb)},
                      {"error", text_or_null(attempt.error)},
                      {"started", to_string(attempt.started)},
                      {"calls", course == nullptr ? Value() : Value(course->calls)},
                      {"spent", course == nullptr ? Value() : Value(seconds_in(course->spent))},
                      {"pause", course == nullptr ? Value() : Value(seconds_in(course->pause))}});
}

Value optional_time(const std::optional<Time>& time) {
  return time ? Value(to_string(*time)) : Value();
}

Value act_value(const RolloutAct& act) {
  return Value::dict({{"verb", to_string(act.verb)},
                      {"began", to_string(act.began)},
                      {"ended", optional_time(act.ended)},
                      {"outcome", act.outcome},
                      {"why", act.why},
                      {"error", text_or_null(act.error)}});
}

Value row_value(const RolloutRow& row, std::vector<Entry> entries) {
  std::vector<Value> acts;
  for (const RolloutAct& act : row.acts)
    acts.push_back(act_value(act));
  entries.push_back({"key", value_of(row.key)});
  entries.push_back({"was_there", row.was_there});
  entries.push_back({"gone", optional_time(row.gone)});
  entries.push_back({"acts", Value::list(std::move(acts))});
  return Value::dict(std::move(entries));
}

Value pull_value(const RolloutRow& row, const std::vector<ImageView>& images) {
  const OnNode pull = on_node(row.key.name.view());
  const auto found = std::ranges::find_if(images, [&](const ImageView& image) {
    return image.node == pull.node && image.image == pull.rest && image.bytes > 0;
  });
  return row_value(row, {{"node", pull.node},
                         {"image", pull.rest},
                         {"bytes", found == images.end() ? Value() : Value(found->bytes)}});
}

}  // namespace

Value document_of(const ResourceGraph& graph) {
  std::vector<Value> nodes, edges;
  nodes.reserve(graph.nodes.size());
  for (const GraphNode& node : graph.nodes)
    nodes.push_back(node_value(node));
  edges.reserve(graph.edges.size());
  for (const GraphEdge& edge : graph.edges)
    edges.push_back(
        Value::dict({{"from", edge.from}, {"to", edge.to}, {"bond", to_string(edge.bond)}}));
  return Value::dict({{"resources", graph.resources},
                      {"left_out", graph.left_out},
                      {"nodes", Value::list(std::move(nodes))},
                      {"edges", Value::list(std::move(edges))}});
}

Value document_of(const EventPage& page) {
  return Value::dict({{"events", list_of(page.events)},
                      {"next", page.next == 0 ? Value() : Value(page.next)},
                      {"newest", page.newest}});
}

Value value_of(const RunPast& run) { return Value::dict(run_entries(run)); }

Value run_document(const RunPast& run, bool is_under_way) {
  std::vector<Value> acts;
  acts.reserve(run.acts.size());
  for (const RunAct& act : run.acts)
    acts.push_back(act_value(act));
  std::vector<Entry> entries = run_entries(run);
  entries.push_back({"under_way", is_under_way});
  entries.push_back({"acts", Value::list(std::move(acts))});
  return Value::dict(std::move(entries));
}

Value runs_document(const std::vector<RunPast>& runs, uint64_t next) {
  std::vector<Value> values;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    values.push_back(value_of(*run));
  return Value::dict(
      {{"runs", Value::list(std::move(values))}, {"next", next == 0 ? Value() : Value(next)}});
}

Value resource_document(Value record, Value why) {
  return Value::dict({{"record", std::move(record)}, {"why", std::move(why)}});
}

Value attempts_document(const Known& known, bool is_at_work) {
  std::vector<const Known::value_type*> open;
  for (const Known::value_type& entry : known)
    if (entry.second->attempt)
      open.push_back(&entry);
  std::ranges::sort(open, {},
                    [](const Known::value_type* one) -> const Key& { return one->first; });
  std::vector<Value> values;
  for (const Known::value_type* one : open)
    values.push_back(attempt_value(one->first, *one->second, is_at_work));
  return Value::list(std::move(values));
}

Value fleet_document(std::vector<Value> objects, std::vector<Value> pods,
                     const std::vector<ImageView>& images) {
  return Value::dict({{"objects", Value::list(std::move(objects))},
                      {"pods", Value::list(std::move(pods))},
                      {"images", list_of(images)}});
}

Value document_of(const RolloutPast& past, const std::vector<ImageView>& images) {
  std::vector<Value> pods, pulls;
  for (const RolloutRow& row : past.pods) {
    const NodeAddress address = node_address(row.key.name.view());
    pods.push_back(row_value(
        row, {{"node", address.node}, {"namespace", address.space}, {"name", address.name}}));
  }
  for (const RolloutRow& row : past.pulls)
    pulls.push_back(pull_value(row, images));
  return Value::dict({{"from", to_string(past.from)},
                      {"to", to_string(past.to)},
                      {"under_way", past.is_under_way},
                      {"next", past.next == 0 ? Value() : Value(past.next)},
                      {"pods", Value::list(std::move(pods))},
                      {"pulls", Value::list(std::move(pulls))}});
}

Value page_document(std::string_view address) { return Value::dict({{"address", address}}); }

}  // namespace fettle

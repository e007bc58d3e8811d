#include "sim/cluster/nodes.h"

#include "base/rfc3339.h"
#include "base/text.h"
#include "cluster/daemon_pods.h"
#include "value/json.h"
#include "value/with.h"

namespace fettle::sim {
namespace {

constexpr std::string_view nodes_path = "/api/v1/nodes";
constexpr std::string_view node_images_path = "/apis/apps.kruise.io/v1beta1/nodeimages";

std::string uid_of(const Value& object) {
  return std::string(object.at("metadata").text_at("uid"));
}

/// Only for the object that was looked at.
Value change_of(const Value& object, std::string_view key, Value value) {
  const Value& metadata = object.at("metadata");
  return Value::dict(
      {{"metadata", Value::dict({{"uid", metadata.at("uid")},
                                 {"resourceVersion", metadata.at("resourceVersion")}})},
       {key, std::move(value)}});
}

}  // namespace

std::string_view condition_of(const Value& object, std::string_view type) {
  for (const Value& each : items_of(object.at("status").at("conditions")))
    if (each.text_at("type") == type)
      return each.text_at("status");
  return {};
}

std::string path_of_pod(const Value& pod) {
  const Value& metadata = pod.at("metadata");
  return cat("/api/v1/namespaces/", metadata.text_at("namespace"), "/pods/",
             metadata.text_at("name"));
}

Nodes::Nodes(World& world, size_t count) : world_(world) {
  for (size_t i = 1; i <= count; ++i) {
    names_.push_back(cat("n", i));
    world_.ask(
        "POST", std::string(nodes_path),
        *read_json(cat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n)", i, R"("}})")));
    world_.ask("PATCH", cat(nodes_path, "/n", i, "/status"),
               *read_json(R"({"status":{"conditions":[{"type":"Ready","status":"True",
                  "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})"));
  }
  world_.listen([this](std::string_view type, const Value& object) { take(type, object); });
}

Duration Nodes::below(Duration longest) {
  return 1ms +
         Duration(static_cast<int64_t>(world_.prng.below(static_cast<uint64_t>(longest.count()))));
}

bool Nodes::is_missing(std::string_view tag) const {
  return has_missing_ && tag.starts_with("missing");
}

void Nodes::bring_missing_images() {
  has_missing_ = false;
  for (const Value& pod : world_.list("/api/v1/pods"))
    look_later(path_of_pod(pod), longest_step);
  for (const std::string& name : names_)
    look_later(cat(node_images_path, "/", name), longest_step);
}

void Nodes::break_pod(const std::string& path) {
  const Value pod = world_.get(path);
  const auto found = by_uid_.find(uid_of(pod));
  if (found == by_uid_.end())
    return;
  for (auto& [name, container] : found->second)
    if (container.runs) {
      container = {.image = container.image, .restarts = container.restarts + 1};
      world_.note(cat("container ", name, " of ", path, " ends"));
    }
  look_later(path, 5ms);
}

void Nodes::take(std::string_view type, const Value& object) {
  if (object.at("spec").find("containers") != nullptr)
    take_pod(type, object);
  else
    look_later(cat(node_images_path, "/", object.at("metadata").text_at("name")), longest_pull);
}

void Nodes::take_pod(std::string_view type, const Value& pod) {
  if (type == "DELETED")
    by_uid_.erase(uid_of(pod));
  else
    look_later(path_of_pod(pod), longest_step);
}

void Nodes::look_later(const std::string& path, Duration longest) {
  if (!expected_.insert(path).second)
    return;
  world_.turns.after(below(longest), [this, path] {
    expected_.erase(path);
    if (path.starts_with(node_images_path))
      answer_orders(path);
    else
      look(path);
  });
}

void Nodes::look(const std::string& path) {
  const Value pod = world_.get(path);
  if (pod.is_null())
    return;
  if (!pod.at("metadata").text_at("deletionTimestamp").empty())
    finish(path, pod);
  else if (pod.at("spec").text_at("nodeName").empty())
    bind(path, pod);
  else
    run(path, pod);
}

void Nodes::bind(const std::string& path, const Value& pod) {
  Name node = cluster::node_of_spec(pod.at("spec"));
  if (node.empty())
    node = names_[world_.prng.below(names_.size())];
  world_.ask("POST", path + "/binding",
             Value::dict({{"apiVersion", "v1"},
                          {"kind", "Binding"},
                          {"metadata", Value::dict({{"name", pod.at("metadata").at("name")}})},
                          {"target", Value::dict({{"kind", "Node"}, {"name", node}})}}));
}

void Nodes::finish(const std::string& path, const Value& pod) {
  world_.ask(
      "DELETE", path,
      Value::dict({{"gracePeriodSeconds", 0},
                   {"preconditions", Value::dict({{"uid", pod.at("metadata").at("uid")}})}}));
}

void Nodes::run(const std::string& path, const Value& pod) {
  const std::string uid = uid_of(pod);
  Containers& containers = by_uid_[uid];
  for (const Value& wanted : items_of(pod.at("spec").at("containers"))) {
    const std::string name(wanted.text_at("name")), image(wanted.text_at("image"));
    Container& container = containers[name];
    if (container.image != image)
      container = {.image = image,
                   .restarts = container.image.empty() ? 0 : container.restarts + 1};
    if (container.runs || container.is_pulled || is_missing(image.substr(image.find(':') + 1)))
      continue;
    container.is_pulled = true;
    world_.turns.after(below(longest_pull), [this, path, uid, name] { start(path, uid, name); });
  }
  const Value status = status_of(pod, containers);
  const Value& before = pod.at("status");
  if (before.at("containerStatuses") == status.at("containerStatuses") &&
      before.at("phase") == status.at("phase") &&
      condition_of(pod, "Ready") == status.at("conditions").items()[0].text_at("status"))
    return;
  if (world_.ask("PATCH", path + "/status", change_of(pod, "status", status), "strategic-merge")
          .status != 200)
    look_later(path, longest_step);
}

void Nodes::start(const std::string& path, const std::string& uid, const std::string& container) {
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end())
    return;
  Container& started = found->second[container];
  if (!started.is_pulled)
    return;  // it was changed meanwhile
  started.is_pulled = false;
  started.runs = true;
  look_later(path, longest_step);
}

Value Nodes::status_of(const Value& pod, const Containers& containers) {
  std::vector<Value> rows;
  bool is_ready = true;
  for (const Value& wanted : items_of(pod.at("spec").at("containers"))) {
    const Container& container = containers.at(std::string(wanted.text_at("name")));
    is_ready &= container.runs;
    rows.push_back(Value::dict(
        {{"name", wanted.at("name")},
         {"image", container.image},
         {"imageID", container.runs ? cat("sha256:", container.image) : std::string()},
         {"containerID",
          container.runs ? cat("c://", container.image, "/", container.restarts) : std::string()},
         {"restartCount", container.restarts},
         {"ready", container.runs},
         {"state", container.runs
                       ? Value::dict({{"running", Value::dict(std::vector<Entry>())}})
                       : Value::dict({{"waiting", Value::dict({{"reason", "ImagePull"}})}})}}));
  }
  for (const Value& gate : items_of(pod.at("spec").at("readinessGates")))
    is_ready &= condition_of(pod, gate.text_at("conditionType")) == "True";
  return Value::dict(
      {{"phase",
        is_ready || pod.at("status").text_at("phase") == "Running" ? "Running" : "Pending"},
       {"podIP", "10.0.0.1"},
       {"startTime", pod.at("metadata").at("creationTimestamp")},
       {"containerStatuses", Value::list(std::move(rows))},
       {"conditions",
        Value::list({Value::dict({{"type", "Ready"},
                                  {"status", is_ready ? "True" : "False"},
                                  {"lastTransitionTime", write_moment(now_from_clock())}})})}});
}

void Nodes::answer_orders(const std::string& path) {
  const Value object = world_.get(path);
  if (object.is_null())
    return;
  std::vector<Entry> statuses;
  const Value& images = object.at("spec").at("images");
  const Value& told = object.at("status").at("imageStatuses");
  if (images.is_dict())
    for (const Entry& image : images.entries())
      statuses.push_back({image.key, Value::dict({{"tags", rows_of(image, told)}})});
  const Value wanted = Value::dict(std::move(statuses));
  if (wanted == told || (told.is_null() && wanted.entries().empty()))
    return;
  if (world_
          .ask("PUT", path + "/status",
               with(object, "status", Value::dict({{"imageStatuses", wanted}})))
          .status != 200)
    look_later(path, longest_step);
}

/// A row that tells of the end stays.
Value Nodes::rows_of(const Entry& image, const Value& told) {
  std::vector<Value> rows;
  for (const Value& order : items_of(image.value.at("tags"))) {
    Value row;
    for (const Value& each : items_of(told.at(image.key).at("tags")))
      if (each.at("tag") == order.at("tag") && each.at("version") == order.at("version") &&
          each.find("completionTime") != nullptr)
        row = each;
    const bool fails = is_missing(order.text_at("tag"));
    if (row.is_null())
      row = Value::dict({{"tag", order.at("tag")},
                         {"version", order.at("version")},
                         {"phase", fails ? "Failed" : "Succeeded"},
                         {"message", fails ? "there is no such image" : ""},
                         {"completionTime", write_moment(now_from_clock())}});
    rows.push_back(row);
  }
  return Value::list(std::move(rows));
}

}  // namespace fettle::sim

#include "documents/workloads.h"

#include "documents/errors.h"
#include "documents/events.h"
#include "workplace/field_changes.h"

namespace fettle {

Value value_of(const StoredObject& stored) {
  return Value::dict({{"object", stored.owner}, {"status", to_string(stored.fate)}});
}

Value document_of(const std::vector<StoredObject>& stored) {
  return Value::dict({{"objects", list_of(stored)}});
}

Value document_of(const std::vector<StoredObject>& stored, const BringResult* brought,
                  bool is_success) {
  std::vector<Entry> entries{{"objects", list_of(stored)}, {"success", is_success}};
  if (brought != nullptr) {
    entries.push_back({"pods", brought->pods});
    entries.push_back({"ready", brought->ready});
    entries.push_back({"failures", list_of(brought->summary.failures)});
    entries.push_back({"unsettled", list_of(brought->unsettled)});
    entries.push_back({"held", list_of(brought->held)});
    entries.push_back({"interrupted", brought->summary.stopped});
  }
  return Value::dict(std::move(entries));
}

Value document_of(const BringResult& brought) {
  return Value::dict({{"pods", brought.pods}, {"ready", brought.ready}});
}

Value rollout_document(const Name& owner, const Value& status, std::string_view message) {
  return Value::dict({{"object", owner},
                      {"phase", status.text_at("phase")},
                      {"message", message},
                      {"status", status}});
}

Value value_of(const Workplace& place, const RevisionView& revision) {
  return Value::dict({{"revision", revision.number},
                      {"name", revision.name},
                      {"wanted", revision.is_current},
                      {"pods", revision.pods},
                      {"template", shown(place, revision.pod_template)}});
}

Value value_of(const ImageView& image) {
  return Value::dict({{"node", image.node},
                      {"image", image.image},
                      {"status", image.status},
                      {"bytes", image.bytes},
                      {"owner", image.owner},
                      {"message", image.why}});
}

Value list_document(std::vector<Value> objects) {
  return Value::dict(
      {{"apiVersion", "v1"}, {"kind", "List"}, {"items", Value::list(std::move(objects))}});
}

Value value_of(const ClusterEvent& event) {
  return Value::dict({{"time", to_string(event.time)},
                      {"type", event.type},
                      {"reason", event.reason},
                      {"object", event.object},
                      {"text", event.text},
                      {"count", event.count}});
}

Value document_of(const std::vector<ClusterEvent>& events) { return list_of(events); }

Value value_of(const NoticeView& notice) {
  return Value::dict({{"time", to_string(notice.time)},
                      {"type", notice.type},
                      {"reason", notice.reason},
                      {"text", notice.text}});
}

Value description_document(const Value& object, std::vector<Value> pods,
                           const std::vector<NoticeView>& notices) {
  return Value::dict(
      {{"object", object}, {"pods", Value::list(std::move(pods))}, {"events", list_of(notices)}});
}

Value document_of(const Workplace& place, const PodDescription& description) {
  std::vector<Value> events;
  for (const Event& event : description.events)
    events.push_back(brief_of(event));
  return Value::dict(
      {{"pod", shown(place, description.document)}, {"events", Value::list(std::move(events))}});
}

}  // namespace fettle

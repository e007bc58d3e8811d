#include "controller/manifests.h"

#include <algorithm>

#include "workloads/rollout.h"

namespace fettle {
namespace {

using workloads::Object;

constexpr std::string_view sort_of_version = "sort", of_workloads = "workloads";

Object object_in(const Content& content) {
  const Value& stored = content.items.at(0).attributes;
  Object object;
  object.kind = stored.text_at("kind");
  object.space = stored.text_at("namespace");
  object.name = stored.text_at("name");
  object.document = stored.at("document");
  object.applied = stored.at("applied");
  object.generation = stored.integer_at("generation", 1);
  object.uid = stored.text_at("uid");
  object.created = Time(Duration(stored.integer_at("created")));
  return object;
}

}  // namespace

Piece piece_of_manifest(const Name& owner) { return {owner, {}}; }

ContentPointer content_of_manifest(const Object& object) {
  Content content;
  Item item;
  item.id = object.owner();
  std::vector<Entry> entries{{"kind", object.kind},
                             {"namespace", object.space},
                             {"name", object.name},
                             {"document", object.document},
                             {"generation", object.generation},
                             {"uid", object.uid},
                             {"created", object.created.time_since_epoch().count()}};
  if (object.applied.is_dict())
    entries.push_back({"applied", object.applied});
  item.attributes = Value::dict(std::move(entries));
  content.items.push_back(std::move(item));
  return seal(std::move(content));
}

Result<std::vector<Object>> manifests_in(const Snapshot& snapshot) {
  std::vector<Object> objects;
  for (const auto& [piece, digest] : TRY(snapshot.pieces()))
    if (const ContentPointer content = TRY(snapshot.content(piece));
        content != nullptr && content->items.size() == 1 &&
        content->items[0].attributes.at("document").is_dict())
      objects.push_back(object_in(*content));
  std::ranges::sort(objects, {}, &Object::owner);
  return objects;
}

bool is_of_fleet(const Value& detail) {
  return detail.text_at(sort_of_version) == of_workloads || !detail.is_dict() ||
         detail.entries().empty();
}

Result<std::vector<Object>> stored_objects(const Workplace& place, const Name& environment) {
  return manifests_in(*TRY(place.store->versions().open(environment, {})));
}

Value detail_of_fleet(const Value& before) {
  return workloads::edited(before, {{sort_of_version, of_workloads}});
}

}  // namespace fettle

#include "cluster/sidecars.h"

#include <algorithm>
#include <set>
#include <span>

#include "base/rfc3339.h"
#include "base/text.h"
#include "cluster/names.h"
#include "kinds/pod.h"
#include "value/json.h"
#include "value/with.h"

namespace fettle::cluster {
namespace {

constexpr std::string_view container_lists[] = {"containers", "initContainers"};
constexpr std::string_view injected_lists[] = {"containers", "initContainers", "volumes"};
constexpr std::string_view named_lists[] = {"containers", "initContainers", "volumes",
                                            "imagePullSecrets"};
constexpr std::string_view injection_mark = "IS_INJECTED";  ///< a variable

bool are_texts(const Value& dict) {
  return dict.is_null() ||
         (dict.is_dict() && std::ranges::all_of(dict.entries(), [](const Entry& entry) {
            return entry.value.is_text();
          }));
}

bool are_named_items(const Value& list) {
  return list.is_null() ||
         (list.is_list() && std::ranges::all_of(list.items(), [](const Value& item) {
            return item.is_dict() && !item.text_at("name").empty();
          }));
}

/// Whether this is a part as `workloads/pods/sidecar_parts.h` has it.
bool is_possible_part(const Value& sidecar) {
  const Value &before = sidecar.at("before"), &last = sidecar.at("last");
  const bool has_texts_before =
      before.is_null() || (before.is_list() && std::ranges::all_of(before.items(), [](auto& each) {
                             return each.is_text();
                           }));
  const bool has_last =
      last.is_null() || (last.is_dict() && std::ranges::all_of(last.entries(), [](auto& each) {
                           return each.value.is_dict();
                         }));
  return sidecar.is_dict() && !sidecar.text_at("name").empty() &&
         !sidecar.text_at("revision").empty() && has_texts_before && has_last &&
         (sidecar.at("containers").is_list() || sidecar.at("initContainers").is_list()) &&
         std::ranges::all_of(
             named_lists,
             [&](std::string_view list) { return are_named_items(sidecar.at(list)); }) &&
         are_texts(sidecar.at("labels")) && are_texts(sidecar.at("annotations")) &&
         are_texts(sidecar.at("working")) && are_texts(sidecar.at("leaving"));
}

/// That of a SidecarSet; null: it has put nothing into the pod.
const Value& part_of(const Value& sidecars, std::string_view set) {
  static const Value none;
  for (const Value& each : items_of(sidecars))
    if (each.text_at("name") == set)
      return each;
  return none;
}

std::set<Name> names_from(const Value& sidecars, std::string_view list) {
  std::set<Name> names;
  for (const Value& sidecar : items_of(sidecars))
    for (const Value& item : items_of(sidecar.at(list)))
      names.insert(item.text_at("name"));
  return names;
}

/// Names of containers as the SidecarSet has them: two in the pod may be one there.
std::vector<Value> names_in_set(const Value& sidecar) {
  std::set<Name> names;
  const Value& working = sidecar.at("working");
  for (const Value& container : items_of(sidecar.at("containers"))) {
    const std::string_view name = container.text_at("name");
    const size_t dash = name.rfind('-');
    const bool is_one_of_two = dash != name.npos && working.find(name.substr(0, dash)) != nullptr;
    names.insert(is_one_of_two ? name.substr(0, dash) : name);
  }
  return {names.begin(), names.end()};
}

/// Writes the annotations of OpenKruise.
class InjectionNotes {
 public:
  InjectionNotes(const Value& before, const Value& after, const Value& object,
                 const HashesBySidecarSet& hashes, Time now)
      : before_(before),
        after_(after),
        object_(object),
        hashes_(hashes),
        moment_(write_moment(now)) {}

  std::vector<Entry> changes() {
    std::vector<Entry> made;
    made.push_back({annotation::sidecars,
                    items_of(after_).empty()
                        ? Value()
                        : Value(write_json(after_, {.indent = 0, .show_secrets = true}))});
    made.push_back({annotation::sidecar_list, list()});
    made.push_back({annotation::sidecar_hash, by_set(annotation::sidecar_hash, [&](auto& each) {
                      return spec_of(each, hashes_.at(name_of(each)).all, true);
                    })});
    made.push_back({annotation::sidecar_hash_without_image,
                    by_set(
                        annotation::sidecar_hash_without_image,
                        [&](auto& each) {
                          return spec_of(each, hashes_.at(name_of(each)).without_images, false);
                        },
                        true)});
    made.push_back({annotation::sidecar_state,
                    by_set(annotation::sidecar_state, [&](auto& each) { return state_of(each); })});
    std::erase_if(made, [&](const Entry& entry) {
      return entry.value == object_.at("metadata").at("annotations").at(entry.key);
    });
    return made;
  }

 private:
  static Name name_of(const Value& sidecar) { return sidecar.text_at("name"); }

  bool is_ours(std::string_view set) const {
    return !part_of(before_, set).is_null() || !part_of(after_, set).is_null();
  }

  /// Null: it is empty.
  Value list() const {
    std::vector<std::string> names;
    const std::string_view known =
        object_.at("metadata").at("annotations").text_at(annotation::sidecar_list);
    for (const std::string_view name : split(known, ','))
      if (!name.empty() && !is_ours(name))
        names.emplace_back(name);
    for (const Value& sidecar : items_of(after_))
      names.push_back(name_of(sidecar).str());
    return names.empty() ? Value() : Value(join(names, ","));
  }

  /// The JSON of {SidecarSet: what is said of it}; null: nothing is. What others have put into the
  /// pod, and what has not changed, keeps its entry. `outlives_images`: so does what is said of all
  /// but images, for nothing else changes on a pod.
  Value by_set(const Name& key, const auto& said, bool outlives_images = false) const {
    const Value known = json_annotation(object_, key);
    std::vector<Entry> entries;
    if (known.is_dict())
      for (const Entry& entry : known.entries())
        if (!is_ours(entry.key))
          entries.push_back(entry);
    for (const Value& sidecar : items_of(after_)) {
      const Name name = name_of(sidecar);
      const Value* const before = known.find(name);
      if (part_of(before_, name) == sidecar) {
        if (before != nullptr)
          entries.push_back({name, *before});
      } else if (hashes_.contains(name)) {
        if (Value entry = said(sidecar); !entry.is_null())
          entries.push_back({name, std::move(entry)});
      } else if (outlives_images && before != nullptr && !part_of(before_, name).is_null()) {
        entries.push_back({name, *before});
      }
    }
    return entries.empty() ? Value() : Value(write_json(Value::dict(std::move(entries))));
  }

  Value spec_of(const Value& sidecar, const Name& hash, bool has_revision) const {
    std::vector<Entry> entries{{"updateTimestamp", moment_},
                               {"hash", hash},
                               {"sidecarSetName", name_of(sidecar)},
                               {"sidecarList", Value::list(names_in_set(sidecar))}};
    if (has_revision)
      entries.push_back({"controllerRevision", sidecar.at("revision")});
    return Value::dict(std::move(entries));
  }

  /// Null: it was never updated.
  Value state_of(const Value& sidecar) const {
    if (!sidecar.at("last").is_dict())
      return {};
    std::vector<Entry> last;
    for (const Entry& entry : sidecar.at("last").entries())
      last.push_back({entry.key, Value::dict({{"imageID", entry.value.text_at("image_id")}})});
    return Value::dict({{"revision", hashes_.at(name_of(sidecar)).all},
                        {"updateTimestamp", moment_},
                        {"lastContainerStatuses", Value::dict(std::move(last))}});
  }

  const Value &before_, &after_, &object_;
  const HashesBySidecarSet& hashes_;
  const std::string moment_;
};

Value with_mark(const Value& container) {
  const auto variables = items_of(container.at("env"));
  if (std::ranges::any_of(variables,
                          [](const Value& each) { return each.text_at("name") == injection_mark; }))
    return container;
  std::vector<Value> all{Value::dict({{"name", injection_mark}, {"value", "true"}})};
  all.insert(all.end(), variables.begin(), variables.end());
  return with(container, "env", Value::list(std::move(all)));
}

/// A PodSpec whose lists are made anew, each by the names of what sidecars have in it.
Value with_lists(const Value& spec, const Value& sidecars, std::span<const std::string_view> lists,
                 const auto& make) {
  Value made = spec;
  for (const std::string_view list : lists)
    if (spec.at(list).is_list())
      made =
          with(made, list, Value::list(make(items_of(spec.at(list)), names_from(sidecars, list))));
  return made;
}

}  // namespace

Value read_sidecars(const Value& object) {
  Value sidecars = json_annotation(object, annotation::sidecars);
  std::set<Name> names;
  const bool are_possible =
      !items_of(sidecars).empty() &&
      std::ranges::all_of(items_of(sidecars), [&](const Value& each) {
        return is_possible_part(each) && names.insert(each.text_at("name")).second;
      });
  return are_possible ? std::move(sidecars) : Value();
}

std::vector<Entry> sidecar_annotations(const Value& before, const Value& after, const Value& object,
                                       const HashesBySidecarSet& hashes, Time now) {
  if (before == after || (items_of(before).empty() && items_of(after).empty()))
    return {};
  return InjectionNotes(before, after, object, hashes, now).changes();
}

bool is_of_sidecars(std::string_view key) {
  return key == annotation::sidecars || key == annotation::sidecar_list ||
         key == annotation::sidecar_hash || key == annotation::sidecar_hash_without_image ||
         key == annotation::sidecar_state;
}

Value template_with_sidecars(const Value& pod_template, const Value& sidecars) {
  if (items_of(sidecars).empty() || !pod_template.at("spec").is_dict())
    return pod_template;
  Pod pod;
  pod.pod_template = pod_template;
  pod.sidecars = sidecars;
  const Attributes attributes = write(pod);
  const Value& metadata = pod_template.at("metadata");
  return with(pod_template, {{"metadata", with(metadata.is_dict() ? metadata : Value::dict({}),
                                               {{"labels", pod_labels(attributes)},
                                                {"annotations", pod_annotations(attributes)}})},
                             {"spec", pod_spec(attributes)}});
}

Value spec_without_sidecars(const Value& spec, const Value& sidecars) {
  if (items_of(sidecars).empty() || !spec.is_dict())
    return spec;
  return with_lists(spec, sidecars, injected_lists,
                    [](std::span<const Value> items, const std::set<Name>& names) {
                      std::vector<Value> kept;
                      for (const Value& item : items)
                        if (!names.contains(item.text_at("name")))
                          kept.push_back(item);
                      return kept;
                    });
}

Value spec_with_injection_marks(const Value& spec, const Value& sidecars) {
  if (items_of(sidecars).empty())
    return spec;
  return with_lists(
      spec, sidecars, container_lists,
      [](std::span<const Value> items, const std::set<Name>& names) {
        std::vector<Value> made;
        for (const Value& item : items)
          made.push_back(names.contains(item.text_at("name")) ? with_mark(item) : item);
        return made;
      });
}

}  // namespace fettle::cluster
